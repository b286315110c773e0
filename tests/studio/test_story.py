"""A whole story in the browser: from an empty project, by painting and comparing, to a model that answers.

With `STUDIO_TOUR=FOLDER` in the environment the story is told with generated leaves, and writes the screenshots of
docs/studio.md into the folder (`make tour`).
"""

import os
import random
import shutil
from pathlib import Path

import pytest

from memclf import load
from memclf.studio import Project
from memclf.vision import ImageCollection

TOUR = os.environ.get("STUDIO_TOUR")
PATIENCE = 120_000  # milliseconds for a fit on a busy machine


class Tour:
    """A tab that takes pictures on its way, if it is asked to."""

    def __init__(self, tab):
        self.tab = tab

    def show(self, name):
        if TOUR:
            self.tab.wait_for_timeout(800)
            self.tab.screenshot(path=Path(TOUR) / f"studio_{name}.jpg", type="jpeg", quality=80)

    def go(self, name):
        """By the navigation, as a person would."""
        self.tab.get_by_role("navigation", name="Pages").get_by_role("link", name=name, exact=True).click()


@pytest.fixture
def project(tmp_path):
    found = Project(tmp_path / "project")
    yield found
    found.close()


@pytest.fixture
def folder(pictures, tmp_path):
    if not TOUR:  # as few as can be fitted, since a fit is most of the work
        for name in ("red", "blue"):
            shutil.copytree(pictures / name, tmp_path / "few" / name, ignore=shutil.ignore_patterns("*1[3-9].png"))
        return tmp_path / "few"
    from generated_leaves import write_leaves

    write_leaves(tmp_path / "leaves", 120, 1)
    return tmp_path / "leaves"


def paint(tab, strokes):
    canvas = tab.locator("#canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    for key, *points in strokes:
        tab.keyboard.press(key)
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in points]
        tab.mouse.move(*places[0])
        tab.mouse.down()
        for place in places[1:]:
            tab.mouse.move(*place, steps=4)
        tab.mouse.up()


def test_from_an_empty_project_to_a_model_that_answers(tab, project, folder):
    tour = Tour(tab)
    tab.goto("/")
    tab.get_by_label("Folder or table on this computer").fill(str(folder))
    tab.get_by_role("button", name="Use it").click()
    tab.get_by_text("All can be read.").wait_for(timeout=PATIENCE)
    tour.show("data")

    tour.go("Teach")
    strokes = [("1", (0.05, 0.05), (0.9, 0.05)), ("2", (0.42, 0.5), (0.55, 0.55))]
    if TOUR:
        _teach_leaves(tab, project)
    else:
        paint(tab, strokes)
    tab.get_by_text("Learned from").wait_for()
    tab.locator("#layers img.mask").wait_for()
    tour.show("teach")
    tab.get_by_role("link", name="Choose measurements").click()
    for box in tab.get_by_label("Colour").all()[:1]:
        box.check()
    tab.get_by_role("button", name="Use these measurements").click()
    tour.show("measurements")

    tour.go("Compare")
    tab.get_by_role("button", name="Measure the cases").click()
    for answer in range(6):
        tab.locator(".choice").first.wait_for(timeout=PATIENCE)
        asked = tab.locator("#compare").inner_html()
        if answer == 5:
            tour.show("compare")
        tab.keyboard.press(random.Random(answer).choice(["ArrowLeft", "ArrowRight"]))
        tab.wait_for_function("before => document.querySelector('#compare').innerHTML !== before", arg=asked)

    tour.go("Numbers")
    tab.get_by_label("Plain model").select_option("forest")
    tab.get_by_role("button", name="Fit and compare").click()
    tab.get_by_role("cell", name="memory classifier").or_(
        tab.get_by_role("rowheader", name="memory classifier")
    ).first.wait_for(timeout=PATIENCE)
    tour.show("numbers")

    tour.go("Memories")
    tab.locator(".tile").first.wait_for()
    tour.show("memories")
    tour.go("Why")
    tab.locator(".tile").first.click()
    tab.get_by_text("similarity").first.wait_for()
    tour.show("why")
    if TOUR:
        for name in ("Stress", "Edit", "Unknown"):
            tour.go(name)
            tab.wait_for_timeout(4000)
            tour.show(name.lower())

    kinds = {each.kind for each in project.log.all()}
    assert {"data", "stroke", "measurements", "judgement", "model"} <= kinds
    clf = load(project.model)
    answers = clf.predict(ImageCollection.from_folder(folder)[:4])
    assert set(answers.tolist()) <= {*clf.classes_.tolist(), clf.unknown_label}


def _teach_leaves(tab, project):
    """Strokes as an expert would paint them, from what is known about generated leaves."""
    import numpy as np

    from memclf.studies.generated.leaves import draw_leaf

    data = project.data
    rng = np.random.default_rng(0)
    spotted = [row for row, key in enumerate(data.keys) if not key.startswith("grade 0") and row % 9 == 0][:5]
    for row in spotted:
        number = int(data.keys[row].split("leaf")[-1].split(".")[0])
        _, shape, symptoms, mirrored = draw_leaf(192, 384, 1, number)
        truth = (1 + shape.leaf.astype(np.uint8) + (symptoms.mask & shape.leaf))[mirrored]
        tab.goto(f"/teach/{row}")
        tab.locator("#canvas").wait_for()
        strokes = []
        for region in (1, 2, 3):
            places = np.argwhere(truth == region)
            for y, x in places[rng.integers(0, len(places), 4)] if len(places) else ():
                near = places[np.argsort(np.abs(places - (y, x)).sum(axis=1))[: 40 if region == 3 else 300]]
                end = near[-1]
                inside = all(
                    truth[int(y + s * (end[0] - y)), int(x + s * (end[1] - x))] == region for s in np.linspace(0, 1, 9)
                )
                if inside:
                    strokes.append((str(region), (x / 384, y / 192), (end[1] / 384, end[0] / 192)))
        paint(tab, strokes)
