"""Clusters of worker processes, one of which is killed: it costs time, not results."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from limits import lower_limits
from marking import MarkedClassifier, MarkedFeatures, MarkedSimilarity, pretend
from memclf import MemoryClassifier
from memclf._version import __version__
from memclf.cases.executors import Here, OnCluster, find_executor
from memclf.cli.cluster import open_cluster
from memclf.evaluate import evaluate
from memclf.exceptions import ClusterError

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

STAGES = ("describing", "search", "fits", "prediction")
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 2)) + rng.integers(0, 3, (400, 1)) * 8
y = np.where(X[:, 0] > X[:, 1], "above", "below")


def classifier(folder, stage=None):
    """A classifier that leaves files in the folder while it is at one stage."""
    at = {each: folder if each == stage else None for each in STAGES}
    similarity = MarkedSimilarity(0.1, folder=at["search"], features=MarkedFeatures(at["describing"]))
    estimator = MarkedClassifier(at["fits"] or at["prediction"])
    return MemoryClassifier(similarity, estimator, threshold=0.3, random_state=0)


def in_chunks():
    return da.from_array(X, chunks=(60, 2))


class Killer(threading.Thread):
    """Kills the first worker that leaves a file of a stage."""

    def __init__(self, folder, stage, workers):
        super().__init__(daemon=True)
        self.folder, self.stage, self.workers, self.killed = folder, stage, workers, None

    def run(self):
        until = time.monotonic() + 120
        while self.killed is None and time.monotonic() < until:
            pids = [int(each.name.split("-")[1]) for each in self.folder.glob(f"{self.stage}-*")]
            for pid in [each for each in pids if each in self.workers][:1]:
                os.kill(pid, signal.SIGKILL)
                self.killed = pid
            time.sleep(0.01)


@pytest.mark.parametrize("stage", STAGES)
def test_processes__worker_killed_in_the_middle__results_are_the_same(stage, tmp_path, monkeypatch):
    lower_limits(monkeypatch)
    expected = classifier(None).fit(in_chunks(), y)
    answers = expected.predict(X)
    with open_cluster(workers=2) as client:
        killer = Killer(tmp_path, stage, set(client.run(os.getpid).values()))
        killer.start()
        found = classifier(tmp_path, stage).fit(in_chunks(), y)
        said = found.predict(in_chunks()).compute()
        killer.join()
    assert killer.killed is not None
    np.testing.assert_array_equal(found.memory_indices_, expected.memory_indices_)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(said, answers)


def test_processes__worker_killed_while_evaluating__rows_are_the_same(tmp_path):
    changed = {("noise", level): X + level for level in range(1, 5)}
    there, here = (MarkedClassifier(folder) for folder in (tmp_path, None))
    expected = evaluate({"one": here.fit(X, y)}, X, y, changed)
    there.fit(X, y)
    with open_cluster(workers=2) as client:
        killer = Killer(tmp_path, "prediction", set(client.run(os.getpid).values()))
        killer.start()
        found = evaluate({"one": there}, X, y, changed)
        killer.join()
    assert killer.killed is not None
    assert found == expected


def test_processes__another_memclf__is_refused_by_name():
    with open_cluster(workers=2) as client:
        assert isinstance(find_executor(), OnCluster)
        worker = sorted(client.run(os.getpid))[0]
        for found, told in (("0.0.1", "memclf 0.0.1"), (None, "no memclf")):
            client.run(pretend, found, workers=[worker])
            said = rf"memclf {__version__} \(.*\), but {worker} has {told}.*\. Install memclf {__version__} there"
            with pytest.raises(ClusterError, match=said):
                classifier(None).fit(in_chunks(), y)
        client.run(pretend, __version__, workers=[worker])
        with open_cluster(client.scheduler.address) as other:
            assert other.submit(sum, [1, 2]).result() == 3
    assert isinstance(find_executor(), Here)
