"""How well a tree on size, redness and over-exposure tells acne lesions apart, clean and corrupted.

    python benchmarks/lesion_features.py [folder with lesions.csv]

A tree of depth 3 (at least 5 lesions in a leaf) is fitted on the training lesions and asked about the test lesions
and about the same crops under corruption. "kept" is the share of test lesions that get the same answer as from the
clean crop: where features come from the clean image, routing does not change and accuracy stays that of the clean
row. Corruptions are applied to the crops, since the faces are not public; in the paper they are applied to the face,
so kernels and grains are smaller there beside the lesion.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from pathlib import Path

import cv2
import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from memclf.vision import CORRUPTIONS, ImageCollection
from memclf.vision.features import LesionFeatures
from memclf.vision.features.lesion import DIFFERENCES

FOLDER = Path(__file__).parents[1] / ".." / "shared" / "data" / "acne"
SEVERITIES = (1, 3, 5)


def tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, random_state=0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Lesion features on real crops: accuracy of a tree, and speed.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    file = parser.parse_args().folder / "lesions.csv"
    cv2.setNumThreads(1)
    train, test = (ImageCollection.from_csv(file, where={"split": split}).loaded() for split in ("train", "test"))
    assert train.info is not None
    faces = [info["face"] for info in train.info]
    print(f"{len(train)} training and {len(test)} test lesions")
    print(f"{'':34s}{'accuracy':>10s}{'balanced':>10s}{'5-fold by face, training':>27s}{'images/s':>10s}")
    constant = DummyClassifier(strategy="most_frequent").fit(np.zeros((len(train), 1)), train.labels)
    answers = constant.predict(np.zeros((len(test), 1)))
    scores = accuracy_score(test.labels, answers), balanced_accuracy_score(test.labels, answers)
    largest = max(np.mean(test.labels == label) for label in np.unique(test.labels))
    print(f"{'one class for all':34s}{100 * scores[0]:10.1f}{100 * scores[1]:10.1f}   (largest class: {largest:.1%})")
    for method in DIFFERENCES:
        features = LesionFeatures(method).fit(train)
        start = time.perf_counter()
        rows = features.transform(train)
        pace = len(train) / (time.perf_counter() - start)
        folds = cross_val_score(tree(), rows, train.labels, groups=faces, cv=GroupKFold(5)).mean()
        answers = tree().fit(rows, train.labels).predict(features.transform(test))
        scores = accuracy_score(test.labels, answers), balanced_accuracy_score(test.labels, answers)
        print(f"{method:34s}{100 * scores[0]:10.1f}{100 * scores[1]:10.1f}{100 * folds:27.1f}{pace:10.0f}", flush=True)

    features = LesionFeatures().fit(train)
    rows, asked = features.transform(train), features.transform(test)
    for column, name in enumerate(features.names):
        answers = tree().fit(rows[:, [column]], train.labels).predict(asked[:, [column]])
        scores = accuracy_score(test.labels, answers), balanced_accuracy_score(test.labels, answers)
        print(f"{'hellinger, ' + name + ' alone':34s}{100 * scores[0]:10.1f}{100 * scores[1]:10.1f}")
    lone = rows[:, 0] == 1
    shares = [f"{label} {np.mean(train.labels[lone] == label):.0%}" for label in np.unique(train.labels)]
    print(f"training lesions of size exactly 1: {lone.sum()}, of which {', '.join(shares)}")

    fitted = tree().fit(features.transform(train), train.labels)
    clean = fitted.predict(features.transform(test))
    print("\nhellinger, features from the corrupted crop, at severities " + ", ".join(map(str, SEVERITIES)))
    print(f"{'':20s}{'accuracy':>20s}{'balanced':>20s}{'kept':>20s}")
    means = []
    for corruption in CORRUPTIONS:
        cells = []
        for severity in SEVERITIES:
            answers = fitted.predict(features.transform(test.corrupted(corruption, severity)))
            kept = np.mean(answers == clean)
            scores = accuracy_score(test.labels, answers), balanced_accuracy_score(test.labels, answers)
            cells.append([*scores, kept])
        means.append(cells)
        shown = ["".join(f"{100 * cell[part]:6.1f}" for cell in cells) for part in range(3)]
        print(f"{corruption:20s}" + "".join(f"{text:>20s}" for text in shown), flush=True)
    overall = 100 * np.mean(means, axis=(0, 1))
    print(f"{'mean':20s}" + "".join(f"{value:20.1f}" for value in overall))


if __name__ == "__main__":
    main()
