"""Answers as rows: they say what predict, predict_proba and route say."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from memclf import MemoryClassifier
from memclf.explain import answer_rows
from memclf.similarity import RBFSimilarity

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(place, 0.5, size=(20, 2)) for place in (0.0, 6.0, 12.0)])
y = np.where(X[:, 0] + X[:, 1] > np.repeat([0.0, 12.0, 24.0], 20), "over", "under")
NEW = np.concatenate([X[:10] + 0.1, [[50.0, 50.0], [-40.0, 3.0]]])


def fit(**parameters):
    return MemoryClassifier(RBFSimilarity(gamma=0.05), threshold=0.5, random_state=0, **parameters).fit(X, y)


@pytest.mark.parametrize("fallback", ["unknown", "nearest", "global", LogisticRegression()])
def test_answer_rows__any_fallback__agree_with_predict_and_route(fallback):
    clf = fit(fallback=fallback)
    rows, routes, P = answer_rows(clf, NEW), clf.route(NEW), clf.predict_proba(NEW)
    assert [row.answer for row in rows] == clf.predict(NEW).tolist()
    assert [row.known for row in rows] == routes.known.tolist() == [True] * 10 + [False] * 2
    assert [row.memory for row in rows] == routes.nearest.tolist()
    np.testing.assert_allclose([row.similarity for row in rows], routes.similarity)
    for row, chances in zip(rows, P, strict=True):
        if row.answer == "unknown":
            assert row.probability is None
        else:
            assert row.probability == pytest.approx(chances.max())


@pytest.mark.parametrize(
    ("fallback", "said"),
    [
        ("unknown", "is below its threshold 0.500"),
        ("nearest", "its classifier answers all the same"),
        ("global", "the global classifier answers instead"),
        (LogisticRegression(), "LogisticRegression answers instead"),
    ],
)
def test_answer_rows__case_that_meets_no_threshold__the_reason_says_who_answers(fallback, said):
    row = answer_rows(fit(fallback=fallback), NEW[-1:])[0]
    assert row.reason.endswith(said)


def test_answer_rows__classifiers_without_probabilities__have_none():
    rows = answer_rows(fit(estimator=LinearSVC()), NEW[:2])
    assert [row.probability for row in rows] == [None, None]


def test_answer_rows__as_dict__holds_plain_values_in_order():
    row = answer_rows(fit(), NEW[:1])[0].as_dict()
    assert list(row) == ["answer", "probability", "memory", "similarity", "known", "reason"]
    assert [type(value) for value in row.values()] == [str, float, int, float, bool, str]


def test_answer_rows__untrusted_or_strange_case__the_reason_says_so():
    from dataclasses import replace

    from memclf.explain.rows import say_route

    way = fit().route(NEW)[0]
    assert "do not trust" in say_route(replace(way, known=False, trusted=False))
    assert "too strange" in say_route(replace(way, known=False, familiar=False))
