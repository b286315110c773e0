"""The parts together on real leaves: an expert feature routes, networks answer."""

import csv
from pathlib import Path

import numpy as np
import pytest

from memclf import MemoryClassifier, load, save
from memclf.evaluate import balanced_accuracy
from memclf.similarity import TreeSimilarity
from memclf.vision import ImageClassifier, ImageCollection
from memclf.vision.features import LeafColours

LEAVES = Path(__file__).parents[2].parent / "shared" / "data" / "leaf"


def leaves(split):
    if not LEAVES.is_dir():
        pytest.skip(f"the coffee leaves are not here ({LEAVES})")
    images = ImageCollection.from_csv(LEAVES / "dataset-full.csv", path="leaf/{id}.jpg", label="severity")
    with open(LEAVES / "split.csv", newline="") as stream:
        chosen = {row["id"] for row in csv.DictReader(stream) if row["split"] == split}
    return images[np.array([row["id"] in chosen for row in images.info])]


@pytest.mark.slow
def test_a_memory_classifier_learns_the_severity_of_leaves(tmp_path):
    train, test = leaves("train"), leaves("test")
    clf = MemoryClassifier(
        similarity=TreeSimilarity(features=LeafColours(n_jobs=2)),
        estimator=ImageClassifier(image_size=(64, 128), epochs=2, share_backbone=True, local_epochs=10),
        start="global",
        fallback="global",
        min_cluster_size=20,
        random_state=0,
    ).fit(train, train.labels)
    stage1 = clf.similarity_.tree_.classes_[clf.similarity_.describe(test)[:, 0].astype(int)]
    assert (stage1 == test.labels).mean() > 0.7  # 58 % are of the commonest class
    answers = clf.predict(test)
    assert (answers == test.labels).mean() > 0.7
    assert balanced_accuracy(test.labels, answers) > 0.5
    save(clf, tmp_path / "model")
    assert (load(tmp_path / "model").predict(test) == answers).all()


@pytest.mark.slow
def test_the_leaf_feature_trusts_leaves_and_not_what_is_none():
    features = LeafColours(n_jobs=2).fit(leaves("train")[:10])
    rng = np.random.default_rng(0)
    real = leaves("test")
    assert (features.trust(real) >= 0.5).mean() > 0.97
    noise = ImageCollection(rng.integers(0, 256, (10, 256, 512, 3), dtype=np.uint8))
    grey = ImageCollection(np.full((3, 256, 512, 3), 128, dtype=np.uint8))
    assert (features.trust(noise) < 0.5).mean() >= 0.6  # not all: competence has to see the rest
    assert (features.trust(grey) < 0.5).all()
