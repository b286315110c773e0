"""Rademacher complexities: closed forms beside Monte Carlo and enumeration, and honest flags."""

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

from memclf.bounds import VC, Constants, Finite, Kernel, Linear, LinearLabels, Network, Trees, rademacher
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


@pytest.mark.parametrize("order", [1, 2])
def test_linear__closed_form__is_above_monte_carlo_and_not_far(X, order):
    closed = rademacher(Linear(2.0, order), X)
    drawn = rademacher(Linear(2.0, order), X, method="monte carlo", draws=4000, random_state=0)
    assert closed.flag == "upper bound"
    assert drawn.flag == "estimate"
    assert 0 < drawn.error < 0.05 * drawn.value
    assert drawn.value - 3 * drawn.error <= closed.value <= 2.5 * drawn.value


def test_linear__monte_carlo_on_few_cases__agrees_with_all_signs():
    X = np.random.default_rng(1).normal(size=(8, 2))
    signs = np.array(list(itertools.product((-1, 1), repeat=8)))
    exact = np.linalg.norm(signs @ X, axis=1).mean() / 8
    drawn = rademacher(Linear(1.0), X, method="monte carlo", draws=20_000, random_state=0)
    assert abs(drawn.value - exact) < 4 * drawn.error


def test_kernel__linear__is_as_rich_as_linear_scores(X):
    K = X @ X.T
    assert rademacher(Kernel(2.0), K).value == pytest.approx(rademacher(Linear(2.0), X).value)
    drawn = rademacher(Kernel(2.0), K, method="monte carlo", random_state=0)
    linear = rademacher(Linear(2.0), X, method="monte carlo", random_state=0)
    assert drawn.value == pytest.approx(linear.value)
    with pytest.raises(ValueError, match="n x n kernel matrix"):
        rademacher(Kernel(), X)


def test_finite__few_and_many_cases__is_exact_and_drawn():
    rng = np.random.default_rng(2)
    few = rng.choice([-1, 1], size=(5, 8))
    found = rademacher(Finite(few), np.empty((8, 0)))
    signs = np.array(list(itertools.product((-1, 1), repeat=8)))
    assert found.value == pytest.approx((signs @ few.T).max(axis=1).mean() / 8)
    assert found.flag == "exact"
    many = rng.choice([-1, 1], size=(50, 100))
    drawn, bound = (
        rademacher(Finite(many), np.empty((100, 0)), random_state=0),
        rademacher(Finite(50), np.empty((100, 0))),
    )
    assert drawn.flag == "estimate"
    assert bound.flag == "upper bound"
    assert drawn.value <= bound.value == pytest.approx(math.sqrt(2 * math.log(50) / 100))
    with pytest.raises(ValueError, match="8 values each, but there are 7 cases"):
        rademacher(Finite(few), np.empty((7, 0)))


def test_vc_and_trees__equal_the_formulas_by_hand():
    n = 500
    assert rademacher(VC(3), np.empty((n, 0))).value == pytest.approx(math.sqrt(2 * 3 * math.log(math.e * n / 3) / n))
    log_count = 3 * math.log(4 * (n + 1)) + 4 * math.log(2)
    assert rademacher(Trees(4, depth=2), np.empty((n, 0))).value == pytest.approx(math.sqrt(2 * log_count / n))
    assert rademacher(VC(400), np.empty((20, 0))).value == 1.0  # never more than everything


def test_network__each_norm__equals_the_formula_by_hand(X):
    n, norms = len(X), [2.0, 3.0]
    size = math.sqrt((X**2).sum())
    assert rademacher(Network(norms), X).value == pytest.approx(size * (math.sqrt(4 * math.log(2)) + 1) * 6 / n)
    columns = np.sqrt((X**2).sum(axis=0)).max()
    rows = 2 * 6 * math.sqrt(3 + math.log(3)) * columns / n
    assert rademacher(Network(norms, by="rows"), X).value == pytest.approx(rows)
    ratio = (0.5 ** (2 / 3) + (1 / 3) ** (2 / 3)) ** 1.5
    spectral = 4 / n**1.5 + 18 * math.log(n) / n * size * math.sqrt(math.log(2 * 16**2)) * 6 * ratio
    found = rademacher(Network(norms, by="spectral", distances=[1.0, 1.0], width=16), X)
    assert found.value == pytest.approx(spectral)
    with pytest.raises(ValueError, match="one distance per layer"):
        rademacher(Network(norms, by="spectral"), X)


def test_network__two_layers__is_as_rich_as_the_linear_scores_in_it(X):
    drawn = rademacher(Linear(6.0), X, method="monte carlo", random_state=0)
    assert rademacher(Network([2.0, 3.0]), X).value >= drawn.value / 2  # two layers of norms 2 and 3 hold norm 6 maps


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
        ((Linear(), np.empty((0, 2))), {}, "no cases"),
        ((Linear(), np.ones((4, 2))), {"method": "guess"}, "method must be one of"),
        ((Linear(), np.ones((4, 2))), {"draws": 0}, "draws must be at least 1"),
        ((Linear(), np.ones((4, 2))), {"method": "random labels"}, "need a classifier"),
        ((Linear(order=3), np.ones((4, 2))), {}, "order must be 1 or 2"),
        ((VC(2), np.ones((4, 2))), {"method": "monte carlo"}, "cannot be listed"),
        ((Network([1.0]), np.ones((4, 2))), {"method": "monte carlo"}, "no Monte Carlo"),
        ((Network([1.0], by="size"), np.ones((4, 2))), {}, "by must be"),
    ],
)
def test_rademacher__wrong_arguments__are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        rademacher(*arguments, **options)


@pytest.mark.parametrize("what", [Ridge(), "tree", None, Linear, LogisticRegression], ids=str)
def test_rademacher__no_classifier__is_refused(what, X):
    with pytest.raises(TypeError, match="a classifier or one of the classes"):
        rademacher(what, X)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Linear(-1.0), "norm must be at least 0"),
        (lambda: Kernel(-1.0), "norm must be at least 0"),
        (lambda: Constants(0), "n_labels must be at least 1"),
        (lambda: VC(-1), "dimension must be at least 0"),
        (lambda: Finite(0), "functions must be at least 1"),
        (lambda: Finite([[0, 1]]), "values -1 and 1"),
        (lambda: Network([]), "at least one layer"),
        (lambda: rademacher(Linear(), np.full((3, 2), np.nan)), "NaN or infinity"),
        (lambda: rademacher(LogisticRegression(), np.ones((3, 2)), n_classes=1), "n_classes must be at least 2"),
    ],
)
def test_classes__impossible_parameters__are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()
