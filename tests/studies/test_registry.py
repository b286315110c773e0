"""Every registered study, and what a new one needs."""

from dataclasses import replace

import pytest
from sklearn.base import BaseEstimator

from memclf.exceptions import StudyError
from memclf.report.published import FILE, read_published
from memclf.studies import SCALES, STUDIES, find_study, load_study, settings_for
from memclf.studies.published import table


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("scale", SCALES)
def test_settings_for__every_study_and_scale__is_valid(name, scale):
    settings = settings_for(name, scale)
    assert len(settings.corruptions) == (15 if (name, scale) == ("acne", "paper") else 18)
    assert settings.cells()[0] == (settings.recipes[0], settings.backbones[0])


@pytest.mark.parametrize("name", STUDIES)
def test_study__every_one__is_complete(name):
    study = STUDIES[name]
    assert study.name == name
    assert study.title
    assert study.question.endswith("?")
    assert study.feature_names[0] == "robust"
    for feature in study.feature_names:
        assert isinstance(study.features(feature), BaseEstimator)
        assert isinstance(study.similarity(feature), BaseEstimator)


@pytest.mark.parametrize("name", STUDIES)
def test_study_published__every_table__exists_in_the_report_s_order(name):
    kinds = [table(each).kind for each in STUDIES[name].published]
    assert kinds == [kind for kind in ("recipe", "backbone", "augmented") if kind in kinds]


def test_find_study__unknown_name__lists_the_known_ones():
    with pytest.raises(StudyError, match="there is no study 'cats'; the studies are color, leaf, acne"):
        find_study("cats")


def test_new_study__one_object_in_the_registry__has_settings_and_images(monkeypatch):
    colour = STUDIES["color"]
    mine = replace(
        colour,
        name="mine",
        other_names=(),
        scales={**colour.scales, "quick": {"epochs": 7, "n_train": 20, "n_test": 5}},
    )
    monkeypatch.setitem(STUDIES, "mine", mine)
    settings = settings_for("mine")
    assert (settings.study, settings.epochs) == ("mine", 7)
    assert len(load_study(settings).train) == 20


def test_read_published__folder_without_tables__is_empty(tmp_path):
    assert read_published(tmp_path) == []
    (tmp_path / FILE).write_text('{"tables": []}')
    assert read_published(tmp_path) == []
