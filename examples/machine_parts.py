"""Parts by judged pairs: an inspector who cannot say what counts teaches it with comparisons.

A table holds ten measurements of each part. The inspector grades by roughness, runout and hardness, but cannot say how
much each counts; she can say whether two parts are alike. In training, worn parts were mostly measured in the warm
shift, so temperature and coolant tell the grade too. In the field they tell the opposite. You learn how many
comparisons `JudgedSimilarity` needs, what it found out, and how the taught likeness fares in the field beside equal
weights, weights learned from labels, and a plain model. Stage 1 alone is best there: the local models look at the shift
again. The inspector is simulated: one answer in ten is the wrong way round.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memclf import MemoryClassifier
from memclf.evaluate import accuracy
from memclf.similarity import JudgedSimilarity, RBFSimilarity

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--parts", type=int, default=600, help="training parts (default 600)")
parser.add_argument("--picture", help="write the picture to this file")
options = parser.parse_args()

COLUMNS = ["roughness", "runout", "hardness", "length", "diameter", "mass", "humidity", "age", "temperature", "coolant"]
HIDDEN = np.array([4.0, 3.0, 2.0, 0, 0, 0, 0, 0, 0, 0])  # how much each counts for the inspector
rng = np.random.default_rng(0)


def draw_parts(n, shift_tells):
    """n parts and their grades; `shift_tells` is how far temperature and coolant follow the grade."""
    grade = rng.choice(3, n, p=[0.6, 0.25, 0.15])
    X = rng.normal(size=(n, len(COLUMNS)))
    # Parts to rework are rough or run out, scrap is both and soft: no single line parts the grades.
    rough = np.where(grade == 1, rng.random(n) < 0.5, grade == 2)
    X[:, 0] += 3.0 * rough
    X[:, 1] += 3.0 * np.where(grade == 1, ~rough, grade == 2)
    X[:, 2] -= 2.0 * (grade == 2)
    X[:, 8:] += shift_tells * (grade - 0.5)[:, None]
    return pd.DataFrame(X, columns=COLUMNS), np.array(["good", "rework", "scrap"])[grade]


X, y = draw_parts(options.parts, shift_tells=1.0)


def compare(i, j):
    """How far two parts are from each other in the inspector's eyes."""
    return float(HIDDEN @ np.abs(X.to_numpy()[i] - X.to_numpy()[j]))


pairs = rng.integers(0, len(X), (80, 2)).tolist()
middle = np.median([compare(i, j) for i, j in pairs])
judged = [(i, j, bool((compare(i, j) < middle) ^ (rng.random() < 0.1))) for i, j in pairs]
likeness = JudgedSimilarity().judge(X, pairs=judged)
asked = likeness.questions(X, 40)  # is i more like j, or like k? The 40 that would teach most
nearer = [(compare(i, j) < compare(i, k)) ^ (rng.random() < 0.1) for i, j, k in asked]
likeness.judge(X, triplets=[(i, j, k) if yes else (i, k, j) for (i, j, k), yes in zip(asked, nearer, strict=True)])
print(f"{likeness.sentence}\n{likeness.consistency_}\n")

local = make_pipeline(StandardScaler(), LogisticRegression())
equal = RBFSimilarity(features=StandardScaler())
common = {"threshold": 0.6, "fallback": "nearest", "random_state": 0}
models = {
    "plain model": local,
    "stage 1 alone, equal weights": MemoryClassifier(equal, answer="labels", **common),
    "stage 1 alone, from labels": MemoryClassifier(JudgedSimilarity(), answer="labels", **common),
    "stage 1 alone, judged": MemoryClassifier(likeness, answer="labels", **common),
    "memory classifier, judged": MemoryClassifier(likeness, local, **common),
}
tests = {"as trained": draw_parts(2000, 1.0), "field": draw_parts(2000, -1.0)}
table = pd.DataFrame(index=list(models), columns=list(tests), dtype=float)
for name, model in models.items():
    model.fit(X, y)
    table.loc[name] = [100 * accuracy(truth, model.predict(new)) for new, truth in tests.values()]
print(f"accuracy in %\n{table.round(1).to_string()}\n")
print(models["memory classifier, judged"].explain(tests["field"][0][:1])[0])

if options.picture:
    figure, (left, right) = plt.subplots(1, 2, width_ratios=[1, 1.2])
    weights = pd.DataFrame({"hidden": HIDDEN, "taught": likeness.weights_}, COLUMNS)
    (weights / weights.sum())[::-1].plot.barh(ax=left, color=["#c8cdd4", "#0b7a70"], width=0.8)
    left.set(title="How much each measurement counts", xlabel="share of all weights")
    places = np.arange(len(table))[::-1]
    right.hlines(places, table["field"], table["as trained"], color="#c8cdd4", lw=5)
    right.scatter(table["as trained"], places, s=90, color="#9aa1ab", label="as trained", zorder=3)
    right.scatter(table["field"], places, s=90, color="#0b7a70", label="field", zorder=3)
    right.set_yticks(places, table.index)
    right.set(title="From the lab to the field", xlabel="% right")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower right", ncols=2)
    figure.savefig(options.picture)
