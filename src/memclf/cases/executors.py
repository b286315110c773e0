"""Where the work on chunks runs: in this process, or on the workers of a Dask cluster.

An executor starts calls and gives back handles. A handle can be an argument of another call, so that what a call
returns stays where it was computed until `get` asks for it.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import Any, Protocol

from memclf._progress import is_shown, track
from memclf._version import __version__
from memclf.cases.computation import digest_package
from memclf.exceptions import ClusterError, ImageError, MissingExtraError

SHOWN = 3  # workers that a message names
SAME_PATHS = "Every worker must be able to read the images under the paths that they have here"
PAUSES = (0.0, 0.2, 0.4, 0.8, 1.6, 3.2)  # seconds before workers are asked, and asked again if one was lost
DIGITS = 10  # of a digest that a message shows


class Executor(Protocol):
    """Starts calls; arguments may be handles, lists of them, and delayed values of Dask."""

    @property
    def n_at_once(self) -> int:
        """How many calls to start before the first is asked for, where not all can be started."""

    def put(self, value: Any) -> Any:
        """A handle of a value that many calls share."""

    def place(self, values: Sequence[Any]) -> list[str]:
        """A home for each of these values: where it is, or where calls about it should run."""

    def start(self, work: Callable[..., Any], calls: Sequence[tuple[Any, ...]], homes: Sequence[str] = ()) -> list[Any]:
        """Handles of ``work(*arguments)`` for each call; with homes, they run there if they can."""

    def get(self, handles: list[Any], *, what: str = "", verbose: int | None = 0) -> list[Any]:
        """What the calls returned."""


class Here:
    """Runs the calls in this process, one after the other."""

    n_at_once = 1

    def put(self, value: Any) -> Any:
        return value

    def place(self, values: Sequence[Any]) -> list[str]:
        return [""] * len(values)

    def start(self, work: Callable[..., Any], calls: Sequence[tuple[Any, ...]], homes: Sequence[str] = ()) -> list[Any]:
        return [work(*map(_computed, arguments)) for arguments in calls]

    def get(self, handles: list[Any], *, what: str = "", verbose: int | None = 0) -> list[Any]:
        return handles


class OnCluster:
    """Runs the calls on the workers of a Dask cluster.

    Values that calls share are results of calls as well, not data scattered beside them: the scheduler can make them
    anew when a worker is lost.
    """

    def __init__(self, client: Any):
        check_workers(client)
        self.client = client

    @property
    def n_at_once(self) -> int:
        """One call that runs and one that waits for every thread of a worker."""
        return 2 * max(1, sum(self.client.nthreads().values()))

    def put(self, value: Any) -> Any:
        with _without_size_warning():
            return self.client.submit(_itself, value, pure=False)

    def place(self, values: Sequence[Any]) -> list[str]:
        """The worker that holds a value; other values go round the workers, by their threads."""
        from distributed import futures_of

        held = [futures_of(value) for value in values]
        there = self.client.who_has([each[0] for each in held if len(each) == 1])
        turns = cycle([worker for worker, threads in sorted(self.client.nthreads().items()) for _ in range(threads)])
        found = [there.get(each[0].key) if len(each) == 1 else None for each in held]
        return [workers[0] if workers else next(turns) for workers in found]

    def start(self, work: Callable[..., Any], calls: Sequence[tuple[Any, ...]], homes: Sequence[str] = ()) -> list[Any]:
        from dask import delayed

        call = delayed(work, pure=False)
        asked = [call(*arguments) for arguments in calls]
        with _without_size_warning():
            if not homes:
                return list(self.client.compute(asked))
            found: list[Any] = [None] * len(asked)
            for home in dict.fromkeys(homes):
                own = [i for i, each in enumerate(homes) if each == home]
                where = {"workers": [home], "allow_other_workers": True}  # it may have gone
                for i, future in zip(own, self.client.compute([asked[i] for i in own], **where), strict=True):
                    found[i] = future
            return found

    def get(self, handles: list[Any], *, what: str = "", verbose: int | None = 0) -> list[Any]:
        from distributed import as_completed

        try:
            if is_shown(verbose):
                for future in track(as_completed(handles), total=len(handles), what=what, verbose=verbose):
                    if future.status == "error":
                        break  # and `gather` raises what the call raised
            return list(self.client.gather(handles))
        except Exception:
            self.client.cancel(handles)
            raise


def find_executor() -> Executor:
    """The cluster whose client is running in this process; without one, this process."""
    try:
        from distributed import default_client
    except ImportError:
        return Here()
    try:
        return OnCluster(default_client())
    except ValueError:  # there is no client
        return Here()


def import_dask() -> Any:
    """The package dask; an error names the extra where it is missing."""
    try:
        import dask
    except ImportError as error:
        raise MissingExtraError("cases in chunks need Dask: pip install 'memclf[cluster]'") from error
    return dask


def name_worker() -> str | None:
    """The address of the worker that runs this task; None where no task is running."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return None


