"""What training the local classifiers of coffee leaves costs beside training the global one.

    python benchmarks/leaf_training.py --data ../shared/data/leaf

One fit of a memory classifier for each way to train; the leaves are described before, for that is no training. Times
are of the processor. "All else" is the whole fit but for describing and the global classifier: local classifiers,
search, routing and, with `answer="product"`, both kinds of classifiers of three folds.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from leaf_together import SIZE, leaves
from memclf import MemoryClassifier
from memclf.similarity import TreeSimilarity
from memclf.vision import ImageClassifier
from memclf.vision.features import LeafColours

WAYS: dict[str, dict[str, Any]] = {
    "networks of their own": {"train": "all"},
    "heads on the trained backbone": {"train": "all", "share_backbone": True},
    "heads on a frozen backbone": {"train": "head", "share_backbone": True},
    "heads on a frozen backbone, product": {"train": "head", "share_backbone": True, "answer": "product", "cv": 3},
}


class TimedNetwork(ImageClassifier):
    """Notes how many seconds of the processor its first fit took: that of the global classifier."""

    first: ClassVar[list[float]] = []

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        began = time.process_time()
        super().fit(X, y, sample_weight)
        self.first.append(time.process_time() - began)
        return self


def measure(images: Any, epochs: int, seed: int, **options: Any) -> tuple[float, float, list[int]]:
    """Seconds of the global classifier and of all else, and the sizes of the clusters."""
    rule = {name: options.pop(name) for name in ("answer", "cv") if name in options}
    clf = MemoryClassifier(
        TreeSimilarity(features=LeafColours()),
        TimedNetwork(image_size=SIZE, epochs=epochs, random_state=seed, verbose=0, **options),
        start="global",
        fallback="global",
        min_cluster_size=20,
        random_state=seed,
        verbose=0,
        **rule,
    )
    TimedNetwork.first.clear()
    began = time.process_time()
    clf.fit(images, images.labels)
    whole = time.process_time() - began
    return TimedNetwork.first[0], whole - TimedNetwork.first[0], clf.cluster_counts_.sum(axis=1).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with dataset-full.csv, split.csv and leaf/")
    parser.add_argument("--every", type=int, default=4, help="take one of so many training leaves")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    train = leaves(options.data, "train")
    train = train[np.arange(0, len(train), options.every)]
    described = LeafColours().fit(train)
    print(f"{len(train)} training leaves, {options.epochs} epochs, {SIZE[1]} x {SIZE[0]} pixels", flush=True)
    for name, way in WAYS.items():
        rows = []
        for seed in range(options.turns):
            images = train.remembered()  # anew: no way profits from embeddings of another one
            described.transform(images)
            rows.append(measure(images, options.epochs, seed, **way))
        first, rest = np.median([row[:2] for row in rows], axis=0)
        ratios = ", ".join(f"{row[1] / row[0]:.2f}" for row in rows)
        print(f"{name:36s} global {first:.1f} s, all else {rest:.1f} s: {ratios}; clusters {rows[0][2]}", flush=True)


if __name__ == "__main__":
    main()
