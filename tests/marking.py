"""Parts that leave a file when they are at work, so that a test knows which process to kill, and when.

Worker processes import this module by its name. They may find another package of the name `tests` than ours.
"""

import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression

from memclf.similarity import RBFSimilarity

PAUSE = 0.3  # seconds that work takes at least


def mark(folder, stage):
    """Say that this process is at work, if anybody wants to know."""
    if folder is not None:
        (Path(folder) / f"{stage}-{os.getpid()}").touch()
        time.sleep(PAUSE)


class MarkedFeatures(TransformerMixin, BaseEstimator):
    """The cases themselves."""

    def __init__(self, folder=None):
        self.folder = folder

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        mark(self.folder, "describing")
        return X


class MarkedSimilarity(RBFSimilarity):
    """RBF that leaves files."""

    def __init__(self, gamma=None, *, folder=None, features=None, n_jobs=None, verbose=None):
        super().__init__(gamma, features=features, n_jobs=n_jobs, verbose=verbose)
        self.folder = folder

    def compare(self, A, B):
        mark(self.folder, "search")
        return super().compare(A, B)


class MarkedClassifier(LogisticRegression):
    """Logistic regression that leaves files."""

    def __init__(self, folder=None):
        super().__init__()
        self.folder = folder

    def fit(self, X, y, sample_weight=None):
        mark(self.folder, "fits")
        return super().fit(X, y, sample_weight)

    def predict(self, X):
        mark(self.folder, "prediction")
        return super().predict(X)


def pretend(version):
    """Another version of memclf, or none, in a worker process."""
    sys.modules["memclf._version"] = None if version is None else SimpleNamespace(__version__=version)
