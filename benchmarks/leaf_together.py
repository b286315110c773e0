"""The parts together on the coffee leaves: expert feature, tree similarity, networks; accuracy and throughput.

    python benchmarks/leaf_together.py --data ../shared/data/leaf

Fits a memory classifier whose local networks start from the global one, with networks of their own and with a shared
backbone, on the authors' split at 256 x 128 pixels. Prints accuracy and balanced accuracy on the test images, clean and
under a few corruptions, beside the majority class, stage 1 alone, and the network with prior and temperature; and how
many images a second the memory classifier and the bare network answer, measured in turns in one run.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from pathlib import Path

import numpy as np

from memclf import MemoryClassifier, save
from memclf.evaluate import accuracy, balanced_accuracy
from memclf.similarity import TreeSimilarity
from memclf.vision import ImageClassifier, ImageCollection
from memclf.vision.features import LeafColours

SIZE = (128, 256)  # height, width
CONDITIONS = [("gaussian_noise", 3), ("defocus_blur", 3), ("fog", 3), ("jpeg_compression", 3)]
TEMPERATURE = 2.0  # of the control: the network's probabilities, softened, times the class frequencies
ROUNDS = 3


def leaves(folder: Path, split: str) -> ImageCollection:
    images = ImageCollection.from_csv(folder / "dataset-full.csv", path="leaf/{id}.jpg", label="severity")
    with open(folder / "split.csv", newline="") as stream:
        chosen = {row["id"] for row in csv.DictReader(stream) if row["split"] == split}
    return images[np.array([row["id"] in chosen for row in images.info])]


def fit(train: ImageCollection, options: argparse.Namespace, share: bool) -> tuple[MemoryClassifier, float]:
    network = ImageClassifier(
        image_size=SIZE,
        epochs=options.epochs,
        schedule="cosine",
        share_backbone=share,
        checkpoint=options.checkpoint,
        verbose=1,
    )
    clf = MemoryClassifier(
        similarity=TreeSimilarity(features=LeafColours()),
        estimator=network,
        start="global",
        fallback="global",
        min_cluster_size=20,
        random_state=options.seed,
        n_jobs=None,
        verbose=1,
    )
    clf.similarity.n_jobs = 2  # describing by two threads
    start = time.perf_counter()
    clf.fit(train, train.labels)
    return clf, time.perf_counter() - start


def answers(clf: MemoryClassifier, prior: np.ndarray, images: ImageCollection) -> dict[str, np.ndarray]:
    routes = clf.route(images)
    described = clf.similarity_.describe(images)[:, 0].astype(int)
    proba = clf.global_.predict_proba(images)
    controlled = proba ** (1 / TEMPERATURE) * prior
    return {
        "majority class": np.full(len(images), clf.classes_[prior.argmax()]),
        "stage 1 alone": clf.similarity_.tree_.classes_[described],
        "network": clf.classes_[proba.argmax(axis=1)],
        "network, prior and temperature": clf.classes_[controlled.argmax(axis=1)],
        "memory classifier": clf.answers(images, routes).labels,
    }


def throughput(clf: MemoryClassifier, images: ImageCollection) -> dict[str, float]:
    """Images per second, best of several turns, from files to answers."""
    contenders = {"network": clf.global_.predict, "memory classifier": clf.predict, "describing": clf.route}
    seconds = dict.fromkeys(contenders, np.inf)
    for _ in range(ROUNDS):
        for name, call in contenders.items():
            start = time.perf_counter()
            call(images)
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return {name: len(images) / spent for name, spent in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with dataset-full.csv, split.csv and leaf/")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    parser.add_argument("--models", type=Path, help="a folder for the fitted models")
    parser.add_argument("--checkpoint", type=Path, help="a folder from which an interrupted run goes on")
    options = parser.parse_args()
    train, test = leaves(options.data, "train"), leaves(options.data, "test")
    print(f"{len(train)} training and {len(test)} test images, {options.epochs} epochs, {SIZE[1]} x {SIZE[0]} pixels")
    results = {}
    for name, share in (("own networks", False), ("shared backbone", True)):
        clf, seconds = fit(train, options, share)
        print(f"\n{name}: fitted in {seconds / 60:.1f} min, clusters {clf.cluster_counts_.sum(axis=1).tolist()}")
        prior = clf.cluster_counts_.sum(axis=0) / len(train)
        rows = {}
        for condition in [None, *CONDITIONS]:
            images = test if condition is None else test.corrupted(*condition)
            images = images.loaded(n_jobs=2)
            label = "clean" if condition is None else f"{condition[0]} {condition[1]}"
            found = answers(clf, prior, images)
            rows[label] = {
                who: (accuracy(test.labels, said), balanced_accuracy(test.labels, said)) for who, said in found.items()
            }
        names = list(rows["clean"])
        print(f"{'accuracy / balanced, %':24s}" + "".join(f"{who:>32s}" for who in names))
        for label, row in rows.items():
            print(f"{label:24s}" + "".join(f"{f'{100 * row[w][0]:.1f} / {100 * row[w][1]:.1f}':>32s}" for w in names))
        rates = throughput(clf, test)
        ratio = rates["memory classifier"] / rates["network"]
        print("images per second: " + ", ".join(f"{k} {v:.0f}" for k, v in rates.items()) + f"; ratio {ratio:.2f}")
        results[name] = {"minutes": seconds / 60, "rows": rows, "images_per_second": rates, "ratio": ratio}
        if options.models:
            save(clf, options.models / name.replace(" ", "_"))
        if options.out:
            options.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
