"""The page Data."""

import pytest

from memclf.studio import Project


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
