"""Edits of a model folder: a log, an undo, and one whole model whatever happens in between."""

import itertools
import json
import os
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

import memclf
from memclf import MemoryClassifier, MemorySelector
from memclf.classifier import Edits
from memclf.exceptions import ModelFolderError, TrainingCasesError
from memclf.persist import inspect_folder, read_edits, save_edit, undo_edit
from memclf.persist.log import LOG, append_entry, read_log
from memclf.similarity import GowerSimilarity


@pytest.fixture(scope="module")
def stored_once(classifier, tmp_path_factory):
    return memclf.save(classifier, tmp_path_factory.mktemp("stored") / "model", training=True)


@pytest.fixture
def stored(stored_once, tmp_path):
    """A model with its training cases."""
    return shutil.copytree(stored_once, tmp_path / "stored")


def change(folder, edit, what="something", note=""):
    before = memclf.load(folder)
    save_edit(before, edit(before), folder, [what], note, {})


def number(folder):
    return len(memclf.load(folder).memory_indices_)


def test_save__training_cases__are_left_out_unless_they_are_asked_for(classifier, folder, stored, cases, same_answers):
    plain, whole = memclf.load(folder), memclf.load(stored)
    assert plain.training_ is None
    with pytest.raises(TrainingCasesError, match="needs the training cases"):
        plain.drop(0)
    np.testing.assert_array_equal(whole.training_.X, cases[0])
    same_answers(whole.drop(0), classifier.drop(0), cases[0])
    same_answers(plain.with_training(*_labelled(classifier)).drop(0), classifier.drop(0), cases[0])
    same_answers(
        whole.update(cases[0][:3], classifier.training_.y[:3]),
        classifier.update(cases[0][:3], classifier.training_.y[:3]),
        cases[0],
    )
    with pytest.raises(ValueError, match="this MemoryClassifier has no training cases to save"):
        memclf.save(plain, folder, training=True)
    with pytest.raises(ValueError, match="this MemorySelector has no training cases"):
        memclf.save(MemorySelector().fit(cases[0]), folder, training=True)


def _labelled(classifier):
    return classifier.training_.X, classifier.training_.y


def test_save__edited_classifier__keeps_what_was_decided_by_hand(classifier, tmp_path, queries, same_answers):
    edited = classifier.set_threshold(1, 0.75).pin(0).drop(2)
    again = memclf.load(memclf.save(edited, tmp_path / "model"))
    assert again.edits_ == edited.edits_
    np.testing.assert_array_equal(again.pool_.seeds, edited.pool_.seeds)
    same_answers(edited, again, queries)


def test_save__training_cases_in_a_table_with_words__come_back(tmp_path):
    table = pd.DataFrame({"a": [0.0, 0.1, 5.0, 5.1] * 4, "b": pd.Categorical(list("uvuu") * 4)})
    clf = MemoryClassifier(GowerSimilarity(), DummyClassifier(), 0.7).fit(table, list("xyxy") * 4)
    again = memclf.load(memclf.save(clf, tmp_path / "model", training=True))
    pd.testing.assert_frame_equal(again.training_.X, table)
    assert len(again.update(table[:1].assign(b=["w"]), ["x"]).labels_) == 17


def test_load__folder_of_the_format_before__has_no_edits(folder, tamper, queries, classifier, same_answers):
    manifest = tamper(folder).manifest
    manifest["format_version"] = 2
    for name in ("edits_", "training_"):
        del manifest["model"]["state"][name]
    del manifest["model"]["state"]["pool_"]["fields"]["seeds"]
    tamper(folder).write(manifest)
    old = memclf.load(folder)
    assert old.edits_ == Edits()
    same_answers(old, classifier, queries)
    assert old.set_threshold(0, 0.6).thresholds_[0] == 0.6
    assert len(old.with_training(*_labelled(classifier)).drop(0).memory_indices_) == 2
    assert inspect_folder(folder).edits == []


