"""One `random_state` from which all others are drawn, before any parallel work."""

from __future__ import annotations

from typing import Any

import numpy as np


def seeded(estimator: Any, seed: int | None) -> Any:
    """Give a seed to every `random_state` that is None, in the estimator and its parts."""
    # Similarities of the user's own need not be estimators of scikit-learn.
    if seed is not None and hasattr(estimator, "get_params"):
        rng = np.random.default_rng(seed)
        open_states = {
            name: int(rng.integers(2**31 - 1))
            for name, value in sorted(estimator.get_params(deep=True).items())
            if (name == "random_state" or name.endswith("__random_state")) and value is None
        }
        if open_states:
            estimator.set_params(**open_states)
    return estimator
