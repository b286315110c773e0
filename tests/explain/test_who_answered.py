"""Explanations where the memory's classifier need not have the last word: they say who answered, and why."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from memclf import MemoryClassifier
from memclf.similarity import RankSimilarity


def parts(n, seed, drift=0.0):
    """Wear, which survives the drift, and ten sensors, which do not; three grades."""
    rng = np.random.default_rng(seed)
    wear = rng.random(n)
    grade = np.digitize(wear + rng.normal(0, 0.15, n), [0.3, 0.8])
    sensors = grade[:, None] * np.linspace(1, 2, 10) + rng.normal(0, 2.5, (n, 10)) + drift
    return np.column_stack([wear, sensors]), grade


def wear_of(A):
    return A[:, :1]


def sensors_of(A):
    return A[:, 1:]


def nudged(A, number):
    return A + 0.02 * number * (np.arange(11) == 0)


def fitted(**settings):
    return MemoryClassifier(
        RankSimilarity(features=FunctionTransformer(wear_of)),
        make_pipeline(FunctionTransformer(sensors_of), StandardScaler(), LogisticRegression()),
        n_memories=8,
        min_cluster_size=40,
        random_state=0,
        **settings,
    ).fit(*parts(500, 0))


USUAL, DRIFTING, DRIFTED = parts(150, 1)[0], parts(150, 2, 1.5)[0], parts(30, 3, 30.0)[0]


def top(chances):
    return max(chances, key=chances.get)


@pytest.mark.parametrize(("guard", "combine"), [("hard", "local"), ("soft", "local"), ("soft", "product")])
def test_labels_that_answered_alone_are_said_to_have(guard, combine):
    clf = fitted(competence="mahalanobis", guard=guard, combine=combine)
    for item in clf.explain(DRIFTED):
        assert (item.answered_by, item.classifier, item.evidence) == ("labels", "labels", ())
        assert item.local_classifier == "LogisticRegression"
        assert item.share == pytest.approx(0, abs=0.005)
        assert item.answer == top(item.labels)
        np.testing.assert_allclose(list(item.probabilities.values()), list(item.labels.values()), atol=0.05)
        assert f"answer alone, {item.answer!r}" in item.sentence
        said = top(item.local)
        assert f"its LogisticRegression, which would say {said!r} ({item.local[said]:.2f}), does not" in item.sentence
        assert "does not count, since the case is strange to it (competence 0.002: 0 of 500 held-out" in item.sentence
        assert "together" not in item.sentence
        assert item.row()["answered_by"] == "labels"


@pytest.mark.parametrize(
    "settings",
    [
        {"balance": 0.5},
        {"views": 2, "perturb": nudged},
        {"competence": "mahalanobis", "guard": "hard"},
        {"competence": "mahalanobis"},
    ],
    ids=lambda settings: ", ".join(settings),
)
def test_labels_that_have_no_part_in_the_answer_are_not_said_to_have_one(settings):
    # What is less strange than half of the held-out cases; at the very half, the two middle ones may lie apart.
    alone = [item for item in fitted(**settings).explain(USUAL) if item.competence is None or item.competence > 0.51]
    assert len(alone) > 50
    for item in alone:
        assert (item.answered_by, item.classifier, item.share) == ("memory", "LogisticRegression", 1.0)
        assert item.labels_share == 0
        assert item.outcome == top(item.local)
        assert "labels" not in item.sentence
        assert "together" not in item.sentence
        said = "so" if item.answer == item.outcome else repr(item.outcome)
        assert f"{said} with probability {item.local[item.outcome]:.2f}" in item.sentence


def test_views_have_several_classifiers():
    item = fitted(views=2, perturb=nudged).explain(USUAL[:1])[0]
    shown = f"2 mild views of it (similarity {item.steadiness:.2f} to it)"
    assert f"; the classifiers of the memories that it and {shown} go to say so with probability" in item.sentence
    assert item.row()["steadiness"] == item.steadiness


def test_labels_that_overturn_the_classifier_step_by_step_are_given_a_reason():
    shown = fitted(competence="mahalanobis").explain(DRIFTING)
    mixed = [item for item in shown if 0.005 <= item.share <= 0.995]
    for item in mixed:
        expected = [item.share * item.local[c] + (1 - item.share) * item.labels[c] for c in item.labels]
        np.testing.assert_allclose(list(item.probabilities.values()), expected)
        assert item.answered_by == "memory"
        assert f", together {item.answer!r}" in item.sentence
        strange = "strange to it" if item.competence < 0.05 else "stranger to it than usual"
        why = f"the classifier counts for {100 * item.share:.0f} %, since the case is {strange} (competence "
        assert why in item.sentence
    assert any(item.answer != top(item.local) and item.competence > 0.05 for item in mixed)


def test_a_factor_that_is_faded_is_given_a_reason_where_it_matters():
    clf = fitted(competence="mahalanobis", combine="product")
    shown = clf.explain(DRIFTING)
    fade = np.exp(-clf.calibration_.excess(clf.strangeness(DRIFTING)))
    np.testing.assert_allclose([item.share for item in shown], fade)
    for item in (item for item in shown if item.answered_by == "memory"):
        overturned = item.answer != top(item.local) and item.share <= 0.995
        told = "the classifier counts for less, since the case is strange" in item.sentence
        assert told == (overturned or item.share < 0.5)


def test_a_product_that_nobody_guards_counts_the_classifier_fully():
    for item in fitted(combine="product").explain(DRIFTED):
        assert item.share == pytest.approx(1.0)
        assert item.answered_by == "memory"
        assert ", together " in item.sentence


def test_a_product_names_only_those_that_have_learned_weights():
    clf = fitted(combine="stacked")
    clf.combination_ = replace(clf.combination_, weights=np.array([1.0, 0.0, 0.0, 3.0]))
    shown = clf.explain(USUAL)
    assert not any("labels" in item.sentence or "together" in item.sentence for item in shown)
    turned = [item for item in shown if item.answer != top(item.local)]
    assert turned
    for item in turned:
        chance = item.probabilities[item.answer]
        assert f", in view of how common the classes are {item.answer!r} ({chance:.2f})" in item.sentence
    clf.combination_ = replace(clf.combination_, weights=np.array([0.0, 0.0, 1.0, 0.0]))
    for item in clf.explain(USUAL):
        assert item.answered_by == "labels"
        assert "does not count, since on held-out cases it did not help" in item.sentence


@pytest.mark.parametrize("more", [{}, {"competence": "mahalanobis"}, {"combine": "product"}], ids=str)
def test_rare_classes_that_were_weighed_up_are_told_of(more):
    shown = fitted(balance=1.0, **more).explain(USUAL)
    for item in shown:
        still = "still " if item.answer == item.outcome else ""
        chance = item.probabilities[item.answer]
        words = f"; rare classes weighed up, balance 1: {still}{item.answer!r} ({chance:.2f})."
        assert item.sentence.endswith(words)
    changed = [item for item in shown if item.answer != item.outcome]
    assert changed
    assert all(f"{item.outcome!r} " in item.sentence for item in changed)


def test_what_is_too_strange_is_not_called_known():
    shown = fitted(competence="mahalanobis", threshold="conformal").explain(np.vstack([USUAL[:20], DRIFTED]))
    assert {item.answered_by for item in shown[20:]} == {"nobody"}
    for item in shown:
        assert item.known == item.row()["known"] == (item.answer != -1)
        assert item.familiar or not item.known
        assert (">known<" in item._repr_html_()) == item.known
    declined = [item for item in shown if item.similarity >= item.threshold and not item.known]
    assert declined
    for item in declined:
        assert (item.share, item.labels_share) == (0, 0)
        assert "<span class='no'>too strange to its classifier</span>" in item._repr_html_()
        assert "but the case is strange to its classifier (competence" in item.sentence


def test_the_nearest_memory_answers_for_strange_cases_if_it_must():
    shown = fitted(competence="mahalanobis", threshold="conformal", fallback="nearest").explain(DRIFTED)
    near = [item for item in shown if item.similarity >= item.threshold]
    assert near
    assert all("though the case is too strange to its classifier; the labels" in item.sentence for item in near)
    assert not any("which is not enough" in item.sentence for item in near)


@pytest.mark.parametrize(
    ("settings", "cases", "who"),
    [
        ({"balance": 0.5}, USUAL, "LogisticRegression"),
        ({"combine": "product"}, USUAL, "LogisticRegression and labels"),
        ({"competence": "mahalanobis"}, DRIFTED, "labels"),
    ],
)
def test_the_picture_says_whose_probabilities_they_are(settings, cases, who):
    figure = fitted(**settings).explain(cases[:1])[0].plot()
    assert f"probability ({who})" in [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]
