"""How many memories pay, and when does the search beat one memory per label? On training leaves alone.

Five folds; stage 1 alone (the labels of the memory's cluster, rare classes favoured with balance 0.5) on held-out
leaves, clean and under the 18 corruptions. Leaves that the expert feature was taught with are never judged.

    python benchmarks/how_many_memories.py --data ../shared/data/leaf
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from memclf import MemoryClassifier
from memclf.answer import balanced
from memclf.similarity import RankSimilarity, TreeSimilarity
from memclf.studies.leaf import load_leaves, outlined
from memclf.vision.corruptions import PAPER
from memclf.vision.features import LeafColours


def ways():
    """Name -> similarity and settings; they see the measured share."""
    tree = {depth: DecisionTreeClassifier(max_depth=depth, min_samples_leaf=5, random_state=0) for depth in (3, 4)}
    yield "one per label, tree of depth 3", TreeSimilarity(), {}
    yield "one per label, tree of depth 4", TreeSimilarity(tree=tree[4]), {}
    yield "one per leaf, tree of depth 3", TreeSimilarity(graded=True), {"threshold": 1.0}
    yield "one per leaf, tree of depth 4", TreeSimilarity(graded=True, tree=tree[4]), {"threshold": 1.0}
    for q in (3, 5, 10, 20, 30, 40, 60, 100):
        yield f"by rank, {q} memories", RankSimilarity(), {"n_memories": q}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--severity", type=int, default=3)
    parser.add_argument("--judged", type=int, default=400, help="leaves that are corrupted")
    asked = parser.parse_args()
    train = load_leaves(asked.data)[0]
    y = np.asarray(train.labels)
    free = np.flatnonzero(~np.isin([row["id"] for row in train.info], outlined()))
    judged = np.sort(np.random.default_rng(0).permutation(free)[: asked.judged])
    measure = LeafColours(n_jobs=-1)
    shares = {"clean": measure.transform(train)}
    shares |= {name: measure.transform(train[judged].corrupted(name, asked.severity)) for name in PAPER}
    print(
        f"{len(train)} training leaves, {len(free)} judged clean, {len(judged)} corrupted at severity {asked.severity}"
    )
    print(f"{'':34s}{'memories':>9s}{'clean':>14s}{'corrupted':>14s}")
    for name, similarity, settings in ways():
        said = {key: np.full(len(y), -1) for key in shares}
        numbers = []
        for rest, held in StratifiedKFold(5, shuffle=True, random_state=0).split(shares["clean"], y):
            clf = MemoryClassifier(similarity, DummyClassifier(), random_state=0, **{"threshold": 0.7, **settings})
            clf.fit(shares["clean"][rest], y[rest])
            numbers.append(len(clf.memory_indices_))
            for key, F in shares.items():
                rows = held if key == "clean" else np.intersect1d(held, judged)
                places = rows if key == "clean" else np.searchsorted(judged, rows)
                P = clf.label_distributions_[clf.route(F[places]).nearest]
                said[key][rows] = clf.classes_[balanced(P, clf.frequencies_, 0.5).argmax(axis=1)]
        found = [scores(y, said[key], free if key == "clean" else judged) for key in shares]
        (a, b), (c, d) = found[0], np.mean(found[1:], axis=0)
        print(f"{name:34s}{np.mean(numbers):9.1f}{a:8.1f} /{b:5.1f}{c:8.1f} /{d:5.1f}", flush=True)


def scores(y, said, rows):
    right = said[rows] == y[rows]
    return 100 * right.mean(), 100 * np.mean([right[y[rows] == label].mean() for label in np.unique(y)])


if __name__ == "__main__":
    main()
