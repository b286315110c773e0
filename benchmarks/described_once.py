"""How often a fit on chunks describes a case, on a local cluster of worker processes.

The features append a byte to a file for each case that they are shown.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression

from memclf import MemoryClassifier
from memclf.cli.cluster import open_cluster
from memclf.similarity import RBFSimilarity

CASES, CHUNK = 2000, 100
SETTINGS: dict[str, dict[str, Any]] = {
    'answer="local"': {},
    "unknown_rate=0.1": {"unknown_rate": 0.1},
    'answer="product", cv=3': {"answer": "product", "cv": 3},
    'answer="auto", cv=3': {"answer": "auto", "cv": 3},
}


class Counted(TransformerMixin, BaseEstimator):
    """The numbers of a case as they are; a file grows by a byte for each."""

    def __init__(self, file: str):
        self.file = file

    def fit(self, X: Any, y: Any = None) -> Counted:
        return self

    def transform(self, X: Any) -> Any:
        with open(self.file, "ab") as file:  # short writes are appended whole
            file.write(b"." * len(X))
        return np.asarray(X)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    import dask.array as da

    rng = np.random.default_rng(0)
    y = np.arange(CASES) % 2
    X = rng.normal(size=(CASES, 3)) + 3 * y[:, None] * rng.integers(0, 2, (CASES, 1))
    with tempfile.TemporaryDirectory() as folder, open_cluster(workers=asked.workers):
        print("| fit with | descriptions per case |\n|---|---|")
        for number, (name, settings) in enumerate(SETTINGS.items()):
            log = Path(folder) / str(number)
            similarity = RBFSimilarity(features=Counted(str(log)))
            clf = MemoryClassifier(similarity, LogisticRegression(), threshold=0.3, random_state=0, **settings)
            clf.fit(da.from_array(X, chunks=(CHUNK, -1)), y)
            print(f"| `{name}` | {log.stat().st_size / CASES:.1f} |", flush=True)


if __name__ == "__main__":
    main()
