"""The options ``--cluster`` and ``--workers``: a Dask cluster for a command."""

from __future__ import annotations

import logging
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from memclf.exceptions import ClusterError, MissingExtraError, OptionError

PATIENCE = 10  # seconds for a scheduler to answer
CLUSTER_HELP = "Address of a running Dask scheduler, as tcp://10.0.0.1:8786."
WORKERS_HELP = "Start this many worker processes on this machine."


@contextmanager
def open_cluster(address: str | None = None, workers: int | None = None) -> Iterator[Any]:
    """A client of a running scheduler or of new local workers, while the block runs.

    It is the client that estimators find. Without address and workers there is none (None), and all work is done in
    this process.

    Parameters
    ----------
    address : str or None
        Of a scheduler that is running.
    workers : int or None
        Worker processes to start on this machine, with one thread each.
    """
    if address is None and workers is None:
        yield None
        return
    if address is not None and workers is not None:
        raise OptionError("--cluster names a running cluster and --workers starts one; give one of them")
    if workers is not None and workers < 1:
        raise OptionError(f"--workers must be at least 1, got {workers}")
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingExtraError("--cluster and --workers need Dask: pip install 'memclf[cluster]'") from error
    from memclf.cases.executors import check_workers

    if address is not None:
        with _connect(Client, address) as client, client.as_current():
            check_workers(client)
            yield client
        return
    # What goes wrong on a worker is raised here; Dask would log it there as well.
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    with _started_without_interrupts():
        local = LocalCluster(n_workers=workers, **options)
    with _quiet("asyncio"), local as cluster, Client(cluster) as client:
        yield client


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Log no errors under this name: after Ctrl-C Dask reports only its unfinished work."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextmanager
def _started_without_interrupts() -> Iterator[None]:
    """Processes that are started here are not stopped by Ctrl-C: this process stops them."""
    if threading.current_thread() is not threading.main_thread():  # others cannot change what signals do
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _connect(kind: Any, address: str) -> Any:
    try:
        _wait_for_a_word(address)
        # A client that does not come about would stay the default one, and all later work would wait for it.
        return kind(address, timeout=PATIENCE, set_as_default=False)
    except Exception as error:  # no answer, no address, no such protocol, or bytes of a program that is no scheduler
        raise ClusterError(
            f"no Dask scheduler answers at {address!r} within {PATIENCE} seconds ({type(error).__name__}: "
            f"{' '.join(str(error).splitlines()[:1])}). Start one with `dask scheduler`, and give the address that it "
            "prints"
        ) from error


def _wait_for_a_word(address: str) -> None:
    """Raise an error where a program takes connections and says nothing, as no scheduler does.

    Dask would wait for such a program without end. Everything else that may be wrong is left to Dask.
    """
    protocol, _, place = address.rpartition("://")
    host, _, port = place.rpartition(":")
    if protocol not in ("", "tcp") or not port.isdigit():
        return
    where = (host.strip("[]"), int(port))
    with (
        suppress(ConnectionError, socket.gaierror, OverflowError),
        socket.create_connection(where, timeout=PATIENCE) as connection,
    ):
        connection.recv(1)
