"""Two small models whose answers are explained: flowers by the paper's rule, machine parts by the product."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from memclf import MemoryClassifier
from memclf.similarity import RankSimilarity, RBFSimilarity

X, y = load_iris(return_X_y=True)
NAMES = load_iris().target_names
FAR = np.full((1, 4), 500.0)


def fit_flowers(estimator=None, **settings):
    settings = {"similarity": RBFSimilarity(0.3), "threshold": 0.5, "random_state": 0, **settings}
    return MemoryClassifier(estimator=estimator or GaussianNB(), **settings).fit(X, NAMES[y])


def machine_parts(n, seed, drift=0.0):
    """Wear, which survives the drift, and ten sensors, which do not; three grades."""
    rng = np.random.default_rng(seed)
    wear = rng.random(n)
    grade = np.digitize(wear + rng.normal(0, 0.15, n), [0.3, 0.8])
    sensors = grade[:, None] * np.linspace(1, 2, 10) + rng.normal(0, 2.5, (n, 10)) + drift
    return np.column_stack([wear, sensors]), grade


def wear_of(A):
    return A[:, :1]


def sensors_of(A):
    return A[:, 1:]


def fit_parts(**settings):
    """Memories are found by wear alone; the classifiers look at the sensors alone."""
    return MemoryClassifier(
        RankSimilarity(features=FunctionTransformer(wear_of)),
        make_pipeline(FunctionTransformer(sensors_of), StandardScaler(), LogisticRegression()),
        n_memories=8,
        min_cluster_size=40,
        random_state=0,
        **settings,
    ).fit(*machine_parts(500, 0))


USUAL, DRIFTING, DRIFTED = (
    machine_parts(n, seed, drift)[0] for n, seed, drift in ((150, 1, 0), (150, 2, 1.5), (30, 3, 30))
)


def most_probable(chances):
    return max(chances, key=chances.get)
