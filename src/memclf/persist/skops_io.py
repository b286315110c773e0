"""`skops.io`, imported without torch, Dask and CuPy.

skops lists the classes of scikit-learn by importing its packages, among them its adapters of other array libraries.
They define no estimator, but each imports its library: seconds for torch, in every process that loads a model.
"""

from __future__ import annotations

import sys

ADAPTERS = [f"sklearn.externals.array_api_compat.{library}" for library in ("cupy", "dask", "torch")]

_hidden = [name for name in ADAPTERS if name not in sys.modules]
sys.modules.update(dict.fromkeys(_hidden))  # type: ignore[arg-type]  # None: importing it fails, and skops goes on
try:
    from skops.io import dumps, get_untrusted_types, loads
finally:
    for _name in _hidden:
        sys.modules.pop(_name, None)

__all__ = ["dumps", "get_untrusted_types", "loads"]
