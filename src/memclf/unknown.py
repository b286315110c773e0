"""What "unknown" is: its label, probabilities and score. The only module that decides this.

Metrics (`memclf.evaluate`) count it as an error in accuracy and as absence in coverage.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from memclf._numbers import Array

AUTO = "auto"


def label_for(classes: Array, wanted: Any = AUTO) -> Any:
    """The unknown label for these classes: a number for numbers, ``"unknown"`` for others.

    The number is -1. Where -1 is a class it is 0, and where both are, the whole number below all classes.

    >>> label_for(np.array([0, 1])), label_for(np.array([-1, 1])), label_for(np.array([-1, 0, 1]))
    (-1, 0, -2)
    >>> label_for(np.array(["a", "b"]))
    'unknown'
    """
    classes = np.asarray(classes)
    if not (isinstance(wanted, str) and wanted == AUTO):
        return wanted
    if classes.dtype.kind not in "biuf":
        return "unknown"
    free = [label for label in (-1, 0) if label not in classes]
    return free[0] if free else int(np.floor(classes.min())) - 1


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
