"""The page Teach: strokes become paintings, paintings regions, and regions measurements."""

import http.client
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
import yaml

from memclf.studio import Project, description, teaching
from memclf.studio.description import make_description
from memclf.studio.measuring import choose, inspect_measurements, key_of, list_choices, read_chosen, read_inspection
from memclf.studio.painting import (
    FIRST,
    Region,
    add_stroke,
    draw_strokes,
    list_regions,
    list_strokes,
    read_painted,
    set_regions,
)
from memclf.vision.features import TaughtRegions
from memclf.vision.files import decode_image, encode_png

HOSTILE = '"><img src=x onerror=alert(1)>'
ACROSS = {"region": 1, "size": 4, "points": [[1, 2], [46, 2]]}  # of the grey background
INSIDE = {"region": 2, "size": 6, "points": [[18, 22], [26, 24]]}  # of the square


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Lessons that are short and good enough for squares."""
    monkeypatch.setattr(teaching, "QUICK", 6)
    monkeypatch.setattr(description, "SHOWINGS", 6)


def stroke(**changes):
    return {"region": 1, "size": 3, "points": [[2, 5], [8, 5]], "erase": False, **changes}


def pick(project, of, *labels):
    """Keys of choices of a part, in the order of the labels."""
    found = {choice.label: choice.key for choice in list_choices(project)[of]}
    return [found[label] for label in labels]


def paint(project, *rows):
    for row in rows or (0,):
        for each in (ACROSS, INSIDE):
            add_stroke(project, row, **each, erase=False)


# ----------------------------------------------------------------------------------------------------------- paintings


def test_strokes__painting__has_the_last_region_and_nothing_where_it_was_erased():
    strokes = [stroke(), stroke(region=2, points=[[5, 5]]), stroke(erase=True, size=1, points=[[8, 0], [8, 9]])]
    found = draw_strokes(strokes, {1: 1, 2: 2}, (10, 12))
    assert found[5].tolist() == [0, 1, 1, 1, 2, 2, 2, 1, 0, 1, 0, 0]
    assert found.any(axis=1).tolist() == [False] * 4 + [True] * 3 + [False] * 3
    assert not draw_strokes([stroke()], {2: 1}, (10, 12)).any()  # the region was removed


@pytest.mark.parametrize("size", [1, 2, 7, 8, 30])
def test_strokes__any_brush__are_at_most_as_wide_as_it_and_nearly(size):
    found = draw_strokes([stroke(size=size, points=[[40, 40], [60, 40]])], {1: 1}, (80, 100))
    assert size - 1 <= found.any(axis=1).sum() <= size


def test_strokes__smaller_picture__are_drawn_at_its_scale():
    large, small = (
        draw_strokes([stroke(size=9)], {1: 1}, shape, scale) for shape, scale in (((80, 96), 8), ((10, 12), 1))
    )
    assert large.mean() == pytest.approx(small.mean(), rel=0.2)
    assert large[40, 40] == small[5, 5] == 1


def test_stroke__post__is_in_the_log_and_undo_takes_the_last_of_this_picture_back(client, project):
    for row in (0, 3):
        assert client.post(f"/teach/{row}/stroke", json=ACROSS).json()["number"] > 0
    assert client.post("/teach/3/undo").json() == {"strokes": []}
    (left,) = list_strokes(Project(project.folder))
    assert left.about == {"case": project.data.keys[0], "erase": False, **ACROSS}
    assert client.post("/teach/3/undo").status_code == 200  # nothing is left to undo


@pytest.mark.parametrize(
    "wrong", [{"region": 9}, {"points": []}, {"points": [[1, 2, 3]]}, {"size": 0}, {"points": [["x", 1]]}]
)
def test_stroke__nonsense__is_refused_and_not_kept(client, project, wrong):
    assert client.post("/teach/0/stroke", json={**ACROSS, **wrong}).status_code == 422
    assert client.post("/teach/999/stroke", json=ACROSS).status_code == 422
    assert list_strokes(project) == []


def test_regions__new_names__keep_strokes_and_removed_ones_lose_them(project):
    paint(project)
    set_regions(project, [Region(1, "table"), Region(2, "tile")])
    assert read_painted(project).regions == {"table": None, "tile": None}
    set_regions(project, [Region(1, "table"), Region(4, "crack")])
    assert read_painted(project) is None  # one painted region alone teaches nothing
    project.log.undo(project.log.last("regions").number)
    assert read_painted(project) is not None


def test_regions__parent_without_strokes__is_skipped(project):
    set_regions(project, [Region(1, "ground"), Region(2, "tile", 3), Region(3, "wall", 1)])
    paint(project)
    assert read_painted(project).regions == {"ground": None, "tile": "ground"}


@pytest.mark.parametrize("names", [["picture", "b"], ["a", "a"], ["a"], ["a", "b" * 41]])
def test_regions__names_that_cannot_be__are_refused(client, project, names):
    form = {"number": [1, 2][: len(names)], "name": names, "inside": [""] * len(names)}
    assert client.post("/teach/0/regions", data=form).status_code == 422
    assert list_regions(project) == list(FIRST)


def test_killed_studio__reopened__has_every_stroke(pictures, tmp_path):
    folder = tmp_path / "project"
    command = [sys.executable, "-m", "memclf.cli", "studio", "--data", str(pictures), "--project", str(folder)]
    process = subprocess.Popen([*command, "--port", "0", "--no-browser"], stderr=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r":(\d+)/", process.stderr.readline())[1])
        asking = http.client.HTTPConnection("localhost", port, timeout=60)
        headers = {"Origin": f"http://localhost:{port}", "Content-Type": "application/json"}
        for k in range(20):
            body = f'{{"region": {1 + k % 2}, "size": 4, "points": [[{k}, 2], [{k}, 40]]}}'
            asking.request("POST", "/teach/0/stroke", body, headers)
            assert asking.getresponse().read()  # while the studio learns from those before
        asking.close()
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()
    project = Project(folder)
    assert [each.about["points"][0][0] for each in list_strokes(project)] == list(range(20))
    assert read_painted(project).strokes == 20
    project.close()


# ------------------------------------------------------------------------------------------------------------ learning


def test_teacher__strokes__finds_regions_in_other_pictures_and_names_places(client, project):
    paint(project)
    assert client.get("/teach").url.path == "/teach/0"
    teacher = client.app.state.studio.closing[0].__self__
    assert teacher.wait(60)
    page = client.get("/teach/0/status")
    assert page.headers["X-Lesson"] == "1"
    assert "Learned from 2 strokes on 1 picture; not painted yet: spot" in page.text
    image = project.data.cases[5]
    mask = client.get("/teach/5/mask")
    assert mask.headers["content-type"] == "image/png"
    shown = decode_image(mask.content, "mask").astype(int)  # on black: red is background, blue the object
    found, truth = shown[:, :, 2] > shown[:, :, 0], np.ptp(image, axis=2) > 60
    assert (found & truth).sum() > 0.7 * (found | truth).sum()


def test_teach__page__shows_hostile_names_harmlessly(tmp_path, open_studio):
    for name in (HOSTILE, "plain"):
        (tmp_path / "data" / name).mkdir(parents=True)
        for number in range(2):
            picture = np.full((24, 24, 3), 60 * number, dtype=np.uint8)
            (tmp_path / "data" / name / f"{number}{HOSTILE}.png").write_bytes(encode_png(picture))
    project = Project(tmp_path / "project")
    project.set_data(tmp_path / "data")
    set_regions(project, [Region(1, HOSTILE), Region(2, "<script>")])
    paint(project, 0)
    client = open_studio(project)
    for address in ("/teach/0", "/teach/0/status", "/teach/0/places", "/teach/measurements", "/teach/numbers/0"):
        text = client.get(address).text
        client.app.state.studio.closing[0].__self__.wait(60)
        assert "<img src=x" not in text, address
        assert "<script>" not in text, address
    assert "&lt;script&gt;" in client.get("/teach/0").text


def test_teach__table_or_no_data__says_what_to_do(tmp_path, open_studio):
    (tmp_path / "t.csv").write_text("a,label\n" + "\n".join(f"{n * n % 17},{n % 2}" for n in range(30)))
    project = Project(tmp_path / "project")
    client = open_studio(project)
    assert "Choose a folder of pictures" in client.get("/teach").text
    project.set_data(tmp_path / "t.csv")
    assert "there is nothing to paint" in client.get("/teach").text
    assert "there is nothing to paint" in client.get("/teach/measurements").text


# --------------------------------------------------------------------------------------------------------- description


def test_make_description__nothing_taught__is_memclfs_own(project):
    assert make_description(project) == (None, None)


def test_make_description__strokes__are_taught_once_and_again_when_newer(project, monkeypatch):
    paint(project, 0, 20)
    features, similarity = make_description(project)
    assert similarity is None
    assert features.names[:2] == ("background_share_of_picture", "object_share_of_picture")
    shares = features.transform(project.data.cases[np.array([5, 25])])[:, 1]
    assert (np.abs(shares - 26 * 26 / 48**2) < 0.1).all()
    taught, fit = [], TaughtRegions.fit
    monkeypatch.setattr(TaughtRegions, "fit", lambda self, X, y=None: (taught.append(1), fit(self, X, y))[1])
    make_description(project)
    assert not taught
    paint(project, 21)
    make_description(project)
    assert taught
    assert len(list((project.folder / "regions").iterdir())) == 1


def test_measurements__choice__is_the_spec_and_can_be_undone(client, project):
    paint(project)
    choices = list_choices(project)
    assert list(choices) == ["background", "object", "foreground", "picture"]
    usual = {key_of(each) for each in read_chosen(project).measurements}
    wanted = pick(project, "object", "share of the picture", "colour") + pick(project, "picture", "bright blobs")
    client.post("/teach/measurements", data={"chosen": wanted})
    spec = yaml.safe_load(project.spec.read_text())
    assert spec["measurements"][0] == {"measure": "share", "of": "object"}
    assert {key_of(each) for each in read_chosen(project).measurements} == set(wanted)
    client.post("/teach/leave", data={"name": "object_lightness_low", "leave": "1"})
    assert "object_lightness_low" not in read_chosen(project).names
    assert client.post("/teach/leave", data={"name": "nose", "leave": "1"}).status_code == 422
    client.post("/teach/leave", data={"name": "object_lightness_low"})
    assert "object_lightness_low" in read_chosen(project).names
    for _ in range(3):
        client.post("/teach/measurements/undo")
    assert {key_of(each) for each in read_chosen(project).measurements} == usual
    assert client.post("/teach/measurements", data={"chosen": ["nonsense"]}).status_code == 422
    assert client.post("/teach/measurements", data={}).status_code == 422


def test_measurements__region_that_is_renamed_or_removed__is_followed_by_the_spec(client, project):
    paint(project)
    choose(project, pick(project, "object", "share of the picture", "colour") + pick(project, "picture", "colour"))
    client.post("/teach/leave", data={"name": "object_lightness_low", "leave": "1"})
    form = {"number": [1, 2], "name": ["background", "tile"], "inside": ["", ""]}
    client.post("/teach/0/regions", data=form)
    known = read_chosen(project)
    assert [each.of for each in known.measurements] == ["tile", "tile", "picture"]
    assert known.leave_out == ["tile_lightness_low"]
    client.post("/teach/0/regions", data={"number": [1, 3], "name": ["background", "spot"], "inside": ["", ""]})
    assert [each.of for each in read_chosen(project).measurements] == ["picture"]


def test_measurements__page__shows_numbers_and_an_overlay(client, project):
    choose(project, pick(project, "foreground", "colour"))
    page = client.get("/teach/numbers/0").text
    assert "foreground lightness middle" in page
    assert client.get("/teach/overlay/0/0").headers["content-type"] == "image/jpeg"
    assert client.get("/teach/overlay/0/7").status_code == 422


def test_inspection__training_cases__says_what_survives(client, project):
    choose(project, pick(project, "foreground", "share of the picture"))
    inspect_measurements(project.folder)
    found = read_inspection(project)
    assert found["advice"]
    assert not found["old"]
    page = client.get("/teach/measurements").text
    assert page.count('class="point ') == len(found["measurements"])
    choose(project, pick(project, "foreground", "shape"))
    assert read_inspection(project)["old"]


# --------------------------------------------------------------------------------------------------------- the browser


def test_browser__strokes_of_the_mouse__give_masks_and_keys_undo(tab, project):
    tab.goto("/teach/0")
    canvas = tab.locator("#canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()

    def drag(key, *points):
        tab.keyboard.press(key)
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in points]
        tab.mouse.move(*places[0])
        tab.mouse.down()
        for place in places[1:]:
            tab.mouse.move(*place, steps=5)
        tab.mouse.up()

    drag("1", (0.05, 0.04), (0.9, 0.04))
    drag("2", (0.4, 0.45), (0.55, 0.5))
    tab.get_by_text("Learned from 2 strokes").wait_for()
    tab.locator("#layers img.mask").wait_for()
    assert tab.evaluate("document.querySelector('#layers img.mask').naturalWidth") == 48
    tab.keyboard.press("m")
    assert tab.locator("#layers img.mask").is_hidden()
    first, second = (each.about for each in list_strokes(project))
    assert (first["region"], second["region"]) == (1, 2)
    assert first["points"][0][0] == pytest.approx(0.05 * 48, abs=0.5)
    assert second["points"][-1][1] == pytest.approx(0.5 * 48, abs=0.5)
    tab.keyboard.press("z")
    tab.get_by_text("Paint at least one stroke in two regions; not painted yet: object, spot").wait_for()
    assert len(list_strokes(project)) == 1


def test_browser__brush_moved_by_keys__paints_a_stroke(tab, project):
    tab.goto("/teach/0?x=10&y=20")
    tab.locator("#canvas").focus()
    for key in ("e", " ", "ArrowRight", "ArrowRight", "ArrowDown", " "):
        tab.keyboard.press(key)
    tab.wait_for_function("!document.getElementById('undo').disabled")
    tab.reload()
    (made,) = (each.about for each in list_strokes(project))
    assert made["erase"]
    assert made["points"][0] == [10, 20]
    assert made["points"][-1][0] > 10 < made["points"][-1][1]


def test_browser__next_picture__the_brush_stays_as_it_is(tab):
    tab.goto("/teach/0")
    tab.locator("#size").fill("5")
    tab.keyboard.press("2")
    tab.goto("/teach/1")
    assert tab.locator("#size").input_value() == "5"
    assert tab.locator("input[name=region]:checked").get_attribute("value") == "2"
