"""What may be loaded: types that are known to do nothing but compute.

The list is fixed here; a model folder never adds to it. Everything else is refused by name until the caller
allows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# scikit-learn's own types, expert features and plain data, that skops leaves to the caller. Those with native
# memory behind them (trees, sparse matrices) are checked after loading, see `sane.py`.
KNOWN = frozenset(
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
        "scipy.sparse._csc.csc_array",
        "scipy.sparse._csc.csc_matrix",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.calibration._TemperatureScaling",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.feature_selection._univariate_selection.chi2",
        "sklearn.feature_selection._univariate_selection.f_classif",
        "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
        "sklearn.gaussian_process.kernels.CompoundKernel",
        "sklearn.gaussian_process.kernels.ConstantKernel",
        "sklearn.gaussian_process.kernels.DotProduct",
        "sklearn.gaussian_process.kernels.Matern",
        "sklearn.gaussian_process.kernels.Product",
        "sklearn.gaussian_process.kernels.RBF",
        "sklearn.gaussian_process.kernels.RationalQuadratic",
        "sklearn.gaussian_process.kernels.Sum",
        "sklearn.gaussian_process.kernels.WhiteKernel",
        "sklearn.metrics._dist_metrics.ChebyshevDistance64",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        "sklearn.metrics._dist_metrics.MinkowskiDistance64",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.tree._tree.Tree",
        "sklearn.utils._bunch.Bunch",
    }
)

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
