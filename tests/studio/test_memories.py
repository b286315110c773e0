"""The page Memories."""

import re

import numpy as np

from memclf.studio import Project
from memclf.studio.clusters import CHECKED, check_cluster
from memclf.studio.holding import answer_held_out
from memclf.studio.project import LABEL
from memclf.studio.session import Session


def test_the_wall_shows_every_memory_with_its_cluster_and_held_out_cases(client, project):
    page = client.get("/memories").text
    session = Session(project)
    clf = session.classifier
    assert page.count('<li><a class="tile" href="/memories/') == len(clf.memory_indices_)
    held, answers = session.held_out()
    inside = [(int(right), int(all_)) for right, all_ in re.findall(r"(\d+) of (\d+) right", page)]
    assert sum(each for _, each in inside) == answers.routes.known.sum()
    assert sum(each for each, _ in inside) == (answers.routes.known & (answers.labels == held.target)).sum()


def test_a_memory_shows_its_cluster_from_most_to_least_alike(client, project):
    clf = Session(project).classifier
    page = client.get("/memories/0").text
    cluster = page[page.index('id="cluster"') :]
    shown = [float(each) for each in re.findall(r"<span>(\d\.\d{3})</span>", cluster)]
    own = np.sort(clf.search_result_.similarity[clf.labels_ == 0])[::-1]
    np.testing.assert_allclose(shown, own[1:], atol=0.001)
    assert cluster.count("the memory") == 1


def test_a_memory_that_is_not_there_is_an_error(client):
    assert client.get("/memories/99").status_code == 422


def test_held_out_answers_of_a_job_are_those_of_the_session(project):
    state, rows, answers = answer_held_out(project.folder, ())
    session = Session(project)
    session.keep_held_out(state, rows, answers)
    assert session.has_held_out()
    assert session.held_out()[1] is answers
    session.forget()
    session.keep_held_out("another state", rows, answers)
    assert not session.has_held_out()


def find_doubtful(client):
    """A memory with a label to look at again, and the row of the case."""
    studio = client.app.state.studio
    rows = studio.session.rows
    for memory in range(len(studio.session.classifier.memory_indices_)):
        found = check_cluster(studio.session, memory)
        if len(found.doubtful):
            return memory, int(rows[found.rows[found.doubtful[0]]])
    raise AssertionError("no label is doubtful")


def test_a_wrong_label_is_found_corrected_and_brought_back(table_client):
    client, project = table_client, table_client.app.state.studio.project
    memory, row = find_doubtful(client)
    assert row in (6, 9)
    address, case = f"/memories/{memory}/labels", project.data.keys[row]
    assert "This label is wrong" in client.get(address).text
    other = next(each for each in project.data.classes if each != project.labels[row])
    found = client.post(address, data={"row": row, "decision": "wrong", "label": other}).text
    assert "is now" in found
    assert f'name="row" value="{row}"' not in found
    assert project.log.last(LABEL).about == {"case": case, "label": other}
    assert project.labels[row] == other
    number = project.log.last(LABEL).number
    assert f'name="row" value="{row}"' in client.post(f"/memories/{memory}/undo", data={"event": number}).text
    assert project.labels[row] != other


def test_a_label_can_be_right_and_a_case_left_out(table_client):
    client, project = table_client, table_client.app.state.studio.project
    memory, row = find_doubtful(client)
    address = f"/memories/{memory}/labels"
    assert "is right" in client.post(address, data={"row": row, "decision": "right"}).text
    assert project.log.last(CHECKED).about == {"case": project.data.keys[row]}
    client.post(address, data={"row": row, "decision": "out"})
    assert project.labels[row] == ""
    assert row not in np.concatenate(project.split())


def test_a_class_that_is_none_is_refused(table_client):
    memory, row = find_doubtful(table_client)
    answer = table_client.post(
        f"/memories/{memory}/labels", data={"row": row, "decision": "wrong", "label": "nonsense"}
    )
    assert answer.status_code == 422
    assert table_client.app.state.studio.project.log.last(LABEL) is None


def test_hostile_names_are_shown_as_text(table_client):
    for address in (
        "/memories",
        "/memories/0",
        "/memories/0/labels",
        "/why",
        "/why/case/0",
        "/unknown",
        "/unknown/groups",
    ):
        page = table_client.get(address).text
        assert "<img src=x" not in page
        assert "<b>colour" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in table_client.get("/memories").text


def test_without_a_model_the_page_says_where_to_fit_one(tmp_path):
    from fastapi.testclient import TestClient

    from memclf.studio import create_studio

    with TestClient(create_studio(Project(tmp_path / "new")), base_url="http://localhost") as client:
        for address in ("/memories", "/why", "/unknown"):
            answer = client.get(address)
            assert answer.status_code == 409
            assert "/numbers" in answer.text


def test_the_wall_leads_to_a_memory_whose_labels_are_compared(tab):
    tab.goto("/memories")
    tab.locator("a.tile").first.click()
    tab.get_by_role("heading", name="Its cluster, from most to least alike").wait_for()
    tab.locator("#labels [role=status], #labels .doubt").first.wait_for()
    tab.get_by_text("Comparing labels …").wait_for(state="detached")
    tab.keyboard.press("n")
    tab.wait_for_url("**/memories/1")
