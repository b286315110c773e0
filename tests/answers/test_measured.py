"""A classifier on what the expert's features measure: where it knows most, it is believed."""

import copy

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memclf import MemoryClassifier, load, save
from memclf.answers import AutoAnswer
from memclf.answers.belief import PARTS, Belief
from memclf.answers.measured import TreesAndCurves, ask_measured
from memclf.cases import Cases
from memclf.evaluate import Measured
from memclf.evaluate.describe import describe_model
from memclf.exceptions import FittedPartsError
from memclf.similarity import RBFSimilarity
from memclf.similarity.base import inspect
from memclf.vision.features import ImageFeatures


class Bar(ImageFeatures):
    """Cases are compared by brightness; a bar, which tells the class, is a detail."""

    names = ("brightness",)
    details = ("bar",)

    def measure(self, image, info):
        return image.mean(), float(image[:, :4].mean()) - float(image.mean())


class Blind(ClassifierMixin, BaseEstimator):
    """Says the class frequencies of every image."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.chances_ = np.bincount(codes, sample_weight) / np.sum(
            np.ones(len(y)) if sample_weight is None else sample_weight
        )
        return self

    def predict_proba(self, X):
        return np.tile(self.chances_, (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def pictures(n, seed):
    rng = np.random.default_rng(seed)
    images = rng.integers(60, 120, (n, 1, 1, 1)) + rng.integers(0, 20, (n, 16, 16, 3))
    y = np.where(rng.random(n) < 0.5, "bar", "none")
    images[y == "bar", :, :4] += 60
    images[y == "bar"] -= 15  # no brighter on the whole
    return images.astype(np.uint8), y


class SameInAll(Bar):
    details = (*Bar.details, "holes")

    def measure(self, image, info):
        return *super().measure(image, info), 0.0


def make(similarity=None, **settings):
    given = {"n_memories": 6, "fallback": "nearest", "random_state": 0, "answer": AutoAnswer(competence=None)}
    similarity = RBFSimilarity(gamma=0.1, features=Bar()) if similarity is None else similarity
    return MemoryClassifier(similarity, Blind(), **{**given, **settings})


@pytest.fixture(scope="module")
def fitted():
    return make().fit(*pictures(150, 0))


def test_inspect__details_follow_the_numbers(fitted):
    images, _ = pictures(5, 1)
    rows = inspect(fitted.similarity_, Cases.of(images))
    assert rows[:, 0] == pytest.approx(images.mean(axis=(1, 2, 3)))
    assert Bar().transform(images) == pytest.approx(rows[:, :1])


def test_inspect__similarity_without_expert_features__gives_nothing():
    similarity = RBFSimilarity().fit(np.eye(4))
    assert inspect(similarity, Cases.of(np.eye(4))) is None


def test_auto__details_tell_the_class__measurements_are_believed(fitted):
    answer = fitted.answer_
    assert answer.scores_["measurements"] > max(answer.scores_[name] for name in ("global", "local", "labels")) + 0.1
    assert answer.belief_.measured
    assert fitted.score(*pictures(100, 1)) > 0.9
    assert "the expert's measurements say" in fitted.explain(pictures(1, 2)[0])[0].sentence


def test_explain__measurements_alone__are_named(fitted):
    alone = copy.deepcopy(fitted)
    alone.answer_.believed_, alone.answer_.belief_ = "measurements", PARTS["measurements"]
    found = alone.explain(pictures(1, 2)[0])[0]
    assert found.answered_by == "measurements"
    assert found.sentence.count("the expert's measurements say") == 1


def test_auto__measurements__survive_saving(fitted, tmp_path):
    save(fitted, tmp_path / "model")
    again = load(tmp_path / "model", trusted=[Bar, Blind])
    images, _ = pictures(30, 3)
    assert again.predict_proba(images) == pytest.approx(fitted.predict_proba(images))


def test_auto__detail_that_is_the_same_in_all_pictures__survives_saving(tmp_path):
    clf = make(similarity=RBFSimilarity(gamma=0.1, features=SameInAll())).fit(*pictures(150, 0))
    assert clf.answer_.inspects
    save(clf, tmp_path / "model")
    again = load(tmp_path / "model", trusted=[SameInAll, Blind])
    images, _ = pictures(30, 3)
    assert again.predict_proba(images) == pytest.approx(clf.predict_proba(images))


def test_auto__bar_as_in_no_training_picture__measurements_are_odd_and_count_for_less(fitted):
    images, _ = pictures(30, 3)
    strange = images.copy()
    strange[:, :, :4] = 255
    answer = copy.deepcopy(fitted.answer_)
    answer.belief_ = Belief(0.5, 1.0, distance=1.0, measured=True)
    shares = []
    for seen in (images, strange):
        cases = fitted._cases(seen)
        opinions, _ = answer.gather(fitted._parts, cases, fitted._parts.route(cases))
        opinions = answer.compare_with_usual(opinions, None)
        shares.append(np.median(np.divide(*answer.belief_.powers(opinions)[::-1])))
    assert shares[1] < shares[0] / 2


def test_explain__odd_measurements__says_that_they_count_for_less(fitted):
    both = copy.deepcopy(fitted)
    both.answer_.believed_ = "together"
    both.answer_.belief_ = Belief(1.0, 1.0, distance=1.0, measured=True)
    usual, _ = pictures(30, 3)
    strange = usual.copy()
    strange[:, :, :4] = 255
    said = [["unlike those of training cases" in each.sentence for each in both.explain(X)] for X in (usual, strange)]
    assert np.mean(said[0]) < 0.5
    assert all(said[1])


def test_auto__model_of_before__answers_without_knowing_what_is_odd(fitted):
    before = copy.deepcopy(fitted)
    del before.answer_.odd_, before.answer_.oddness_
    assert before.score(*pictures(100, 1)) > 0.9


def test_auto__tables__have_no_measurements():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    clf = MemoryClassifier(RBFSimilarity(), Blind(), n_memories=4, answer="auto", fallback="nearest").fit(
        X, X[:, 0] > 0
    )
    assert clf.answer_.measured_ is None
    assert "measurements" not in clf.answer_.scores_


def test_auto__sample_weight__measurements_learn_from_it():
    images, y = pictures(150, 0)
    flipped = y.copy()
    flipped[:60] = np.where(y[:60] == "bar", "none", "bar")
    weight = np.r_[np.full(60, 1e-3), np.ones(90)]
    clf = make().fit(images, flipped, sample_weight=weight)
    assert clf.score(*pictures(100, 1)) > 0.9


def test_measure__number_of_details_is_wrong__says_so():
    class Wrong(Bar):
        details = ("bar", "more")

    with pytest.raises(ValueError, match=r"one number per name \(1\) and detail \(2\), 3 in all"):
        Wrong().transform(pictures(1, 0)[0])


def test_measure__infinite_detail__names_it():
    class Endless(Bar):
        def measure(self, image, info):
            return 1.0, np.inf

    with pytest.raises(ValueError, match="Endless.measure returned infinity for 'bar'"):
        Endless().transform(pictures(1, 0)[0])


def test_measure__details_are_a_string__says_so():
    class Wrong(Bar):
        details = "bar"

    with pytest.raises(TypeError, match="details must be a tuple of names"):
        Wrong().transform(pictures(1, 0)[0])


def test_trust__feature_inside_a_pipeline__is_asked():
    class Doubtful(Bar):
        signs = ("light",)

        def measure(self, image, info):
            return *super().measure(image, info), image.mean()

        def believe(self, signs):
            return (signs[:, 0] > 90).astype(float)

    images, y = pictures(40, 0)
    similarity = RBFSimilarity(features=make_pipeline(Doubtful(), StandardScaler())).fit(images, y)
    trusted = similarity.trust(Cases.of(images))
    assert trusted.tolist() == (images.mean(axis=(1, 2, 3)) > 90).tolist()
    assert inspect(similarity, Cases.of(images)).shape == (40, 2)


def test_measured__control_of_a_fitted_classifier__reads_the_measurements(fitted):
    images, y = pictures(60, 4)
    control = Measured(fitted)
    assert (control.predict(images) == y).mean() > 0.9
    assert describe_model(control).startswith("a classifier on the measurements of")


def test_trees_and_curves__border_that_no_split_follows__curves_help_trees():
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(120, 10)), rng.normal(size=(2000, 10))
    model = TreesAndCurves().fit(X, X.sum(axis=1) > 0)
    truth = Z.sum(axis=1) > 0
    assert model.score(Z, truth) > model.trees_.score(Z, truth) + 0.025


def test_trees_and_curves__numbers_beyond_the_training_cases__count_as_the_last_one():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 2, 60), np.zeros(60)])
    model = TreesAndCurves().fit(X, X[:, 0] > 0)
    last = X[[X[:, 0].argmax()]]
    beyond = last + np.array([[1e6, 0, 0]])
    assert model.predict_proba(beyond) == pytest.approx(model.predict_proba(last), abs=1e-6)


def test_trees_and_curves__one_class__is_said_of_all():
    model = TreesAndCurves().fit(np.eye(4), ["a"] * 4)
    assert model.predict_proba(np.zeros((2, 4))).tolist() == [[1.0], [1.0]]
    assert model.predict(np.zeros((2, 4))).tolist() == ["a", "a"]


def test_trees_and_curves__sample_weight__both_learn_from_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.r_[X[:50, 0] > 0, X[50:, 0] < 0]  # the other half is labelled wrongly
    model = TreesAndCurves().fit(X, y, np.r_[np.ones(50), np.full(50, 1e-3)])
    for part in (model.trees_, model.curves_):
        assert part.score(X[:50], y[:50]) > 0.8


def test_trees_and_curves__both_count_as_much():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(80, 3)), rng.normal(size=(20, 3))
    model = TreesAndCurves().fit(X, X[:, 0] > 0)
    curves = model.curves_.predict_proba(model._scale(Z))
    assert np.abs(curves - model.trees_.predict_proba(model._scale(Z))).max() > 0.05
    assert model.predict_proba(Z) == pytest.approx((curves + model.trees_.predict_proba(model._scale(Z))) / 2)


def test_trees_and_curves__other_units__change_nothing():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(80, 3)), rng.normal(size=(20, 3))
    X[::7, 1] = np.nan
    y = X[:, 0] > 0
    small = TreesAndCurves().fit(X * 2.0**-40, y)  # square metres of a spot
    assert small.predict_proba(Z * 2.0**-40) == pytest.approx(TreesAndCurves().fit(X, y).predict_proba(Z))


def test_trees_and_curves__missing_numbers__are_filled_with_the_median_of_the_others():
    X = np.array([[1.0, 5.0], [2.0, np.nan], [9.0, 7.0], [3.0, 8.0]])
    model = TreesAndCurves().fit(X, [0, 1, 0, 1])
    assert model.fill(np.array([[np.nan, np.nan]])).tolist() == [[2.5, 7.0]]
    assert model.lacks(np.array([[np.nan, 1.0], [1.0, np.nan], [1.0, 1.0]])).tolist() == [True, False, False]


@pytest.mark.parametrize("where", ["new", "training"])
def test_trees_and_curves__missing_numbers__are_usual_to_the_curves(where):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] > 0
    X[::4, 1], X[:, 2] = (np.nan, np.nan) if where == "training" else (X[::4, 1], 0.0)
    model = TreesAndCurves().fit(X, y)
    new = np.array([[2.0, np.nan, np.nan], [-2.0, np.nan, np.nan]])
    assert model.predict(new).tolist() == [True, False]
    assert model.curves_.predict(model.fill(new)).tolist() == [True, False]


class SometimesBar(Bar):
    """Nothing to measure in dark pictures."""

    def measure(self, image, info):
        found = super().measure(image, info)
        return found if image.mean() > 75 else (found[0], np.nan)


def test_auto__detail_that_is_missing_in_some_pictures__is_answered():
    images, y = pictures(150, 0)
    clf = MemoryClassifier(
        RBFSimilarity(gamma=0.1, features=SometimesBar()), Blind(), n_memories=6, fallback="nearest", random_state=0,
        answer=AutoAnswer(competence=None),
    ).fit(images, y)  # fmt: skip
    new, truth = pictures(100, 1)
    assert np.isnan(inspect(clf.similarity_, Cases.of(new))).any()
    assert clf.answer_.belief_.measured
    assert clf.score(new, truth) > 0.75
    _, oddness = ask_measured(clf.answer_.measured_, clf.answer_.odd_, clf._parts, Cases.of(new))
    assert np.isfinite(oddness).all()  # such pictures were there in training


class LostBar(Bar):
    """Measures nothing in any picture once it is told to."""

    lost = False

    def measure(self, image, info):
        found = super().measure(image, info)
        return (found[0], np.nan) if LostBar.lost else found


def test_auto__detail_that_no_training_picture_lacked__is_odd_where_it_is_missing(monkeypatch):
    images, y = pictures(150, 0)
    clf = MemoryClassifier(
        RBFSimilarity(gamma=0.1, features=LostBar()), Blind(), n_memories=6, fallback="nearest", random_state=0,
        answer=AutoAnswer(competence=None),
    ).fit(images, y)  # fmt: skip
    monkeypatch.setattr(LostBar, "lost", True)
    _, oddness = ask_measured(clf.answer_.measured_, clf.answer_.odd_, clf._parts, Cases.of(pictures(10, 1)[0]))
    assert np.isinf(oddness).all()
    P = clf.predict_proba(pictures(10, 1)[0])
    assert np.isfinite(P).all()


def test_auto__measurements_in_other_units__are_as_odd():
    images, y = pictures(150, 0)

    class FineBar(Bar):
        def measure(self, image, info):
            found = super().measure(image, info)
            return found[0], 1024 * found[1]

    told = []
    for feature in (Bar(), FineBar()):
        similarity = RBFSimilarity(gamma=0.1, features=feature)
        clf = MemoryClassifier(
            similarity, Blind(), n_memories=6, fallback="nearest", random_state=0, answer=AutoAnswer(competence=None)
        ).fit(images, y)
        told.append(ask_measured(clf.answer_.measured_, clf.answer_.odd_, clf._parts, Cases.of(images[:20]))[1])
    assert told[0] == pytest.approx(told[1], rel=1e-6)


def test_auto__measurements_that_are_not_believed__are_not_kept():
    images, y = pictures(150, 0)
    nothing = np.random.default_rng(1).permutation(y)  # that no picture tells
    answer = make(answer=AutoAnswer(competence=None)).fit(images, nothing).answer_
    for told in (answer, make().fit(images, y).answer_):
        assert (told.measured_ is not None) == (told.odd_ is not None) == told.inspects == told.belief_.measured


def test_trees_and_curves__scale_of_weights__changes_nothing():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(100, 4)), rng.normal(size=(20, 4))
    y, weight = X.sum(axis=1) > 0, rng.uniform(1, 2, 100)
    small, large = (TreesAndCurves().fit(X, y, factor * weight) for factor in (1e-3, 1e3))
    assert small.curves_.predict_proba(Z) == pytest.approx(large.curves_.predict_proba(Z), abs=1e-3)


def test_auto__model_of_before_with_a_forest__is_saved_and_answers_as_it_did(fitted, tmp_path):
    before = copy.deepcopy(fitted)
    images, y = pictures(60, 0)
    before.answer_.measured_ = RandomForestClassifier(20, random_state=0).fit(
        inspect(fitted.similarity_, Cases.of(images)), y
    )
    save(before, tmp_path / "model")
    again = load(tmp_path / "model", trusted=[Bar, Blind])
    assert np.array_equal(again.predict_proba(images), before.predict_proba(images))
    assert (Measured(again).predict(images) == y).mean() > 0.9


@pytest.mark.parametrize("damage", ["classes", "curves", "missing", "short"])
def test_save__damaged_trees_and_curves__says_so(fitted, tmp_path, damage):
    broken = copy.deepcopy(fitted)
    told = broken.answer_.measured_
    if damage == "classes":
        told.classes_ = told.classes_[::-1]
    elif damage == "curves":
        told.curves_[-1].classes_ = np.array(["bar"])
    elif damage == "short":
        told.usual_ = told.usual_[:1]
    else:
        del told.usual_
    with pytest.raises(FittedPartsError, match=r"answer_\.measured_ does not belong"):
        save(broken, tmp_path / "model")
