"""Requests that cannot be answered: broken, too large, too many, too late, without a token."""

import json
import logging
import threading
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from serving import Patient, png, records, send_images

TOKEN = "correct-horse-battery-staple"
LONG = "Bearer " + "x" * 60_000
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "must be JSON"),
        (b"{", "must be JSON"),
        (b"\xff\xfe", "must be JSON"),
        (b"[" * 100_000, "must be JSON"),
        (b'{"cases": [[NaN, 1]]}', "NaN is no number of JSON"),
        (b'{"cases": [' + b"9" * 5000 + b"]}", "must be JSON"),
        (b"[]", "one member"),
        (b'{"cases": {}}', "one member"),
        (b'{"cases": [], "more": 1}', "one member"),
        (b'{"cases": []}', "no case"),
    ],
)
def test_json__malformed__status_400_and_says_why(serve, rows, body, said):
    shown = serve(rows[0]).post("/v1/predict", content=body, headers=JSON)
    assert shown.status_code == 400
    assert said in shown.json()["detail"]


@pytest.mark.parametrize("case", [[1], [1, 2, 3], [[1], [2]], [1, "2"], [1, None], [1, True], [1, 1e999], "ab", {}])
def test_json__rows_of_another_shape__status_422(serve, rows, case):
    shown = serve(rows[0]).post("/v1/predict", content=json.dumps({"cases": [case]}).replace("Infinity", "1e999"),
                                headers=JSON)  # fmt: skip
    assert shown.status_code == 422
    assert "a case must" in shown.json()["detail"]


def form(*parts, end=b"--b--\r\n"):
    return b"".join(b"--b\r\n" + head + b"\r\n\r\n" + content + b"\r\n" for head, content in parts) + end


IMAGE = b'Content-Disposition: form-data; name="images"; filename="a.png"'


@pytest.mark.parametrize(
    ("content_type", "body", "said"),
    [
        ("multipart/form-data", form((IMAGE, b"x")), "boundary"),
        ("multipart/form-data; boundary=" + "b" * 5000, form((IMAGE, b"x")), "must be a form"),
        ("multipart/form-data; boundary=b", b"", "cut off"),
        ("multipart/form-data; boundary=b", b"nonsense", "must be a form"),
        ("multipart/form-data; boundary=b", form((IMAGE, b"x"), end=b""), "cut off"),
        ("multipart/form-data; boundary=b", form((b"X: y", b"x")), "a file named"),
        ("multipart/form-data; boundary=b", form((b'Content-Disposition: form-data; name="images"', b"x")), "a file"),
        ("multipart/form-data; boundary=b", form((IMAGE.replace(b"images", b"other"), b"x")), "a file named"),
        ("multipart/form-data; boundary=b", form((IMAGE + b"\r\n" + b"X: " + b"y" * 100_000, b"x")), "must be a form"),
        ("multipart/form-data; boundary=b", b"--b--\r\n", "cut off|no case|must be a form"),
    ],
)
def test_form__malformed__status_400_and_says_why(serve, images, content_type, body, said):
    shown = serve(images[0]).post("/v1/predict", content=body, headers={"content-type": content_type})
    assert shown.status_code == 400, shown.text
    assert any(each in shown.json()["detail"] for each in said.split("|")), shown.text


def test_limits__each__has_a_status_and_a_type_of_its_own(serve, rows, images):
    client = serve(rows[0], body=2000, cases=3, queue=3)
    found = [
        client.post("/v1/predict", json={"cases": [[0, 0]] * 4}),
        client.post("/v1/predict", json={"cases": ["x" * 3000]}),
        client.post("/v1/predict", content=(b"x" * 500 for _ in range(9)), headers=JSON),
        client.post("/v1/predict", content=b"<cases/>", headers={"content-type": "application/xml"}),
        client.post("/v1/predict", files={"images": b"x"}),
        client.get("/v1/nothing"),
        client.get("/v1/predict"),
        send_images(serve(images[0], cases=2, queue=2), [b"x"] * 3),
    ]
    assert [(each.status_code, each.json()["type"].split(":")[-1]) for each in found] == [
        (413, "many-cases"),
        (413, "large-body"),
        (413, "large-body"),
        (415, "wrong-type"),
        (415, "wrong-type"),
        (404, "not-found"),
        (405, "wrong-method"),
        (413, "many-cases"),
    ]
    assert {each.headers["content-type"] for each in found} == {"application/problem+json"}
    assert all(each.json()["status"] == each.status_code and each.json()["detail"] for each in found)


