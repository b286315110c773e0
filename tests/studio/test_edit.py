"""The page Edit: an edit is seen before it is made, does what was seen, and can be taken back."""

import re

import numpy as np
import pytest

import memclf
from memclf.exceptions import DataError
from memclf.persist import read_edits
from memclf.studio import Project, editing
from memclf.studio.editing import Change
from memclf.studio.session import Session


@pytest.fixture
def session(project):
    return Session(project)


def answers(session):
    return session.held_out()[1].labels.tolist()


def known(session):
    return session.held_out()[1].routes.known


def wait(client, shown):
    """The effect of an edit, also if it takes longer than the page waits."""
    while found := re.search(r'data-poll="([^"]+)"', shown.text):
        shown = client.get(found.group(1))
    return shown


def apply(client, note="", **form):
    shown = wait(client, client.post("/edit/preview", data=form))
    number = re.search(r'name="number" value="(\d+)"', shown.text)
    assert number, shown.text
    done = wait(client, client.post("/edit/apply", data={"number": number.group(1), "note": note}))
    assert done.headers["x-go"].startswith("/edit")
    return shown.text


def test_an_edit_does_what_was_seen_and_undo_brings_the_answers_back(client, project):
    session = client.app.state.studio.session
    before, threshold = answers(session), session.classifier.thresholds_[0]
    seen = apply(client, "too lax", kind="threshold", memory=0, value=1.0)
    after = answers(session)
    changed = sum(a != b for a, b in zip(before, after, strict=True))
    assert changed > 0
    assert f"{changed} of {len(before)} held-out cases would be answered otherwise" in seen
    stored = memclf.load(project.model)
    assert stored.thresholds_[0] == 1.0
    event = project.log.last("edit")
    assert (event.note, event.about["numbers"]["answered_otherwise"]) == ("too lax", changed)
    assert "too lax" in client.get("/edit").text
    assert wait(client, client.post("/edit/undo")).headers["x-go"]
    assert session.classifier.thresholds_[0] == threshold
    assert answers(session) == before
    assert project.log.last("edit") is None
    assert read_edits(project.model) == []


def test_dropping_and_adding_a_memory_and_a_new_start(client, project):
    session = client.app.state.studio.session
    clf, held = session.classifier, session.held_rows()
    apply(client, kind="drop", memory=1)
    case, label = int(held[0]), str(project.labels[held[0]])
    apply(client, kind="add", case=case, label=label)
    edited = session.classifier
    assert len(edited.memory_indices_) == len(clf.memory_indices_)
    assert session.rows[edited.memory_indices_[-1]] == case
    assert case not in session.held_rows()
    fresh = Session(Project(project.folder))  # as after a restart
    assert fresh.rows.tolist() == session.rows.tolist()
    assert fresh.classifier.training_ is not None
    assert answers(fresh) == answers(session)
    client.post("/edit/undo")
    client.post("/edit/undo")
    np.testing.assert_array_equal(session.classifier.memory_indices_, clf.memory_indices_)


def test_a_corrected_label_is_learned_and_noted_and_undone(session, project):
    clf, row = session.classifier, int(session.rows[0])
    key, old = project.data.keys[row], str(project.labels[row])
    new = next(each for each in project.data.classes if each != old)
    effect = editing.preview(session, Change("relabel", case=row, label=new))
    assert effect.changes.fitted <= 1
    editing.apply_effect(session, effect)
    assert project.labels[row] == new
    assert Session(project).classifier.training_.y[0] == new
    assert editing.undo(session) == f"{key} is {new}"
    assert project.labels[row] == old
    np.testing.assert_array_equal(session.classifier.cluster_counts_, clf.cluster_counts_)


def test_a_corrected_label_moves_no_case_to_the_other_side(project):
    fit, held = project.split()
    key = project.data.keys[int(fit[0])]
    new = next(each for each in project.data.classes if each != project.labels[fit[0]])
    project.log.append("label", {"case": key, "label": new})
    np.testing.assert_array_equal(project.split()[1], held)


