"""A project: its data, labels, held-out cases and models."""

import numpy as np
import pytest

from memclf.exceptions import DataError
from memclf.studio import Project
from memclf.studio.project import LABEL, LEAVE_OUT


@pytest.fixture
def new(tmp_path):
    found = Project(tmp_path / "new")
    yield found
    found.close()


def test_a_folder_with_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("all of it")
    with pytest.raises(DataError, match="holds other things"):
        Project(tmp_path)


def test_data_that_cannot_be_read_leaves_the_project_as_it_is(new, pictures, tmp_path):
    new.set_data(pictures)
    with pytest.raises(DataError, match="there is no file or folder"):
        new.set_data(tmp_path / "nowhere")
    assert len(new.data) == 40


def test_a_project_that_is_opened_again_has_its_data(new, pictures):
    new.set_data(pictures)
    again = Project(new.folder)
    assert again.data.keys == new.data.keys
    again.close()


def test_a_fifth_of_each_class_is_held_out_whatever_else_there_is(new, pictures):
    new.set_data(pictures)
    fit, held = new.split()
    labels = new.labels
    assert sorted([*fit, *held]) == list(range(40))
    assert [int((labels[held] == label).sum()) for label in ("blue", "red")] == [4, 4]
    held_before = {new.data.keys[row] for row in held}
    new.log.append(LABEL, {"case": new.data.keys[fit[0]], "label": LEAVE_OUT})
    fit_after, held_after = new.split()
    assert fit[0] not in fit_after
    assert len(held_before & {new.data.keys[row] for row in held_after}) >= 4  # the other class is untouched


def test_a_corrected_label_counts_until_it_is_undone(new, pictures):
    new.set_data(pictures)
    event = new.log.append(LABEL, {"case": "red/red00.png", "label": "blue"})
    row = new.data.rows["red/red00.png"]
    assert new.labels[row] == "blue"
    new.log.undo(event.number)
    assert new.labels[row] == "red"


def test_pictures_without_classes_can_be_looked_at(new, pictures):
    new.set_data(pictures / "red")
    assert (len(new.data), new.data.target, new.labels) == (20, None, None)
    with pytest.raises(DataError, match="no labelled cases"):
        new.split()


def test_a_table_has_rows_for_keys(new, tmp_path):
    lines = ["age,weight,class"] + [f"{20 + i},{60 + i % 7},{'ab'[i % 2]}" for i in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    data = new.set_data(tmp_path / "t.csv")
    assert (data.kind, data.keys[:2], data.classes) == ("table", ["0", "1"], ["a", "b"])
    assert len(new.training().target) == 24


def test_texts_are_refused_with_a_way_out(new, tmp_path):
    lines = ["text,class"] + [f"the cat number {i} sat on the mat today,{'ab'[i % 2]}" for i in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(DataError, match="Write numbers about each text"):
        new.set_data(tmp_path / "t.csv")


def test_a_model_from_elsewhere_is_copied(new, project):
    folder = new.take_model(project.model)
    assert (folder.parent, new.model) == (new.models, folder)
    with pytest.raises(DataError, match="no model folder"):
        new.take_model(new.folder / "nothing")


def test_the_session_knows_the_training_cases_of_its_model(client):
    session = client.app.state.studio.session
    clf, rows = session.classifier, session.rows
    assert clf.training_ is not None
    assert np.array_equal(np.unique(rows), rows)
    assert len(rows) == len(clf.labels_) == 32
    held, answers = session.held_out()
    assert len(held.target) == len(answers.labels) == 8
