"""scikit-learn's own checks, for every estimator in the package."""

import inspect
import warnings

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import memclf
from memclf import MemoryClassifier, MemorySelector, similarity
from memclf.similarity import (
    CombinedSimilarity,
    CosineSimilarity,
    FunctionSimilarity,
    GowerSimilarity,
    JudgedSimilarity,
    Precomputed,
    RankSimilarity,
    RBFSimilarity,
    TreeSimilarity,
)
from toolbox import NearRows

pytestmark = pytest.mark.no_cover  # hundreds of fits of one kind

ESTIMATORS = [
    MemoryClassifier(),
    MemoryClassifier(fallback="nearest"),
    MemoryClassifier(
        fallback="global",
        search=MemorySelector(cover="random"),
        thresholds="tight",
        start="global",
        random_state=0,
    ),
    MemoryClassifier(threshold=0.9, answer="labels", fallback="nearest"),
    MemorySelector(),
    MemorySelector(GowerSimilarity(), cover="random", random_state=0),
    RBFSimilarity(),
    RankSimilarity(),
    CosineSimilarity(),
    GowerSimilarity(),
    JudgedSimilarity(),
    TreeSimilarity(),
    TreeSimilarity(graded=True),
    Precomputed(),
    FunctionSimilarity(NearRows()),
    CombinedSimilarity([("near", RBFSimilarity()), ("angle", CosineSimilarity())]),
]


def expected_failures(estimator):
    if isinstance(estimator, MemoryClassifier) and estimator.fallback == "unknown":
        # Unknown has probability 0 for every class, the least there is, and score 0, between the two classes.
        return {"check_decision_proba_consistency": "unknown is at the end of one order, in the middle of the other"}
    if isinstance(estimator, MemoryClassifier) and estimator.answer in ("product", "auto"):
        reason = "repeated cases are drawn into other folds than one case of more weight"
        found = {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
        return found | {
            "check_classifier_data_not_an_array": "rows of a data frame are shifted by other random numbers"
        }
    return {}


LEARNING = [
    MemoryClassifier(answer="product", fallback="nearest"),
    MemoryClassifier(answer="auto", fallback="nearest", cv=2),
]


@pytest.mark.slow  # each of hundreds of fits is several
@parametrize_with_checks(LEARNING, expected_failed_checks=expected_failures)
def test_scikit_learn_finds_nothing_wrong_with_rules_that_learn(estimator, check):
    run(estimator, check)


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    run(estimator, check)


def run(estimator, check):
    with warnings.catch_warnings():
        # Checks with labels beyond int32 make scikit-learn's own array code warn.
        warnings.filterwarnings("ignore", message="invalid value encountered in cast", category=RuntimeWarning)
        check(estimator)


def test_every_estimator_of_the_package_is_checked():
    checked = {type(each) for each in ESTIMATORS}
    public = [getattr(memclf, name) for name in memclf.__all__] + [getattr(similarity, n) for n in similarity.__all__]
    estimators = {each for each in public if inspect.isclass(each) and hasattr(each, "fit")}
    # The base class compares nothing, and chance has no use for what a case looks like.
    assert estimators - checked == {similarity.Similarity, similarity.RandomSimilarity}


@pytest.mark.parametrize("estimator", [*ESTIMATORS, *LEARNING], ids=lambda each: repr(each)[:40])
def test_every_fitted_attribute_is_documented(estimator):
    import numpy as np
    from sklearn.datasets import make_blobs

    X, y = make_blobs(40, 3, random_state=0)
    X = X @ X.T * 0 + np.eye(40) if isinstance(estimator, Precomputed) else abs(X)
    fitted = estimator.fit(X, y)
    documented = type(estimator).__doc__
    mine = [n for n in vars(fitted) if n.endswith("_") and not n.startswith("_")]
    hidden = [n for n in mine if n not in documented and n not in ("n_features_in_", "fitted_", "features_")]
    assert mine
    assert not hidden, f"{type(estimator).__name__} does not document {hidden}"