@contextmanager
def naming_worker() -> Iterator[None]:
    """Errors about images name the worker that they happen on, which may not see the files."""
    try:
        yield
    except ImageError as error:
        worker = name_worker()
        if worker is None:
            raise
        raise ImageError(f"{error}. That happened on the worker {worker}. {SAME_PATHS}") from error


def check_workers(client: Any) -> None:
    """Refuse workers without memclf, with another version, or with other code of this one."""

    # A function inside a function travels as code. One of this module would be imported on the worker, which fails
    # where memclf is missing.
    def find_code() -> tuple[str, str] | None:
        try:
            from memclf._version import __version__ as version
        except ImportError:
            return None
        try:
            from memclf.cases.computation import digest_package
        except ImportError:  # an older memclf
            return str(version), "unknown"
        return str(version), str(digest_package())

    found = _ask_workers(client, find_code)
    if not found:
        raise ClusterError(
            f"the cluster at {client.scheduler.address} has no workers; start some with "
            f"`dask worker {client.scheduler.address}`"
        )
    own = (__version__, digest_package())
    other = {worker: code for worker, code in found.items() if code != own}
    if other:
        names = [f"{worker} has {_say_code(code)}" for worker, code in other.items()]
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        same = " from the same source" if all(code and code[0] == __version__ for code in other.values()) else ""
        raise ClusterError(
            f"workers and client must have the same memclf. This process has {_say_code(own)}, but "
            f"{', '.join(names[:SHOWN])}{more}. Install memclf {__version__}{same} there, and start the workers anew"
        )


def _ask_workers(client: Any, work: Callable[[], Any]) -> dict[str, Any]:
    """What the call returns on each worker; while workers are lost, all are asked again."""
    lost: dict[str, OSError] = {}
    for pause in PAUSES:
        time.sleep(pause)
        found = client.run(work, on_error="return")
        for error in found.values():
            if isinstance(error, Exception) and not isinstance(error, OSError):
                raise error
        now = {worker: error for worker, error in found.items() if isinstance(error, OSError)}
        if not now and (found or not lost):  # where the only worker was lost, another one may be starting
            return dict(found)
        lost = now or lost
    names = [f"{worker} ({type(error).__name__}: {error})" for worker, error in lost.items()]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    raise ClusterError(
        f"workers were lost while they were asked for their memclf, {len(PAUSES)} times in {sum(PAUSES):.0f} seconds: "
        f"{', '.join(names[:SHOWN])}{more}. Look into their logs, and start them anew"
    )


def _say_code(code: tuple[str, str] | None) -> str:
    return "no memclf" if code is None else f"memclf {code[0]} (digest of its code: {code[1][:DIGITS]})"


def _itself(value: Any) -> Any:
    return value


def _computed(argument: Any) -> Any:
    """What a delayed value stands for; all else as it is."""
    if type(argument).__module__.partition(".")[0] == "dask":
        return argument.compute(scheduler="synchronous")
    return argument


@contextmanager
def _without_size_warning() -> Iterator[None]:
    """A model of over 10 MB travels once, as part of a graph; Dask would warn of it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph of size")
        yield
