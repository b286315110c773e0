"""What may be loaded: types that are known to do nothing but compute.

The list is fixed here; a model folder never adds to it. Everything else is refused by name until the caller
allows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# Expert features of memclf, and where they are defined.
FEATURES = {
    "LeafColours": "memclf.vision.features.leaf",
    "LesionFeatures": "memclf.vision.features.lesion",
    "PatchColour": "memclf.vision.features.patch",
    "TaughtRegions": "memclf.vision.features.regions",
}
# Types of scikit-learn and of plain data that skops leaves to the caller; scikit-learn's public estimators are on the
# list of skops, except the experimental ones. Those with native code behind them (trees, distances, splines, sparse
# matrices) are checked after loading, see `validate.py`. Types that run what a file names are not here:
# PyFuncDistance64, joblib's Memory, distributions of scipy.stats.
_TYPES = {
    "builtins": "frozenset",
    "datetime": "date datetime time timedelta",
    "decimal": "Decimal",
    "numpy": "dtype",
    "scipy.interpolate._bsplines": "BSpline",
    "scipy.sparse._csc": "csc_array csc_matrix",
    "scipy.sparse._csr": "csr_array csr_matrix",
    "sklearn.calibration": "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling",
    "sklearn.cluster._bisect_k_means": "_BisectingTree",
    "sklearn.compose._column_transformer": "make_column_selector",
    "sklearn.ensemble._hist_gradient_boosting.predictor": "TreePredictor",
    "sklearn.gaussian_process._gpc": "_BinaryGaussianProcessClassifierLaplace",
    "sklearn.gaussian_process.kernels": (
        "CompoundKernel ConstantKernel DotProduct ExpSineSquared Exponentiation Matern PairwiseKernel Product "
        "RBF RationalQuadratic Sum WhiteKernel"
    ),
    "sklearn.impute._iterative": "IterativeImputer _ImputerTriplet",
    "sklearn.metrics._dist_metrics": (
        "BrayCurtisDistance64 CanberraDistance64 ChebyshevDistance64 DiceDistance64 EuclideanDistance64 "
        "HammingDistance64 HaversineDistance64 JaccardDistance64 MahalanobisDistance64 ManhattanDistance64 "
        "MinkowskiDistance64 RogersTanimotoDistance64 RussellRaoDistance64 SEuclideanDistance64 "
        "SokalSneathDistance64"
    ),
    "sklearn.metrics._scorer": "_CurveScorer _MultimetricScorer _PassthroughScorer _Scorer",
    "sklearn.model_selection._search_successive_halving": "HalvingGridSearchCV HalvingRandomSearchCV",
    "sklearn.model_selection._split": (
        "GroupKFold GroupShuffleSplit KFold LeaveOneGroupOut LeaveOneOut LeavePGroupsOut LeavePOut "
        "PredefinedSplit RepeatedKFold RepeatedStratifiedKFold ShuffleSplit StratifiedGroupKFold "
        "StratifiedKFold StratifiedShuffleSplit TimeSeriesSplit"
    ),
    "sklearn.multiclass": "_ConstantPredictor",
    "sklearn.neighbors._ball_tree": "BallTree",
    "sklearn.neighbors._kd_tree": "KDTree",
    "sklearn.neural_network._stochastic_optimizers": "AdamOptimizer SGDOptimizer",
    "sklearn.tree._tree": "Tree",
    "sklearn.utils._bunch": "Bunch",
    "sklearn.utils._metadata_requests": "MetadataRequest MethodMetadataRequest",
}
TYPES = frozenset(
    [f"{module}.{name}" for module, names in _TYPES.items() for name in names.split()]
    + [f"{module}.{name}" for name, module in FEATURES.items()]
)

# Functions that scikit-learn's types hold, by module, and the one attribute that may hold them. A file that puts a
# function elsewhere could have it called with arguments of the file's choice; see `validate.py`.
_FUNCTIONS = {
    "numpy": ("pooling_func", "max mean median min"),
    "scipy._lib.array_api_compat.numpy._aliases": ("_asarray", "asarray"),
    "sklearn.cluster._kmeans": ("_kmeans_single", "_kmeans_single_elkan _kmeans_single_lloyd"),
    "sklearn.feature_selection._mutual_info": ("score_func", "mutual_info_classif"),
    "sklearn.feature_selection._univariate_selection": ("score_func", "chi2 f_classif f_regression"),
    "sklearn.metrics._classification": (
        "_score_func",
        "accuracy_score balanced_accuracy_score brier_score_loss class_likelihood_ratios "
        "cohen_kappa_score d2_brier_score d2_log_loss_score f1_score fbeta_score hamming_loss hinge_loss "
        "jaccard_score log_loss matthews_corrcoef precision_score recall_score zero_one_loss",
    ),
    "sklearn.metrics._regression": (
        "_score_func",
        "d2_absolute_error_score explained_variance_score max_error mean_absolute_error "
        "mean_absolute_percentage_error mean_gamma_deviance mean_poisson_deviance mean_squared_error "
        "mean_squared_log_error median_absolute_error r2_score root_mean_squared_error "
        "root_mean_squared_log_error",
    ),
    "sklearn.metrics._ranking": ("_score_func", "average_precision_score roc_auc_score top_k_accuracy_score"),
    "sklearn.metrics._scorer": ("_score_func", "negative_likelihood_ratio positive_likelihood_ratio"),
}
FUNCTIONS = {f"{module}.{name}": place for module, (place, names) in _FUNCTIONS.items() for name in names.split()}
KNOWN = TYPES | set(FUNCTIONS)

# Functions of memclf that compare or describe and do nothing else.
OWN_FUNCTIONS = frozenset({"memclf.vision.features.patch.near_colour", "memclf.vision.features.patch.same_colour"})


def find_home(thing: Any) -> tuple[str, str]:
    """Module and qualified name of a type or function, or of the type of another object."""
    # Functions of compiled modules lack some of these attributes, or have None.
    module = getattr(thing, "__module__", None) or type(thing).__module__
    # Objects that are neither types nor functions have no name of their own.
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None) or type(thing).__qualname__
    return module, name


def full_name(thing: Any) -> str:
    """The name of a type or function in messages and in `trusted`."""
    return ".".join(find_home(thing))


def list_trusted(trusted: Iterable[Any]) -> set[str]:
    """Names to load beside the known ones: memclf's functions and what the caller allows."""
    if isinstance(trusted, str):
        raise TypeError(f"trusted must be a list of names, types or functions, got the string {trusted!r}")
    named = {each.replace(":", ".") if isinstance(each, str) else full_name(each) for each in trusted}
    return named | OWN_FUNCTIONS
