"""Everything of scikit-learn's that a model may hold loads without being allowed: estimators, splitters, searches."""

import os

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from joblib import Memory
from scipy.stats import uniform
from sklearn import model_selection
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import Birch
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import SparseCoder
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    chi2,
    f_classif,
    mutual_info_classif,
)
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ExpSineSquared, PairwiseKernel
from sklearn.impute import IterativeImputer, MissingIndicator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, get_scorer, get_scorer_names, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, SplineTransformer, StandardScaler
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

import memclf
from memclf import MemoryClassifier
from memclf.exceptions import ModelFolderError, UntrustedTypeError
from memclf.persist.trust import FUNCTIONS
from memclf.similarity import GowerSimilarity, RBFSimilarity

pytestmark = pytest.mark.filterwarnings("ignore")  # fits this small do not converge

rng = np.random.default_rng(0)
X = np.abs(np.vstack([rng.normal(3, 1, (16, 3)), rng.normal(9, 1, (16, 3))]))
y = np.tile([0, 1], 16)
X[:, 0] += 8 * y
GROUPS = np.arange(32) // 8
LOGISTIC = LogisticRegression()
# Classifiers and transformers that need arguments, or others than their own to work with these cases.
GIVEN = {
    "ColumnTransformer": ColumnTransformer([("scaled", StandardScaler(), [0])], remainder="passthrough"),
    "FeatureUnion": FeatureUnion([("scaled", StandardScaler())]),
    "FixedThresholdClassifier": FixedThresholdClassifier(LOGISTIC),
    "GaussianRandomProjection": GaussianRandomProjection(2),
    "OneVsOneClassifier": OneVsOneClassifier(LOGISTIC),
    "OneVsRestClassifier": OneVsRestClassifier(LOGISTIC),
    "OutputCodeClassifier": OutputCodeClassifier(LOGISTIC),
    "MissingIndicator": MissingIndicator(features="all"),
    "OneHotEncoder": OneHotEncoder(handle_unknown="ignore"),
    "OrdinalEncoder": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    "RFE": RFE(LOGISTIC),
    "RFECV": RFECV(LOGISTIC, cv=2),
    "SelectFromModel": SelectFromModel(DecisionTreeClassifier()),
    "SelectKBest": SelectKBest(k=2),
    "SelfTrainingClassifier": SelfTrainingClassifier(LOGISTIC),
    "SequentialFeatureSelector": SequentialFeatureSelector(GaussianNB(), cv=2),
    "SparseCoder": SparseCoder(np.eye(3)),
    "SparseRandomProjection": SparseRandomProjection(2),
    "StackingClassifier": StackingClassifier([("a", LOGISTIC), ("b", GaussianNB())], cv=2),
    "TunedThresholdClassifierCV": TunedThresholdClassifierCV(LOGISTIC, cv=2),
    "VotingClassifier": VotingClassifier([("a", LOGISTIC), ("b", GaussianNB())]),
}
TARGETS, OTHER_CASES = "is for targets, not for cases", "is for other cases than rows of numbers"
SINGLE = "cannot transform a single case in scikit-learn 1.9, so it cannot be fitted locally"
WITHOUT = {
    "Birch": "cannot be saved by skops (tested below)",
    "CCA": "needs several targets",
    "ClassifierChain": "answers several labels at once",
    "DictVectorizer": OTHER_CASES,
    "FeatureHasher": OTHER_CASES,
    "HashingVectorizer": OTHER_CASES,
    "IsotonicRegression": "is for a single column, and used within CalibratedClassifierCV (tested below)",
    "KernelCenterer": OTHER_CASES,
    "LabelBinarizer": TARGETS,
    "LabelEncoder": TARGETS,
    "MiniBatchSparsePCA": SINGLE,
    "MultiLabelBinarizer": TARGETS,
    "MultiOutputClassifier": "answers several labels at once",
    "PLSCanonical": "needs several targets",
    "PLSRegression": "takes targets apart from cases, and its transformed cases are two arrays",
    "PLSSVD": "needs several targets",
    "PatchExtractor": OTHER_CASES,
    "SparsePCA": SINGLE,
    "StackingRegressor": "is a regressor",
    "TSNE": "cannot transform new cases",
    "VotingRegressor": "is a regressor",
}
SMALL = {"n_estimators": 3, "max_iter": 20, "n_quantiles": 5, "Cs": 2, "n_components": 2}
ENOUGH = ("HistGradientBoostingClassifier", "LogisticRegression", "TruncatedSVD")


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


CLASSIFIERS, TRANSFORMERS = (
    {name: kind for name, kind in all_estimators(each) if name not in WITHOUT} for each in ("classifier", "transformer")
)


def small(kind):
    """An instance that fits quickly."""
    name = kind.__name__
    if name in GIVEN:
        return GIVEN[name]
    own = kind().get_params()
    settings = {} if name in ENOUGH else {key: SMALL[key] for key in SMALL if own.get(key) is not None}
    return kind(**settings)


