"""Whether `measure_drift` holds its level, and how small a change it sees: the tables of docs/drift.md.

    python benchmarks/drift.py --trials 150

Each trial draws training cases from four heaps, fits a classifier, draws new cases from the same heaps, moved by some
share of a standard deviation in every direction, and asks whether they have moved. "held-out, as they are" are tests
against held-out training cases that count as much as new ones.
"""

import argparse
import warnings

import numpy as np
from scipy.stats import mannwhitneyu
from sklearn.linear_model import LogisticRegression

from memclf import MemoryClassifier
from memclf.evaluate import drift
from memclf.memory import MemorySelector
from memclf.routing.thresholds import distance
from memclf.similarity import RBFSimilarity

SETTINGS = [  # training cases, columns, gamma, threshold, new cases
    (150, 4, 0.1, 0.4, 100),
    (150, 4, 0.1, 0.4, 2000),
    (120, 8, 0.05, 0.5, 500),
    (300, 2, 0.2, 0.5, 1000),
]
MOVED = (0.0, 0.25, 0.5, 1.0)


def draw(n, columns, rng, moved=0.0):
    centres = np.random.default_rng(5).normal(0, 3, (4, columns))
    heap = rng.choice(4, n, p=[0.1, 0.2, 0.3, 0.4])
    label = (heap + (rng.random(n) < 0.15)) % 2
    return centres[heap] + rng.normal(size=(n, columns)) + moved, label


def try_once(n, columns, gamma, threshold, m, seed):
    rng = np.random.default_rng([seed, n, m])
    clf = MemoryClassifier(
        RBFSimilarity(gamma=gamma),
        LogisticRegression(),
        threshold=threshold,
        unknown_rate=0.05,
        answer="product",
        search=MemorySelector(n_restarts=1),
        random_state=0,
    ).fit(*draw(n, columns, rng))
    reference, found = draw(n, columns, rng)[0], {}
    for moved in MOVED:
        new = draw(m, columns, rng, moved)[0]
        found["from the fit", moved] = drift.measure_drift(clf, new).moved
        found["with a reference", moved] = drift.measure_drift(clf, new, reference).moved
        if not moved:
            said = clf.answers(new)
            far = distance(said.routes.similarity) / clf.distances_.wide[said.routes.nearest]
            pairs = {
                "distance": (far, clf.distances_.far),
                "competence": (said.routes.strangeness, clf.answer_.calibration_.held),
            }
            for name, pair in pairs.items():
                p = mannwhitneyu(*pair, alternative="greater").pvalue
                found[f"{name}, held-out as they are", moved] = p <= 0.05
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=150)
    trials = parser.parse_args().trials
    warnings.simplefilter("ignore")
    drift.DRAWS = 499
    for setting in SETTINGS:
        found = [try_once(*setting, seed) for seed in range(trials)]
        n, columns, _, _, m = setting
        print(f"{n} training cases, {columns} columns, {m} new cases, {trials} trials")
        for what, moved in found[0]:
            share = np.mean([each[what, moved] for each in found])
            print(f"  {what:32s} moved by {moved:4g}: called moved in {100 * share:5.1f} %", flush=True)


if __name__ == "__main__":
    main()
