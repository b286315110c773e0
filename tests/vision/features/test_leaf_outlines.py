"""Leaf colours on real coffee leaves with an expert's outlines, and on their graded photographs."""

import csv
from pathlib import Path

import cv2
import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from memclf.vision import ImageCollection
from memclf.vision.features import LeafColours

DATA = Path(__file__).parents[3] / ".." / "shared" / "data"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DATA / "leaf_masks").is_dir(), reason="the coffee leaves are not in ../shared/data"),
]


def outlined():
    """The outlined photographs of whole scenes, and their labels."""
    paths = sorted((DATA / "leaf_masks/images").glob("*.jpg"), key=lambda path: int(path.stem))
    labels = [cv2.imread(str(DATA / f"leaf_masks/masks/{path.stem}.png"), cv2.IMREAD_GRAYSCALE) for path in paths]
    return list(ImageCollection(paths)), labels


def overlaps(model, images, labels):
    """Pooled IoU of leaf and symptom, and the rank correlation of the shares."""
    both = np.zeros((2, 2))
    for image, label in zip(images, labels, strict=True):
        masks = model.masks(image)
        for k, (found, true) in enumerate(((masks["leaf"], label > 0), (masks["affected"], label == 2))):
            both[k] += np.count_nonzero(found & true), np.count_nonzero(found | true)
    truth = [np.count_nonzero(label == 2) / np.count_nonzero(label) for label in labels]
    return *(both[:, 0] / both[:, 1]), spearmanr(model.transform(images)[:, 0], truth)[0]


def test_leaves_that_were_not_taught_are_measured_well():
    """One fold, scenes only and half the usual teaching: the floors lie below what the whole of it reaches."""
    images, labels = outlined()
    kept = np.arange(len(images)) % 3 == 0
    teach = [[part for part, keep in zip(parts, kept, strict=True) if not keep] for parts in (images, labels)]
    judge = [[part for part, keep in zip(parts, kept, strict=True) if keep] for parts in (images, labels)]
    leaf, symptom, rank = overlaps(LeafColours(steps=600).fit(*teach), *judge)
    assert leaf > 0.98
    assert symptom > 0.68
    assert rank > 0.94


def test_the_shipped_coefficients_fit_the_outlines_they_come_from():
    images, labels = outlined()
    leaf, symptom, rank = overlaps(LeafColours(), images[::5], labels[::5])
    assert leaf > 0.98
    assert symptom > 0.72
    assert rank > 0.96


def test_leaf_colours__tree_on_taught_share__grades_better_than_the_paper():
    with (DATA / "leaf/dataset-full.csv").open() as file:
        severity = {row["id"]: int(row["severity"]) for row in csv.DictReader(file)}
    with (DATA / "leaf/split.csv").open() as file:
        ids = [row["id"] for row in csv.DictReader(file) if row["split"] == "train"][::4]
    images = ImageCollection([DATA / f"leaf/leaf/{i}.jpg" for i in ids])
    y = [severity[i] for i in ids]
    tree = DecisionTreeClassifier(max_depth=4, min_samples_leaf=5, random_state=0)
    taught = cross_val_score(tree, LeafColours().transform(images), y).mean()
    paper = cross_val_score(tree, LeafColours("paper").transform(images), y).mean()
    assert taught > 0.8
    assert taught > paper + 0.08


def test_names_of_files_are_not_taken_for_labels():
    images = [np.zeros((64, 64, 3), dtype=np.uint8)] * 2
    with pytest.raises(ValueError, match="these are names of files; read them first"):
        LeafColours().fit(images, ["a.png", "b.png"])


def test_the_coefficients_that_were_used_stay_with_a_fitted_feature():
    images = [np.zeros((64, 64, 3), dtype=np.uint8)] * 2
    fitted = LeafColours().fit(images, ["healthy", "ill"])
    assert sum(values.size for values in fitted.coefficients_.values()) > 1000
    assert LeafColours("paper").fit(images, ["healthy", "ill"]).coefficients_ is None