def fitted(estimator, **settings):
    fit = {"groups": settings.pop("groups")} if "groups" in settings else {}
    clf = MemoryClassifier(RBFSimilarity(0.05), estimator, n_memories=1, fallback="nearest", random_state=0)
    return clf.set_params(**settings).fit(X, y, **fit)


def loads_alike(clf, folder):
    """Save, load without allowing anything, and compare the answers."""
    new = memclf.load(memclf.save(clf, folder))
    np.testing.assert_array_equal(new.predict(X), clf.predict(X))
    assert "trusted=" not in (folder / "MODEL_CARD.md").read_text()
    return new


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_loads_without_being_allowed(name, tmp_path):
    loads_alike(fitted(small(CLASSIFIERS[name])), tmp_path / "model")


@pytest.mark.parametrize("name", sorted(set(TRANSFORMERS) - set(CLASSIFIERS)))
def test_every_transformer_loads_without_being_allowed(name, tmp_path):
    clf = fitted(make_pipeline(small(TRANSFORMERS[name]), DecisionTreeClassifier(max_depth=2)))
    new = loads_alike(clf, tmp_path / "model")
    for old_local, new_local in zip(clf.estimators_, new.estimators_, strict=True):
        old, same = (each[0].transform(X) for each in (old_local, new_local))
        old, same = (each.toarray() if sp.issparse(each) else each for each in (old, same))
        np.testing.assert_allclose(same, old)


def test_the_lists_of_exceptions_name_what_exists():
    known = {name for name, _ in all_estimators()}
    assert set(GIVEN) | set(WITHOUT) <= known


MORE = {
    "a search": GridSearchCV(LOGISTIC, {"C": [1, 2]}, cv=2),
    "a search with a splitter": GridSearchCV(LOGISTIC, {"C": [1, 2]}, cv=StratifiedKFold(2, shuffle=True)),
    "a search for f1": GridSearchCV(LOGISTIC, {"C": [1, 2]}, cv=2, scoring="f1"),
    "a search with two scores": GridSearchCV(LOGISTIC, {"C": [1]}, cv=2, scoring=["f1", "roc_auc"], refit="f1"),
    "a search with a made scorer": GridSearchCV(LOGISTIC, {"C": [1]}, cv=2, scoring=make_scorer(fbeta_score, beta=2)),
    "a search among classifiers": GridSearchCV(
        Pipeline([("last", LOGISTIC)]), {"last": [LOGISTIC, GaussianNB()]}, cv=2
    ),
    "a random search": RandomizedSearchCV(LOGISTIC, {"C": [1, 2]}, n_iter=2, cv=2, random_state=0),
    "a halving search": HalvingGridSearchCV(LOGISTIC, {"C": [1, 2]}, cv=2, min_resources=8),
    "a random halving search": HalvingRandomSearchCV(LOGISTIC, {"C": [1, 2]}, cv=2, min_resources=8),
    "isotonic calibration": CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=2),
    "a frozen classifier": FrozenEstimator(LogisticRegression().fit(X, y)),
    "iterative imputation": make_pipeline(IterativeImputer(), LOGISTIC),
    "sparse splines": make_pipeline(SplineTransformer(sparse_output=True), LOGISTIC),
    "splines of a column without a spread": make_pipeline(
        FunctionTransformer(np.isfinite), StandardScaler(), SplineTransformer(knots="quantile"), LOGISTIC
    ),
    "periodic splines": make_pipeline(SplineTransformer(extrapolation="periodic"), LOGISTIC),
    "selection by chi2": make_pipeline(SelectKBest(chi2, k=2), LOGISTIC),
    "selection by information": make_pipeline(SelectKBest(mutual_info_classif, k=2), LOGISTIC),
    "a ufunc": make_pipeline(FunctionTransformer(np.log1p), LOGISTIC),
    "a periodic kernel": GaussianProcessClassifier(ExpSineSquared(), optimizer=None),
    "a power of a kernel": GaussianProcessClassifier(RBF() ** 2, optimizer=None),
    "a pairwise kernel": GaussianProcessClassifier(PairwiseKernel(), optimizer=None),
    **{
        f"neighbours by {metric}": KNeighborsClassifier(2, algorithm="ball_tree", metric=metric, metric_params=params)
        for metric, params in {
            **dict.fromkeys(("braycurtis", "canberra", "chebyshev", "hamming", "manhattan")),
            **dict.fromkeys(("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath")),
            "seuclidean": {"V": np.ones(3)},
            "mahalanobis": {"VI": np.eye(3)},
        }.items()
    },
}


@pytest.mark.parametrize("name", MORE)
def test_parts_of_scikit_learn_load_without_being_allowed(name, tmp_path):
    loads_alike(fitted(MORE[name]), tmp_path / "model")


