"""Answers that are not on an edge do not depend on the last bit: another processor gives the same ones.

The noise of `jitter` stands for another processor. Every test says how few cases are too near to an edge to be judged.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import jitter
from memclf import MemoryClassifier, MemorySelector, select_memories
from memclf.answers import ProductAnswer
from memclf.similarity import (
    CosineSimilarity,
    FunctionSimilarity,
    GowerSimilarity,
    Precomputed,
    RankSimilarity,
    RBFSimilarity,
    TreeSimilarity,
    base,
)
from toolbox import near_rows

EDGE = 1e-9  # similarities nearer than this to a threshold or to each other are not judged
NOISES = [(1, ""), (2, "anew"), (3, "anew"), (4, "described")]
LINEAR = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


# ------------------------------------------------------------------------------------------------- the noise itself


@pytest.mark.parametrize("how", ["", "anew"])
def test_noise_is_at_most_one_unit_in_the_last_place(how):
    values = np.random.default_rng(0).random((50, 40))
    values[0] = np.nextafter(1, 0)  # above it, there is only 1
    moved = jitter.Jitter(7, how)(values)
    steps = np.stack([np.nextafter(values, 0), values, np.nextafter(values, 1)]) == moved
    assert (steps.sum(axis=0) == 1).all()
    assert (steps.mean(axis=(1, 2)) > 0.25).all()  # down, not at all and up, each about as often


@pytest.mark.parametrize("how", ["", "anew"])
def test_exact_similarities_stay(how):
    exact = np.array([[0.0, 1.0] * 50])
    np.testing.assert_array_equal(jitter.Jitter(0, how)(exact), exact)


def test_noise_belongs_to_the_number_or_is_drawn_anew():
    equal = np.full(100, 0.3)
    one, other = jitter.Jitter(1), jitter.Jitter(1, "anew")
    assert len(np.unique(one(equal))) == 1
    assert len(np.unique(other(equal))) == 3
    values = np.random.default_rng(0).random(100)
    np.testing.assert_array_equal(one(values), jitter.Jitter(1)(values[::-1])[::-1])
    assert not np.array_equal(one(values), jitter.Jitter(2)(values))
    assert not np.array_equal(other(values), other(values))


def test_every_similarity_of_search_and_routing_is_moved(jittered):
    X = np.random.default_rng(0).normal(size=(60, 2))
    plain = base.checked
    with jittered(0, "anew") as noise:
        found = select_memories(X, RBFSimilarity(1.0), 0.6, random_state=0)
        assert 0.5 < noise.moved / found.n_evaluations < 0.7  # two of three, less those of cases with themselves
        clf = MemoryClassifier(RBFSimilarity(1.0), threshold=0.6, random_state=0).fit(X, X[:, 0] > 0)
        before = noise.moved
        ways = clf.route(X + 0.1)
        assert 0.5 < (noise.moved - before) / (len(X) * len(clf.memory_indices_)) < 0.8
    still = clf.route(X + 0.1)
    assert noise.moved - before < 0.8 * len(X) * len(clf.memory_indices_)  # no longer
    assert not np.array_equal(ways.similarity, still.similarity)
    np.testing.assert_allclose(ways.similarity, still.similarity, rtol=1e-15)
    assert base.checked is plain


@pytest.mark.parametrize(
    ("given", "expected"), [(None, None), ("3", {"seed": 3, "how": ""}), ("anew:5", {"seed": 5, "how": "anew"})]
)
def test_the_environment_asks_for_noise(monkeypatch, given, expected):
    monkeypatch.delenv(jitter.VARIABLE, raising=False)
    if given:
        monkeypatch.setenv(jitter.VARIABLE, given)
    assert jitter.wanted() == expected


def test_wanted__unknown_kind_of_noise__is_refused(monkeypatch):
    monkeypatch.setenv(jitter.VARIABLE, "much")
    with pytest.raises(ValueError, match="MEMCLF_JITTER must be a seed, as in 3, anew:3 or described:3, got 'much'"):
        jitter.wanted()


# ------------------------------------------------------------------------------------- the same answers under noise


def groups(n, seed, width=3):
    """Four groups of unequal size, in which the class hangs on the last column."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0, 0], [7, 0], [0, 8], [9, 9]])[rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])]
    X = np.column_stack([centres + rng.normal(size=(n, 2)), rng.normal(size=(n, width - 2))])
    return X, (X[:, -1] + 0.3 * rng.normal(size=n) > 0).astype(int)


def wine():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return (X[::2], y[::2]), X[1::2]


def blobs():
    return groups(200, 0), groups(150, 1)[0]


def table():
    (X, y), new = blobs()
    tables = []
    for rows in (X, new):
        kind = np.array(["leaf", "stem", "root"])[np.digitize(rows[:, 0], [2, 6])]
        tables.append(pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2], "kind": kind}))
    return (tables[0], y), tables[1]


def numbers_of(A):
    return A[["a", "b", "c"]]


def few():
    return groups(80, 0), groups(150, 1)[0]