# -------------------------------------------------------------------------------------------------------- the token


@pytest.mark.parametrize(
    "given", [None, "", TOKEN, "Basic " + TOKEN, "Bearer", "Bearer wrong", "Bearer " + TOKEN[:-1], LONG]
)  # fmt: skip
def test_token__missing_wrong_or_long__status_401(serve, rows, given):
    client = serve(rows[0], token=TOKEN)
    headers = {} if given is None else {"Authorization": given}
    for path in ("/v1/memories", "/metrics", "/openapi.json", "/nothing"):
        shown = client.get(path, headers=headers)
        assert shown.status_code == 401
        assert shown.headers["www-authenticate"] == "Bearer"
        assert TOKEN not in shown.text
    assert [client.get(path, headers=headers).status_code for path in ("/healthz", "/readyz", "/docs")] == [200] * 3


def test_token__right__is_let_in_under_any_host(serve, rows):
    client = serve(rows[0], token=TOKEN)
    headers = {"Authorization": f"bearer {TOKEN}", "Host": "answers.example.org"}
    assert client.get("/v1/memories", headers=headers).status_code == 200


@pytest.mark.parametrize(("host", "status"), [("localhost:8000", 200), ("[::1]:8000", 200), ("evil.example.org", 421)])
def test_host__without_a_token__must_be_this_machine(serve, rows, host, status):
    assert serve(rows[0]).get("/v1/memories", headers={"Host": host}).status_code == status


# ----------------------------------------------------------------------------------------------- many requests at once


def ask_together(client, cases, path="/v1/predict"):
    """Send each case by itself from a thread of its own; the answers come when the threads end."""
    found = [None] * len(cases)

    def ask(i):
        found[i] = client.post(path, json={"cases": [cases[i]]})

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(cases))]
    for each in threads:
        each.start()
    return threads, found


def metric(client, name, **labels):
    families = text_string_to_metric_families(client.get("/metrics").text)
    return sum(s.value for f in families for s in f.samples if s.name == name and labels.items() <= s.labels.items())


def wait_until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_batches__of_concurrent_requests__are_shared_and_answers_are_not_mixed_up(serve, slow_model):
    client = serve(slow_model, batch_size=8)
    cases = [[i / 10, -i / 10] for i in range(17)]
    Patient.door.clear()
    threads, found = ask_together(client, cases)
    wait_until(lambda: metric(client, "memclf_open_requests") == 18)  # the request for the metrics is one of them
    Patient.door.set()
    for each in threads:
        each.join()
    assert [each.json()["answers"][0]["answer"] for each in found] == slow_model.predict(cases).tolist()
    assert metric(client, "memclf_batch_cases_sum") == 17
    assert metric(client, "memclf_batch_cases_count") <= 5


def test_queue__full__status_503_with_retry_after_and_the_others_are_answered(serve, slow_model):
    client = serve(slow_model, batch_size=1, cases=2, queue=2)
    Patient.door.clear()
    threads, found = ask_together(client, [[0.0, 0.0]])
    wait_until(lambda: metric(client, "memclf_open_requests") == 2 and metric(client, "memclf_queue_cases") == 0)
    more, waiting = ask_together(client, [[0.1, 0.0], [0.2, 0.0]])
    wait_until(lambda: metric(client, "memclf_queue_cases") == 2)
    refused = client.post("/v1/predict", json={"cases": [[0.3, 0.0]]})
    assert refused.status_code == 503
    assert refused.json()["type"] == "urn:memclf:full-queue"
    assert int(refused.headers["retry-after"]) >= 1
    Patient.door.set()
    for each in threads + more:
        each.join()
    assert [each.status_code for each in found + waiting] == [200] * 3


