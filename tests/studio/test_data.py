"""The page Data."""

import shutil

import numpy as np
import pytest

from memclf.studio import Project
from memclf.studio.teaching import Teacher


def test_data_lists_classes_and_pictures(client):
    page = client.get("/data").text
    assert "40 pictures of 2 classes" in page
    assert "red · 20" in page
    assert client.get("/thumbnail/0").headers["content-type"] == "image/jpeg"


@pytest.mark.parametrize("address", ["/thumbnail/40", "/thumbnail/-1", "/picture/999"])
def test_a_picture_that_is_not_there_is_an_error(client, address):
    assert client.get(address).status_code == 422


def test_the_data_page_looks_at_all_pictures(tab):
    tab.goto("/data")
    tab.get_by_role("button", name="Look at all pictures").click()
    tab.get_by_text("All can be read.").wait_for(timeout=60_000)
    assert tab.locator(".wall img").count() == 40


def test_without_data_the_page_says_what_to_do(chromium, tmp_path, project):
    assert Project(tmp_path / "new").data is None


@pytest.fixture
def own_folder(pictures, project, tmp_path):
    """The pictures in a folder of the test's own, which the project reads."""
    folder = tmp_path / "pictures"
    shutil.copytree(pictures, folder)
    project.set_data(folder)
    return folder


def test_a_file_that_sorts_first_moves_no_picture_to_another_case(client, project, own_folder):
    session = client.app.state.studio.session
    before = [project.data.keys[row] for row in session.rows]
    shutil.copy(own_folder / "red" / "red00.png", own_folder / "blue" / "aaa.png")
    project.forget_data()
    assert project.data.keys[0] == "blue/aaa.png"
    assert [project.data.keys[row] for row in session.rows] == before
    assert client.get("/thumbnail/0").headers["cache-control"] == "no-cache"  # a browser must not show the old row 0
    assert client.get("/memories").status_code == 200


def test_other_data_and_back__the_model_has_its_training_cases_again(client, project, pictures, tmp_path):
    session = client.app.state.studio.session
    assert session.rows is not None
    shutil.copytree(pictures / "red", tmp_path / "other" / "red")
    project.set_data(tmp_path / "other")
    assert session.rows is None
    project.set_data(pictures)
    assert session.rows is not None


def test_a_teacher_forgets_pictures_of_other_data(project, own_folder, tmp_path):
    teacher = Teacher(project)
    before, _ = teacher.masks(0, 48)
    shutil.copytree(own_folder / "red", tmp_path / "other")
    project.set_data(tmp_path / "other")
    after, _ = teacher.masks(0, 48)
    teacher.work.close()
    assert not np.array_equal(before, after)
    assert np.array_equal(after, project.data.cases[0])


@pytest.mark.parametrize("path", ["", "   ", "x" * 5000, "/nowhere/at/all"])
def test_a_path_that_is_none_is_a_sentence(client, path):
    answer = client.post("/data", data={"path": path})
    assert answer.status_code == 422
    assert "40 pictures" in client.get("/data").text
