"""The options ``--cluster`` and ``--workers``: a Dask cluster for a command."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memclf.exceptions import ClusterError, MissingExtraError, OptionError

PATIENCE = 10  # seconds for a scheduler to answer
ADVICE = "Start one with `dask scheduler`, and give the address that it prints"
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
    logger.setLevel(logging.CRITICAL + 1)
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
    _check_form(address)
    try:
        with _quiet("distributed.protocol.core"):  # bytes that are no message are told below
            _ask_who_answers(address)
        # A client that does not come about would stay the default one, and all later work would wait for it.
        return kind(address, timeout=PATIENCE, set_as_default=False)
    except ClusterError:
        raise
    except Exception as error:
        raise ClusterError(f"{_say_failure(error, address)}. {ADVICE}") from error


def _check_form(address: str) -> None:
    """Refuse what Dask cannot connect to: an unknown protocol, or a port that is none."""
    from distributed.comm import backends, parse_address
    from distributed.comm.registry import get_backend

    protocol, place = parse_address(address)
    expected = "--cluster must be the address of a Dask scheduler, as tcp://10.0.0.1:8786"
    try:
        get_backend(protocol)
    except Exception as error:  # unknown, or known to a package that is missing
        known = ", ".join(sorted(set(backends) - {"inproc"}))
        raise ClusterError(
            f"{expected}; got {address!r}, whose protocol {protocol!r} Dask does not know here (it knows {known}). "
            f"{ADVICE}"
        ) from error
    if protocol == "inproc":
        return
    port = place.rpartition(":")[2] if ":" in place.rpartition("]")[2] else ""
    if not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65535):
        fault = f"whose port {port!r} is no number from 1 to 65535" if port else "which has no port"
        raise ClusterError(f"{expected}; got {address!r}, {fault}. {ADVICE}")


def _ask_who_answers(address: str) -> None:
    """Raise an error where no scheduler answers, before there is a client.

    A client would wait without end for a program that says nothing, and one that is half made waits when it goes.
    """
    import dask
    from distributed import Security
    from distributed.comm import connect
    from distributed.core import send_recv
    from distributed.utils import LoopRunner

    if dask.config.get("distributed.client.security-loader", None):
        return  # only a client knows how to connect

    async def ask() -> Any:
        safe = Security().get_connection_args("client")
        # It gives up a little earlier than the wait around it, and tells why.
        connection = await connect(address, timeout=0.9 * PATIENCE, **safe)
        try:
            return await send_recv(connection, op="identity")
        finally:
            connection.abort()

    async def ask_in_time() -> Any:
        return await asyncio.wait_for(ask(), PATIENCE)

    found = LoopRunner().run_sync(ask_in_time)
    if "workers" not in found:
        there = f", but one at {found['scheduler']!r}" if "scheduler" in found else ""
        raise ClusterError(f"at {address!r} answers no Dask scheduler{there}: it is a {found['type']}. {ADVICE}")


def _say_failure(error: Exception, address: str) -> str:
    from distributed.comm import CommClosedError
    from distributed.comm.core import FatalCommClosedError

    first: BaseException = error
    while first.__cause__ is not None:
        first = first.__cause__
    told = " ".join(str(first).splitlines()[:1])
    reason = f" ({type(first).__name__}: {told})" if told else ""
    if isinstance(error, (FatalCommClosedError, ImportError, RuntimeError, TypeError)):  # protection, or other versions
        return f"no Dask scheduler can be used at {address!r}{reason}"
    if isinstance(error, OSError) and not isinstance(error, CommClosedError):
        return f"no Dask scheduler answers at {address!r} within {PATIENCE} seconds{reason}"
    # It closed the connection when it was asked, or sent bytes that no scheduler sends.
    return f"another program seems to answer at {address!r}, not a Dask scheduler"
