"""What may be loaded: types that are known to do nothing but compute.

The list is fixed here; a model folder never adds to it. Everything else is refused by name until the caller
allows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# Types of scikit-learn, expert features and plain data that skops leaves to the caller; scikit-learn's public
# estimators are on the list of skops, except the experimental ones. Those with native code behind them (trees,
# distances, splines, sparse matrices) are checked after loading, see `sane.py`. Types that run what a file says are
# not here: PyFuncDistance64, joblib's Memory, distributions of scipy.stats.
TYPES = frozenset(
    {
        "builtins.frozenset",
        "datetime.date",
        "datetime.datetime",
        "datetime.time",
        "datetime.timedelta",
        "decimal.Decimal",
        "memclf.vision.features.leaf.LeafColours",
        "memclf.vision.features.lesion.LesionFeatures",
        "memclf.vision.features.patch.PatchColour",
        "numpy.dtype",
        "scipy.interpolate._bsplines.BSpline",
        "scipy.sparse._csc.csc_array",
        "scipy.sparse._csc.csc_matrix",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.calibration._TemperatureScaling",
        "sklearn.cluster._bisect_k_means._BisectingTree",
        "sklearn.compose._column_transformer.make_column_selector",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
        "sklearn.gaussian_process.kernels.CompoundKernel",
        "sklearn.gaussian_process.kernels.ConstantKernel",
        "sklearn.gaussian_process.kernels.DotProduct",
        "sklearn.gaussian_process.kernels.ExpSineSquared",
        "sklearn.gaussian_process.kernels.Exponentiation",
        "sklearn.gaussian_process.kernels.Matern",
        "sklearn.gaussian_process.kernels.PairwiseKernel",
        "sklearn.gaussian_process.kernels.Product",
        "sklearn.gaussian_process.kernels.RBF",
        "sklearn.gaussian_process.kernels.RationalQuadratic",
        "sklearn.gaussian_process.kernels.Sum",
        "sklearn.gaussian_process.kernels.WhiteKernel",
        "sklearn.impute._iterative.IterativeImputer",
        "sklearn.impute._iterative._ImputerTriplet",
        "sklearn.metrics._dist_metrics.BrayCurtisDistance64",
        "sklearn.metrics._dist_metrics.CanberraDistance64",
        "sklearn.metrics._dist_metrics.ChebyshevDistance64",
        "sklearn.metrics._dist_metrics.DiceDistance64",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.HammingDistance64",
        "sklearn.metrics._dist_metrics.HaversineDistance64",
        "sklearn.metrics._dist_metrics.JaccardDistance64",
        "sklearn.metrics._dist_metrics.MahalanobisDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        "sklearn.metrics._dist_metrics.MinkowskiDistance64",
        "sklearn.metrics._dist_metrics.RogersTanimotoDistance64",
        "sklearn.metrics._dist_metrics.RussellRaoDistance64",
        "sklearn.metrics._dist_metrics.SEuclideanDistance64",
        "sklearn.metrics._dist_metrics.SokalSneathDistance64",
        "sklearn.metrics._scorer._CurveScorer",
        "sklearn.metrics._scorer._MultimetricScorer",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.metrics._scorer._Scorer",
        "sklearn.model_selection._search_successive_halving.HalvingGridSearchCV",
        "sklearn.model_selection._search_successive_halving.HalvingRandomSearchCV",
        "sklearn.model_selection._split.GroupKFold",
        "sklearn.model_selection._split.GroupShuffleSplit",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.LeaveOneGroupOut",
        "sklearn.model_selection._split.LeaveOneOut",
        "sklearn.model_selection._split.LeavePGroupsOut",
        "sklearn.model_selection._split.LeavePOut",
        "sklearn.model_selection._split.PredefinedSplit",
        "sklearn.model_selection._split.RepeatedKFold",
        "sklearn.model_selection._split.RepeatedStratifiedKFold",
        "sklearn.model_selection._split.ShuffleSplit",
        "sklearn.model_selection._split.StratifiedGroupKFold",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.model_selection._split.StratifiedShuffleSplit",
        "sklearn.model_selection._split.TimeSeriesSplit",
        "sklearn.multiclass._ConstantPredictor",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.tree._tree.Tree",
        "sklearn.utils._bunch.Bunch",
        "sklearn.utils._metadata_requests.MetadataRequest",
        "sklearn.utils._metadata_requests.MethodMetadataRequest",
    }
)

_METRICS = (
    *("accuracy_score", "balanced_accuracy_score", "brier_score_loss", "class_likelihood_ratios", "cohen_kappa_score"),
    *("d2_brier_score", "d2_log_loss_score", "f1_score", "fbeta_score", "hamming_loss", "hinge_loss", "jaccard_score"),
    *("log_loss", "matthews_corrcoef", "precision_score", "recall_score", "zero_one_loss"),
)
_RANKINGS = ("average_precision_score", "roc_auc_score", "top_k_accuracy_score")
_SCORERS = ("negative_likelihood_ratio", "positive_likelihood_ratio")
_REGRESSION = (
    *("d2_absolute_error_score", "explained_variance_score", "max_error", "mean_absolute_error"),
    *("mean_absolute_percentage_error", "mean_gamma_deviance", "mean_poisson_deviance", "mean_squared_error"),
    *("mean_squared_log_error", "median_absolute_error", "r2_score", "root_mean_squared_error"),
    "root_mean_squared_log_error",
)
_SELECTION = "sklearn.feature_selection"
# Functions that scikit-learn's types hold, each with the one attribute that may hold it. A file that puts a function
# elsewhere could have it called with arguments of the file's choice; see `sane.py`.
FUNCTIONS = {
    "numpy.max": "pooling_func",
    "numpy.mean": "pooling_func",
    "numpy.median": "pooling_func",
    "numpy.min": "pooling_func",
    "scipy._lib.array_api_compat.numpy._aliases.asarray": "_asarray",
    "sklearn.cluster._kmeans._kmeans_single_elkan": "_kmeans_single",
    "sklearn.cluster._kmeans._kmeans_single_lloyd": "_kmeans_single",
    f"{_SELECTION}._mutual_info.mutual_info_classif": "score_func",
    f"{_SELECTION}._univariate_selection.chi2": "score_func",
    f"{_SELECTION}._univariate_selection.f_classif": "score_func",
    f"{_SELECTION}._univariate_selection.f_regression": "score_func",
    **{f"sklearn.metrics._classification.{name}": "_score_func" for name in _METRICS},
    **{f"sklearn.metrics._regression.{name}": "_score_func" for name in _REGRESSION},
    **{f"sklearn.metrics._ranking.{name}": "_score_func" for name in _RANKINGS},
    **{f"sklearn.metrics._scorer.{name}": "_score_func" for name in _SCORERS},
}
KNOWN = TYPES | set(FUNCTIONS)

# Functions of memclf's own that compare or describe and do nothing else.
OWN_FUNCTIONS = frozenset({"memclf.vision.features.patch.near_colour", "memclf.vision.features.patch.same_colour"})


def full_name(thing: Any) -> str:
    """How a type or function is called in messages and in `trusted`."""
    module = getattr(thing, "__module__", None) or type(thing).__module__
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", type(thing).__qualname__)
    return f"{module}.{name}"


def trusted_names(trusted: Iterable[Any]) -> set[str]:
    """Names that the caller allows, types and functions may be given themselves; and memclf's own functions."""
    if isinstance(trusted, str):
        raise TypeError(f"trusted must be a list of names, types or functions, got the string {trusted!r}")
    return set(OWN_FUNCTIONS) | {
        each.replace(":", ".") if isinstance(each, str) else full_name(each) for each in trusted
    }
