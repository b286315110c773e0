"""Who may ask the studio what."""

import pytest
from fastapi.testclient import TestClient

from memclf.studio import Project, create_studio
from memclf.studio.guard import BODY

TOKEN = "a-token-of-some-length"
HOST = "http://localhost"


@pytest.fixture
def studio(tmp_path):
    """A studio without data, with or without a token."""
    opened = []

    def start(token=None):
        project = Project(tmp_path / f"project{len(opened)}")
        client = TestClient(create_studio(project, token=token), base_url=HOST, follow_redirects=False)
        opened.append(client.__enter__())
        return client

    yield start
    for client in opened:
        client.__exit__(None, None, None)


def test_another_host_is_refused_without_a_token(studio):
    client = studio()
    assert client.get("/data", headers={"Host": "evil.example"}).status_code == 421
    assert client.get("/data").status_code == 200
    assert client.get("/data", headers={"Host": "[::1]:8765"}).status_code == 200


@pytest.mark.parametrize(
    "origin", [None, "http://evil.example", "null", "http://localhost:9", "https://localhost.evil.example"]
)
def test_a_foreign_page_cannot_change_anything(studio, origin, pictures):
    client = studio()
    headers = {} if origin is None else {"Origin": origin}
    answer = client.post("/data", data={"path": str(pictures)}, headers=headers)
    assert answer.status_code == 403
    assert "40 pictures" not in client.get("/data").text
    client.post("/data", data={"path": str(pictures)}, headers={"Origin": HOST})
    assert "40 pictures" in client.get("/data").text


def test_a_foreign_page_cannot_use_pictures(studio):
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert studio().get("/thumbnail/0", headers=headers).status_code == 403


def test_every_answer_has_a_strict_policy(studio):
    client = studio()
    for address in ("/data", "/healthz", "/static/studio.js", "/nowhere"):
        headers = client.get(address).headers
        assert "script-src 'self';" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"


def test_with_a_token_only_those_who_have_it_come_in(studio):
    client = studio(TOKEN)
    assert client.get("/data").status_code == 401
    assert client.get("/data?token=wrong").status_code == 401
    assert client.get("/healthz").status_code == 200
    entered = client.get(f"/data?token={TOKEN}")
    assert (entered.status_code, entered.headers["location"]) == (303, "/data")
    assert "HttpOnly" in entered.headers["set-cookie"]
    assert "SameSite=Strict" in entered.headers["set-cookie"]
    assert client.get("/data", headers={"Host": "studio.example"}).status_code == 200


def test_a_body_that_is_too_large_is_refused_before_it_is_read(studio):
    headers = {"Origin": HOST, "Content-Length": str(BODY + 1)}
    assert studio().post("/data/files", content=b"", headers=headers).status_code == 413


def test_a_body_without_a_length_is_counted(studio, monkeypatch):
    monkeypatch.setattr("memclf.studio.guard.BODY", 1000)
    headers = {"Origin": HOST, "Content-Type": "application/x-www-form-urlencoded"}
    answer = studio().post("/data", content=(b"x" * 600 for _ in range(4)), headers=headers)
    assert answer.status_code == 413


@pytest.mark.parametrize("name", ["..%2Fapp.py", "%2e%2e/app.py", "app.py", ".hidden.css", "..\\x.css", "nothing.css"])
def test_static_files_are_those_of_the_package(studio, name):
    assert studio().get(f"/static/{name}").status_code == 404


@pytest.mark.parametrize("go", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_nothing_leads_to_another_site(studio, go):
    answer = studio().post("/job/0/stop", params={"go": go}, headers={"Origin": HOST})
    assert answer.headers["location"] == "/data"
