"""`measure_drift`: the tests hold their level, agree with others' and find what has moved."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.naive_bayes import GaussianNB

import memclf
from memclf import MemoryClassifier
from memclf.evaluate import drift
from memclf.evaluate.drift import COMPETENCE, DISTANCE, MIX, UNKNOWN, measure_drift
from memclf.memory import MemorySelector
from memclf.similarity import RBFSimilarity

CENTRES = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 5.0]])


def draw(n, rng, shift=0.0, shares=(0.5, 0.3, 0.2)):
    heap = rng.choice(3, n, p=shares)
    return CENTRES[heap] + rng.normal(size=(n, 2)) + shift, (heap + (rng.random(n) < 0.2)) % 2


def fit(n=120, seed=0, **settings):
    settings = {"answer": "labels", "unknown_rate": 0.1, **settings}
    return MemoryClassifier(
        RBFSimilarity(gamma=0.3),
        GaussianNB(),
        threshold=0.3,
        search=MemorySelector(n_restarts=1),
        random_state=0,
        **settings,
    ).fit(*draw(n, np.random.default_rng(seed)))


@pytest.fixture(scope="module")
def clf():
    return fit()


@pytest.fixture(scope="module")
def with_competence():
    return fit(answer="product")


def part(found, name):
    (wanted,) = [each for each in found.parts if each.name == name]
    return wanted


def test_drift__same_distribution_with_a_reference__level_is_held(with_competence, monkeypatch):
    monkeypatch.setattr(drift, "DRAWS", 199)
    rng = np.random.default_rng(1)
    trials = 120
    found = [measure_drift(with_competence, draw(30, rng)[0], draw(60, rng)[0], level=0.2).moved for _ in range(trials)]
    # At a true level of 0.2, more than this happens with a probability of less than 1 %.
    assert sum(found) <= stats.binom.ppf(0.99, trials, 0.2)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(120, 100), (120, 1500), (60, 200)])
def test_drift__same_distribution_from_the_fit_alone__level_is_held(n, m, monkeypatch):
    monkeypatch.setattr(drift, "DRAWS", 499)
    moved = []
    for seed in range(150):
        new = draw(m, np.random.default_rng([seed, 1]))[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few cases for the rate
            moved.append(measure_drift(fit(n, seed), new).moved)
    assert sum(moved) <= stats.binom.ppf(0.99, len(moved), 0.05)


@pytest.mark.parametrize("given", [False, True])
def test_drift__cases_far_from_the_training__distance_and_unknown_move(clf, given):
    rng = np.random.default_rng(2)
    reference = draw(100, rng)[0] if given else None
    new = draw(80, rng)[0]
    new[:30] += 6.0
    found = measure_drift(clf, new, reference)
    assert found.moved
    assert part(found, DISTANCE).moved
    assert part(found, UNKNOWN).moved
    assert part(found, UNKNOWN).now > part(found, UNKNOWN).before
    far = [case.row for case in found.cases if case.why == "far from its memory"]
    assert far
    assert set(far) <= set(range(30))
    routes = clf.route(new)
    for case in found.cases:
        assert (case.memory, case.known) == (routes.nearest[case.row], routes.known[case.row])
    assert "distance" in found.sentence


def test_drift__other_mix_of_the_same_heaps__mix_moves_and_its_cases_are_listed(clf):
    new = draw(150, np.random.default_rng(3), shares=(0.1, 0.1, 0.8))[0]
    found = measure_drift(clf, new)
    assert part(found, MIX).moved
    assert not part(found, UNKNOWN).moved
    grown = max(found.memories, key=lambda each: each.surprise)
    assert {case.memory for case in found.cases} == {grown.memory}
    assert grown.now > grown.before
    assert sum(each.now for each in found.memories) == pytest.approx(1.0)
    assert sum(each.before for each in found.memories) == pytest.approx(1.0)


def test_drift__competence__is_tested_against_a_reference_alone(with_competence):
    rng = np.random.default_rng(4)
    new = draw(60, rng)[0] * 3.0
    from_fit = measure_drift(with_competence, new)
    assert part(from_fit, COMPETENCE).p_value is None
    assert any(note.startswith("Competence was not tested") for note in from_fit.notes)
    given = measure_drift(with_competence, new, draw(60, rng)[0])
    assert part(given, COMPETENCE).moved
    assert given.notes == ()


def test_drift__unknown_against_a_reference__is_fishers_exact_test(clf):
    rng = np.random.default_rng(5)
    new, reference = draw(50, rng, shift=1.0)[0], draw(70, rng)[0]
    found = part(measure_drift(clf, new, reference), UNKNOWN)
    known, before = (clf.route(each).known for each in (new, reference))
    table = [[(~known).sum(), known.sum()], [(~before).sum(), before.sum()]]
    assert found.p_value == pytest.approx(stats.fisher_exact(table, alternative="greater").pvalue)


def test_drift__mix_of_many_cases__agrees_with_the_chi_square_test(clf):
    rng = np.random.default_rng(6)
    new, reference = draw(400, rng, shares=(0.46, 0.32, 0.22))[0], draw(400, rng)[0]
    found = part(measure_drift(clf, new, reference), MIX)
    counts = np.array([np.bincount(clf.route(each).nearest, minlength=len(clf.memories_)) for each in (new, reference)])
    wanted = stats.chi2_contingency(counts[:, counts.sum(axis=0) > 0]).pvalue
    assert found.p_value == pytest.approx(wanted, abs=0.05)


@pytest.mark.parametrize(("n", "m"), [(6, 9), (9, 6)])
def test_rank_test__few_numbers__agrees_with_all_permutations(n, m):
    rng = np.random.default_rng(7)
    new, old = rng.normal(0.8, size=n), rng.normal(size=m)
    wanted = stats.mannwhitneyu(new, old, alternative="greater", method="exact").pvalue
    assert drift._test_larger(new, old, rng) == pytest.approx(wanted, abs=0.03)


def test_adjust__several_parts__is_holms_correction():
    parts = [drift.Part(str(k), "", 0.0, 0.0, p) for k, p in enumerate([0.04, None, 0.01, 0.03])]
    found = drift._adjust(parts, 0.05)
    assert [each.adjusted for each in found] == [pytest.approx(0.06), None, pytest.approx(0.03), pytest.approx(0.06)]
    assert [each.moved for each in found] == [False, False, True, False]


def test_drift__saved_and_loaded__is_the_same(clf, tmp_path):
    new = draw(40, np.random.default_rng(8), shift=0.7)[0]
    memclf.save(clf, tmp_path / "model")
    assert measure_drift(memclf.load(tmp_path / "model"), new) == measure_drift(clf, new)


def test_drift__groups__are_kept_and_noted(tmp_path):
    X, y = draw(90, np.random.default_rng(0))
    names = np.array([f"face {number // 2}" for number in range(90)])
    clf = MemoryClassifier(RBFSimilarity(gamma=0.3), GaussianNB(), threshold=0.3, unknown_rate=0.2, random_state=0)
    clf.fit(X, y, groups=names)
    memclf.save(clf, tmp_path / "model")
    found = measure_drift(memclf.load(tmp_path / "model"), X[:20] + 0.1)
    assert any("came in groups" in note for note in found.notes)


def test_drift__fit_without_unknown_rate__tests_the_mix_alone():
    found = measure_drift(fit(unknown_rate=None), draw(40, np.random.default_rng(9))[0])
    assert [each.name for each in found.parts] == [MIX]
    assert "Distance and unknown were not tested" in found.notes[0]


def test_drift__thresholds_set_by_hand__unknown_is_not_tested():
    clf = fit()
    clf.thresholds_ = np.linspace(0.1, 0.5, len(clf.thresholds_))
    found = measure_drift(clf, draw(40, np.random.default_rng(9))[0])
    assert UNKNOWN not in [each.name for each in found.parts]
    assert any(note.startswith("Unknown was not tested") for note in found.notes)


def test_drift__memories_other_than_when_distances_were_kept__are_not_compared():
    clf = fit()
    clf.distances_ = replace(clf.distances_, memories=clf.distances_.memories + 1)
    assert [each.name for each in measure_drift(clf, draw(40, np.random.default_rng(9))[0]).parts] == [MIX]


def test_drift__no_cases__is_an_error(clf):
    with pytest.raises(ValueError, match="there are no cases to compare"):
        measure_drift(clf, np.empty((0, 2)))
