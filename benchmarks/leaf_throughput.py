"""Prediction of a memory classifier beside its bare network, by processor time and by the clock, in turns.

    python benchmarks/leaf_throughput.py --data ../shared/data/leaf --images 192 --turns 5

Fits a memory classifier whose networks share one backbone and train their heads alone, on every sixth training leaf:
how good it is does not matter here, and it takes as long to answer as a trained one. Then the network and the memory
classifier answer the same test leaves from their files, in turns. Ratios are those within a turn; their medians are
printed. It also tells what the networks of all memories hold beside one. OMP_NUM_THREADS=1 gives the network one
thread, and --backbone resnet18 takes one of the paper's networks (its weights come with the extra arch).

"Network" is `ImageClassifier.predict`. "Torch" is the same module as one would run it without memclf: Pillow,
torchvision's transforms (they resize otherwise than memclf), a DataLoader without workers and `torch.inference_mode`,
in a process of its own, since memclf changes how a process gets its memory; as modules are by default and with
channels last, in batches of 32 and of 4. Small batches reuse memory without memclf's help.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader
from torchvision.transforms import v2

from leaf_together import SIZE, leaves
from memclf import MemoryClassifier
from memclf.similarity import TreeSimilarity
from memclf.vision import ImageClassifier
from memclf.vision.features import LeafColours

LAYOUTS = {"torch": torch.contiguous_format, "torch, channels last": torch.channels_last}
BATCHES = (32, 4)


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
    contenders: dict[str, Callable[[], tuple[float, float]]] = {
        "network": lambda: clock(clf.global_.predict, images),
        "memory classifier": lambda: clock(clf.predict, images),
        "routing": lambda: clock(clf.route, images),
    }
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        for (name, layout), size in product(LAYOUTS.items(), BATCHES):
            module = copy.deepcopy(clf.global_.network_).to(memory_format=layout)
            task = partial(apart.submit, clock, partial(answer_with_torch, module, layout, size), images.paths)
            task().result()  # the first answers take longer: everything is imported
            contenders[f"{name}, batches of {size}"] = lambda task=task: task().result()
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
        for _ in range(turns):
            for name, call in contenders.items():
                found[name].append(call())
    return {name: 1000 * np.array(rows) / len(images) for name, rows in found.items()}


def clock(call: Callable[[Any], Any], given: Any) -> tuple[float, float]:
    """Seconds of this process, and by the clock."""
    start = time.process_time(), time.perf_counter()
    call(given)
    return time.process_time() - start[0], time.perf_counter() - start[1]


class Files:
    """Pixels of image files, as a data set of torch."""

    def __init__(self, paths: list[Path]):
        self.paths = paths
        self.change = v2.Compose([v2.Resize(SIZE), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, position: int) -> torch.Tensor:
        with Image.open(self.paths[position]) as image:
            return self.change(image.convert("RGB"))


def answer_with_torch(
    module: torch.nn.Module, layout: torch.memory_format, size: int, paths: list[Path]
) -> torch.Tensor:
    """Classes of images, without memclf but for the module."""
    with torch.inference_mode():
        batches = DataLoader(Files(paths), batch_size=size)
        return torch.cat([module(batch.contiguous(memory_format=layout)).argmax(dim=1) for batch in batches])


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
        times = np.median(rows, axis=0)
        print(f"{name:36s} {times[0]:6.2f} ms of the processor, {times[1]:6.2f} by the clock")
    for peer in found:
        ratios = np.median(found[peer] / found["memory classifier"], axis=0)
        print(f"images per second beside {peer}: {ratios[0]:.2f} by processor, {ratios[1]:.2f} by the clock")


if __name__ == "__main__":
    main()