def splitters():
    """Every splitter of scikit-learn's, with arguments where it needs some."""
    arguments = {"LeavePGroupsOut": (2,), "LeavePOut": (2,), "PredefinedSplit": (np.arange(32) % 4 // 2,)}
    few = {"n_splits": 2, "n_repeats": 2}
    for name in sorted(set(model_selection.__all__) - {"BaseCrossValidator", "BaseShuffleSplit"}):
        cls = getattr(model_selection, name)
        if isinstance(cls, type) and hasattr(cls, "split"):
            splitter = cls(*arguments.get(name, ()))
            vars(splitter).update({key: value for key, value in few.items() if key in vars(splitter)})
            yield pytest.param(splitter, id=name)


@pytest.mark.parametrize("splitter", list(splitters()))
def test_every_splitter_loads_without_being_allowed(splitter, tmp_path):
    name = type(splitter).__name__
    learns = {} if name in ("LeaveOneOut", "LeavePOut") else {"answer": "product"}  # a fit for every fold
    groups = {"groups": GROUPS} if "Group" in name else {}
    new = loads_alike(fitted(LOGISTIC, cv=splitter, **learns, **groups), tmp_path / "model")
    assert type(new.cv) is type(splitter)


def test_every_score_of_a_classifier_is_known():
    functions = {get_scorer(name)._score_func for name in get_scorer_names()}
    names = {f"{each.__module__}.{each.__name__}" for each in functions}
    assert {name for name in names if "metrics.cluster" not in name} <= set(FUNCTIONS)


# ------------------------------------------------------------------------------------- what must still be allowed


def distance(a, b):
    return float(np.abs(a - b).sum())


ALLOWED_ONLY = {
    "distributions, which run code": (
        RandomizedSearchCV(LOGISTIC, {"C": uniform(1, 2)}, n_iter=2, cv=2),
        "scipy.stats",
    ),
    "a cache, which unpickles files": (
        Pipeline([("scaled", StandardScaler()), ("last", LOGISTIC)], memory=Memory(None)),
        "joblib.memory.Memory",
    ),
    "a distance of the user's": (KNeighborsClassifier(2, algorithm="ball_tree", metric=distance), "PyFuncDistance64"),
    "a function in another place": (make_pipeline(FunctionTransformer(np.median), GaussianNB()), "numpy.median"),
    "functions to choose from": (
        GridSearchCV(
            make_pipeline(SelectKBest(k=2), LOGISTIC), {"selectkbest__score_func": [chi2, f_classif]}, cv=KFold(2)
        ),
        "_univariate_selection.chi2",
    ),
}


@pytest.mark.parametrize("name", ALLOWED_ONLY)
def test_what_runs_or_could_run_code_must_be_allowed_by_name(name, tmp_path):
    estimator, wanted = ALLOWED_ONLY[name]
    if name == "a function in another place":
        clf = fitted(LOGISTIC)
        clf.estimators_[0].note = FunctionTransformer(np.median)
    else:
        clf = fitted(estimator)
    folder = memclf.save(clf, tmp_path / "model")
    with pytest.raises(UntrustedTypeError, match=wanted) as caught:
        memclf.load(folder)
    assert all(each in (folder / "MODEL_CARD.md").read_text() for each in caught.value.names)


def test_functions_to_choose_from_load_when_they_are_allowed(tmp_path):
    clf = fitted(ALLOWED_ONLY["functions to choose from"][0])
    folder = memclf.save(clf, tmp_path / "model")
    with pytest.raises(UntrustedTypeError, match="where scikit-learn does not put it") as caught:
        memclf.load(folder)
    new = memclf.load(folder, trusted=caught.value.names)
    np.testing.assert_array_equal(new.predict(X), clf.predict(X))


def test_what_skops_cannot_save_is_named(tmp_path):
    with pytest.raises(ModelFolderError, match="Birch are not supported"):
        memclf.save(fitted(make_pipeline(Birch(n_clusters=2), LOGISTIC)), tmp_path / "model")


def test_columns_of_a_table_chosen_by_type_load_without_being_allowed(tmp_path):
    table = pd.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > X[:, 1].mean(), "a", "b")})
    numbers = ColumnTransformer([("n", StandardScaler(), make_column_selector(dtype_include="number"))])
    clf = MemoryClassifier(GowerSimilarity(), make_pipeline(numbers, DecisionTreeClassifier(max_depth=2)), n_memories=2)
    new = memclf.load(memclf.save(clf.fit(table, y), tmp_path / "model"))
    np.testing.assert_array_equal(new.predict(table), clf.predict(table))


def test_a_code_for_classes_loads_without_being_allowed(tmp_path):
    """One of its columns may be constant."""
    clf = fitted(OutputCodeClassifier(DecisionTreeClassifier(max_depth=2), code_size=4, random_state=0))
    assert "_ConstantPredictor" in {type(each).__name__ for each in clf.estimators_[0].estimators_}
    loads_alike(clf, tmp_path / "model")
