"""Thresholds: common, tight, by hand; and conformal ones, whose promise is kept in simulations."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from memclf import MemoryClassifier
from memclf.answers import ProductAnswer
from memclf.routing import conformal_thresholds, fit_thresholds
from memclf.routing.thresholds import distance, widths
from memclf.similarity import RankSimilarity, RBFSimilarity

SIMULATION = pytest.mark.no_cover  # hundreds of fits, of which tests of the parts run every line
ANSWERS = {"local": "local", "competence": ProductAnswer("mahalanobis", balance=0.0)}
ONE_FAST = ["local", pytest.param("competence", marks=pytest.mark.slow)]

# ------------------------------------------------------------------------------------- common, tight, by hand

INDICES, LABELS, NEAR = np.array([3, 8]), np.array([0, 0, 1, 1]), np.array([0.9, 0.7, 0.8, 1.0])


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("common", [0.6, 0.6]),
        ("tight", [0.7, 0.8]),
        (0.5, [0.5, 0.5]),
        ([0.4, 0.9], [0.4, 0.9]),
        ({8: 0.95}, [0.6, 0.95]),
    ],
)
def test_thresholds_are_common_tight_or_set_by_hand(wanted, expected):
    np.testing.assert_allclose(fit_thresholds(wanted, 0.6, INDICES, LABELS, NEAR), expected)


def test_tight_thresholds__farthest_case_with_similarity_zero__stay_legal():
    found = fit_thresholds("tight", 0.6, INDICES, LABELS, np.array([0.9, 0.0, 0.8, 1.0]))
    assert 0 < found[0] < 1e-300
    assert found[1] == 0.8


def test_tight_thresholds__memory_without_counted_cases__keeps_the_common_one():
    np.testing.assert_allclose(fit_thresholds("tight", 0.6, INDICES, LABELS[:2], NEAR[:2]), [0.7, 0.6])


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("loose", "thresholds must be 'common', 'tight', a number in .*; got 'loose'"),
        (None, "thresholds must be 'common', .*; got None"),
        (["a"], "thresholds must be 'common', .*; got \\['a'\\]"),
        ({3: "x"}, "thresholds must be 'common', .*; got {3: 'x'}"),
        ([0.4, [0.5]], "thresholds must be 'common', .*; got "),
        ([[0.4, 0.5]], "one for each of the 2 memories"),
        (True, "thresholds must be 'common', .*; got True"),
        ([0.4], "one for each of the 2 memories"),
        ([0.4, 1.4], r"a number in \(0, 1\], .*; got \[0.4, 1.4\]"),
        ({5: 0.5}, r"thresholds are given for rows \[5\], which are no memories"),
    ],
)
def test_wrong_thresholds_are_named(wanted, message):
    with pytest.raises(ValueError, match=message):
        fit_thresholds(wanted, 0.6, INDICES, LABELS, NEAR)


# ------------------------------------------------------------------------------------------- conformal


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.2])
def test_new_cases_fall_below_at_most_as_often_as_promised(rate):
    """Held-out distances and new ones from the same memories, so that the promise is exact."""
    rng = np.random.default_rng(0)
    usual, sizes = np.array([0.05, 0.5, 0.1, 0.12]), np.array([100, 60, 8, 7])
    missed = []
    for _ in range(500):
        labels = np.repeat(np.arange(4), sizes)
        wide = widths(np.exp(-usual[labels] * rng.gamma(2, size=len(labels))), labels, 4)
        goes = rng.choice(4, 130, p=sizes / sizes.sum())
        near = np.exp(-usual[goes] * rng.gamma(2, size=130))
        b = conformal_thresholds(distance(near[:80]) / wide[goes[:80]], wide, rate)
        missed.append(np.mean(near[80:] < b[goes[80:]]))
    expected = np.floor(rate * 81) / 81
    assert expected <= rate
    assert np.mean(missed) == pytest.approx(expected, abs=4 * np.std(missed) / np.sqrt(500))


def test_small_clusters_are_drawn_to_the_width_of_all():
    similarity = np.exp(-np.concatenate([np.full(1001, 0.1), np.full(2, 5.0)]))
    wide = widths(similarity, np.repeat([0, 1], [1001, 2]), 3)
    everything = (1001 * 0.1 + 2 * 5.0) / 1003
    np.testing.assert_allclose(wide[0], (100.1 + 5 * everything) / 1006)
    np.testing.assert_allclose(wide[1], (10 + 5 * everything) / 7)
    np.testing.assert_allclose(wide[2], everything)


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.2])
@pytest.mark.parametrize(("objects", "times"), [(6, 10), (20, 10), (63, 27)])
def test_conformal_thresholds__groups_of_nearly_equal_cases__keep_the_promise(objects, times, rate):
    """The worst case for counting cases: 6 objects of 10 cases made 0.136 unknown at a promised 0.02."""
    rng = np.random.default_rng(0)
    of = np.repeat(np.arange(objects), times)
    missed = []
    for _ in range(1000):
        held = rng.gamma(2.0, size=objects)[of] * rng.uniform(0.99, 1.01, len(of))
        b = conformal_thresholds(held, np.ones(1), rate, of)
        new = rng.gamma(2.0, size=50)
        missed.append(np.mean(np.exp(-new) < b[0]))
    expected = np.floor(rate * (objects + 1)) / (objects + 1)
    assert np.mean(missed) <= rate + 3 * np.std(missed) / np.sqrt(1000)
    assert np.mean(missed) >= 0.7 * expected  # and it is not kept by never being unknown


def test_conformal_thresholds__groups_of_unequal_size__shares_of_groups_count():
    """Of 9 groups one may lie beyond the bound at a rate of 0.2: half of the first and half of the second do."""
    held = np.array([9.0, 1.0, 8.0, 1.0, 7.0, *[1.0] * 6])
    of = np.array([0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8])
    assert -np.log(conformal_thresholds(held, np.ones(1), 0.2, of)) == pytest.approx(7.0)
    assert -np.log(conformal_thresholds(held, np.ones(1), 0.15, of)) == pytest.approx(8.0)
    assert -np.log(conformal_thresholds(held, np.ones(1), 0.1, of)) == pytest.approx(9.0)


def test_conformal_thresholds__every_case_a_group__the_same_as_without():
    held = np.random.default_rng(0).gamma(2.0, size=77)
    for rate in (0.01, 0.02, 0.05, 0.1, 0.5):
        ways = (conformal_thresholds(held, np.ones(2), rate, groups) for groups in (None, np.arange(77)))
        np.testing.assert_allclose(*ways)


def test_cases_that_are_all_alike_are_never_unknown():
    wide = widths(np.ones(60), np.zeros(60, dtype=int), 1)
    assert conformal_thresholds(distance(np.ones(60)) / wide, wide, 0.05).tolist() == [1.0]


def test_too_few_cases_make_no_promise_and_nothing_unknown():
    assert (conformal_thresholds(np.array([0.2, 0.3]), np.ones(3), 0.05) == np.finfo(float).tiny).all()


@SIMULATION
def test_single_memories_keep_the_promise_nearly_too():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(3 * k, 0.2 + 0.2 * k, (150, 1)) for k in range(5)])
    y = (np.arange(750) % 2).astype(int)
    clf = MemoryClassifier(RBFSimilarity(0.5), n_memories=5, unknown_rate=0.1, random_state=0)
    clf.fit(X, y)
    new = np.concatenate([rng.normal(3 * k, 0.2 + 0.2 * k, (4000, 1)) for k in range(5)])
    nearest, unknown = clf.route(new).nearest, clf.predict(new) == -1
    realised = [unknown[nearest == k].mean() for k in range(5)]
    assert max(realised) < 0.17
    assert min(realised) > 0.04


@SIMULATION
@pytest.mark.parametrize("answer", ONE_FAST)
def test_a_fitted_classifier_keeps_the_promise_on_new_cases(answer):
    rate, found = 0.1, []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(0, 1, (400, 2)) + np.repeat([[0, 0], [6, 0], [0, 6], [6, 6]], 100, axis=0)
        y = (X[:, 0] + X[:, 1] > 6).astype(int)
        train = rng.permutation(400)[:200]
        test = np.setdiff1d(np.arange(400), train)
        clf = MemoryClassifier(
            RBFSimilarity(0.2),
            LogisticRegression(),
            unknown_rate=rate,
            answer=ANSWERS[answer],
            random_state=seed,
        ).fit(X[train], y[train])
        found.append(np.mean(clf.predict(X[test]) == -1))
    assert np.mean(found) <= rate + 3 * np.std(found) / np.sqrt(6)
    assert np.mean(found) > 0.02  # and it is not kept by never being unknown


@pytest.mark.slow
@SIMULATION
@pytest.mark.parametrize("cv", [3, 10])
def test_many_small_clusters_keep_the_promise_too(cv):
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 5))
        y = (X[:, 0] > 0).astype(int)
        clf = MemoryClassifier(RBFSimilarity(0.1), unknown_rate=0.1, cv=cv, random_state=seed)
        found.append(np.mean(clf.fit(X, y).predict(rng.normal(size=(2000, 5))) == -1))
    assert 0.03 < np.mean(found) <= 0.1 + 3 * np.std(found) / np.sqrt(8)


def test_far_away_cases_are_unknown():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    clf = MemoryClassifier(RBFSimilarity(0.2), LogisticRegression(), unknown_rate=0.05, random_state=0).fit(X, y)
    assert (clf.predict(X + 20) == -1).all()
    assert len(np.unique(clf.thresholds_)) > 1


# ------------------------------------------------------------------------------------- folds, and what else is unknown


@SIMULATION
@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(1, test_size=0.4, random_state=0),
        pytest.param(ShuffleSplit(4, random_state=0), marks=pytest.mark.slow),
    ],
)
def test_folds_that_hold_out_only_some_cases_keep_the_promise(cv):
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(400, 2)), rng.integers(0, 2, 400)
        clf = MemoryClassifier(RBFSimilarity(0.2), unknown_rate=0.1, cv=cv, random_state=seed)
        found.append(np.mean(clf.fit(X, y).predict(rng.normal(size=(4000, 2))) == -1))
    assert 0.05 < np.mean(found) <= 0.1 + 3 * np.std(found) / np.sqrt(5)


class Distrusting(RBFSimilarity):
    """Looks at the first two columns, and not at all where the third is high."""

    def trust(self, X):
        return 1 - np.asarray(X)[:, 2]


def first_two(A):
    return A[:, :2]


def distrusted(n, seed, share):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)), rng.random(n) < share])
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


@SIMULATION
@pytest.mark.parametrize("answer", ONE_FAST)
@pytest.mark.parametrize("share", [pytest.param(0.0, marks=pytest.mark.slow), 0.05])
def test_cases_that_are_not_trusted_count_against_the_rate(share, answer):
    found = []
    for seed in range(5):
        clf = MemoryClassifier(
            Distrusting(0.2, features=FunctionTransformer(first_two)),
            make_pipeline(FunctionTransformer(first_two), LogisticRegression()),
            unknown_rate=0.1,
            min_trust=0.5,
            answer=ANSWERS[answer],
            random_state=seed,
        ).fit(*distrusted(300, seed, share))
        found.append(np.mean(clf.predict(distrusted(3000, 100 + seed, share)[0]) == -1))
        left = 0.1 - distrusted(300, seed, share)[0][:, 2].sum() / 301
        assert clf.answer_.strange_rate_ == pytest.approx(0.0 if answer == "local" else left / 2)
    assert 0.05 < np.mean(found) <= 0.1 + 3 * np.std(found) / np.sqrt(5)


@pytest.mark.parametrize("answer", ANSWERS)
def test_distrust_beyond_the_rate_is_said_and_nothing_is_added_to_it(answer):
    X, y = distrusted(300, 0, 0.16)
    clf = MemoryClassifier(
        Distrusting(0.2, features=FunctionTransformer(first_two)),
        make_pipeline(FunctionTransformer(first_two), LogisticRegression()),
        unknown_rate=0.1,
        min_trust=0.5,
        answer=ANSWERS[answer],
        random_state=0,
    )
    share = X[:, 2].mean()
    with pytest.warns(UserWarning, match=rf"unknown_rate=0.1 cannot be kept: min_trust=0.5 alone makes {share:.1%} of"):
        clf.fit(X, y)
    new = distrusted(3000, 1, 0.16)[0]
    np.testing.assert_array_equal(clf.predict(new) == -1, new[:, 2] > 0.5)


@pytest.mark.slow
@SIMULATION
@pytest.mark.parametrize("gamma", [0.4, 1.0, 3.0])
def test_clusters_of_single_cases_keep_the_promise(gamma):
    """Nothing lies beside the memories, in the whole or without a fold, that tells how wide a cluster is."""
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, new = rng.normal(size=(150, 6)), rng.normal(size=(2000, 6))
        y = (X[:, 0] > 0).astype(int)
        clf = MemoryClassifier(RBFSimilarity(gamma), unknown_rate=0.1, random_state=seed)
        clf.fit(X, y)
        found.append(np.mean(clf.predict(new) == -1))
        assert np.mean(clf.predict(4 * new) == -1) > 0.9
    assert 0.03 < np.mean(found) <= 0.1 + 3 * np.std(found) / np.sqrt(10)


def test_a_similarity_that_sees_nothing_alike_is_named():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 20)), rng.integers(0, 2, 200)
    clf = MemoryClassifier(RBFSimilarity(5.0), unknown_rate=0.05, random_state=0)
    with pytest.warns(UserWarning, match=r"more than unknown_rate=0.05 of held-out cases are like no memory"):
        clf.fit(X, y)


@pytest.mark.parametrize(("answer", "for_this"), [("local", "0.05"), ("competence", "0.025")])
def test_too_few_cases_for_the_promise_are_named(answer, for_this):
    X = np.arange(15.0)[:, None]
    clf = MemoryClassifier(unknown_rate=0.05, answer=ANSWERS[answer], n_memories=2, random_state=0)
    with pytest.warns(UserWarning, match=rf"15 held-out cases are too few for the {for_this} of unknown_rate=0.05"):
        clf.fit(X, np.arange(15) % 2)
    assert (clf.predict(X + 1000) != -1).all()


def test_too_few_groups_for_the_promise_are_named():
    """Ten objects cannot keep 0.05, however often each is measured."""
    rng = np.random.default_rng(0)
    of = np.repeat(np.arange(10), 30)
    X, y = rng.normal(size=(10, 2))[of] + rng.normal(0, 0.05, (300, 2)), of % 2
    clf = MemoryClassifier(RBFSimilarity(0.3), unknown_rate=0.05, random_state=0)
    with pytest.warns(UserWarning, match=r"10 held-out groups are too few .* of unknown_rate=0.05.*at least 19 groups"):
        clf.fit(X, y, groups=of)
    assert clf.route(X + 1).known.all()


@SIMULATION
@pytest.mark.parametrize("answer", ONE_FAST)
def test_a_fitted_classifier_keeps_the_promise_on_new_groups(answer):
    """Three measurements of each of 60 objects; half of the rate is for strange ones, if they are looked for."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=(1000, 2))
        X, y = np.repeat(truth, 3, axis=0) + rng.normal(0, 0.02, (3000, 2)), np.repeat(truth[:, 0] > 0, 3).astype(int)
        clf = MemoryClassifier(
            RBFSimilarity(0.3), LogisticRegression(), unknown_rate=0.1, answer=ANSWERS[answer]
        ).set_params(random_state=seed)
        clf.fit(X[:180], y[:180], groups=np.arange(180) // 3)
        found.append(np.mean(clf.predict(X[180:]) == -1))
    assert 0.02 < np.mean(found) <= 0.1 + 3 * np.std(found) / np.sqrt(6)


@pytest.mark.slow
@SIMULATION
@pytest.mark.parametrize("n_memories", [15, 30])
def test_evenly_spaced_ranks_and_small_clusters_keep_the_promise(n_memories):
    """Three folds, and widths without the memories, made 0.144 of new cases unknown with 30 memories."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, new = rng.random((150, 1)), rng.random((1000, 1))
        y = (X[:, 0] + rng.normal(0, 0.15, 150) > 0.5).astype(int)
        clf = MemoryClassifier(
            RankSimilarity(),
            DummyClassifier(),
            n_memories=n_memories,
            unknown_rate=0.1,
            random_state=seed,
        ).fit(X, y)
        found.append(1 - clf.route(new).known.mean())
    assert 0.06 < np.mean(found) <= 0.1 + 2 * np.std(found) / np.sqrt(40)
