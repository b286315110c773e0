"""The page Why."""

import io
import struct
import zlib

import numpy as np
import pytest

from memclf.studio import asking
from memclf.studio.asking import Dropped, explain_case, list_alike
from memclf.studio.session import Session
from memclf.vision.files import encode_png


def drop(client, content, name="leaf.png"):
    return client.post("/why/picture", data={"paths": name, "last": "1"}, files={"files": ("file", content)})


def square(colour, side=48):
    image = np.full((side, side, 3), 130, dtype=np.uint8)
    image[8:34, 8:34] = colour
    return image


def test_a_case_is_shown_with_all_reasons(client, project):
    page = client.get("/why/case/0").text
    session = Session(project)
    item = session.classifier.explain(session.case(0))[0]
    for shown in (
        f"similarity {item.similarity:.3f}",
        f"threshold {item.threshold:.3f}",
        "Cases like this one",
        "margin",
    ):
        assert shown in page
    assert "Most cases" not in page or item.against_cluster
    assert "learned from this case" in page or 0 not in session.rows


@pytest.mark.parametrize("address", ["/why/case/40", "/why/case/-1", "/why/drawn/memory/99", "/why/find?name=nothing"])
def test_what_is_not_there_is_an_error(client, address):
    assert client.get(address).status_code == 422


def test_a_case_is_found_by_part_of_its_name(client, project):
    answer = client.get("/why/find?name=RED07", follow_redirects=False)
    assert answer.headers["location"] == f"/why/case/{project.data.rows['red/red07.png']}"


def test_a_dropped_picture_is_explained_and_never_written(client, project):
    before = sorted(project.folder.rglob("*"))
    answer = drop(client, encode_png(square((200, 40, 40))), "../<i>leaf.png")
    page = client.get(answer.headers["x-go"]).text
    assert "red" in page
    assert "<i>leaf" not in page
    key = answer.headers["x-go"].rsplit("/", 1)[1]
    for kind in ("pixels", "drawn/picture"):
        assert client.get(f"/why/{kind}/{key}").headers["content-type"] == "image/jpeg"
    new = {each.name for each in set(project.folder.rglob("*")) - set(before)}
    assert not [name for name in new if "leaf" in name or name.endswith((".png", ".jpg"))]


def test_what_is_no_picture_is_refused(client):
    answer = drop(client, b"<svg onload=alert(1)>", "<b>x.png")
    assert answer.status_code == 422
    assert "<b>x" not in answer.text


def test_a_decompression_bomb_is_refused_before_it_is_decoded(client):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(2**20), 9)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    answer = drop(client, bomb)
    assert answer.status_code == 422
    assert "60000" in answer.text.replace(",", "")
    assert drop(client, encode_png(square((40, 60, 200)))).status_code == 200  # the decoder works on


def test_only_the_last_pictures_are_kept(monkeypatch):
    kept, image = Dropped(), np.zeros((10, 10, 3), dtype=np.uint8)
    keys = [kept.keep(str(number), image) for number in range(25)]
    assert kept.get(keys[5])[0] == "5"
    with pytest.raises(ValueError, match="drop it again"):
        kept.get(keys[4])
    monkeypatch.setattr(asking, "ROOM", 700)
    last = kept.keep("last", image)
    assert kept.get(last)[0] == "last"
    with pytest.raises(ValueError, match="drop it again"):
        kept.get(keys[-2])


def test_cases_like_a_case_are_without_itself_and_most_alike_first(project):
    session = Session(project)
    row = int(session.rows[0])
    found = list_alike(session, session.case(row), row)
    assert row not in [each["row"] for each in found]
    assert len(found) == 12
    near = [each["similarity"] for each in found]
    assert near == sorted(near, reverse=True)


def test_chances_of_local_classifier_and_answer_add_up(project):
    session = Session(project)
    shown = explain_case(session, session.case(3), 3)
    assert sum(each["local"] for each in shown["chances"]) == pytest.approx(1)
    assert [each["name"] for each in shown["chances"] if each["is_answer"]] in ([str(shown["item"].answer)], [])


def test_an_answer_against_the_cluster_is_warned_of(client, monkeypatch):
    from memclf.explain import Explanation

    assert "contradicts its memory" not in client.get("/why/case/2").text
    monkeypatch.setattr(Explanation, "against_cluster", True)
    assert "contradicts its memory" in client.get("/why/case/2").text


def test_a_typed_row_is_answered_and_a_bad_value_is_named(table_client):
    page = table_client.get("/why/case/1").text
    assert 'name="column:size"' in page
    assert "What if" in page
    good = {"column:size": "5.1", "column:<b>colour</b>": "4.9", "column:kind": "b"}
    assert "plain" in table_client.post("/why/row", data=good).text
    answer = table_client.post("/why/row", data=good | {"column:size": "<i>big</i>"})
    assert answer.status_code == 422
    assert "size" in answer.text
    assert "<i>big" not in answer.text


def test_a_table_takes_no_pictures(table_client):
    assert drop(table_client, encode_png(square((1, 2, 3)))).status_code == 422
    assert table_client.get("/why/drawn/memory/0").status_code == 422


def test_a_picture_dropped_in_the_browser_is_explained(tab):
    tab.goto("/why")
    buffer = io.BytesIO(encode_png(square((40, 60, 200)))).getvalue()
    tab.locator("#picture").set_input_files({"name": "new.png", "mimeType": "image/png", "buffer": buffer})
    tab.wait_for_url("**/why/picture/*")
    assert "blue" in tab.locator(".answer").inner_text().lower()
    assert not tab.locator(".drawn").first.is_visible()
    tab.keyboard.press("o")
    assert tab.locator(".drawn").first.is_visible()
    assert not tab.locator(".plainly").first.is_visible()
    tab.wait_for_load_state("networkidle")
    assert tab.evaluate("[...document.querySelectorAll('.drawn')].every((each) => each.naturalWidth > 0)")


def test_the_page_fits_a_phone_and_keys_go_to_the_next_case(tab):
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.goto("/why/case/1")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.keyboard.press("n")
    tab.wait_for_url("**/why/case/2")
