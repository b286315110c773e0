"""Prediction of a memory classifier beside its bare network, by processor time and by the clock, in turns.

    python benchmarks/leaf_throughput.py --data ../shared/data/leaf

Fits a memory classifier whose networks share one backbone and train their heads alone, on every sixth training leaf:
how good it is does not matter here, and it takes as long to answer as a trained one. Then the network and the memory
classifier answer the same test leaves from their files, in turns. Ratios are those within a turn; their medians are
printed. It also tells what the networks of all memories hold beside one. OMP_NUM_THREADS=1 gives the network one
thread, and --backbone resnet18 takes one of the paper's networks (its weights come with the extra arch).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from leaf_together import SIZE, leaves
from memclf import MemoryClassifier
from memclf.similarity import TreeSimilarity
from memclf.vision import ImageClassifier
from memclf.vision.features import LeafColours


def fit(train: Any, backbone: str) -> MemoryClassifier:
    network = ImageClassifier(
        backbone, image_size=SIZE, train="head", epochs=2, share_backbone=True, random_state=0, verbose=0
    )
    clf = MemoryClassifier(
        TreeSimilarity(features=LeafColours()),
        network,
        start="global",
        fallback="global",
        min_cluster_size=20,
        random_state=0,
        verbose=0,
    )
    return clf.fit(train, train.labels)


def measure(clf: MemoryClassifier, images: Any, turns: int) -> dict[str, np.ndarray]:
    """Of each contender milliseconds per image, processor time and the clock, a row for each turn."""
    contenders = {"network": clf.global_.predict, "memory classifier": clf.predict, "routing": clf.route}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for _ in range(turns):
        for name, call in contenders.items():
            start = time.process_time(), time.perf_counter()
            call(images)
            found[name].append((time.process_time() - start[0], time.perf_counter() - start[1]))
    return {name: 1000 * np.array(rows) / len(images) for name, rows in found.items()}


def count_bytes(networks: list[Any]) -> int:
    """Bytes of all weights; those that several networks share count once."""
    weights = [each for network in networks for each in network.network_.state_dict().values()]
    return sum({each.data_ptr(): each.nbytes for each in weights}.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with dataset-full.csv, split.csv and leaf/")
    parser.add_argument("--backbone", default="efficientnet_lite0")
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--turns", type=int, default=9)
    options = parser.parse_args()
    train, test = leaves(options.data, "train"), leaves(options.data, "test")
    clf = fit(train[np.arange(0, len(train), 6)], options.backbone)
    networks = [each for each in (*clf.estimators_, clf.global_) if isinstance(each, ImageClassifier)]
    ratio = count_bytes(networks) / count_bytes([clf.global_])
    print(f"{len(clf.memory_indices_)} memories, weights of all networks beside one: {ratio:.4f}")
    found = measure(clf, test[np.arange(options.images)], options.turns)
    for name, rows in found.items():
        ratios = np.median(found["network"] / rows, axis=0)
        times = np.median(rows, axis=0)
        print(
            f"{name:18s} {times[0]:6.2f} ms of the processor, {times[1]:6.2f} by the clock; "
            f"{ratios[0]:.3f} and {ratios[1]:.3f} of the network's images per second"
        )


if __name__ == "__main__":
    main()