def test_answer__later_than_the_limit__status_504_and_the_queue_is_left(serve, slow_model):
    client = serve(slow_model, batch_size=1, wait=0.05)
    Patient.door.clear()
    threads, found = ask_together(client, [[0.0, 0.0], [0.1, 0.1]])
    for each in threads:
        each.join()
    assert [each.status_code for each in found] == [504, 504]
    wait_until(lambda: metric(client, "memclf_queue_cases") == 0)
    Patient.door.set()
    wait_until(lambda: client.post("/v1/predict", json={"cases": [[0.0, 0.0]]}).status_code == 200)


def test_event_loop__while_the_model_answers__lives(serve, slow_model):
    client = serve(slow_model)
    Patient.door.clear()
    threads, _ = ask_together(client, [[0.0, 0.0]])
    wait_until(lambda: metric(client, "memclf_open_requests") == 2)
    assert client.get("/healthz").json() == {"status": "working"}
    Patient.door.set()
    threads[0].join()


def test_stopping__new_work__is_refused_and_readiness_says_so(serve, rows):
    client = serve(rows[0])
    client.app.state.memclf.stopping = True
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200
    refused = client.post("/v1/predict", json={"cases": [[0, 0]]})
    assert refused.status_code == 503
    assert "retry-after" in refused.headers


# ------------------------------------------------------------------------------------------- metrics, logs and the page


def test_metrics__after_answers__count_labels_memories_and_the_unknown_rate(serve, rows):
    clf, X = rows
    client = serve(clf)
    client.post("/v1/predict", json={"cases": [*X[:9].tolist(), [900, 900]]})
    client.post("/v1/predict", json={"cases": "x"})
    assert metric(client, "memclf_answers_total") == 10
    assert metric(client, "memclf_answers_total", known="false") == 1
    for label in clf.classes_:
        assert metric(client, "memclf_answers_total", answer=str(label)) == (clf.predict(X[:9]) == label).sum()
    assert metric(client, "memclf_memory_answers_total") == 9
    assert metric(client, "memclf_unknown_rate") == pytest.approx(0.1)
    assert metric(client, "memclf_similarity_count") == 10
    assert metric(client, "memclf_requests_total", path="/v1/predict", status="200") == 1
    assert metric(client, "memclf_requests_total", path="/v1/predict", status="400") == 1


def test_log__whatever_is_sent__holds_nothing_of_it(serve, table, images, caplog, capfd, monkeypatch):
    caplog.set_level(logging.DEBUG)
    clf, X = table
    client, case = serve(clf), records(X[:1])[0]
    secret = "Mrs-Miller-of-Springfield"
    cases = [{**case, "smoker": secret}, {**case, secret: 1}, {**case, "weight": secret}]
    client.post(f"/v1/predict?{secret}", json={"cases": cases})
    client.post(f"/{secret}", json={"cases": cases}, headers={"Authorization": f"Bearer {secret}"})
    send_images(serve(images[0]), [secret.encode(), png(images[1][0]) + secret.encode()])

    def fail(self, X):
        raise RuntimeError(secret)

    monkeypatch.setattr(type(clf), "answers", fail)
    assert client.post("/v1/predict", json={"cases": cases[:1]}).status_code == 500
    records_ = [each for each in caplog.records if each.name.split(".")[0] in ("memclf", "uvicorn", "fastapi", "PIL")]
    assert secret not in "".join(each.getMessage() for each in records_)
    assert secret not in "".join(capfd.readouterr())


def test_docs__page_and_assets__ask_this_service_alone(serve, rows):
    client = serve(rows[0])
    page = client.get("/docs")
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    assert "http" not in page.text
    for name in ("docs.js", "swagger-ui.css", "swagger-ui-bundle.js"):
        assert f"docs/{name}" in page.text
        assert client.get(f"/docs/{name}").status_code == 200
    assert client.get("/docs/LICENSE").status_code == 404
    assert "/v1/predict" in client.get("/openapi.json").json()["paths"]
