"""The options of commands that use a cluster."""

import socket
import threading
import time
from contextlib import suppress

import pytest

from memclf.cases.executors import Here, find_executor
from memclf.cli import cluster
from memclf.cli.cluster import open_cluster
from memclf.exceptions import ClusterError

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")


def test_open_cluster__nothing_asked_for__is_this_process():
    with open_cluster() as client:
        assert client is None
        assert isinstance(find_executor(), Here)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://1", "127.0.0.1:no"])
def test_open_cluster__address_that_does_not_answer__fails_in_seconds_and_says_so(address, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    started = time.monotonic()
    with pytest.raises(ClusterError, match=f"no Dask scheduler answers at '{address}'"), open_cluster(address):
        pass
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["nothing", "http"])
def test_open_cluster__another_program_at_the_address__says_that_no_scheduler_answers(said, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer_all, args=(server, said), daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"no Dask scheduler answers at '{address}'"), open_cluster(address):
            pass
    assert dask.config.get("scheduler", None) is None
    assert isinstance(find_executor(), Here)


def answer_all(server, said):
    """Accept connections until the server is closed, and say the same on each."""
    held = []
    with suppress(OSError):
        while True:
            held.append(server.accept()[0])
            held[-1].sendall(said)


@pytest.mark.parametrize(
    ("options", "told"), [({"workers": 0}, "at least 1, got 0"), ({"address": "a", "workers": 1}, "one of them")]
)
def test_open_cluster__options_that_make_no_sense__are_refused(options, told):
    with pytest.raises(ValueError, match=told), open_cluster(**options):
        pass