def test_edits__several__are_logged_and_undone_one_by_one(stored):
    before = (stored / "manifest.json").read_bytes()
    change(stored, lambda clf: clf.drop(2), "drop memory 2", "a blurred picture")
    assert number(stored) == 2
    change(stored, lambda clf: clf.set_threshold(0, 0.9), "threshold")
    assert memclf.load(stored).thresholds_[0] == 0.9
    assert memclf.load(stored).training_ is not None
    first, second = inspect_folder(stored).edits
    assert (first["what"], first["note"]) == (["drop memory 2"], "a blurred picture")
    assert (first["before"]["memories"], first["after"]["memories"]) == (3, 2)
    assert first["to"] == second["from"]
    assert undo_edit(stored)["what"] == ["threshold"]
    assert memclf.load(stored).thresholds_[0] == 0.5
    assert undo_edit(stored)["what"] == ["drop memory 2"]
    assert (stored / "manifest.json").read_bytes() == before
    assert number(stored) == 3
    with pytest.raises(ModelFolderError, match="there is no edit of .* to undo"):
        undo_edit(stored)
    assert [each["what"] for each in read_log(stored)] == [["drop memory 2"], ["threshold"], ["undo"], ["undo"]]
    assert sorted(path.name.split("-")[0] for path in stored.iterdir()) == [
        "MODEL_CARD.md",
        "data",
        LOG,
        "manifest.json",
    ]
    change(stored, lambda clf: clf.pin(0))
    undo_edit(stored)
    assert memclf.load(stored).edits_ == Edits()


def test_save__over_an_edited_model__starts_without_its_history(stored, classifier):
    change(stored, lambda clf: clf.drop(2))
    memclf.save(classifier, stored)
    assert read_log(stored) == []
    assert len(list(stored.iterdir())) == 3


@pytest.mark.parametrize("action", ["edit", "undo"])
def test_edits__failure_at_any_step__leaves_a_whole_model_that_can_be_undone(action, stored):
    change(stored, lambda clf: clf.pin(0))
    before = memclf.load(stored)
    after, numbers = before.drop(2), set()
    for step in itertools.count():
        count = itertools.count()

        def fail(real, step=step, count=count):
            def call(*args, **kwargs):
                if next(count) == step:
                    raise OSError("No space left on device")
                return real(*args, **kwargs)

            return call

        if action == "undo" and number(stored) == 3:
            save_edit(before, after, stored, ["drop"], "", {})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", fail(os.fsync))
            patch.setattr(os, "replace", fail(os.replace))
            try:
                save_edit(before, after, stored, ["drop"], "", {}) if action == "edit" else undo_edit(stored)
                failed = False
            except OSError:
                failed = True
        numbers.add(number(stored))
        if not failed:
            break
        if action == "edit" and number(stored) == 2:
            undo_edit(stored)
    assert step >= 4
    assert numbers == {2, 3}
    while number(stored) == 2:
        undo_edit(stored)
    assert memclf.load(stored).edits_.pinned == (int(before.memory_indices_[0]),)
    undo_edit(stored)
    assert memclf.load(stored).edits_ == Edits()


def test_log__hostile_or_unfinished_lines__are_left_out(stored):
    change(stored, lambda clf: clf.pin(0))
    entry = read_log(stored)[0]
    with open(stored / LOG, "a") as stream:
        stream.write(json.dumps({**entry, "from": "../../elsewhere", "to": "x"}) + "\n[1, 2]\n" + '{"time": "un')
    assert read_log(stored) == [entry]
    append_entry(stored, {**entry, "note": "next"})
    assert [each["note"] for each in read_log(stored)] == ["", "next"]
    assert memclf.load(undo_edit(stored) and stored).edits_ == Edits()


def test_undo__former_data_damaged__is_refused_and_nothing_changes(stored):
    change(stored, lambda clf: clf.drop(2))
    former = read_log(stored)[0]["from"]
    (stored / former / "arrays.npz").write_bytes(b"damaged")
    with pytest.raises(ModelFolderError, match=r"arrays.npz has 7 bytes"):
        undo_edit(stored)
    assert number(stored) == 2
    assert len(read_log(stored)) == 1


def test_read_edits__lists_those_that_stand(stored):
    assert read_edits(stored) == []
    change(stored, lambda clf: clf.pin(0), "pin", "why")
    change(stored, lambda clf: clf.set_threshold(0, 0.9), "threshold")
    assert [(each["what"], each["note"]) for each in read_edits(stored)] == [(["pin"], "why"), (["threshold"], "")]
    undo_edit(stored)
    assert [each["what"] for each in read_edits(stored)] == [["pin"]]
