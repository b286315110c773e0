"""The page Stress: one picture under one condition, its grid, and all held-out cases."""

import re

import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.naive_bayes import GaussianNB

from memclf import MemoryClassifier
from memclf.evaluate import accuracy
from memclf.persist import save
from memclf.similarity import RBFSimilarity
from memclf.studio import Project, stressing
from memclf.studio.curves import draw_curves
from memclf.studio.session import Session
from memclf.studio.stressing import Outcome, compare


@pytest.fixture
def few(monkeypatch):
    """Two corruptions of two severities, so that tests are quick."""
    monkeypatch.setattr(stressing, "CORRUPTIONS", ("brightness", "contrast"))
    monkeypatch.setattr(stressing, "SEVERITIES", (1, 5))
    monkeypatch.setattr("memclf.studio.pages.stress.CORRUPTIONS", ("brightness", "contrast"))
    monkeypatch.setattr("memclf.studio.pages.stress.SEVERITIES", (1, 5))


def test_the_page_says_what_the_model_answers_under_a_condition(client, project):
    session = client.app.state.studio.session
    row = int(session.held_rows()[0])
    images = session.case(row).corrupted("brightness", 5)
    found = session.classifier.answers(images)
    page = client.get("/stress", params={"row": row, "corruption": "brightness", "severity": 5}).text
    assert f"{found.routes.similarity[0]:.3f}" in page
    assert str(found.labels[0]) in page
    shown = client.get(f"/stress/picture/{row}", params={"corruption": "brightness", "severity": 5})
    assert shown.headers["content-type"] == "image/jpeg"
    assert shown.content != client.get(f"/picture/{row}").content


@pytest.mark.parametrize(
    "asked", [{"corruption": "rain"}, {"severity": 6}, {"row": 4000}, {"severity": "much"}], ids=str
)
def test_a_condition_that_is_none_is_an_error_page(client, asked):
    assert client.get("/stress", params=asked).status_code == 422


@pytest.mark.parametrize(
    ("answer", "memory", "state", "wanted"),
    [
        ("red", 1, "same", "same"),
        ("red", 2, "same", "memory"),
        ("blue", 1, "same", "answer"),
        ("unknown", 1, "unknown", "unknown"),
        ("", -1, "impossible", "impossible"),
    ],
)
def test_compare_says_what_holds(answer, memory, state, wanted):
    assert compare(Outcome("same", "red", 1), Outcome(state, answer, memory)) == wanted


def test_the_grid_of_a_picture_agrees_with_single_conditions(tab, live, few):
    row = int(live.app.state.studio.session.held_rows()[0])
    tab.goto(f"/stress?row={row}&corruption=contrast&severity=5")
    tab.get_by_role("button", name="Try all 4 conditions").click()
    tab.get_by_text("The answer holds in").wait_for()
    cell = tab.get_by_role("link", name=re.compile("^Contrast 5:"))
    state = cell.get_attribute("class").removeprefix("s-")
    cell.click()
    said = {"same": "The route holds", "memory": "The answer holds", "answer": "The route breaks", "unknown": "unknown"}
    assert said[state] in tab.locator(".sentence").inner_text()


def test_all_held_out_pictures_are_measured_kept_and_shown(client, project, few):
    session = client.app.state.studio.session
    assert "Measure all" in client.get("/stress").text
    assert stressing.stress_all(project.folder, ()) == {"conditions": 2}
    found = stressing.read_results(session)
    assert found["levels"] == ["clean", "1", "5"]
    held, answers = session.held_out()
    assert found["models"][0]["values"][0]["value"] == pytest.approx(accuracy(held.target, answers.labels))
    assert len(draw_curves(found)["lines"]) == len(found["models"]) >= 2
    page = client.get("/stress").text
    assert "stage 1 alone" in page
    assert "<polyline" in page
    session.project.log.append("label", {"case": session.data.keys[int(session.held_rows()[0])], "label": ""})
    assert stressing.read_results(session) is None  # about other cases than these


def test_a_table_is_changed_in_its_columns_instead(tmp_path):
    X, blob = make_blobs(60, centers=2, random_state=0)
    pd.DataFrame(X, columns=["width", "height"]).assign(label=["ab"[each] for each in blob]).to_csv(
        tmp_path / "table.csv", index=False
    )
    project = Project(tmp_path / "project")
    project.set_data(tmp_path / "table.csv")
    data = project.training()
    clf = MemoryClassifier(RBFSimilarity(gamma=0.1), GaussianNB(), random_state=0).fit(data.cases, data.target)
    project.log.append("model", {"model": save(clf, project.new_model()).name})
    stressing.stress_all(project.folder, ())
    found = stressing.read_results(Session(project))
    assert found["levels"] == ["clean", "another unit", "noise", "values of other cases"]
