"""On a cluster of two worker processes: the same results as in this process."""

import re

import numpy as np
import pytest

from limits import lower_limits
from memclf import MemoryClassifier
from memclf._version import __version__
from memclf.exceptions import ClusterError
from memclf.similarity import RBFSimilarity

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 2)) + rng.integers(0, 2, (400, 1)) * 8
y = np.where(X[:, 0] > X[:, 1], "above", "below")


def in_chunks():
    return da.from_array(X, chunks=(90, 2))


def fitted():
    return MemoryClassifier(RBFSimilarity(), threshold=0.5, random_state=0).fit(in_chunks(), y)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_workers__fit_and_predict__equal_this_process_bit_for_bit(client, monkeypatch):
    lower_limits(monkeypatch)
    with client.as_current():
        far = fitted()
        answers, shares = far.predict(in_chunks()).compute(), far.predict_proba(in_chunks()).compute()
    assert far.search_result_.way == "batches"
    with distributed.client.temp_default_client(None):
        here = fitted()
    np.testing.assert_array_equal(far.memory_indices_, here.memory_indices_)
    np.testing.assert_array_equal(far.search_result_.similarity, here.search_result_.similarity)
    np.testing.assert_array_equal(answers, here.predict(X))
    np.testing.assert_allclose(shares, here.predict_proba(X), atol=1e-12)


def test_workers__another_memclf__is_refused_by_name(client):
    worker = next(iter(client.scheduler_info(n_workers=-1)["workers"]))
    for found, told in (("0.0.1", "memclf 0.0.1"), (None, "no memclf")):
        client.run(_pretend, found, workers=[worker])
        try:
            with client.as_current(), pytest.raises(ClusterError) as caught:
                fitted()
        finally:
            client.run(_pretend, __version__, workers=[worker])
        assert re.search(f"This process has memclf {__version__}, but {worker} has {told}. Install", str(caught.value))


def _pretend(version):
    import sys
    from types import SimpleNamespace

    sys.modules["memclf._version"] = None if version is None else SimpleNamespace(__version__=version)