def test_an_effect_of_a_model_that_has_changed_is_refused(session):
    first, second = (editing.preview(session, Change("threshold", memory=0, value=v)) for v in (0.9, 0.8))
    editing.apply_effect(session, first)
    with pytest.raises(DataError, match="the model has changed since"):
        editing.apply_effect(session, second)


def test_a_second_edit_waits_for_the_first(client):
    session = client.app.state.studio.session
    with session.edit_alone():
        started = client.post("/edit/undo")  # in a thread of its own
        assert "another edit is being made" in wait(client, started).text


def test_names_and_left_out_cases_are_listed_and_undone(client, project):
    key = project.data.keys[3]
    client.post("/edit/name", data={"memory": 0, "name": "<b>the  red one</b>"})
    client.post("/edit/label", data={"case": 3})
    page = client.get("/edit").text
    assert "&lt;b&gt;the red one&lt;/b&gt;" in page
    assert f"{key} is left out" in page
    for number in re.findall(r'action="/edit/undo/(\d+)"', page):
        client.post(f"/edit/undo/{number}")
    assert client.app.state.studio.session.names() == {}
    assert project.labels[3] != ""


def test_an_empty_name_takes_the_name_away(client):
    session = client.app.state.studio.session
    client.post("/edit/name", data={"memory": 0, "name": "the red one"})
    assert session.name_of(0) == "the red one"
    client.post("/edit/name", data={"memory": 0, "name": " "})
    assert session.name_of(0) == "memory 0"


def test_a_model_without_its_training_cases_moves_thresholds_and_says_what_is_missing(client, project):
    project.model.with_suffix(".json").unlink()
    assert "not at hand" in client.get("/edit").text
    assert "not at hand" in wait(client, client.post("/edit/preview", data={"kind": "drop", "memory": 0})).text
    apply(client, kind="threshold", memory=0, value=0.99)
    apply(client, kind="pin", memory=0)
    assert memclf.load(project.model).edits_.pinned


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"kind": "paint"}, "there is no edit called"),
        ({"kind": "threshold", "memory": "0"}, "lacks a number or has a bad one"),
        ({"kind": "threshold", "memory": "99", "value": "0.5"}, "there is no memory 99"),
        ({"kind": "threshold", "memory": "0", "value": "7"}, "a threshold must be a number in (0, 1]"),
        ({"kind": "add", "case": "4000"}, "there is no case 4000"),
    ],
)
def test_nonsense_says_what_is_wrong(client, form, said):
    shown = client.post("/edit/preview", data=form, headers={"X-Fragment": "1"})
    assert said in wait(client, shown).text


def test_a_case_is_found_by_the_end_of_its_name(client, project):
    found = client.get("/edit/find", params={"case": "red03"}, follow_redirects=False)
    assert found.headers["location"] == f"/edit/case/{project.data.rows['red/red03.png']}"
    assert "write more of the name" in client.get("/edit/find", params={"case": "3.png"}).text
    assert client.get("/edit/case/0").status_code == 200


def test_cases_that_change_sides_light_up_and_apply_does_the_same(tab, live):
    session = live.app.state.studio.session
    before = known(session)
    counts = np.bincount(session.held_out()[1].routes.nearest[before])
    memory = int(counts.argmax())
    tab.goto(f"/edit/memory/{memory}")
    tab.locator("#value").fill("1")
    tab.locator("#turning").get_by_text("become unknown").wait_for()
    lit = tab.locator("circle.turns[data-held='1']").count()
    assert lit == counts[memory]
    assert f"{lit} held-out case" in tab.locator("#turning").inner_text()
    tab.get_by_role("button", name="See the effect", exact=True).click()
    tab.get_by_label("Why").fill("a test")
    tab.get_by_role("button", name="Apply it").click()
    tab.get_by_text("“a test”").wait_for()
    assert int((before & ~known(session)).sum()) == lit
    tab.get_by_role("button", name="Undo").click()
    tab.get_by_text("Nothing yet.").wait_for()
    assert (known(session) == before).all()
