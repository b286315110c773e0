"""What "unknown" is: its label, its row of probabilities. The only module that decides this.

Metrics (`memclf.evaluate`) count it as an error in accuracy and as absence in coverage.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from memclf._numbers import Array

AUTO = "auto"


def label_for(classes: Array, wanted: Any = AUTO) -> Any:
    """The unknown label for these classes: ``-1`` for numbers, ``"unknown"`` for strings.

    >>> label_for(np.array([0, 1])), label_for(np.array(["a", "b"]))
    (-1, 'unknown')
    """
    classes = np.asarray(classes)
    if isinstance(wanted, str) and wanted == AUTO:
        numeric = classes.dtype.kind in "biuf"
        return -1 if numeric else "unknown"
    return wanted


def check_free(classes: Array, label: Any) -> None:
    """Raise an error if a class has the unknown label: "unknown" would be ambiguous."""
    if any(bool(np.all(label == each)) for each in np.asarray(classes).tolist()):
        raise ValueError(
            f"the class {label!r} in y is also the label that stands for unknown, so answers would be "
            "ambiguous. Rename the class, pass unknown_label=<another label>, or choose fallback='nearest' or "
            "'global', with which unknown is never answered."
        )


def answers(classes: Array, n: int, label: Any) -> Array:
    """`n` answers, all unknown, of a type that can also hold every class."""
    classes = np.asarray(classes)
    if classes.dtype.kind in "biuf" and isinstance(label, (int, float, np.number)):
        kind = np.int64 if classes.dtype.kind == "b" else np.result_type(classes.dtype, np.asarray(label))
        return np.full(n, label, dtype=kind)
    if classes.dtype.kind == "U" and isinstance(label, str):
        return np.full(n, label, dtype=f"<U{max(classes.dtype.itemsize // 4, len(label))}")
    filled = np.empty(n, dtype=object)
    filled[:] = [label] * n
    return filled


def probabilities(n: int, n_classes: int) -> Array:
    """`n` rows of probabilities, all unknown: every class has probability zero."""
    return np.zeros((n, n_classes))
