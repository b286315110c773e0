"""Is the promise of conformal thresholds kept? Promised against realised share of unknown, in simulations.

For each cell (similarity, number of training cases, number of memories) data are drawn anew in every run, a memory
classifier is fitted with conformal thresholds, and new cases of the same kind are routed. The share that is unknown,
averaged over the runs, should be at most the promised rate. Data in groups (several measurements of one object) are
judged on new groups. All rates are read off one fit, since only the last step of a fit depends on the rate.

    python benchmarks/unknown_rate.py                     # all cells, 400 runs each: about 40 minutes on two cores
    python benchmarks/unknown_rate.py --runs 50 --only rank
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.dummy import DummyClassifier

from memclf import MemoryClassifier
from memclf._numbers import reaches
from memclf.cases import Cases
from memclf.classifier.constraints import check_settings
from memclf.classifier.fit import TrainingData
from memclf.classifier.folds import FoldPlan
from memclf.classifier.held_out import FoldedFit, find_conformal_thresholds, measure_distances
from memclf.similarity import CosineSimilarity, GowerSimilarity, RankSimilarity, RBFSimilarity, TreeSimilarity

RATES = (0.02, 0.05, 0.1, 0.2)
NEW = 1000
BATCH = 10  # runs in one job


def normal(rng, n):
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] > 0).astype(int)


def wear(rng, n):
    X = rng.random((n, 1))
    return X, np.digitize(X[:, 0] + rng.normal(0, 0.15, n), [0.3, 0.7])


def skewed(rng, n):
    """Four clusters of very different width, and heavy tails."""
    k = rng.integers(4, size=n)
    X = 8.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[k] + 2.0 ** (k - 2)[:, None] * rng.standard_t(4, (n, 2))
    return X, k % 2


def records(rng, n):
    """Two numbers and a category, coded as a number."""
    k = rng.integers(3, size=n)
    X = np.column_stack([rng.gamma(2.0, size=n), k + rng.normal(size=n), k])
    return X, (X[:, 1] > 1).astype(int)


def directions(rng, n):
    X = rng.gamma(0.5, size=(n, 6))
    return X, (X[:, 0] > X[:, 1]).astype(int)


KINDS = {
    "RBF": (normal, lambda: RBFSimilarity(0.3)),
    "RBF, median scale": (skewed, RBFSimilarity),
    "rank": (wear, RankSimilarity),
    "Gower": (records, lambda: GowerSimilarity(categorical=[2])),
    "cosine": (directions, CosineSimilarity),
    "tree, graded": (wear, lambda: TreeSimilarity(graded=True)),
}
CELLS = [
    *[(kind, n, q) for kind in KINDS for n, q in ((30, 5), (100, 10), (1000, 40))],
    *[(kind, n, None) for kind in KINDS for n in (30, 100, 1000)],
    *[("rank", n, q) for n, q in ((60, 30), (150, 5), (150, 15), (150, 30), (600, 15))],
]
GROUPS = [(6, 10), (10, 10), (10, 30), (20, 5), (20, 10), (40, 5), (100, 3)]


def grouped(rng, n, objects):
    """Each object measured several times; the measurements of one object are nearly equal."""
    truth, of = rng.normal(size=(objects, 2)), np.repeat(np.arange(objects), n // objects)
    return truth[of] + rng.normal(0, 0.05, (n, 2)), np.arange(objects)[of] % 2, of


def one_run(kind, n, q, objects, seed):
    """For each rate the share of new cases that is unknown."""
    rng = np.random.default_rng([seed, n, q or 0, objects or 0])
    make, similarity = KINDS[kind]
    if objects is None:
        (X, y), groups = make(rng, n), None
        new = make(rng, NEW)[0]
    else:
        X, y, groups = grouped(rng, n, objects)
        new = grouped(rng, NEW, NEW // 2)[0]
    clf = MemoryClassifier(similarity(), DummyClassifier(), n_memories=q, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of too few cases for some rates
        clf.fit(X, y)
        settings, data = check_settings(clf.get_params(deep=False)), TrainingData(Cases.of(X), y, None, {})
        plan = FoldPlan.create(clf.cv, groups, n)
        distances = measure_distances(FoldedFit(settings, data, plan, clf._parts, seed, square=False))
        routes = clf.route(new)
        unknown = []
        for rate in RATES:
            thresholds, _ = find_conformal_thresholds(distances, rate, strange_share=0.0, min_trust=0.0)
            unknown.append(1 - reaches(routes.similarity, thresholds[routes.nearest]).mean())
    return unknown


def some_runs(kind, n, q, objects, seeds):
    return [one_run(kind, n, q, objects, seed) for seed in seeds]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--only", help="cells whose name holds this")
    parser.add_argument("--json", type=Path, help="keep the rows in this file, one line each, and skip those it holds")
    parser.add_argument("--jobs", type=int, default=-1)
    args = parser.parse_args()
    cells = [(kind, n, q, None) for kind, n, q in CELLS] + [("RBF", g * k, None, g) for g, k in GROUPS]
    done = {}
    if args.json and args.json.exists():
        rows = [json.loads(line) for line in args.json.read_text().splitlines()]
        done = {(*row["cell"], row["runs"], row["seed"]): row for row in rows}
    seeds = np.array_split(np.arange(args.seed, args.seed + args.runs), max(1, args.runs // BATCH))
    print("| similarity | cases | memories | " + " | ".join(f"{rate:g}" for rate in RATES) + " |")
    print("|---|---|---|" + "---|" * len(RATES))
    worst = -np.inf
    for kind, n, q, objects in cells:
        name = f"{kind}, groups" if objects else kind
        if args.only and args.only not in name:
            continue
        row = done.get((kind, n, q, objects, args.runs, args.seed))
        if row is None:
            parts = Parallel(n_jobs=args.jobs)(delayed(some_runs)(kind, n, q, objects, some) for some in seeds)
            found = np.concatenate(parts)
            row = {"cell": [kind, n, q, objects], "runs": args.runs, "seed": args.seed}
            row |= {"mean": found.mean(axis=0).tolist(), "se": (found.std(axis=0) / np.sqrt(len(found))).tolist()}
            if args.json:
                with args.json.open("a") as file:
                    file.write(json.dumps(row) + "\n")
        excess = (np.array(row["mean"]) - RATES) / np.maximum(row["se"], 1e-12)
        worst = max(worst, excess.max())
        cases = f"{objects} x {n // objects}" if objects else n
        values = [f"{m:.3f} ± {e:.3f}" for m, e in zip(row["mean"], row["se"], strict=True)]
        print(f"| {name} | {cases} | {q or 'covering'} | " + " | ".join(values) + " |", flush=True)
    print(f"\nlargest excess over the promised rate: {worst:.1f} standard errors")


if __name__ == "__main__":
    main()
