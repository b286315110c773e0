"""How many memories to take: the curve of held-out scores, and what `n_memories="auto"` makes of it."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from memclf import MemoryClassifier, load, save, search_curve
from memclf.classifier import CurvePoint, SearchCurve
from memclf.similarity import Precomputed, RBFSimilarity


def stripes(n=240, seed=0):
    x = np.random.default_rng(seed).uniform(0, 6, n)
    return x[:, None], np.floor(x).astype(int) % 2


def make(**settings):
    given = {"answer": "labels", "random_state": 0, **settings}
    return MemoryClassifier(RBFSimilarity(gamma=10.0), LogisticRegression(), **given)


def test_search_curve__six_stripes__two_memories_are_too_few():
    curve = search_curve(make(), *stripes(), [2, 12, 24])
    assert [point.n_memories for point in curve.points] == [2, 12, 24]
    assert curve.points[0].score < 0.8 < curve.best.score
    assert curve.best.n_memories > 2
    assert min(point.behind for point in curve.points) == 0


@pytest.mark.parametrize("answer", ["local", "labels", "product", "auto"])
def test_search_curve__any_rule__scores_are_shares(answer):
    curve = search_curve(make(answer=answer, min_cluster_size=10), *stripes(), [2, 10])
    for point in curve.points:
        assert 0 <= point.score <= 1
        assert 0 <= point.coverage <= 1
        assert 0 <= point.unknown <= 1


def test_search_curve__more_memories__cover_more_and_leave_less_unknown():
    few, many = search_curve(make(), *stripes(), [2, 24]).points
    assert many.coverage > few.coverage
    assert many.unknown < few.unknown


def test_best__several_within_one_standard_error__has_fewest_memories():
    points = [
        CurvePoint(2, 0.7, 0.2, 0.02, 1, 0),
        CurvePoint(5, 0.89, 0.01, 0.02, 1, 0),
        CurvePoint(9, 0.9, 0, 0, 1, 0),
    ]
    assert SearchCurve(tuple(points)).best.n_memories == 5


def test_auto__fit__takes_the_best_of_the_curve_and_keeps_it(tmp_path):
    X, y = stripes()
    clf = make(n_memories="auto").fit(X, y)
    assert len(clf.memory_indices_) == clf.search_curve_.best.n_memories
    assert clf.search_curve_.best == search_curve(make(), X, y).best
    save(clf, tmp_path / "model")
    assert load(tmp_path / "model").search_curve_ == clf.search_curve_
    assert make(n_memories=5).fit(X, y).search_curve_ is None


def test_curve__shown__as_text_table_and_picture():
    pytest.importorskip("matplotlib").use("agg")
    curve = search_curve(make(), *stripes(), [2, 12])
    assert str(curve).count("fewest within one standard error") == 1
    assert curve.to_frame()["n_memories"].tolist() == [2, 12]
    assert curve.plot().get_xlabel() == "memories"


@pytest.mark.parametrize("numbers", [[], [0, 3], [500], [2.5], [True, 4], ["a"], [np.nan], 0, "many"])
def test_search_curve__numbers_that_cannot_be__are_refused(numbers):
    with pytest.raises(ValueError, match="numbers of memories must be from 1 to 160"):
        search_curve(make(), *stripes(), numbers)


def test_auto__matrix_of_similarities__is_refused():
    X, y = stripes(60)
    S = np.exp(-np.abs(X - X.T))
    with pytest.raises(ValueError, match="cannot be chosen for a matrix"):
        MemoryClassifier(Precomputed(), n_memories="auto", answer="labels").fit(S, y)


def test_search_curve__rule_learns_its_balance__numbers_are_scored_alike(monkeypatch):
    from memclf.classifier import curve

    used, weigh = [], curve._weigh

    def spy(answered, codes, given, balance):
        used.append(balance)
        return weigh(answered, codes, given, balance)

    monkeypatch.setattr(curve, "_weigh", spy)
    x = np.random.default_rng(0).uniform(0, 6, 200)[:, None]
    search_curve(make(answer="auto", min_cluster_size=10), x, (x[:, 0] % 3 > 2.3).astype(int), [2, 4, 8])
    assert len(used) == 3
    assert len(set(used)) == 1


def test_search_curve__one_number__is_a_curve_of_one_point():
    assert [point.n_memories for point in search_curve(make(), *stripes(60), 4).points] == [4]


def test_search_curve__weights__count_in_the_score():
    X, y = stripes(240)
    wrong = np.arange(240) % 2 == 0
    y = np.where(wrong, np.random.default_rng(1).integers(0, 2, 240), y)
    plain, weighed = (
        search_curve(make(), X, y, 24, sample_weight=weight).points[0] for weight in (None, np.where(wrong, 1e-3, 1.0))
    )
    assert plain.score < 0.85
    assert weighed.score > plain.score + 0.1
    fitted = make(n_memories="auto").fit(X, y, sample_weight=np.where(wrong, 1e-3, 1.0))
    assert fitted.search_curve_.best.score > plain.score + 0.1


@pytest.mark.parametrize("answer", ["labels", "auto"])
def test_search_curve__copies_in_groups__are_no_surer_than_the_cases(answer):
    X, y = stripes(60)
    copies = X.repeat(10, axis=0) + np.random.default_rng(1).normal(0, 1e-3, (600, 1))
    curve = search_curve(make(answer=answer), copies, y.repeat(10), [2, 12], groups=np.arange(60).repeat(10))
    alone = search_curve(make(answer=answer), X, y, [2, 12])
    assert curve.points[0].error > 0.5 * alone.points[0].error  # a third of it, were the copies cases of their own


def test_search_curve__class_instead_of_a_classifier__is_refused():
    with pytest.raises(TypeError, match="takes a classifier with its parameters; got the class MemoryClassifier"):
        search_curve(MemoryClassifier, *stripes(60))


def test_search_curve__no_memory_classifier__is_refused():
    with pytest.raises(TypeError, match="takes a MemoryClassifier; got LogisticRegression"):
        search_curve(LogisticRegression(), *stripes(60))


@pytest.mark.filterwarnings("error:n_memories")
@pytest.mark.parametrize(("different", "tried"), [(5, [2, 3, 5]), (6, [2, 3, 5, 6])])
def test_auto__few_different_cases__tries_no_more_memories_than_these(different, tried):
    x = np.repeat(np.arange(float(different)), 30)
    clf = make(n_memories="auto").fit(x[:, None], (x % 2).astype(int))
    assert [point.n_memories for point in clf.search_curve_.points] == tried


def test_search_curve__cases_below_their_threshold__unknown_is_not_right():
    X, y = stripes()
    declining, answering = [search_curve(make(fallback=each), X, y, [2]).points[0] for each in ("unknown", "nearest")]
    assert declining.unknown == answering.unknown > 0.3
    assert declining.score < answering.score - 0.1
    assert declining.score <= 1 - declining.unknown + 1e-9
    assert search_curve(make(unknown_rate=0.1), X, y, [2]).points[0].score == answering.score
