import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from memclf import MemoryClassifier
from memclf.similarity import RBFSimilarity


@pytest.fixture
def problem():
    """Three clusters on a line; the class is the sign of the second number, turned round in the middle cluster."""

    def make(n=600, noise=0.05, seed=0):
        rng = np.random.default_rng(seed)
        cluster = rng.integers(3, size=n)
        X = np.column_stack([4.0 * cluster + rng.normal(0, 0.4, n), rng.normal(size=n)])
        y = (X[:, 1] > 0) ^ (cluster == 1) ^ (rng.random(n) < noise)
        return X, y.astype(int)

    return make


@pytest.fixture
def fitted():
    """A memory classifier for such problems."""

    def fit(X, y, estimator=None, **settings):
        settings = {"threshold": 0.3, "n_memories": 3, "random_state": 0, **settings}
        similarity = settings.pop("similarity", RBFSimilarity(gamma=0.1))
        return MemoryClassifier(similarity, estimator, **settings).fit(X, y)

    return fit


@pytest.fixture
def constants():
    return DummyClassifier()
