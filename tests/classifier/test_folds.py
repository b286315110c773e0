"""How training cases are cut into folds, and that what belongs together is never on both sides of one."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneGroupOut, PredefinedSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import memclf
from memclf import MemoryClassifier
from memclf.answers import ProductAnswer
from memclf.classifier.folds import FoldPlan
from memclf.similarity import RBFSimilarity, TreeSimilarity

X, y = load_wine(return_X_y=True)
LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
GROUPS = np.array(list("abcdefgh"))[np.arange(len(y)) % 8]
PRODUCT = ProductAnswer(competence=None, balance=0.0)
EVERYTHING = {"answer": ProductAnswer(), "unknown_rate": 0.3}  # at which eight groups can make a case unknown


def wine(**settings):
    return MemoryClassifier(TreeSimilarity(), LOGISTIC, min_cluster_size=10, random_state=0, **settings)


def watched(monkeypatch):
    """How each fit cuts, and what it cuts."""
    cuts = []
    cut = FoldPlan.split

    def watching(self, y, counted, seed, **settings):
        found = cut(self, y, counted, seed, **settings)
        cuts.append((self, found))
        return found

    monkeypatch.setattr(FoldPlan, "split", watching)
    return cuts


# ------------------------------------------------------------------------------------------------- a number of folds


def test_folds_hold_every_case_out_once_and_mix_the_classes():
    labels = np.repeat([0, 1, 2], [50, 30, 1])
    counted = np.arange(1, 81)
    cut = FoldPlan(3).split(labels, counted, 0)
    held = np.sort(np.concatenate([each for _, each in cut]))
    np.testing.assert_array_equal(held, counted)
    for rest, out in cut:
        assert not set(rest) & set(out)
        assert 0.3 < np.mean(labels[out] == 1) < 0.45
    with pytest.raises(ValueError, match="5 cases are too few for cv=3 folds to learn from, which take at least 6"):
        FoldPlan(3).split(labels, np.arange(5), 0)
    with pytest.raises(ValueError, match="a single class"):
        FoldPlan(3).split(np.array([0] * 9 + [1]), np.arange(10), 0)


@pytest.mark.parametrize("labels", [y, np.arange(len(y)) // 2], ids=["few classes", "classes smaller than the folds"])
def test_split__groups__stay_together_and_every_case_is_held_out(labels):
    cut = FoldPlan.create(3, GROUPS, len(y)).split(labels, np.arange(len(y)), 0)
    for rest, held in cut:
        assert not set(GROUPS[rest]) & set(GROUPS[held])
    assert sorted(np.concatenate([held for _, held in cut])) == list(range(len(y)))


def test_the_seed_cuts_the_groups():
    first, again, other = (
        FoldPlan.create(3, GROUPS, len(y)).split(y, np.arange(len(y)), seed)[0][1] for seed in (0, 0, 5)
    )
    assert first.tolist() == again.tolist() != other.tolist()


def test_fewer_groups_than_folds_are_refused():
    with pytest.raises(ValueError, match="2 groups cannot be cut into cv=3 folds, since a group stays together"):
        wine(answer=PRODUCT).fit(X, y, groups=np.arange(len(y)) % 2)


def test_groups_that_are_classes_leave_too_little_to_learn_from():
    with pytest.raises(ValueError, match="would leave a single class to learn from"):
        wine(answer=PRODUCT, cv=2).fit(X[y < 2], y[y < 2], groups=y[y < 2])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (GROUPS[:-1], "groups must have one entry per case, 178; got 177"),
        ([None, *GROUPS[1:]], "groups has missing entries"),
        (np.where(np.arange(len(y)) == 3, np.nan, 1.0), "groups has missing entries"),
        (np.array([1, *GROUPS[1:]], dtype=object), "groups must be of one kind, got a mixture of int, str"),
        ([(each, 1) for each in GROUPS], r"groups must be one name or number per case, 178; got .* shape \(178, 2\)"),
        ("abc", r"groups must be one name or number per case, 178; got an array of shape \(\)"),
    ],
)
def test_groups_that_are_none_are_named(groups, message):
    with pytest.raises(ValueError, match=message):
        wine().fit(X, y, groups=groups)


def test_groups_without_anything_to_learn_on_folds_change_nothing():
    plain, grouped = wine().fit(X, y), wine().fit(X, y, groups=GROUPS)
    np.testing.assert_array_equal(plain.predict_proba(X), grouped.predict_proba(X))


def measured(objects, seed):
    """Three measurements of each object."""
    rng = np.random.default_rng(seed)
    truth, of = rng.normal(size=(objects, 5)), np.repeat(np.arange(objects), 3)
    return truth[of] + rng.normal(0, 0.05, (3 * objects, 5)), (truth[:, 0] > 0)[of].astype(int), of


@pytest.mark.slow
@pytest.mark.no_cover  # a simulation: many fits of one kind
def test_conformal_thresholds__repeated_measurements__need_groups():
    found = {False: [], True: []}
    for seed in range(6):
        A, b, of = measured(100, seed)
        for grouped, realised in found.items():
            clf = MemoryClassifier(RBFSimilarity(0.3), unknown_rate=0.05, random_state=seed)
            clf.fit(A, b, groups=of if grouped else None)
            realised.append(np.mean(clf.predict(measured(500, 100 + seed)[0]) == -1))
    assert np.mean(found[False]) > 0.4
    assert 0.005 < np.mean(found[True]) <= 0.05 + 3 * np.std(found[True]) / np.sqrt(6)


# ----------------------------------------------------------------------------------------- what is learned on folds


@pytest.mark.parametrize("cv", [3, GroupKFold(3), LeaveOneGroupOut()], ids=str)
def test_groups_stay_together_wherever_something_is_learned_on_folds(cv, monkeypatch):
    cuts = watched(monkeypatch)
    clf = wine(cv=cv, **EVERYTHING).fit(X, y, groups=GROUPS)
    assert clf.score(X, y) > 0.7
    assert len(cuts) == 2  # for the answer rule, and for the thresholds
    for plan, pairs in cuts:
        for rest, held in pairs:
            assert not set(plan.groups[rest]) & set(plan.groups[held])


def test_conformal_thresholds__one_object_of_a_class__need_no_second_class():
    """Memories alone are chosen without each fold, so a class that is away with its only object is no fault."""
    A, of = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) // 2
    clf = MemoryClassifier(RBFSimilarity(0.3), unknown_rate=0.2, random_state=0)
    assert clf.fit(A, (of == 0).astype(int), groups=of).thresholds_.max() > 0


@pytest.mark.parametrize(
    ("folds", "counted", "expected"),
    [
        (FoldPlan(3), 100, 10),
        (FoldPlan(20), 100, 20),
        (FoldPlan(3), 15, 7),
        (FoldPlan(3), 4, 3),
        (FoldPlan.create(3, GROUPS, len(y)), len(y), 8),
    ],
)
def test_folds__at_least_ten__as_many_as_cases_and_groups_allow(folds, counted, expected):
    assert folds.at_least(10, np.arange(counted)).cv == expected


def test_folds__at_least_ten__what_the_user_cuts_is_kept():
    for cv in (KFold(2), [(np.arange(5), np.arange(5, 10))]):
        assert FoldPlan(cv).at_least(10, np.arange(10)).cv is cv


@pytest.mark.parametrize("as_splitter", [False, True], ids=["list", "PredefinedSplit"])
def test_a_list_of_folds_is_followed_and_cases_without_weight_are_left_out(as_splitter, monkeypatch):
    place = np.arange(len(y)) // 2 % 4
    listed = [(np.flatnonzero(place != k), np.flatnonzero(place == k)) for k in range(4)]
    weight = np.where(np.arange(len(y)) % 7 == 0, 0.0, 1.0)
    cuts = watched(monkeypatch)
    wine(cv=PredefinedSplit(place) if as_splitter else listed, **EVERYTHING).fit(X, y, sample_weight=weight)
    assert len(cuts) == 2
    for _, pairs in cuts:
        assert len(pairs) == 4
        for k, (rest, held) in enumerate(pairs):
            np.testing.assert_array_equal(held, np.flatnonzero((place == k) & (weight > 0)))
            np.testing.assert_array_equal(rest, np.flatnonzero((place != k) & (weight > 0)))


def test_groups_reach_a_classifier_inside_others():
    grouped = wine(answer=PRODUCT).fit(X, y, groups=GROUPS).answer_.weights_[0]
    piped = make_pipeline(FunctionTransformer(), wine(answer=PRODUCT))
    piped.fit(X, y, memoryclassifier__groups=GROUPS)
    assert piped[-1].answer_.weights_[0] == grouped != wine(answer=PRODUCT).fit(X, y).answer_.weights_[0]
    cut = GroupKFold(3)  # the one outside needs groups, too
    found = cross_validate(
        wine(answer=PRODUCT, cv=GroupKFold(2)), X, y, groups=GROUPS, cv=cut, params={"groups": GROUPS}
    )
    assert found["test_score"].min() > 0.7


# --------------------------------------------------------------------------------------------- splitters and lists


def test_a_splitter_may_cut_the_folds():
    one = wine(answer=PRODUCT, cv=GroupKFold(3)).fit(X, y, groups=GROUPS)
    other = wine(answer=PRODUCT, cv=3).fit(X, y)
    listed = wine(answer=PRODUCT, cv=list(GroupKFold(3).split(X, y, GROUPS))).fit(X, y)
    assert one.answer_.weights_[0] != other.answer_.weights_[0]
    assert one.answer_.weights_[0] == listed.answer_.weights_[0]
    cut = FoldPlan(KFold(4)).split(y, np.arange(0, len(y), 2), None)
    assert [len(held) for _, held in cut] == [23, 22, 22, 22]


def test_a_list_of_folds_may_hold_masks():
    half = np.arange(len(y)) % 2 == 0
    pairs = FoldPlan.create([(half, ~half)], None, len(y)).split(y, np.arange(len(y)), None)
    np.testing.assert_array_equal(pairs[0][1], np.flatnonzero(~half))


def test_a_splitter_that_fails_for_another_reason_is_not_explained_away():
    with pytest.raises(ValueError, match="n_splits=500"):
        wine(answer=PRODUCT, cv=KFold(500)).fit(X, y)


def test_a_splitter_that_needs_groups_says_so():
    with pytest.raises(ValueError, match=r"cv=GroupKFold\(.*\) needs groups: fit\(X, y, groups=...\)"):
        wine(answer=PRODUCT, cv=GroupKFold(3)).fit(X, y)


def test_a_cut_through_a_group_is_refused():
    with pytest.raises(ValueError, match=r"cv=KFold\(.*\) puts cases of group 'a' on both sides of a fold"):
        wine(answer=PRODUCT, cv=KFold(3)).fit(X, y, groups=GROUPS)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "cv is empty"),
        (iter([]), r"cv is an iterator, which can be gone through only once; give a list: cv=list"),
        ([(np.arange(100), [])], "has no fold that holds some of these 178 cases out"),
        ([([], np.arange(100))], "has no fold that holds some of these 178 cases out"),
        ([(np.arange(100), np.arange(90, 178))], "fold 0 of cv holds row 90 out and fits on it as well"),
        ([(np.arange(100), np.arange(100, 179))], "fold 0 of cv names rows 100 to 178; the 178 cases have 0 to 177"),
        ([np.arange(100)], "fold 0 is no such pair"),
        ([[np.arange(100.0), np.arange(100, 178)]], "fold 0 is no such pair"),
        ("three", "cv must be a whole number of at least 2, a splitter, or a list of pairs of rows; got 'three'"),
        (True, "The 'cv' parameter of MemoryClassifier must be an int in the range .* Got True"),
        (None, "The 'cv' parameter of MemoryClassifier must be an int in the range .* Got None"),
    ],
)
def test_folds_that_are_none_are_named(cv, message):
    with pytest.raises(ValueError, match=message):
        wine(answer=PRODUCT, cv=cv).fit(X, y)


@pytest.mark.parametrize("cv", [GroupKFold(3), list(GroupKFold(3).split(X, y, GROUPS))], ids=["splitter", "list"])
def test_a_classifier_with_folds_of_its_own_is_saved(cv, tmp_path):
    clf = wine(answer=PRODUCT, cv=cv).fit(X, y, groups=GROUPS)
    memclf.save(clf, tmp_path / "model")
    trusted = [] if isinstance(cv, list) else ["sklearn.model_selection._split.GroupKFold"]
    np.testing.assert_array_equal(
        memclf.load(tmp_path / "model", trusted=trusted).predict_proba(X), clf.predict_proba(X)
    )


def test_a_search_hands_groups_on_where_they_are_asked_for():
    with sklearn.config_context(enable_metadata_routing=True):
        clf = wine(answer=PRODUCT, cv=GroupKFold(3)).set_fit_request(groups=True, sample_weight=False)
        search = GridSearchCV(clf, {"answer__balance": [0.0, 0.5]}, cv=GroupKFold(3), error_score="raise")
        assert search.fit(X, y, groups=GROUPS).best_estimator_.answer_.weights_ is not None
