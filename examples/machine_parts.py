"""Machine parts, graded by a likeness that an inspector taught with comparisons.

A table holds ten measurements of each part. The inspector grades by roughness, runout and hardness, but cannot say how
much each of them counts; she can say whether two parts are alike. In training, worn parts were mostly measured in the
warm shift, so temperature and coolant tell the grade too. In the field they no longer do.

The inspector is simulated with hidden weights, and one answer in ten is the wrong way round. The data are generated, so
the truth is known and the example runs anywhere. Beside the memory classifier: the majority class, one plain model with
the same classifier, and stage 1 alone (each memory answers with the commonest class of its cluster), so that a gain
which these have too is not mistaken for one. Stage 1 comes with three likenesses: equal weights (RBF on standardised
columns), learned from the labels, and taught by the inspector.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memclf import MemoryClassifier
from memclf.evaluate import accuracy, balanced_accuracy
from memclf.similarity import JudgedSimilarity, RBFSimilarity

GRADES = np.array(["good", "rework", "scrap"])
COLUMNS = ["roughness", "runout", "hardness", "length", "diameter", "mass", "humidity", "age", "temperature", "coolant"]
HIDDEN = np.array([4.0, 3.0, 2.0, 0, 0, 0, 0, 0, 0, 0])  # how much each counts for the inspector


def draw_parts(n: int, rng: np.random.Generator, shift_tells: float) -> tuple[pd.DataFrame, np.ndarray]:
    """n parts; `shift_tells` is how far temperature and coolant follow the grade."""
    grade = rng.choice(3, n, p=[0.6, 0.25, 0.15])
    X = rng.normal(size=(n, len(COLUMNS)))
    # Parts to rework are rough or run out, scrap is both and soft: no single line parts the grades.
    rough = np.where(grade == 1, rng.random(n) < 0.5, grade == 2)
    X[:, 0] += 3.0 * rough
    X[:, 1] += 3.0 * np.where(grade == 1, ~rough, grade == 2)
    X[:, 2] -= 2.0 * (grade == 2)
    X[:, 8:] += shift_tells * (grade - 0.5)[:, None]
    return pd.DataFrame(X, columns=COLUMNS), GRADES[grade]


class Inspector:
    """Compares parts by hidden weights; one answer in ten is the wrong way round."""

    def __init__(self, parts: pd.DataFrame, rng: np.random.Generator):
        self.values, self.rng = parts.to_numpy(), rng

    def distance(self, i: int, j: int) -> float:
        return float(HIDDEN @ np.abs(self.values[i] - self.values[j]))

    def judge_pairs(self, n: int) -> list[tuple[int, int, bool]]:
        """Random pairs, half of which the inspector would call alike."""
        pairs = [tuple(self.rng.choice(len(self.values), 2, replace=False).tolist()) for _ in range(n)]
        distances = [self.distance(i, j) for i, j in pairs]
        alike = (np.array(distances) < np.median(distances)) ^ (self.rng.random(n) < 0.1)
        return [(i, j, bool(yes)) for (i, j), yes in zip(pairs, alike, strict=True)]

    def answer(self, questions: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        slips = self.rng.random(len(questions)) < 0.1
        nearer = [self.distance(i, j) < self.distance(i, k) for i, j, k in questions]
        said = zip(questions, nearer ^ slips, strict=True)
        return [(i, j, k) if yes else (i, k, j) for (i, j, k), yes in said]


def teach(parts: pd.DataFrame, count: int, rng: np.random.Generator) -> JudgedSimilarity:
    """The inspector judges some pairs, then answers the questions that would teach most."""
    inspector = Inspector(parts, rng)
    likeness = JudgedSimilarity().judge(parts, pairs=inspector.judge_pairs(count))
    return likeness.judge(parts, triplets=inspector.answer(likeness.questions(parts, count // 2)))


def fit_models(likeness: JudgedSimilarity, X: pd.DataFrame, y: np.ndarray, seed: int) -> dict[str, object]:
    local = make_pipeline(StandardScaler(), LogisticRegression())
    common = {"threshold": 0.6, "fallback": "nearest", "random_state": seed}
    models = {
        "majority class": DummyClassifier(),
        "plain model": local,
        "stage 1 alone, equal weights": MemoryClassifier(
            RBFSimilarity(features=StandardScaler()), answer="labels", **common
        ),
        "stage 1 alone, from labels": MemoryClassifier(JudgedSimilarity(), answer="labels", **common),
        "stage 1 alone, judged": MemoryClassifier(likeness, answer="labels", **common),
        "memory classifier, judged": MemoryClassifier(likeness, local, **common),
    }
    return {name: model.fit(X, y) for name, model in models.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", type=int, default=600, help="training parts (default 600)")
    parser.add_argument("--pairs", type=int, default=80, help="judged pairs; half as many triplets (default 80)")
    parser.add_argument("--runs", type=int, default=5, help="repetitions with new data (default 5)")
    options = parser.parse_args()
    rows = []
    for seed in range(options.runs):
        rng = np.random.default_rng(seed)
        train, labels = draw_parts(options.parts, rng, shift_tells=1.0)
        likeness = teach(train, options.pairs, rng)
        models = fit_models(likeness, train, labels, seed)
        tests = {"as trained": draw_parts(2000, rng, 1.0), "field": draw_parts(2000, rng, -1.0)}
        rows += [
            {"test": test, "model": name, "accuracy": accuracy(y, answers), "balanced": balanced_accuracy(y, answers)}
            for test, (X, y) in tests.items()
            for name, model in models.items()
            for answers in [model.predict(X)]
        ]
    print("What the inspector taught in the last run:")
    print(f"  {likeness.sentence}")
    print(f"  {likeness.consistency_}")
    print("\nWhy is this part graded so?")
    print(models["memory classifier, judged"].explain(tests["field"][0].head(1))[0])
    print(f"\nPercent, mean of {options.runs} runs, {options.parts} training parts (accuracy / balanced accuracy)")
    mean = 100 * pd.DataFrame(rows).groupby(["model", "test"], sort=False).mean().unstack("test")
    print(f"{'':30}{'as trained':>15}{'field':>15}")
    for name, row in mean.iterrows():
        cells = [f"{row['accuracy', test]:.1f} / {row['balanced', test]:.1f}" for test in ("as trained", "field")]
        print(f"{name:30}{cells[0]:>15}{cells[1]:>15}")


if __name__ == "__main__":
    main()
