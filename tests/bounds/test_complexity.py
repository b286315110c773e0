"""Rademacher complexities: closed forms beside enumeration, and honest flags."""

import itertools
import math

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from memclf.bounds import Constants, LinearLabels, Trees, rademacher
from memclf.bounds.complexity import class_of


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(60, 3))


def test_constants__one_and_two__equal_the_enumeration():
    n = 9
    assert rademacher(Constants(1), np.empty((n, 0))).value == 0
    two = rademacher(Constants(2), np.empty((n, 0)))
    by_hand = np.mean([abs(sum(signs)) for signs in itertools.product((-1, 1), repeat=n)]) / n
    assert two.value == pytest.approx(by_hand)
    assert two.flag == "exact"
    assert two.value <= n**-0.5  # kappa = 1 is always enough


def test_trees__depth_two__equal_the_formula_by_hand():
    n = 500
    log_count = 3 * math.log(4 * (n + 1)) + 4 * math.log(2)
    assert rademacher(Trees(4, cuts=3), np.empty((n, 0))).value == pytest.approx(math.sqrt(2 * log_count / n))


def test_linear_labels__more_numbers_than_cases__is_one():
    assert rademacher(LinearLabels(400), np.empty((20, 0))).value == 1.0


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (DummyClassifier(), Constants(3)),
        (LogisticRegression(), LinearLabels(4, 3)),
        (make_pipeline(StandardScaler(), LogisticRegression()), LinearLabels(4, 3)),
        (GaussianNB(), LinearLabels(8, 3)),
        (QuadraticDiscriminantAnalysis(), LinearLabels(14, 3)),
        (DecisionTreeClassifier(max_depth=2), Trees(4, n_classes=3, cuts=3)),
        (DecisionTreeClassifier(max_leaf_nodes=6), Trees(4, n_classes=3, cuts=5)),
        (DecisionTreeClassifier(min_samples_leaf=20), Trees(4, n_classes=3, cuts=99)),
        (DecisionTreeClassifier(), Trees(4, n_classes=3, cuts=99)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_class_of__estimator__is_read_from_its_settings(estimator, expected):
    assert class_of(estimator, width=4, n=100, n_classes=3) == expected


@pytest.mark.parametrize(
    "estimator", [RandomForestClassifier(), KNeighborsClassifier(), DummyClassifier(strategy="uniform")]
)
def test_rademacher__learner_of_no_known_class__is_one(estimator, X):
    found = rademacher(estimator, X)
    assert found.value == 1.0
    assert found.flag == "upper bound"


@pytest.mark.parametrize(
    "estimator",
    [DecisionTreeClassifier(max_depth=2, random_state=0), LogisticRegression(), GaussianNB()],
    ids=lambda e: type(e).__name__,
)
def test_rademacher__random_labels__stays_below_the_class(estimator):
    X = np.random.default_rng(3).normal(size=(400, 2))
    learned = rademacher(estimator, X, method="random labels", draws=5, random_state=0)
    assert learned.flag == "heuristic"
    assert "not a bound" in learned.how
    assert learned.value <= rademacher(estimator, X).value


def test_rademacher__one_neighbour__follows_all_noise(X):
    learned = rademacher(KNeighborsClassifier(1), X, method="random labels", draws=3, random_state=0)
    assert learned.value == 1.0
    assert learned.error == pytest.approx(math.sqrt(2 * math.log(40) / (60 * 3)))


def test_rademacher__pipeline_with_unfitted_steps__is_one(X):
    wide = make_pipeline(PolynomialFeatures(9), StandardScaler(), LogisticRegression(C=1e8, max_iter=5000))
    assert rademacher(wide, X).value == 1.0
    clipped = make_pipeline(MinMaxScaler(clip=True), LogisticRegression())
    assert rademacher(clipped, X).value == 1.0
    cut = make_pipeline(StandardScaler(), BernoulliNB())
    assert rademacher(cut, X).value == 1.0
    assert rademacher(make_pipeline(StandardScaler(), LogisticRegression()), X).value < 1


def test_class_of__svc_with_three_classes__is_not_linear():
    assert class_of(SVC(kernel="linear"), 4, 100, 2) == LinearLabels(4, 2)
    assert class_of(SVC(kernel="linear"), 4, 100, 3).log_count(100) == math.inf


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((Constants(), np.empty((0, 2))), {}, "no cases"),
        ((Constants(), np.ones((4, 2))), {"method": "guess"}, "method must be one of"),
        ((Constants(), np.ones((4, 2))), {"draws": 0}, "draws must be at least 1"),
        ((Constants(), np.ones((4, 2))), {"method": "random labels"}, "need a classifier"),
        ((LogisticRegression(), np.ones((3, 2))), {"n_classes": 1}, "n_classes must be at least 2"),
    ],
)
def test_rademacher__wrong_arguments__are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        rademacher(*arguments, **options)


@pytest.mark.parametrize("what", [Ridge(), "tree", None, Constants, LogisticRegression], ids=str)
def test_rademacher__no_classifier__is_refused(what, X):
    with pytest.raises(TypeError, match="a classifier or one of the classes"):
        rademacher(what, X)


def test_constants__no_label__is_refused():
    with pytest.raises(ValueError, match="n_labels must be at least 1"):
        Constants(0)
