"""On the two workers of a cluster: the same results as in this process."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

from limits import lower_limits
from memclf import MemoryClassifier
from memclf._version import __version__
from memclf.cases import executors
from memclf.cases.computation import digest_package
from memclf.cases.executors import find_executor
from memclf.evaluate import evaluate
from memclf.exceptions import ClusterError
from memclf.similarity import RBFSimilarity

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 2)) + rng.integers(0, 2, (400, 1)) * 8
y = np.where(X[:, 0] > X[:, 1], "above", "below")


@pytest.fixture(scope="module")
def client():
    """Of workers that are threads of this process; processes take seconds to start, see `test_processes`."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "processes": False}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def in_chunks(X=X):
    return da.from_array(X, chunks=(90, 2))


def test_workers__fit_and_predict__equal_this_process_bit_for_bit(client, monkeypatch):
    lower_limits(monkeypatch)
    clf = MemoryClassifier(RBFSimilarity(), threshold=0.5, random_state=0)
    with client.as_current():
        far = clf.fit(in_chunks(), y)
        answers = far.predict(in_chunks()).compute()
        result = far.search_result_
    here = clf.fit(in_chunks(), y)
    assert result.way == here.search_result_.way == "batches"
    np.testing.assert_array_equal(result.indices, here.search_result_.indices)
    np.testing.assert_array_equal(result.similarity, here.search_result_.similarity)
    assert result.objective == here.search_result_.objective
    np.testing.assert_array_equal(answers, here.predict(X))


def test_workers__what_is_learned_on_folds__equals_this_process_bit_for_bit(client):
    clf = MemoryClassifier(
        RBFSimilarity(0.1), threshold=0.5, answer="auto", unknown_rate=0.1, cv=KFold(2), random_state=0
    )
    with client.as_current():
        far = clone(clf).fit(in_chunks(), y)
        answers = far.predict_proba(in_chunks()).compute()
    here = clone(clf).fit(in_chunks(), y)
    np.testing.assert_array_equal(far.distances_.far, here.distances_.far)
    np.testing.assert_array_equal(far.thresholds_, here.thresholds_)
    assert far.answer_.scores_ == here.answer_.scores_
    np.testing.assert_array_equal(answers, here.predict_proba(in_chunks()).compute())


def test_workers__evaluation__conditions_are_tasks_with_the_same_rows(client):
    contenders = {
        "memory": MemoryClassifier(RBFSimilarity(0.1), threshold=0.5, random_state=0).fit(X, y),
        "tree": DecisionTreeClassifier(random_state=0).fit(X, y),
    }
    changed = {("noise", level): X + level * rng.normal(size=X.shape) for level in (1, 2)}
    here = evaluate(contenders, X, y, changed)
    with client.as_current():
        there = evaluate(contenders, X, y, changed)
    assert len(here) == 6
    assert there == here


def test_workers__error_in_a_chunk__is_raised_here_and_names_it(client):
    bad = X.copy()
    bad[200, 1] = np.inf
    with client.as_current(), pytest.raises(ValueError, match="X contains inf in chunk 2, row 20 of the chunk"):
        MemoryClassifier(RBFSimilarity(1.0)).fit(in_chunks(bad), y)


def test_workers__other_code_of_the_same_version__is_refused_with_both_digests(client, monkeypatch):
    theirs = digest_package()
    monkeypatch.setattr(executors, "digest_package", lambda: "0123456789abcdef")
    told = (
        rf"This process has memclf {__version__} \(digest of its code: 0123456789\), but inproc://\S+ has memclf "
        rf"{__version__} \(digest of its code: {theirs[:10]}\), .* from the same source there"
    )
    with client.as_current(), pytest.raises(ClusterError, match=told):
        find_executor()


def test_workers__there_are_none__says_how_to_start_some():
    options = {"n_workers": 0, "dashboard_address": "127.0.0.1:0", "processes": False}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        client.as_current(),
        pytest.raises(ClusterError, match="has no workers; start some with `dask worker inproc"),
    ):
        MemoryClassifier().fit(in_chunks(), y)
