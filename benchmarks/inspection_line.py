"""An inspection line whose mix of products shifts: one plain model beside a memory classifier.

Four product families run over one line. An inspector knows them by size and weight. Inside a family, a fault
shows in two sensor readings, and each family has its own pattern of fault. Training data come mostly from two
families. Later the mix is turned round, the sensors drift, and a fifth family appears that was never trained on.

The data are generated, so the truth is known and the example runs anywhere. Both contenders get the same
classifier, the same rows and the same seeds. Beside them: the majority class, and stage 1 alone (each memory
answers with the commonest class of its cluster), so that a gain which these have too is not mistaken for one.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memclf import MemoryClassifier
from memclf.evaluate import accuracy, balanced_accuracy, coverage, selective_accuracy
from memclf.similarity import RBFSimilarity

CENTRES = np.array([[20.0, 100], [60, 150], [35, 320], [80, 400], [140, 60]])  # size and weight of each family
ANGLES = [
    0.0,
    1.6,
    3.1,
    4.7,
]  # direction in which a fault shows in the two readings; the fifth is drawn anew in each run
TRAINING_MIX = [0.50, 0.38, 0.06, 0.06, 0.0]
SHIFTED_MIX = [0.06, 0.06, 0.38, 0.50, 0.0]


def parts(n: int, mix: list[float], rng: np.random.Generator, drift: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    """n parts from the line: gauges (size, weight), sensor readings, and whether each is faulty."""
    family = rng.choice(5, n, p=mix)
    faulty = rng.random(n) < 0.35
    size, weight = (CENTRES[family] + rng.normal(0, [3, 15], (n, 2))).T
    angle = np.array([*ANGLES, rng.uniform(0, 2 * np.pi)])[family]
    push = np.where(faulty, 1.6, -1.6)[:, None]
    readings = rng.normal(0, 1, (n, 2)) + push * np.column_stack([np.cos(angle), np.sin(angle)])
    table = pd.DataFrame({"size": size, "weight": weight, "hum": readings[:, 0] + drift, "glow": readings[:, 1]})
    return table, np.where(faulty, "faulty", "good")


def gauges(part: dict[str, float]) -> list[float]:
    """What the inspector goes by: size and weight, each on its own scale."""
    return [part["size"] / 3, part["weight"] / 15]


def stage_one(clf: MemoryClassifier, X: pd.DataFrame) -> np.ndarray:
    """Each memory answers with the commonest class of its cluster."""
    routes = clf.route(X)
    commonest = clf.classes_[clf.cluster_counts_.argmax(axis=1)]
    return np.where(routes.known, commonest[routes.nearest], clf.unknown_label_)


def one_run(
    estimator: object, seed: int, n: int
) -> tuple[list[dict[str, object]], MemoryClassifier, dict[str, object]]:
    rng = np.random.default_rng(seed)
    train, labels = parts(n, TRAINING_MIX, rng)
    tests = {
        "as trained": parts(2000, TRAINING_MIX, rng),
        "mix turned round": parts(2000, SHIFTED_MIX, rng),
        "mix and sensor drift": parts(2000, SHIFTED_MIX, rng, drift=0.5),
        "family never seen": parts(2000, [0, 0, 0, 0, 1.0], rng),
    }
    plain = clone(estimator).fit(train, labels)
    memory = MemoryClassifier(
        RBFSimilarity(gamma=0.02, features=gauges), estimator, threshold=0.3, random_state=seed
    ).fit(train, labels)
    majority = labels[0] if (labels == labels[0]).mean() > 0.5 else {"good": "faulty", "faulty": "good"}[labels[0]]
    rows = []
    for name, (X, y) in tests.items():
        answers = {
            "majority class": np.full(len(y), majority),
            "stage 1 alone": stage_one(memory, X),
            "plain model": plain.predict(X),
            "memory classifier": memory.predict(X),
        }
        rows += [
            {
                "test": name,
                "model": model,
                "accuracy": accuracy(y, answer),
                "balanced": balanced_accuracy(y, answer),
                "answered": coverage(y, answer),
                "right if answered": selective_accuracy(y, answer),
            }
            for model, answer in answers.items()
        ]
    return rows, memory, tests


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10, help="repetitions with new data (default 10)")
    parser.add_argument("--cases", type=int, default=1500, help="training cases (default 1500)")
    options = parser.parse_args()
    estimators = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
        "random forest": RandomForestClassifier(100, random_state=0),
    }
    for title, estimator in estimators.items():
        rows: list[dict[str, object]] = []
        for seed in range(options.runs):
            new, memory, tests = one_run(estimator, seed, options.cases)
            rows += new
        frame = pd.DataFrame(rows)
        mean = frame.groupby(["test", "model"], sort=False).mean()
        spread = frame.groupby(["test", "model"], sort=False)["accuracy"].std()
        print(f"\n{title}: percent, mean of {options.runs} runs, {options.cases} training cases (± spread of runs)")
        print(f"{'':22}{'':20}{'accuracy':>12}{'balanced':>10}{'answered':>10}{'right if answered':>19}")
        for (test, model), row in mean.iterrows():
            right = "-" if np.isnan(row["right if answered"]) else f"{100 * row['right if answered']:.1f}"
            print(
                f"{test if model == 'majority class' else '':22}{model:20}"
                f"{100 * row['accuracy']:6.1f} ±{100 * spread[test, model]:4.1f}{100 * row['balanced']:10.1f}"
                f"{100 * row['answered']:10.1f}{right:>19}"
            )
    print("\nThe memories of the last run:", memory.search_result_)
    print("\nWhy? Two cases of the shifted line and one of a family never seen:\n")
    strange = pd.concat([tests["mix and sensor drift"][0].head(2), tests["family never seen"][0].head(1)])
    print(memory.explain(strange))


if __name__ == "__main__":
    main()
