"""Arrays that are used again for every image of a size."""

from __future__ import annotations

import threading

import numpy as np

from memclf._numbers import Array

_workspace = threading.local()  # each thread looks at one image at a time


def buffer(name: str, *shape: int) -> Array:
    """An array of float32 to write into, the same one for every image of a size.

    Fresh memory costs as much as the sums: the system clears it page by page.
    """
    kept = _workspace.__dict__
    if name not in kept or kept[name].shape != shape:
        kept[name] = np.empty(shape, dtype=np.float32)
    return kept[name]
