"""The sentence of an explanation: which memory, how similar, what is unmet, and what answered."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from explain.models import DRIFTED, DRIFTING, FAR, NAMES, USUAL, X, fit_flowers, fit_parts, most_probable, y
from memclf import MemoryClassifier
from memclf.answers import ProductAnswer
from memclf.explain.sentences import UNMET, find_unmet
from memclf.similarity import RBFSimilarity

# ------------------------------------------------------------------------------------------------ the paper's rule


def test_the_sentence_says_why_this_answer():
    item = fit_flowers().explain(X[75:76])[0]
    assert item.sentence.startswith(f"Answer {item.answer!r}: most like memory {item.memory} (training case")
    assert f"similarity {item.similarity:.3f}, threshold 0.500" in item.sentence
    assert "GaussianNB says so with probability" in item.sentence
    assert "its cluster holds" in item.sentence


def test_the_sentence_of_a_constant_says_that_all_cases_are_of_one_class():
    item = fit_flowers().explain(X[:1])[0]
    assert item.origin == "constant"
    assert f"all {item.cluster_size} cases of its cluster are 'setosa'" in item.sentence


@pytest.mark.parametrize(
    ("fallback", "by", "sentence"),
    [
        ("unknown", "none", "Unknown: the most similar memory is memory"),
        ("global", "fallback", "by the fallback, GaussianNB"),
        (DecisionTreeClassifier(random_state=0), "fallback", "by the fallback, DecisionTreeClassifier"),
        ("nearest", "nearest", "which is not enough"),
    ],
)
def test_the_sentence_says_what_answers_when_no_threshold_is_met(fallback, by, sentence):
    item = fit_flowers(fallback=fallback).explain(FAR)[0]
    assert not item.known
    assert item.answered_by == by
    assert sentence in item.sentence
    assert (item.probabilities is None) == (fallback == "unknown")


@pytest.mark.parametrize(
    ("least", "origin", "words"),
    [
        (45, "merged", "shares a classifier with the cluster of another memory"),
        (1000, "handed to global", "so the global one answers"),
    ],
)
def test_the_sentence_says_when_a_cluster_has_no_classifier_of_its_own(least, origin, words):
    clf = fit_flowers(min_cluster_size=least)
    shared = clf.pool_.origins.index(origin)
    item = clf.explain(clf.memories_[[shared]])[0]
    assert item.origin == origin
    assert words in item.sentence


def test_a_memory_classifier_inside_a_memory_classifier_may_answer_unknown():
    inner = MemoryClassifier(RBFSimilarity(50.0), GaussianNB(), 0.9, random_state=0)
    clf = MemoryClassifier(RBFSimilarity(0.05), inner, 0.3, random_state=0).fit(X, NAMES[y])
    item = clf.explain(X[100:101] + 0.2)[0]
    assert (item.known, item.answer) == (True, "unknown")
    assert item.sentence.startswith("Answer 'unknown'")


def test_sentence__more_similar_memory_with_unmet_threshold__is_said():
    """Under the paper's prose, a memory answers though another one is more similar."""
    settings = {"rule": "check_then_argmax", "n_memories": 4}
    rows = fit_flowers(**settings).memory_indices_.tolist()
    clf = fit_flowers(**settings, thresholds=dict(zip(rows, [1.0, 1e-9, 1.0, 1.0], strict=True)))
    item = next(item for item in clf.explain(X) if item.margin < 0)
    assert item.known
    assert f"most like, of those whose threshold is met, memory {item.memory}" in item.sentence


class Doubting(RBFSimilarity):
    """Does not trust its descriptions of flowers with short petals."""

    def trust(self, A):
        return (np.asarray(A)[:, 2] > 2).astype(float)


@pytest.mark.parametrize("fallback", ["unknown", "global", "nearest"])
def test_sentence__description_not_trusted__is_said(fallback):
    clf = fit_flowers(similarity=Doubting(0.3), min_trust=0.5, fallback=fallback)
    item = clf.explain(X[:1])[0]
    assert not item.trusted
    assert find_unmet(item) == "trust"
    assert f">{UNMET['trust']}<" in item._repr_html_()
    assert "do not trust" in item.sentence
    assert find_unmet(clf.explain(X[100:101])[0]) in ("", "similarity")


# ------------------------------------------------------------------------------------------------------ the product


