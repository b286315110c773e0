"""A million cases: fit, route and explain on one core, and look at the memories on a map.

A million taxi rides begin at places of a city. Whether the fare is paid in cash depends on the fare, in each
neighbourhood in another way. Likeness is nearness, so the memories are places. The search looks at samples and checks
its result on all cases, within a memory budget that you set. You learn what a million cases cost in seconds and bytes,
and read stage 1, one plain model and boosting beside the memory classifier.
"""

import argparse
import resource
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer

from memclf import MemoryClassifier, MemorySelector
from memclf.evaluate import StageOne, accuracy
from memclf.similarity import RBFSimilarity

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--cases", type=int, default=1_000_000, help="rides (default 1,000,000)")
parser.add_argument("--picture", help="write the picture to this file")
options = parser.parse_args()


def draw_rides(n, seed):
    """Where rides begin (along streets that wind around the centre), their fare, and how they are paid."""
    rng = np.random.default_rng(seed)
    way, street = rng.beta(1.2, 2.2, n), rng.integers(0, 5, n)
    turn = 2 * np.pi * street / 5 + 2.5 * way
    place = way[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]) + rng.normal(0, 0.035, (n, 2))
    fare = rng.normal(0, 1, n)
    leaning = 3 * np.sin(5 * place[:, 0]) * np.cos(5 * place[:, 1])  # rides of high fare: cash here, card there
    cash = rng.random(n) < 1 / (1 + np.exp(-2 * leaning * fare))
    return np.column_stack([place, fare]).astype(np.float32), np.where(cash, "cash", "card")


def take_place(rides):
    """Where a ride begins."""
    return rides[:, :2]


X, y = draw_rides(options.cases, seed=0)
X_test, y_test = draw_rides(100_000, seed=1)
clf = MemoryClassifier(
    RBFSimilarity(gamma=30, features=FunctionTransformer(take_place)),
    LogisticRegression(),
    n_memories=60,
    search=MemorySelector(max_memory="500MB"),
    random_state=0,
)
models = {"plain model": LogisticRegression(), "memory classifier": clf, "boosting": HistGradientBoostingClassifier()}
for name, model in models.items():
    began = time.perf_counter()
    model.fit(X, y)
    print(f"{name:18} fitted to {len(X):,} cases in {time.perf_counter() - began:5.1f} s")
print(f"\n{clf.search_result_}")
print(f"most memory this process ever held: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB\n")

for name, model in {**models, "stage 1 alone": StageOne(clf)}.items():
    began = time.perf_counter()
    found = model.predict(X_test)
    print(f"{name:18} {accuracy(y_test, found):.1%} of 100,000 right, in {time.perf_counter() - began:.1f} s")
print(f"\n{clf.explain(X_test[:1])[0].sentence}")

if options.picture:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4))
    left.hexbin(*X[:, :2].T, gridsize=160, bins="log", cmap="Greys", linewidths=0)
    left.scatter(*X[clf.memory_indices_, :2].T, s=45, color="#0b7a70", edgecolor="white")
    left.set_title(f"{len(X):,} rides, 60 are remembered")
    slopes = np.array([each.coef_[0, 2] for each in clf.estimators_])
    nearest = clf.route(X_test).nearest
    shown = right.scatter(*X_test[:, :2].T, c=slopes[nearest], s=0.6, cmap="PuOr", vmin=-6, vmax=6)
    right.set_title("What a higher fare means around each")
    figure.colorbar(shown, ax=[left, right], ticks=[-6, 0, 6], shrink=0.7).set_ticklabels(["card", "neither", "cash"])
    for panel in (left, right):
        panel.set(aspect="equal", xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
    figure.savefig(options.picture)
