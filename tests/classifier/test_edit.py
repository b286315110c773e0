"""Editing a fitted classifier: new ones that equal a fit with the same memories, and the old one as it was."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from memclf import Cases, MemoryClassifier, MemorySelector, integrity
from memclf.answers import ProductAnswer
from memclf.exceptions import TrainingCasesError
from memclf.similarity import FunctionSimilarity, GowerSimilarity, Precomputed, RBFSimilarity

RBF = RBFSimilarity(gamma=0.1)


def blobs():
    X, blob = make_blobs(150, centers=6, cluster_std=1.2, random_state=0)
    y = np.array(["ash", "birch", "cedar"])[blob % 3]
    y[np.random.default_rng(0).random(150) < 0.15] = "ash"
    return X, y


X, Y = blobs()
NEW, NEW_Y = np.r_[X[:4] + 0.05, [[60.0, 60.0], [60.2, 60.0]]], np.r_[Y[:4], ["ash", "birch"]]
PROBES = np.r_[X[::3] + 0.2, NEW]


class CountingNB(GaussianNB):
    """Counts its fits."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


def build(**settings):
    return MemoryClassifier(
        **{"similarity": RBF, "estimator": CountingNB(), "threshold": 0.5, "random_state": 0} | settings
    )


@pytest.fixture(scope="module")
def clf():
    return build().fit(X, Y)


@pytest.fixture(autouse=True)
def unchanged(clf):
    """No edit changes the classifier that it is asked of."""
    before = {name: copy.deepcopy(value) for name, value in vars(clf).items() if name != "training_"}
    CountingNB.fits = 0
    yield
    for name, value in before.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(clf, name), value)
    assert clf.edits_ == before["edits_"]
    integrity.check(clf)


