"""Cases in chunks are described once for a fit and all of its folds, here and on workers."""

import numpy as np
import pytest
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from counting import CountingFeatures, CountingFunction, CountingMeasureWithSigns, count, digest, make_cases, rows_of
from memclf import MemoryClassifier
from memclf.answers import ProductAnswer
from memclf.cases.chunks import Chunks
from memclf.similarity import RBFSimilarity

da = pytest.importorskip("dask.array")
bag = pytest.importorskip("dask.bag")
distributed = pytest.importorskip("distributed")

SETTINGS = {
    "local": {},
    "product": {"answer": ProductAnswer(competence=None)},
    "product and unknown rate": {"answer": "product", "unknown_rate": 0.2},
}


@pytest.fixture(scope="module")
def client():
    """Of workers that are threads of this process."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "processes": False}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def log(tmp_path):
    return str(tmp_path / "log")


def fit(similarity, X, y, **settings):
    settings = {"threshold": 0.3, "random_state": 0, "cv": 2, **settings}
    return MemoryClassifier(similarity, LogisticRegression(), **settings).fit(X, y)


@pytest.mark.filterwarnings("ignore:more than unknown_rate", "ignore:unknown_rate")
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("features", [CountingFeatures, CountingFunction])
def test_chunks__any_setting__features_see_each_case_once(features, setting, log):
    X, y = make_cases("array", 60, 0)
    chunks = da.from_array(X, chunks=(11, -1))
    found = fit(RBFSimilarity(features=features(log)), chunks, y, **SETTINGS[setting])
    assert count(log) == {digest(case): 1 for case in rows_of(X)}
    whole = fit(RBFSimilarity(features=features(log)), X, y, **SETTINGS[setting])
    np.testing.assert_array_equal(found.memory_indices_, whole.memory_indices_)
    np.testing.assert_allclose(found.thresholds_, whole.thresholds_, atol=1e-9)
    np.testing.assert_array_equal(found.predict(X), whole.predict(X))


def test_chunks__pipeline_that_learns__its_first_step_sees_each_case_twice_at_most(log):
    X, y = make_cases("array", 60, 0)
    features = make_pipeline(CountingFeatures(log), StandardScaler())
    fit(RBFSimilarity(features=features), da.from_array(X, chunks=(11, -1)), y)
    assert max(count(log).values()) <= 2  # where the scaler is fitted, and where the cases are


@pytest.mark.parametrize("persisted", [False, True])
def test_workers__folds__features_see_each_case_once(client, log, persisted):
    X, y = make_cases("array", 60, 0)
    chunks = da.from_array(X, chunks=(11, -1))
    with client.as_current():
        chunks = chunks.persist() if persisted else chunks
        fit(RBFSimilarity(features=CountingFeatures(log)), chunks, y, **SETTINGS["product"])
    assert count(log) == {digest(case): 1 for case in rows_of(X)}


def test_workers__cases_that_a_worker_holds__have_their_home_there(client):
    with client.as_current():
        held = da.from_array(np.arange(80.0).reshape(40, 2), chunks=(10, 2)).persist()
        distributed.wait(held)
        there = {key: workers for key, workers in client.who_has(held).items() if workers}
        homes = [source.home for source in Chunks(held).sources]
        free = [source.home for source in Chunks(da.ones((40, 2), chunks=(10, 2))).sources]
    assert sorted(homes) == sorted(workers[0] for workers in there.values())
    assert sorted(map(free.count, set(free))) == [2, 2]  # four chunks on two workers


def read_pixels(paths):
    return np.array([np.asarray(Image.open(path)).ravel()[::50] / 255 for path in paths])


@pytest.mark.filterwarnings("ignore:min_trust=.* has no effect", "ignore:unknown_rate", "ignore:more than unknown_rate")
def test_chunks__paths_of_images__are_measured_once_for_rows_trust_and_folds(log, tmp_path):
    rng = np.random.default_rng(0)
    paths, y = [], np.arange(36) % 2
    for k in range(36):
        image = rng.integers(0, 90, (12, 12, 3)) + np.array([160, 0, 0] if y[k] else [0, 160, 0])
        paths.append(str(tmp_path / f"{k}.png"))
        Image.fromarray(image.astype(np.uint8)).save(paths[-1])
    estimator = make_pipeline(FunctionTransformer(read_pixels), LogisticRegression())
    similarity = RBFSimilarity(features=CountingMeasureWithSigns(log))
    settings = {
        "threshold": 0.8,
        "random_state": 0,
        "min_trust": 0.5,
        "cv": 2,
        "answer": ProductAnswer(competence=None),
    }
    found = MemoryClassifier(similarity, estimator, **settings).fit(bag.from_sequence(paths, npartitions=4), y)
    counted = count(log)
    assert len(counted) == 36
    kept = len(found.memory_indices_)
    # Memories, those of the two folds too, are measured once more: they come to this process.
    assert sum(counted.values()) <= 36 + 3 * (kept + 2)
