"""Features and classifiers that note which cases they are shown, in a file: workers are processes."""

import hashlib
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from memclf.cases import containers
from memclf.vision.features.base import ImageFeatures


def note(log, *words):
    with open(log, "a") as file:  # short lines are appended whole
        file.write(" ".join(map(str, words)) + "\n")


def count(log):
    """How often each line was noted since the last call."""
    path = Path(log)
    lines = path.read_text().splitlines() if path.exists() else []
    path.write_text("")
    return Counter(lines)


def look(case):
    """The numbers of a case of any kind."""
    if isinstance(case, str):
        return [len(case) / 10, sum(case.count(vowel) for vowel in "aeiou") / 5, float(case.split()[0])]
    if isinstance(case, dict):
        return [float(value) for value in case.values()]
    return np.ravel(case.toarray() if sp.issparse(case) else case).tolist()


def digest(case):
    return hashlib.blake2b(repr(look(case)).encode(), digest_size=6).hexdigest()


def rows_of(X):
    return [X[[row]] for row in range(X.shape[0])] if sp.issparse(X) else containers.as_sequence(X)


class CountingFeatures(TransformerMixin, BaseEstimator):
    """Numbers of each case. Nothing is learned."""

    def __init__(self, log, scale=1.0):
        self.log = log
        self.scale = scale

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        cases = rows_of(X)
        for case in cases:
            note(self.log, digest(case))
        return np.array([look(case) for case in cases]).reshape(len(cases), -1) * self.scale

    def __sklearn_is_fitted__(self):
        return True


class CountingScaler(CountingFeatures):
    """Numbers of each case less the mean of the training cases, which is another one in every fold."""

    def fit(self, X, y=None):
        self.mean_ = np.mean([look(case) for case in rows_of(X)], axis=0)
        return self

    def transform(self, X):
        cases = rows_of(X)
        for case in cases:
            note(self.log, digest(case), self.mean_.round(9).tolist())
        return np.array([look(case) for case in cases]) - self.mean_


class CountingFunction:
    """A function of one case that is an object, so that copies of the similarity copy it."""

    def __init__(self, log):
        self.log = log

    def __call__(self, case):
        note(self.log, digest(case))
        return look(case)


class CountingClassifier(LogisticRegression):
    """Notes which method is asked, and which classifier."""

    def __init__(self, log=None):
        super().__init__(max_iter=1000)
        self.log = log

    def predict(self, X):
        note(self.log, id(self), "predict")
        return self.classes_[super().predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        note(self.log, id(self), "predict_proba")
        return super().predict_proba(X)


class CountingBayes(GaussianNB):
    """The same for a classifier that has no scores but probabilities."""

    def __init__(self, log=None):
        super().__init__()
        self.log = log

    def predict(self, X):
        note(self.log, id(self), "predict")
        return self.classes_[super().predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        note(self.log, id(self), "predict_proba")
        return super().predict_proba(X)


class CountingMeasure(ImageFeatures):
    """Mean red and green of an image; with `unsure`, a sign that tells how far they may be trusted."""

    names = ("red", "green")

    def __init__(self, log, scale=1.0):
        self.log = log
        self.scale = scale

    def measure(self, image, info):
        note(self.log, hashlib.blake2b(image.tobytes(), digest_size=6).hexdigest())
        return [self.scale * image[..., 0].mean() / 255, self.scale * image[..., 1].mean() / 255]


class CountingMeasureWithSigns(CountingMeasure):
    signs = ("brightness",)

    def measure(self, image, info):
        return [*super().measure(image, info), image.mean() / 255]

    def believe(self, signs):
        return np.clip(signs[:, 0] * 4, 0, 1)


def make_cases(kind, n, seed):
    """Cases of one kind, all different, with labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = np.column_stack([rng.normal(0, 1, (n, 2)) + 3 * y[:, None] * rng.integers(0, 2, (n, 1)), rng.normal(0, 1, n)])
    if kind == "frame":
        return pd.DataFrame(X, columns=["a", "b", "c"]), y
    if kind == "sparse":
        return sp.csr_array(X), y
    if kind == "texts":
        words = [["tree leaf oak", "car wheel road"][label] for label in y]
        return [f"{seed}{number} {word} {'x' * rng.integers(1, 9)}" for number, word in enumerate(words)], y
    return X, y