def assert_same(one, other, probes=PROBES):
    """Two classifiers with the same memories, clusters, thresholds and answers."""
    for name in ("memory_indices_", "labels_", "cluster_counts_", "thresholds_", "classes_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.predict(probes), other.predict(probes))
    np.testing.assert_allclose(one.predict_proba(probes), other.predict_proba(probes))
    assert one.search_result_.coverage == pytest.approx(other.search_result_.coverage)
    assert one.search_result_.objective == pytest.approx(other.search_result_.objective)
    np.testing.assert_array_equal(one.pool_.trained_with, other.pool_.trained_with)
    assert one.pool_.origins == other.pool_.origins


def count_changed(new, old):
    return len({id(each) for each in new.estimators_} - {id(each) for each in old.estimators_})


# ----------------------------------------------------------------------------------------------------------- pin, b_k


def test_pin__a_memory__is_marked_and_cannot_be_dropped(clf):
    pinned = clf.pin(2, 0)
    assert pinned.edits_.pinned == tuple(clf.memory_indices_[[2, 0]])
    with pytest.raises(ValueError, match=re.escape("memory 2 is pinned; unpin it first: pin(2, pinned=False)")):
        pinned.drop(2)
    assert len(pinned.pin(2, pinned=False).drop(2).memory_indices_) == len(clf.memory_indices_) - 1
    assert pinned.drop(1).edits_.pinned == pinned.edits_.pinned
    again = build().fit(X, Y, pinned=pinned.edits_.pinned)
    assert again.memory_indices_[:2].tolist() == list(pinned.edits_.pinned) == list(again.edits_.pinned)


def test_set_threshold__changes_one_route_and_fits_nothing(clf):
    strict = clf.set_threshold(1, 1.0)
    assert strict.thresholds_[1] == 1.0
    np.testing.assert_array_equal(np.delete(strict.thresholds_, 1), np.delete(clf.thresholds_, 1))
    assert CountingNB.fits == 0
    mine = clf.route(PROBES).memory == 1
    assert mine.any()
    assert (strict.predict(PROBES[mine]) == "unknown").all()
    np.testing.assert_array_equal(strict.predict(PROBES[~mine]), clf.predict(PROBES[~mine]))
    assert strict.explain(PROBES[:2]) is not None


# ------------------------------------------------------------------------------------------------------------ relabel


def test_relabel__equals_a_fit_with_the_label_and_fits_one_classifier(clf):
    row = int(np.flatnonzero((clf.labels_ == 1) & (Y != "cedar"))[0])
    corrected = Y.copy()
    corrected[row] = "cedar"
    edited = clf.relabel(row, "cedar")
    assert CountingNB.fits == count_changed(edited, clf) == 1
    assert edited.estimators_[1] is not clf.estimators_[1]
    q = len(clf.memory_indices_)
    assert_same(edited, build(n_memories=q).fit(X, corrected, pinned=clf.memory_indices_))
    assert_same(edited.relabel(row, Y[row]), build(n_memories=q).fit(X, Y, pinned=clf.memory_indices_))


@pytest.mark.parametrize(
    ("row", "label", "said"),
    [
        (0, Y[0], f"training case 0 has the label {Y[0]} already"),
        (0, "dill", "'dill' is none of the classes"),
        (150, "ash", "there is no training case 150; the 150 cases have the rows 0 to 149"),
    ],
)
def test_relabel__nonsense__says_what_is_wrong(clf, row, label, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        clf.relabel(row, label)


# --------------------------------------------------------------------------------------------------------------- drop


@pytest.mark.parametrize("gone", [(2,), (0, 3), (-1,)])
def test_drop__equals_a_fit_with_the_other_memories_and_fits_what_is_touched(clf, gone):
    gone = [k % len(clf.memory_indices_) for k in gone]
    edited = clf.drop(*gone)
    fits, changed = CountingNB.fits, count_changed(edited, clf)
    kept = np.delete(np.arange(len(clf.memory_indices_)), gone)
    touched = {k for k, old in enumerate(kept) if not np.array_equal(edited.labels_ == k, clf.labels_ == old)}
    assert 0 < len(touched) < len(kept)
    assert fits <= len(touched) == changed
    assert all(edited.estimators_[k] is clf.estimators_[kept[k]] for k in range(len(kept)) if k not in touched)
    whole = build(n_memories=len(kept)).fit(X, Y, pinned=clf.memory_indices_[kept])
    assert_same(edited, whole)
    assert sorted(edited.edits_.forbidden) == sorted(clf.memory_indices_[gone])
    assert len(edited.explain(PROBES[:3])) == 3


@pytest.mark.parametrize(
    "settings",
    [
        {"min_cluster_size": 20},
        {"answer": "labels"},
        {"fallback": "global"},
        {
            "fallback": DummyClassifier(),
            "start": "global",
            "estimator": SGDClassifier(loss="log_loss", max_iter=20, tol=None),
        },
        {"estimator": DecisionTreeClassifier(max_features=1, max_depth=2)},
        {"rule": "check_then_argmax", "fallback": "nearest"},
    ],
    ids=lambda each: ", ".join(each),
)
def test_drop_and_update__other_settings__equal_a_fit(settings):
    old = build(n_memories=6, **settings).fit(X, Y)
    # The seeds of local classifiers are by number, so the last is dropped.
    edited = old.drop(5)
    assert_same(edited, build(**settings | {"n_memories": 5}).fit(X, Y, pinned=old.memory_indices_[:5]))
    if settings.get("start") != "global" and "answer" not in settings:
        assert count_changed(edited, old) < 5
    more = old.update(NEW, NEW_Y)
    fresh = build(n_memories=6, **settings).fit(np.r_[X, NEW], np.r_[Y, NEW_Y], pinned=old.memory_indices_)
    assert_same(more, fresh)


def test_drop__numbered_estimators_and_thresholds__stay_with_their_memories():
    trees = {0: GaussianNB(), 2: DecisionTreeClassifier(max_depth=1), "default": DecisionTreeClassifier(max_depth=2)}
    old = build(n_memories=4, estimator=trees, thresholds=[0.5, 0.4, 0.3, 0.2]).fit(X, Y)
    edited = old.drop(1)
    assert edited.thresholds_.tolist() == [0.5, 0.3, 0.2]
    assert edited.estimator == {0: trees[0], 1: trees[2], "default": trees["default"]}
    more = edited.update(NEW[:4], NEW_Y[:4])
    assert more.thresholds_.tolist() == [0.5, 0.3, 0.2, 0.5]  # one for the cases around the dropped memory
    assert more.memory_indices_[:3].tolist() == edited.memory_indices_.tolist()


def test_drop__answer_rule_that_learned_on_folds__keeps_it_and_fits_detectors_of_touched():
    rule = ProductAnswer(competence="mahalanobis")
    old = build(n_memories=5, answer=rule, unknown_rate=0.1, cv=2).fit(X, Y)
    edited = old.drop(4)
    assert edited.answer_.calibration_ is old.answer_.calibration_
    np.testing.assert_array_equal(edited.answer_.weights_, old.answer_.weights_)
    np.testing.assert_array_equal(edited.thresholds_, old.thresholds_[:4])
    for k in range(4):
        same = edited.estimators_[k] is old.estimators_[k]
        assert (edited.answer_.detectors_[k] is old.answer_.detectors_[k]) == same
    assert len(old.answer_.detectors_) == 5
    row = int(np.flatnonzero(old.labels_ == 0)[-1])
    added = old.add(row)
    assert 0 < added.thresholds_[-1] < 1
    assert added.predict(PROBES).shape == (len(PROBES),)


# ---------------------------------------------------------------------------------------------------------------- add


def test_add__a_row__takes_the_cases_that_are_more_similar(clf):
    row = int(np.flatnonzero(clf.labels_ == 0)[-1])
    edited = clf.add(row)
    assert edited.memory_indices_.tolist() == [*clf.memory_indices_, row]
    moved = edited.labels_ == len(clf.memory_indices_)
    assert moved[row]
    assert (edited.search_result_.similarity[moved] >= clf.search_result_.similarity[moved]).all()
    np.testing.assert_array_equal(edited.labels_[~moved], clf.labels_[~moved])
    np.testing.assert_array_equal(edited.thresholds_, [*clf.thresholds_, 0.5])
    touched = {*clf.labels_[moved].tolist(), len(clf.memory_indices_)}
    assert count_changed(edited, clf) == len(touched)
    assert_same(edited, build(n_memories=len(edited.memory_indices_)).fit(X, Y, pinned=edited.memory_indices_))
    back = edited.drop(len(clf.memory_indices_))
    assert_same(back, clf)


def test_add__a_case__is_the_training_case_with_its_description_or_a_new_one(clf):
    row = int(np.flatnonzero(clf.labels_ == 0)[-1])
    assert clf.add(X[row]).memory_indices_[-1] == row
    new = clf.add(X[row] + 0.01)  # no label: a memory from which nothing is learned
    assert new.memory_indices_[-1] == len(X)
    assert new.cluster_counts_.sum() == len(X)
    assert len(new.labels_) == len(X) + 1
    np.testing.assert_array_equal(new.memories_[-1], X[row] + 0.01)
    far = clf.add([60.0, 60.0], "birch")
    assert far.cluster_counts_[-1].tolist() == [0, 1, 0]
    assert far.predict([[60.1, 60.0]]) == ["birch"]
    assert clf.predict([[60.1, 60.0]]) == ["unknown"]
    for edited in (new, far):
        assert (
            edited.update(NEW[:4], NEW_Y[:4]).memory_indices_[: len(edited.memory_indices_)] == edited.memory_indices_
        ).all()


def test_add__tight_thresholds__the_new_one_covers_its_own_cluster():
    old = build(n_memories=3, thresholds="tight").fit(X, Y)
    edited = old.add(int(np.flatnonzero(old.labels_ == 1)[-1]))
    mine = edited.labels_ == 3
    assert edited.thresholds_[3] == pytest.approx(edited.search_result_.similarity[mine].min())


# ------------------------------------------------------------------------------------------------------------- update


@pytest.mark.parametrize("similarity", [RBF, None], ids=["fixed", "learned"])
def test_update__equals_a_fit_on_all_cases_with_the_memories_pinned(similarity):
    old = build(similarity=similarity).fit(X, Y)
    edited = old.update(NEW, NEW_Y)
    fresh = build(similarity=similarity).fit(np.r_[X, NEW], np.r_[Y, NEW_Y], pinned=old.memory_indices_)
    assert_same(edited, fresh)
    q = len(old.memory_indices_)
    np.testing.assert_array_equal(edited.memory_indices_[:q], old.memory_indices_)
    assert set(edited.memory_indices_[q:]) & {150 + 4, 150 + 5}  # nothing covered them
    assert edited.search_result_.coverage == 1.0
    assert edited.edits_ == old.edits_


def test_update__covered_cases__join_and_the_other_classifiers_stay(clf):
    edited = clf.update(NEW[:1], NEW_Y[:1])
    joined = edited.labels_[-1]
    np.testing.assert_array_equal(edited.labels_[:-1], clf.labels_)
    assert [k for k, each in enumerate(edited.estimators_) if each is not clf.estimators_[k]] == [joined]


def test_update__after_edits__dropped_cases_stay_out_and_thresholds_by_hand_stay(clf):
    edited = clf.set_threshold(0, 0.9).drop(2).pin(1)
    more = edited.update(NEW, NEW_Y)
    assert more.edits_ == edited.edits_
    assert clf.memory_indices_[2] not in more.memory_indices_
    assert more.thresholds_[0] == 0.9
    assert (more.thresholds_[1:] == 0.5).all()
    again = more.update(NEW[:2] + 0.1, NEW_Y[:2])
    assert len(again.training_.y) == len(X) + len(NEW) + 2


def test_update__only_a_dropped_case_could_cover_it__it_stays_uncovered():
    far = np.r_[X, [[60.0, 60.0]]]
    old = build().fit(far, np.r_[Y, ["ash"]])
    k = int(np.flatnonzero(old.memory_indices_ == 150)[0])
    more = old.drop(k).update(NEW[:4], NEW_Y[:4])
    assert more.search_result_.uncovered.tolist() == [150]


def test_update__new_class_and_rule_that_learns__all_is_learned_anew():
    old = build(answer="product", n_memories="auto", cv=2).fit(X, Y)
    more = old.update(np.r_[X[:6] + 0.1], ["oak"] * 6)
    assert "oak" in more.classes_
    assert len(more.memory_indices_) == len(old.memory_indices_)
    assert more.n_memories == "auto"
    assert more.answer_.calibration_ is not old.answer_.calibration_
    assert more.predict_proba(PROBES).shape[1] == 4


def test_update__weights_and_groups__are_those_of_all_cases():
    weight, groups = np.linspace(0.5, 2, 150), np.arange(150) // 2
    old = build(n_memories=4).fit(X, Y, weight, groups=groups)
    more = old.update(NEW, NEW_Y, np.ones(6), groups=np.arange(6) + 100)
    fresh = build(n_memories=4).fit(
        np.r_[X, NEW], np.r_[Y, NEW_Y], np.r_[weight, np.ones(6)], pinned=old.memory_indices_
    )
    assert_same(more, fresh)
    assert_same(old.update(NEW, NEW_Y, groups=np.arange(6) + 100), fresh)
    with pytest.raises(ValueError, match="fit was given groups and the new cases not"):
        old.update(NEW, NEW_Y)


# --------------------------------------------------------------------------------------------------- training cases


def test_training__pickled_copied_or_cloned__is_left_out_and_can_be_given_again(clf):
    other = pickle.loads(pickle.dumps(clf))
    assert other.training_ is None
    assert len(pickle.dumps(clf)) < len(pickle.dumps(X)) + 40_000
    with pytest.raises(TrainingCasesError, match=r"needs the training cases, .* give them: clf.with_training\(X, y\)"):
        other.drop(0)
    with pytest.raises(TrainingCasesError, match="needs the training cases"):
        other.update(NEW, NEW_Y)
    assert other.set_threshold(0, 0.6).pin(0).thresholds_[0] == 0.6
    assert_same(other.with_training(X, Y).drop(1), clf.drop(1))
    assert not hasattr(clone(clf), "memories_")
    assert clf.training_.X is X


@pytest.mark.parametrize(
    ("X_", "y_", "message"),
    [
        (X[::-1], Y, "not the cases that the classifier was fitted on, or not in their order"),
        (X, np.roll(Y, 1), "the labels are not those"),
        (X, np.where(Y == "ash", "oak", Y), "the labels are not those"),
        (X[:-1], Y[:-1], "was fitted on 150 cases, and here are 149"),
    ],
    ids=["order", "labels", "classes", "number"],
)
def test_training__other_cases_than_those_of_the_fit__are_refused(clf, X_, y_, message):
    with pytest.raises(TrainingCasesError, match=message):
        clf.with_training(X_, y_)


def test_training__other_weights_or_changed_cases__are_refused():
    weight = np.linspace(0.5, 2, 150)
    own = X.copy()
    old = build(n_memories=3).fit(own, Y, weight)
    with pytest.raises(TrainingCasesError, match="another sample_weight"):
        old.with_training(own, Y)
    assert old.with_training(own, Y, weight).drop(0).cluster_counts_.sum() == 150
    own += 1
    with pytest.raises(TrainingCasesError, match="not the cases"):
        old.drop(0)


def test_edit__tables_and_lists__of_any_kind():
    table = pd.DataFrame({"size": X[:, 0], "kind": pd.Categorical(np.where(X[:, 1] > 0, "tall", "low"))})
    mixed = make_pipeline(OneHotEncoder(handle_unknown="ignore", sparse_output=False), GaussianNB())
    old = MemoryClassifier(GowerSimilarity(), mixed, 0.8, random_state=0).fit(table, Y)
    added = old.add({"kind": "tall", "size": 50.0}, "ash")
    assert added.memories_.iloc[-1]["size"] == 50.0
    assert added.memories_["kind"].dtype == table["kind"].dtype
    more = added.update(pd.DataFrame({"size": [1.0], "kind": ["wide"]}), ["birch"])
    assert "wide" in more.training_.X["kind"].cat.categories
    with pytest.raises(ValueError, match="the case lacks the columns size"):
        old.add({"kind": "tall"})
    texts = ["a", "aa", "aaa", "b", "bb", "bbb"] * 3
    alike = FunctionSimilarity(lambda a, b: float(a[0] == b[0]) / (1 + abs(len(a) - len(b))))
    words = MemoryClassifier(alike, DummyClassifier(), 0.4).fit(texts, list("xyxyxy") * 3)
    q = len(words.memory_indices_)
    assert len(words.add(0 if 0 not in words.memory_indices_ else 2).memory_indices_) == q + 1
    assert words.update(["c", "cc"], ["x", "y"]).search_result_.coverage == 1.0


def test_edit__cases_with_a_cache__are_not_described_again():
    described = []

    def measure(case):
        described.append(1)
        return case

    cases = Cases(X)
    old = build(similarity=RBFSimilarity(gamma=0.1, features=measure)).fit(cases, Y)
    assert len(described) == 150
    old.drop(0).add(int(old.memory_indices_[0]))
    assert len(described) == 150


def test_edit__matrix_of_similarities__drops_and_adds_rows_but_takes_no_new_cases():
    S = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=-1))
    old = build(similarity=Precomputed(), estimator=DummyClassifier()).fit(S, Y)
    assert old.drop(0).add(int(old.memory_indices_[0])).memory_indices_[-1] == old.memory_indices_[0]
    with pytest.raises(ValueError, match="fitted on a matrix of similarities of its cases: update needs"):
        old.update(S[:2], Y[:2])


