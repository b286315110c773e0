"""The memory classifiers beyond the paper's, as the studies set them up."""

from dataclasses import replace

import pytest

from memclf.classifier.constraints import check_settings
from memclf.evaluate.verdict import is_part
from memclf.similarity import RankSimilarity, TreeSimilarity
from memclf.studies import find_study, settings_for
from memclf.studies.leaf import graded_memories
from memclf.studies.variants import ABLATION, CAREFUL, STURDY, asked_variants, make_variant
from memclf.vision import ImageClassifier

LEAF = find_study("leaf")
SETTINGS = settings_for("leaf", n_train=60, n_test=10, folds=2)


def make(variant, study=LEAF):
    return make_variant(variant, study, ImageClassifier(), SETTINGS, seed=0, n_train=60)


def test_variants__names__differ():
    names = [each.name for each in (STURDY, CAREFUL, *ABLATION)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("variant", [STURDY, CAREFUL, *ABLATION], ids=lambda each: each.name)
def test_make_variant__every_variant__has_valid_parameters(variant):
    clf = make(variant)
    clf._validate_params()
    check_settings(clf.get_params(deep=False))
    assert clf.cv == 2
    assert isinstance(clf.similarity, RankSimilarity if variant.graded else TreeSimilarity)
    assert clf.n_memories == (graded_memories(60) if variant.graded else None)


def test_make_variant__study_without_degrees__keeps_its_similarity():
    clf = make(STURDY, replace(LEAF, graded=None))
    assert isinstance(clf.similarity, TreeSimilarity)
    assert all(getattr(clf, name) == value for name, value in STURDY.parameters.items())


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, ["sturdy", "auto"]),
        ({"sturdy": False}, []),
        ({"sturdy": False, "careful": True}, ["careful"]),
        ({"ablate": True}, ["sturdy", "auto", *[each.name for each in ABLATION]]),
    ],
)
def test_asked_variants__settings__name_what_is_trained(asked, expected):
    settings = replace(SETTINGS, **asked)
    assert settings.uses_folds == bool(expected)
    assert [each.name for each in asked_variants(settings)] == expected


@pytest.mark.parametrize("metric", ["both", "accuracy"])
def test_asked_variants__metric__is_what_auto_is_judged_by(metric):
    _, auto = asked_variants(replace(SETTINGS, metric=metric))
    assert auto.parameters["answer"].metric == metric


def test_ablation__parts_of_sturdy__are_tried_alone_and_left_out():
    alone = [each.name for each in ABLATION if each.name.startswith("+")]
    less = [each.name for each in ABLATION if each.name.startswith("sturdy-")]
    assert alone == ["+product", "+trust", "+graded"]
    assert less == ["sturdy-graded", "sturdy-competence", "sturdy-balance"]


def test_ablation__names__are_parts_for_the_report():
    assert all(is_part(each.name) for each in ABLATION)
    assert not any(is_part(name) for name in ("sturdy", "careful", "memory", "memory-paper", "stage1-sturdy"))