def matrix():
    (X, y), new = few()
    similarity = RBFSimilarity(0.05)
    Z = similarity.fit_describe(X)
    return (similarity.compare(Z, Z).T, y), similarity.compare(Z, similarity.describe(new)).T


KINDS = {
    "rbf": (RBFSimilarity(0.05), blobs),
    "rbf of wine": (RBFSimilarity(0.02), wine),
    "rank": (RankSimilarity(3.0), blobs),
    "gower": (GowerSimilarity(), table),
    "cosine": (CosineSimilarity(), wine),
    "tree": (TreeSimilarity(), wine),
    "function": (FunctionSimilarity(near_rows, scale=0.05), few),
    "precomputed": (Precomputed(), matrix),
}
SETTINGS = {
    "covering": {"threshold": 0.3},
    "a fixed number": {"threshold": 0.3, "n_memories": 4},
    "conformal": {"n_memories": 4, "unknown_rate": 0.1},
    "product": {"threshold": 0.3, "n_memories": 4, "answer": ProductAnswer(competence=None, balance=0.0)},
    "competence": {"n_memories": 4, "unknown_rate": 0.2, "answer": ProductAnswer(balance=0.0)},
    "as printed": {"threshold": 0.3, "search": MemorySelector(mode="paper")},
    "as meant": {"threshold": 0.3, "search": MemorySelector(mode="clarans")},
}


def fitted(kind, settings):
    similarity, data = KINDS[kind]
    (X, y), _ = data()
    if kind == "tree" and "n_memories" in settings:
        settings = {**settings, "n_memories": 3}  # it knows three kinds of cases
    estimator = make_pipeline(FunctionTransformer(numbers_of), LINEAR) if kind == "gower" else LINEAR
    return MemoryClassifier(similarity, estimator, min_cluster_size=10, random_state=0, **settings).fit(X, y)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_answers_away_from_edges_do_not_depend_on_the_last_bit(kind, settings, jittered):
    new = KINDS[kind][1]()[1]
    plain = fitted(kind, settings)
    ways, answers = plain.route(new), plain.predict(new)
    near = np.minimum(np.abs(ways.margin), np.abs(ways.similarity - ways.threshold)) < EDGE
    for number in NOISES:
        with jittered(*number) as noise:
            clf = fitted(kind, settings)
            others, said = clf.route(new), clf.predict(new)
        assert bool(noise.moved) == (kind != "tree")  # whose similarities are 0 and 1
        judged = ~near if noise.moved else np.ones_like(near)
        assert judged.mean() > 0.95
        np.testing.assert_array_equal(clf.memory_indices_, plain.memory_indices_)
        np.testing.assert_array_equal(clf.labels_, plain.labels_)
        np.testing.assert_allclose(clf.thresholds_, plain.thresholds_, rtol=1e-9)
        np.testing.assert_array_equal(others.branch[judged], ways.branch[judged])
        np.testing.assert_array_equal(others.runner_up[judged], ways.runner_up[judged])
        np.testing.assert_allclose(others.similarity, ways.similarity, rtol=1e-12)
        np.testing.assert_array_equal(said[judged], answers[judged])


def test_there_is_something_to_move_in_every_setting():
    """Unknown cases, several memories, cases told apart: otherwise the same answers would say little."""
    for name, settings in SETTINGS.items():
        clf, new = fitted("rbf", settings), KINDS["rbf"][1]()[1]
        assert len(clf.memory_indices_) >= 4
        assert len(np.unique(clf.predict(new))) == (3 if "unknown_rate" in settings else 2), name


# ---------------------------------------------------------------------------------------------------- what is on edges


@pytest.mark.parametrize(
    "settings",
    [
        {"n_memories": 8, "random_state": 0},
        {"n_memories": 8, "cover": "greedy"},
        {"n_memories": 8, "cover": "greedy", "max_swaps": 0},
        {"threshold": 0.9},
        {"threshold": 0.9, "cover": "random", "random_state": 0},
        {"mode": "paper", "random_state": 0},
    ],
    ids=str,
)
def test_ties_between_evenly_spaced_cases_are_not_broken_by_rounding(settings, jittered):
    X = np.random.default_rng(0).random((100, 1))  # by rank, every case lies as far from the next as all others
    found = []
    for seed in range(8):
        with jittered(seed, "anew"):
            found.append(select_memories(X, RankSimilarity(), **{"threshold": 0.7, **settings}).indices.tolist())
    assert found == found[:1] * 8


@pytest.mark.parametrize("settings", [{"n_memories": 8}, {"cover": "random"}], ids=str)
def test_the_last_bit_of_descriptions_does_not_choose_other_memories(settings, jittered):
    X = np.random.default_rng(0).normal(size=(200, 3))
    one = select_memories(X, RBFSimilarity(0.5), 0.5, random_state=0, **settings)
    with jittered(0, "described") as noise:  # as from another processor's mean and spread
        other = select_memories(X, RBFSimilarity(0.5), 0.5, random_state=0, **settings)
    assert noise.moved > 200
    assert one.indices.tolist() == other.indices.tolist()