# ---------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda c: c.drop(99), "there is no memory 99; the memories have the numbers 0 to"),
        (lambda c: c.drop(-1), "there is no memory -1"),
        (lambda c: c.pin(True), "there is no memory True"),
        (lambda c: c.pin(), "name at least one memory"),
        (lambda c: c.drop(*range(len(c.memory_indices_))), "needs at least one memory"),
        (lambda c: c.set_threshold(0, 1.5), r"a threshold must be a number in \(0, 1\].*got 1.5"),
        (lambda c: c.set_threshold(0, "high"), "got 'high'"),
        (lambda c: c.add(150), "there is no training case 150; the 150 cases have the rows 0 to 149"),
        (lambda c: c.add(int(c.memory_indices_[1])), "is memory 1 already"),
        (lambda c: c.add(c.memories_[1]), "is memory 1 already"),
        (lambda c: c.add(c.memories_[1], "ash"), "case 150 has the description of memory 1 already"),
        (lambda c: c.add(3, "ash"), "training case 3 has a label"),
        (lambda c: c.add([60.0, 60.0]), "nothing can answer for it; give its label"),
        (lambda c: c.add([60.0, 60.0], "oak"), "'oak' is none of the classes"),
        (lambda c: c.add([1.0, 2.0, 3.0]), "features"),
        (lambda c: c.update(NEW[:, :1], NEW_Y), "features"),
        (lambda c: c.update(NEW, NEW_Y[:3]), "inconsistent numbers of samples"),
    ],
)
def test_edit__bad_input__is_refused_with_a_sentence(clf, edit, message):
    with pytest.raises(ValueError, match=message):
        edit(clf)


def test_fit__wishes_that_cannot_be__are_refused():
    with pytest.raises(ValueError, match="pinned names row 150"):
        build().fit(X, Y, pinned=[150])
    with pytest.raises(ValueError, match="n_memories='auto' tries few memories as well"):
        build(n_memories="auto").fit(X, Y, pinned=[1])
    with pytest.raises(ValueError, match="mode='paper' is the paper's algorithm"):
        build(search=MemorySelector(mode="paper")).fit(X, Y).update(NEW, NEW_Y)


def test_edit__fitted_parts_were_overwritten__is_refused(clf):
    spoiled = copy.copy(clf)
    vars(spoiled).update(vars(clf))
    spoiled.memories_ = spoiled.memories_ + 1
    with pytest.raises(ValueError, match="memories_ was changed after the fit"):
        spoiled.drop(0)
