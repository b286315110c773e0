"""Which classifier reads the expert's measurements best: `answer="auto"` asks one of leaves and lesions.

    python benchmarks/measured.py leaf|acne [folder] [--images 700]

Three folds over training images (the lesions of a face are in one fold): each classifier is fitted on the measurements
of clean images and asked about held-out ones, clean, under the strong changes of `vision.shifts` and under the paper's
corruptions at severities 3 and 5. Test images are not touched. Printed are accuracy / balanced accuracy in %, in
brackets with rare classes weighed up by half. `LeafColours` was taught by the training leaves: its measurements of them
are a little too good, for all classifiers alike.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, SplineTransformer, StandardScaler

from leaf_features import graded_leaves, scores_of
from measurements import SHARED, read
from memclf.answers.measured import KNOTS, LEAST, RANKS, TREES, TreesAndCurves
from memclf.vision.corruptions import PAPER
from memclf.vision.features import LeafColours, LesionFeatures

RANKED = QuantileTransformer(n_quantiles=RANKS, output_distribution="normal", random_state=0)
CURVES = SplineTransformer(KNOTS, knots="quantile", extrapolation="constant")
CLASSIFIERS = {
    "forest": RandomForestClassifier(TREES, min_samples_leaf=LEAST, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_leaf_nodes=8, learning_rate=0.05, random_state=0),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "logistic on ranks": make_pipeline(RANKED, LogisticRegression(max_iter=1000)),
    "curves": make_pipeline(RANKED, CURVES, LogisticRegression(max_iter=1000)),
    "forest and curves": TreesAndCurves(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["leaf", "acne"])
    parser.add_argument("folder", nargs="?", type=Path, help="where the data of both are: leaf/, acne/")
    parser.add_argument("--images", type=int, default=700)
    asked = parser.parse_args()
    data = asked.folder or SHARED
    if asked.what == "leaf":
        images, features = graded_leaves(data, "train"), LeafColours()
        groups = np.arange(len(images))
    else:
        (images, faces), features = read("acne", data / "acne"), LesionFeatures()
        groups = np.array(faces)
    y = np.unique(images.labels, return_inverse=True)[1]
    if asked.images < len(y):
        kept, _ = train_test_split(np.arange(len(y)), train_size=asked.images, stratify=y, random_state=0)
        images, groups, y = images[kept], groups[kept], y[kept]
    versions = {"clean": [images], "shifted": [images.shifted(seed=0)]}
    versions |= {f"severity {severity}": [images.corrupted(name, severity) for name in PAPER] for severity in (3, 5)}
    numbers = {name: [features.inspect(each) for each in several] for name, several in versions.items()}
    print(f"{len(y)} training images, {numbers['clean'][0].shape[1]} measurements", flush=True)
    folds = list(StratifiedGroupKFold(3, shuffle=True, random_state=0).split(y, y, groups))
    common = np.bincount(y) / len(y)
    for name, classifier in CLASSIFIERS.items():
        fitted = [clone(classifier).fit(numbers["clean"][0][train], y[train]) for train, _ in folds]
        cells = []
        for version, several in numbers.items():
            scores = [scores_of(held_out(fitted, folds, each, len(common)), common, y) for each in several]
            cells.append("{} {:.1f} / {:.1f} ({:.1f} / {:.1f})".format(version, *np.mean(scores, axis=0)))
        print(f"{name:18s} {', '.join(cells)}", flush=True)


def held_out(fitted: list, folds: list, rows: np.ndarray, n_classes: int) -> np.ndarray:
    """Probabilities of each image by the classifier that was fitted without its fold."""
    said = np.zeros((len(rows), n_classes))
    for model, (_, test) in zip(fitted, folds, strict=True):
        said[test] = model.predict_proba(rows[test])
    return said


if __name__ == "__main__":
    main()
