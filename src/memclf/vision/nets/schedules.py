"""How the learning rate goes down. Nothing here loads torch: commands read the names."""

from __future__ import annotations

import math
from collections.abc import Callable

#: Name -> from progress (0 to 1) to the share of the initial rate. None: it stays as it is.
SCHEDULES: dict[str | None, Callable[[float], float]] = {
    None: lambda progress: 1.0,
    "cosine": lambda progress: (1 + math.cos(math.pi * progress)) / 2,
    "linear": lambda progress: 1 - progress,
    "step": lambda progress: 1.0 if progress < 0.5 else 0.1,
}
