"""The options of commands that use a cluster."""

import re
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from memclf.cases.executors import Here, find_executor
from memclf.cli import cluster
from memclf.cli.cluster import open_cluster
from memclf.exceptions import ClusterError

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


def test_open_cluster__nothing_asked_for__is_this_process():
    with open_cluster() as client:
        assert client is None
        assert isinstance(find_executor(), Here)


def test_open_cluster__address_that_does_not_answer__fails_in_seconds_and_says_so(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    address = "tcp://127.0.0.1:9"
    told = rf"^no Dask scheduler answers at '{address}' within 1 seconds( \(ConnectionRefusedError: .*\))?\. Start one"
    with pytest.raises(ClusterError, match=told), open_cluster(address):
        pass


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("", "got '', which has no port"),
        ("nonsense", "got 'nonsense', which has no port"),
        ("tcp://127.0.0.1", "got 'tcp://127.0.0.1', which has no port"),
        ("tcp://[::1]", "which has no port"),
        ("127.0.0.1:no", "whose port 'no' is no number from 1 to 65535"),
        ("tcp://127.0.0.1:65536", "whose port '65536' is no number"),
        ("http://127.0.0.1:8787", r"whose protocol 'http' Dask does not know here \(it knows tcp, tls"),
    ],
)
def test_open_cluster__address_that_cannot_be_one__is_refused_before_it_is_asked(address, told, monkeypatch):
    monkeypatch.setattr(cluster, "_ask_who_answers", None)
    with pytest.raises(ClusterError, match=told) as raised, open_cluster(address):
        pass
    assert str(raised.value).startswith("--cluster must be the address of a Dask scheduler, as tcp://10.0.0.1:8786;")
    assert "seconds" not in str(raised.value)


def test_open_cluster__protection_that_is_not_set_up__says_so_without_seconds():
    told = r"^no Dask scheduler can be used at 'tls://127\.0\.0\.1:9' \(TypeError: TLS expects"
    with pytest.raises(ClusterError, match=told), open_cluster("tls://127.0.0.1:9"):
        pass


SILENT = "no Dask scheduler answers at '{}' within 1 seconds. Start one"
OTHER = "another program seems to answer at '{}', not a Dask scheduler. Start one"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"", SILENT),
        (b"\x10" + bytes(7), SILENT),  # the length of a message that never comes
        (b"\x10" + bytes(23), OTHER),  # a message of nothing
        (b"SSH-2.0-OpenSSH_9.2\r\n", OTHER),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", OTHER),
    ],
    ids=["nothing", "length", "empty", "ssh", "http"],
)
def test_open_cluster__another_program_at_the_address__says_so(said, told, monkeypatch, capfd):
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer_all, args=(server, said), daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"^{re.escape(told.format(address))}"), open_cluster(address):
            pass
    assert dask.config.get("scheduler", None) is None
    assert isinstance(find_executor(), Here)
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_cluster_option__silent_port__process_ends_with_one_line(tmp_path):
    """A client that is half made would be waited for at the end, 20 seconds more, which prints a traceback."""
    for name in ("model", "new.csv"):
        (tmp_path / name).touch()
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer_all, args=(server, b""), daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        words = ["predict", tmp_path / "model", tmp_path / "new.csv", "--out", tmp_path / "z.csv", "--cluster", address]
        command = [sys.executable, "-c", "from memclf.cli import app; app()", *map(str, words)]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert shown.returncode == 1
    assert shown.stderr.startswith(f"error: no Dask scheduler answers at '{address}' within 10 seconds")
    assert len(shown.stderr.splitlines()) == 1


def test_open_cluster__scheduler_and_its_worker__only_the_scheduler_is_taken():
    options = {"processes": False, "protocol": "tcp", "dashboard_address": None, "n_workers": 1}
    with distributed.LocalCluster(host="127.0.0.1", threads_per_worker=1, **options) as local:
        (worker,) = [each.address for each in local.workers.values()]
        with open_cluster(local.scheduler_address) as client:
            assert client.submit(abs, -1).result() == 1
        told = f"^at '{worker}' answers no Dask scheduler, but one at '{local.scheduler_address}': it is a Worker"
        with pytest.raises(ClusterError, match=told), open_cluster(worker):
            pass


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
