"""The page Unknown."""

import re

import numpy as np
import pytest

from memclf.exceptions import DataError
from memclf.studio import Project, inbox
from memclf.studio.added import ADDED
from memclf.studio.inbox import INBOX, UNKNOWN, answer_source, decide, find_groups, list_items, read_source, take_back
from memclf.studio.project import DATA
from memclf.studio.session import Session
from memclf.vision.files import encode_png


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A folder with four yellow squares and a white one, of which no model knows, and a broken file."""
    folder, rng = tmp_path_factory.mktemp("odd") / "<i>new", np.random.default_rng(3)
    folder.mkdir()
    for number, colour in enumerate([(230, 220, 20)] * 4 + [(250, 250, 250)]):
        image = rng.integers(110, 150, (48, 48, 3), dtype=np.uint8)
        image[10:36, 10:36] = np.clip(colour + rng.normal(0, 3, 3), 0, 255)
        (folder / f"odd{number}.png").write_bytes(encode_png(image))
    (folder / "broken.png").write_bytes(b"nothing")
    return folder


@pytest.fixture(scope="module")
def answered(fitted, odd, tmp_path_factory):
    """The fitted project whose inbox has looked through the folder."""
    import shutil

    folder = tmp_path_factory.mktemp("answered") / "project"
    shutil.copytree(fitted, folder)
    project = Project(folder)
    project.log.append(INBOX, {"path": str(odd)})
    found = answer_source(folder, str(odd), ())
    assert found["cases"] == 5
    project.close()
    return folder


@pytest.fixture
def project(answered, tmp_path):
    """A copy of it, to be changed; `client` and `tab` are about it, too."""
    import shutil

    shutil.copytree(answered, tmp_path / "project")
    found = Project(tmp_path / "project")
    yield found
    found.close()


def names(groups):
    return [sorted(item.key for item, _ in group) for group in groups]


def look(session):
    return find_groups(session, list_items(session, session.held_out()))


def test_cases_that_no_memory_claims_are_grouped_by_likeness(project):
    groups = names(look(Session(project)))
    assert ["odd0.png", "odd1.png", "odd2.png", "odd3.png"] in groups
    assert not [group for group in groups if "odd4.png" in group and len(group) > 1 and "odd0.png" in group]


def test_a_case_that_becomes_a_memory_claims_its_group_and_can_be_taken_back(project):
    session = Session(project)
    event, n = project.log.last(INBOX), len(project.data)
    items = [each for each in read_source(session, event.number, event.about["path"]) if each.key != "odd4.png"]
    before = session.classifier
    done = decide(session, items, "memory", label="red")
    with pytest.raises(DataError, match="decided already"):  # as by a second click
        decide(session, items, "memory", label="red")
    assert len(session.classifier.memory_indices_) == len(before.memory_indices_) + 1
    assert len(project.data) == n + 1
    assert project.labels[-1] == "red"
    assert not [group for group in names(look(session)) if "odd0.png" in group]
    again = Session(Project(project.folder))  # as after another start
    assert again.rows is not None
    assert len(again.rows) == len(session.rows)
    assert again.rows[-1] == n
    take_back(session, done.number)
    assert len(project.data) == n
    assert project.log.last(ADDED) is None
    assert len(session.classifier.memory_indices_) == len(before.memory_indices_)
    assert [group for group in names(look(session)) if "odd0.png" in group]


def test_the_same_as_a_memory_lowers_its_threshold_just_enough(project):
    session = Session(project)
    groups = look(session)
    item, way = min(
        (each for group in groups for each in group), key=lambda each: each[1].threshold - each[1].similarity
    )
    if way.similarity <= 2 * inbox.CLOSE or not way.familiar:
        pytest.skip("no case is nearly like a memory")
    before = session.classifier.thresholds_[way.nearest]
    done = decide(session, [item], "same as", way.nearest)
    after = session.classifier.thresholds_[way.nearest]
    assert way.similarity - 1e-5 < after <= way.similarity < before
    assert item.name not in [each.name for group in look(session) for each, _ in group]
    take_back(session, done.number)
    assert session.classifier.thresholds_[way.nearest] == pytest.approx(before)


def test_a_memory_that_is_not_the_nearest_cannot_claim_a_case(project):
    session = Session(project)
    item, way = look(session)[0][0]
    other = (way.nearest + 1) % len(session.classifier.memory_indices_)
    with pytest.raises(ValueError, match=r"more like|nothing in common"):
        decide(session, [item], "same as", other)
    assert project.log.last(UNKNOWN) is None


def test_really_unknown_cases_leave_the_inbox_and_come_back(client, project):
    shown = client.get("/unknown/groups").text
    cases = re.findall(r'name="cases" value="([^"]*odd4[^"]*)"', shown)
    import html

    found = client.post(
        "/unknown/decide", data={"cases": [html.unescape(each) for each in cases], "decision": "unknown"}
    )
    assert "really unknown" in found.text
    assert 'value="' + cases[0] + '"' not in found.text
    number = project.log.last(UNKNOWN).number
    assert cases[0] in client.post("/unknown/undo", data={"event": number}).text
    assert client.post("/unknown/undo", data={"event": number}).status_code == 422


@pytest.mark.parametrize(
    "sent",
    [
        {"cases": ["data:nothing"], "decision": "unknown"},
        {"cases": [], "decision": "unknown"},
        {"decision": "memory", "label": "neither"},
        {"decision": "nonsense"},
    ],
)
def test_decisions_that_make_no_sense_change_nothing(client, project, sent):
    session = client.app.state.studio.session
    sent = {"cases": [look(session)[0][0][0].name]} | sent
    before = len(project.log.all())
    assert client.post("/unknown/decide", data=sent).status_code == 422
    assert len(project.log.all()) == before


def test_pictures_of_a_source_are_shown_and_nothing_else(client, project):
    source = project.log.last(INBOX).number
    assert client.get(f"/unknown/picture/{source}/1").headers["content-type"] == "image/jpeg"
    assert "Unknown" in client.get(f"/unknown/case/{source}/1").text
    for address in (f"/unknown/picture/{source}/99", "/unknown/picture/0/0", f"/unknown/picture/{source}/-1"):
        assert client.get(address).status_code == 422


def test_a_path_that_is_not_there_is_an_error(client, project):
    before = len(project.log.all())
    assert client.post("/unknown/add", data={"path": "/no/such/folder"}).status_code == 422
    assert len(project.log.all()) == before


def test_a_source_can_be_taken_out(client, project):
    source = project.log.last(INBOX).number
    client.post("/unknown/remove", data={"event": source})
    assert "odd0.png" not in client.get("/unknown/groups").text
    assert client.post("/unknown/remove", data={"event": project.log.last(DATA).number}).status_code == 422


def test_a_row_of_a_table_becomes_a_memory(table_client, tmp_path):
    studio = table_client.app.state.studio
    path = tmp_path / "more.csv"
    path.write_text("size,<b>colour</b>,kind\n90,-70,c\n5,5,b\n")
    studio.project.log.append(INBOX, {"path": str(path)})
    answer_source(studio.project.folder, str(path), ())
    session = studio.session
    items = read_source(session, studio.project.log.last(INBOX).number, str(path))
    assert [each.place for each in items] == [0]
    done = decide(session, items, "memory", label="plain")
    assert studio.project.data.cases["size"].iloc[-1] == 90
    assert Session(studio.project).rows is not None
    take_back(session, done.number)
    assert len(studio.project.data) == 60


def test_a_group_becomes_a_memory_in_the_browser_and_is_undone(tab, project):
    tab.goto("/unknown")
    group = tab.locator("form.group", has_text="odd0.png")
    group.wait_for()
    assert "<i>new" in group.inner_text()
    group.get_by_label("It is a case of").select_option("blue")
    group.get_by_role("button", name="Make this a memory").click()
    tab.get_by_text("a new memory, blue").wait_for()
    assert not tab.locator("form.group", has_text="odd0.png").count()
    tab.get_by_role("button", name="Undo").click()
    tab.locator("form.group", has_text="odd0.png").wait_for()
