"""The memory classifiers beyond the paper's, as the studies set them up."""

from dataclasses import replace

import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GroupKFold

from memclf import MemoryClassifier, _settings
from memclf.local.competence import DETECTORS
from memclf.report.words import is_part
from memclf.similarity import RankSimilarity, TreeSimilarity
from memclf.studies import settings_for, study_for
from memclf.studies.models import _Maker
from memclf.studies.variants import ABLATION, CAREFUL, STURDY, graded_memories


@pytest.fixture(scope="module")
def maker(tmp_path_factory):
    settings = settings_for("leaf", n_train=60, n_test=10, folds=2)
    folder = tmp_path_factory.mktemp("models")
    study = study_for(settings)
    return _Maker(study, settings, study.train, folder, "vanilla", "efficientnet_lite0", 0, 0)


def test_every_variant_can_be_made_and_none_has_the_name_of_another(maker):
    names = [each.name for each in (STURDY, CAREFUL, *ABLATION)]
    assert len(set(names)) == len(names)
    for variant in (STURDY, CAREFUL, *ABLATION):
        clf = maker.variant(variant)
        _settings.check(clf)
        assert clf.cv == 2
        assert isinstance(clf.similarity, RankSimilarity if variant.graded else TreeSimilarity)
        assert clf.n_memories == (graded_memories(60) if variant.graded else None)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, [STURDY]),
        ({"sturdy": False}, []),
        ({"sturdy": False, "careful": True}, [CAREFUL]),
        ({"ablate": True}, [STURDY, *ABLATION]),
    ],
)
def test_a_study_trains_what_it_was_asked_for(maker, asked, expected):
    settings = replace(maker.settings, **asked)
    assert settings.learns == bool(expected)
    other = _Maker(maker.study, settings, maker.train, maker.place, "vanilla", "efficientnet_lite0", 0, 0)
    assert other._variants() == expected


def test_every_part_of_the_sturdy_one_is_tried_alone_and_taken_away():
    alone = [each.settings for each in ABLATION if each.name.startswith("+")]
    assert {each.get("competence") for each in alone} - {None} == set(DETECTORS)
    assert {name for each in alone for name in each} >= {*STURDY.settings, "crossfit", "views", "min_trust"}
    less = [each for each in ABLATION if each.name.startswith("sturdy-")]
    assert {each.name.removeprefix("sturdy-") for each in less} == {"graded", "product", "competence", "balance"}


def test_the_report_tells_the_parts_of_an_ablation_from_the_contenders():
    assert all(is_part(each.name) for each in ABLATION)
    assert not any(
        is_part(name) for name in ("sturdy", "careful", "memory", "memory-paper", "baseline", "stage1-sturdy")
    )


def test_a_study_without_degrees_keeps_its_similarity(maker):
    plain = replace(maker.study, graded=None)
    other = _Maker(plain, maker.settings, maker.train, maker.place, "vanilla", "efficientnet_lite0", 0, 0)
    assert isinstance(other.variant(STURDY).similarity, TreeSimilarity)
    assert other.variant(STURDY).combine == "product"


def test_networks_may_be_kept_elsewhere(maker, tmp_path):
    other = _Maker(
        maker.study, maker.settings, maker.train, maker.place, "vanilla", "efficientnet_lite0", 0, 0, networks=tmp_path
    )
    assert other._network().checkpoint == tmp_path
    assert maker._network().checkpoint != tmp_path


def test_lesions_of_one_face_are_never_on_both_sides_of_a_fold(tmp_path):
    settings = settings_for("acne", n_train=20, n_test=8)
    study = study_for(settings)
    lesions = _Maker(study, settings, study.train, tmp_path, "vanilla", "efficientnet_lite0", 0, 0)
    assert lesions.groups.tolist() == [row["face"] for row in study.train.info]
    clf = MemoryClassifier(study.similarity("robust"), DummyClassifier(), cv=GroupKFold(3), thresholds="conformal")
    lesions._kept("by face", clf)  # which this splitter refuses to cut without groups


def test_leaves_stand_for_themselves(maker):
    assert maker.groups is None
