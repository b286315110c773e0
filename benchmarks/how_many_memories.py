"""How many memories pay, and when does the search beat one memory per label? On training images alone.

Five folds; stage 1 alone (the labels of the memory's cluster, rare classes weighed up with balance 0.5) on held-out
images, clean and under the 18 corruptions. Leaves that the expert feature was taught with are never judged; faces are
kept together.

    python benchmarks/how_many_memories.py --leaf ../shared/data/leaf --acne ../shared/data/acne
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from memclf import MemoryClassifier
from memclf.answers.base import balance_probabilities
from memclf.similarity import RankSimilarity, TreeSimilarity
from memclf.studies import find_study, load_study, settings_for
from memclf.studies.leaf import outlined_ids
from memclf.studies.study import groups_of
from memclf.vision.corruptions import PAPER


def ways():
    """Name -> similarity and settings; they see the expert's numbers."""
    tree = {depth: DecisionTreeClassifier(max_depth=depth, min_samples_leaf=5, random_state=0) for depth in (3, 4)}
    yield "one per label, tree of depth 3", TreeSimilarity(), {}
    yield "one per label, tree of depth 4", TreeSimilarity(tree=tree[4]), {}
    yield "one per leaf, tree of depth 3", TreeSimilarity(graded=True), {"threshold": 1.0}
    yield "one per leaf, tree of depth 4", TreeSimilarity(graded=True, tree=tree[4]), {"threshold": 1.0}
    for q in (3, 5, 10, 20, 30, 40, 60, 100):
        yield f"by rank, {q} memories", RankSimilarity(), {"n_memories": q}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leaf", help="folder of the coffee leaves")
    parser.add_argument("--acne", help="folder of the lesions")
    parser.add_argument("--severity", type=int, default=3)
    parser.add_argument("--judged", type=int, default=400, help="images that are corrupted")
    asked = parser.parse_args()
    for name in ("leaf", "acne"):
        if folder := getattr(asked, name):
            compare(name, load_study(settings_for(name, data=folder)), asked.severity, asked.judged)


def compare(name, study, severity, most):
    train, groups = study.train, groups_of(study.train)
    y = np.unique(np.asarray(train.labels), return_inverse=True)[1]
    free = np.arange(len(y))
    if name == "leaf":
        free = np.flatnonzero(~np.isin([row["id"] for row in train.info], outlined_ids()))
    judged = np.sort(np.random.default_rng(0).permutation(free)[:most])
    measure = clone(find_study(name).features("robust")).set_params(n_jobs=-1)
    measure = measure if name == "leaf" else measure.fit(train)  # the other comes taught
    numbers = {"clean": measure.transform(train)}
    numbers |= {name: measure.transform(train[judged].corrupted(name, severity)) for name in PAPER}
    print(f"{name}: {len(y)} training images, {len(free)} judged clean, {len(judged)} corrupted, {severity=}")
    print(f"{'':34s}{'memories':>9s}{'clean':>14s}{'corrupted':>14s}")
    folds = StratifiedKFold if groups is None else StratifiedGroupKFold
    for name, similarity, settings in ways():
        said = {key: np.full(len(y), -1) for key in numbers}
        many = []
        for rest, held in folds(5, shuffle=True, random_state=0).split(numbers["clean"], y, groups):
            clf = MemoryClassifier(similarity, DummyClassifier(), random_state=0, **{"threshold": 0.7, **settings})
            clf.fit(numbers["clean"][rest], y[rest])
            many.append(len(clf.memory_indices_))
            for key, F in numbers.items():
                rows = held if key == "clean" else np.intersect1d(held, judged)
                places = rows if key == "clean" else np.searchsorted(judged, rows)
                P = clf.label_distributions_[clf.route(F[places]).nearest]
                said[key][rows] = clf.classes_[balance_probabilities(P, clf.frequencies_, 0.5).argmax(axis=1)]
        found = [scores(y, said[key], free if key == "clean" else judged) for key in numbers]
        (a, b), (c, d) = found[0], np.mean(found[1:], axis=0)
        print(f"{name:34s}{np.mean(many):9.1f}{a:8.1f} /{b:5.1f}{c:8.1f} /{d:5.1f}", flush=True)


def scores(y, said, rows):
    right = said[rows] == y[rows]
    return 100 * right.mean(), 100 * np.mean([right[y[rows] == label].mean() for label in np.unique(y)])


if __name__ == "__main__":
    main()
