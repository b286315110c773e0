"""Bounds for several numbers of memories and cases."""

import pytest
from sklearn.neighbors import KNeighborsClassifier

from memclf.bounds import bound_curve, generalization_bound


def test_curve__three_clusters__best_is_three_memories(problem, fitted, tmp_path):
    X, y = problem(n=1500)
    clf = fitted(X, y)
    curve = bound_curve(clf, X, y, n_memories=[1, 2, 3, 5, 9], n_cases=[500, 1500, 15_000])
    assert curve.best.n_memories == 3
    assert curve.best.value == pytest.approx(generalization_bound(clf, X, y).value)
    by_size = {(point.n, point.n_memories): point for point in curve.points}
    assert by_size[15_000, 3].extrapolated
    assert by_size[15_000, 3].value < by_size[1500, 3].value < by_size[500, 3].value
    assert "<- best" in str(curve)
    curve.plot().savefig(tmp_path / "curve.png")
    assert clf.n_memories == 3
    for wanted in ([0], [], [1.5], "many"):
        with pytest.raises(ValueError, match="n_memories must be whole numbers of at least 1"):
            bound_curve(clf, X, y, n_memories=wanted)
    with pytest.raises(ValueError, match="smaller than the number of cases, 1500; got \\[5000\\]"):
        bound_curve(clf, X, y, n_memories=5000)
    with pytest.raises(ValueError, match="none is held out"):
        bound_curve(clf, X, y, kind="held-out")


def test_curve__extrapolated_point__is_near_the_bound_of_more_cases(problem, fitted):
    X, y = problem(n=6000)
    guessed = bound_curve(fitted(X[:1500], y[:1500]), X[:1500], y[:1500], n_memories=[3], n_cases=[1500, 6000])
    real = generalization_bound(fitted(X, y), X, y)
    assert guessed.points[-1].value == pytest.approx(real.value, abs=0.04)


def test_curve__classifier_that_follows_any_labels__stays_vacuous(problem, fitted):
    X, y = problem(n=400)
    curve = bound_curve(fitted(X, y, KNeighborsClassifier(1)), X, y, n_memories=[3], n_cases=[400, 10**8])
    assert curve.points[-1].value > 1
    simple = bound_curve(fitted(X, y), X, y, n_memories=[3], n_cases=[400, 401], given=["memories"])
    assert simple.points[1].value == pytest.approx(simple.points[0].value, abs=0.005)
    with pytest.raises(ValueError, match="direct bounds are not extrapolated: n_cases must be at most 400, got 500"):
        bound_curve(fitted(X, y), X, y, n_memories=[3], n_cases=[500], kind="direct")