def test_sentence__labels_answered_alone__is_said():
    for item in fit_parts(answer=ProductAnswer(balance=0.0)).explain(DRIFTED):
        assert (item.answered_by, item.classifier, item.evidence) == ("labels", "labels", ())
        assert item.local_classifier == "LogisticRegression"
        assert item.share == pytest.approx(0, abs=0.005)
        assert item.row()["answered_by"] == "labels"
        assert item.competence == pytest.approx(1 / 501)
        assert (item.as_strange, item.held_out) == (0, 500)
        assert item.answer == most_probable(item.unbalanced)
        assert "does not count" in item.sentence
        assert f"{item.answer!r} ({item.unbalanced[item.answer]:.2f})" in item.sentence


def test_sentence__classifier_faded__is_said_where_it_matters():
    clf = fit_parts(answer=ProductAnswer(balance=0.0))
    shown = clf.explain(DRIFTING)
    fade = np.exp(
        -clf.answer_.calibration_.excess(
            clf.answer_._strangeness(clf._parts, clf._cases(DRIFTING), clf.route(DRIFTING))
        )
    )
    np.testing.assert_allclose([item.share for item in shown], fade)
    for item in (item for item in shown if item.answered_by == "memory"):
        overturned = item.answer != most_probable(item.local) and item.share <= 0.995
        said = "the classifier counts for less" in item.sentence
        assert said == (overturned or item.share < 0.5)


def test_sentence__no_competence__the_classifier_counts_fully():
    for item in fit_parts(answer=ProductAnswer(competence=None, balance=0.0)).explain(DRIFTED):
        assert item.share == pytest.approx(1.0)
        assert item.answered_by == "memory"
        assert item.competence is None
        assert "competence" not in item.row()
        assert ", together " in item.sentence


def test_sentence__part_without_power__is_not_named():
    clf = fit_parts(answer=ProductAnswer(competence=None, balance=0.0))
    clf.answer_.weights_ = np.array([1.0, 0.0, 0.0, 3.0])
    shown = clf.explain(USUAL)
    assert not any("labels" in item.sentence or "together" in item.sentence for item in shown)
    turned = [item for item in shown if item.answer != most_probable(item.local)]
    assert turned
    for item in turned:
        chance = item.probabilities[item.answer]
        assert f", in view of how common the classes are {item.answer!r} ({chance:.2f})" in item.sentence
    clf.answer_.weights_ = np.array([0.0, 0.0, 1.0, 0.0])
    for item in clf.explain(USUAL):
        assert item.answered_by == "labels"
        assert "on held-out cases it did not help" in item.sentence


@pytest.mark.parametrize("competence", [None, "mahalanobis"])
def test_sentence__rare_classes_weighed_up__is_said(competence):
    shown = fit_parts(answer=ProductAnswer(competence, balance=1.0)).explain(USUAL)
    for item in shown:
        still = "still " if item.answer == item.outcome else ""
        chance = item.probabilities[item.answer]
        assert item.sentence.endswith(f"; rare classes weighed up, balance 1: {still}{item.answer!r} ({chance:.2f}).")
    changed = [item for item in shown if item.answer != item.outcome]
    assert changed
    assert all(f"{item.outcome!r} " in item.sentence for item in changed)


def test_sentence__case_too_strange__is_not_called_known():
    clf = fit_parts(answer=ProductAnswer(balance=0.0), unknown_rate=0.05)
    shown = clf.explain(np.vstack([USUAL[:20], DRIFTED]))
    assert {item.answered_by for item in shown[20:]} == {"none"}
    for item in shown:
        assert item.known == item.row()["known"] == (item.answer != -1)
        assert (find_unmet(item) == "") == item.known
    declined = [item for item in shown if item.similarity >= item.threshold and not item.known]
    assert declined
    for item in declined:
        assert (item.share, item.labels_share, find_unmet(item)) == (0, 0, "strangeness")
        assert "but the case is strange to its classifier (competence" in item.sentence


def test_sentence__nearest_memory_answers_for_strange_cases__is_said():
    clf = fit_parts(answer=ProductAnswer(balance=0.0), unknown_rate=0.05, fallback="nearest")
    near = [item for item in clf.explain(DRIFTED) if item.similarity >= item.threshold]
    assert near
    for item in near:
        assert "though the case is too strange to its classifier; the labels" in item.sentence
        assert "which is not enough" not in item.sentence


def test_contradiction__answer_unlike_the_cluster__is_said():
    found = fit_flowers().explain(X)
    against = [item for item in found if item.contradiction]
    for item in found:
        most = max(item.cluster_classes.values())
        assert bool(item.contradiction) == (item.known and item.cluster_classes[item.answer] < most)
    assert 0 < len(against) < len(found)
    counts = against[0].cluster_classes
    assert f"{max(counts.values())} of its {against[0].cluster_size} training cases are" in against[0].contradiction
    assert against[0].contradiction in str(against[0])
