"""The pictures of docs/theory.md: python benchmarks/theory_pictures.py docs/pictures"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from memclf import MemoryClassifier
from memclf.bounds import KINDS, bound_curve, generalization_bound
from memclf.bounds.picture import draw
from memclf.similarity import RBFSimilarity


def parts(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four kinds of parts; a sensor tells good from bad, the other way round for every second kind."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(4, size=n)
    X = np.column_stack([3 * kind + rng.normal(0, 0.4, n), rng.normal(size=n)])
    good = (X[:, 1] > 0) ^ (kind % 2 == 1) ^ (rng.random(n) < 0.03)
    return X, good.astype(int)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    X, y = parts(4000, seed=0)
    clf = MemoryClassifier(RBFSimilarity(gamma=0.1), threshold=0.3, n_memories=4, random_state=0).fit(X, y)
    held = parts(400, seed=1)
    bounds = [
        generalization_bound(clf, *((X, y) if KINDS[kind].uses_training_cases else held), kind=kind) for kind in KINDS
    ]
    draw(bounds).savefig(folder / "theory_bars.png", dpi=110)
    curve = bound_curve(clf, X, y, n_cases=[1000, 4000, 40_000])
    curve.plot().savefig(folder / "theory_curve.png", dpi=110)
    for bound in bounds:
        print(bound.sentence)
    print(curve)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
