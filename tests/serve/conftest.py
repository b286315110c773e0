"""Small models of each kind, and the service around them."""

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from memclf import MemoryClassifier
from memclf.serve import Limits, create_app
from memclf.similarity import CosineSimilarity, GowerSimilarity, RBFSimilarity, TreeSimilarity
from memclf.vision import ImageCollection
from memclf.vision.features import PatchColour
from pictures import squares
from serving import DenseNaiveBayes, Patient


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def table():
    """Patients: whole numbers, numbers, words; the local classifiers fail on gaps in the numbers."""
    rng = np.random.default_rng(0)
    age, smoker = rng.integers(20, 80, 90), rng.choice(["no", "yes"], 90)
    X = pd.DataFrame({"age": age, "weight": rng.normal(70, 12, 90).round(1), "smoker": smoker})
    y = np.where((age > 50) ^ (rng.random(90) < 0.15), "ill", "well")
    words = (OneHotEncoder(handle_unknown="ignore"), ["smoker"])
    estimator = make_pipeline(make_column_transformer(words, remainder=StandardScaler()), LogisticRegression())
    return MemoryClassifier(GowerSimilarity(), estimator, threshold=0.8, random_state=0).fit(X, y), X


@pytest.fixture(scope="session")
def rows():
    """Plain arrays of two numbers."""
    X = np.random.default_rng(1).normal(size=(40, 2)) + np.repeat([[0, 0], [8, 8]], 20, axis=0)
    y = (X[:, 0] > X[:, 1]).astype(int)
    return MemoryClassifier(RBFSimilarity(0.1), GaussianNB(), threshold=0.3, random_state=0).fit(X, y), X


@pytest.fixture(scope="session")
def texts():
    X = ["red wine", "white wine", "old wine", "green tea", "black tea", "iced tea"]
    similarity = CosineSimilarity(features=TfidfVectorizer())
    estimator = make_pipeline(TfidfVectorizer(), DenseNaiveBayes())
    return MemoryClassifier(similarity, estimator, threshold=0.3, random_state=0).fit(X, ["wine"] * 3 + ["tea"] * 3), X


@pytest.fixture(scope="session")
def images():
    X, y = squares(30, size=48)
    clf = MemoryClassifier(
        TreeSimilarity(features=PatchColour()), make_pipeline(PatchColour(), LogisticRegression()), random_state=0
    )
    return clf.fit(ImageCollection(X), y), X


@pytest.fixture(scope="session")
def slow_model():
    X = np.random.default_rng(2).normal(size=(30, 2))
    y = np.random.default_rng(3).integers(0, 2, 30)
    return MemoryClassifier(RBFSimilarity(0.01), Patient(), threshold=0.01, n_memories=1, random_state=0).fit(X, y)


@pytest.fixture
def serve():
    """Start the service for a classifier inside this process; it ends with the test."""
    opened = []

    def start(clf, *, token=None, **limits):
        app = create_app(clf, limits=Limits(**limits), token=token)
        client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=True)
        client.__enter__()
        opened.append(client)
        return client

    yield start
    Patient.door.set()
    for client in opened:
        client.__exit__(None, None, None)
