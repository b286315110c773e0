"""Work of more than a second: in a process of its own, with progress, and with a stop."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memclf._progress import in_words, listen
from memclf.exceptions import DataError

RUNNING, DONE, FAILED, STOPPED = "running", "done", "failed", "stopped"
OFTEN = 0.2  # seconds between reports


@dataclass
class Job:
    """Work that was started: how far it is, and what came of it."""

    number: int
    name: str
    title: str
    state: str = RUNNING
    what: str = "starting"
    done: int = 0
    total: int = 0
    result: Any = None
    error: str = ""
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    can_stop: bool = True
    thread: threading.Thread | None = field(default=None, repr=False)

    @property
    def running(self) -> bool:
        """Whether it is not finished."""
        return self.state == RUNNING

    @property
    def seconds(self) -> float:
        """How long it took, or takes so far."""
        return (self.ended or time.monotonic()) - self.started

    @property
    def lasted(self) -> str:
        """The same for people."""
        return in_words(self.seconds)


class Jobs:
    """The jobs of a studio; at most one of a name runs at a time.

    A job is a function of a module. It runs in a process of its own, so that pages stay quick, it can be stopped, and
    it ends when the studio does. What it returns, and what it is given, must be what pickle can carry.
    """

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._running: dict[int, Any] = {}
        self._lock = threading.Lock()

    def start(
        self, name: str, title: str, function: Callable[..., Any], *args: Any, then: Callable[[Any], None] | None = None
    ) -> Job:
        """Start work, or return the job of this name that runs; `then` gets the result."""
        with self._lock:
            for job in self._jobs:
                if job.name == name and job.running:
                    return job
            job = Job(len(self._jobs), name, title)
            self._jobs.append(job)
            context = multiprocessing.get_context("spawn")  # a fork would copy locks that threads hold
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, function, args), daemon=False)
            process.start()
            theirs.close()
            self._running[job.number] = process
        job.thread = threading.Thread(target=self._follow, args=(job, process, ours, then), daemon=True)
        job.thread.start()
        return job

    def start_here(self, name: str, title: str, function: Callable[..., Any], *args: Any) -> Job:
        """Start work in a thread of this process: it shares what pages see, and cannot be stopped.

        A second one of a name is refused while the first is running. Results of earlier ones are forgotten.
        """
        with self._lock:
            for former in self._jobs:
                if former.name == name and former.running:
                    raise DataError(f"“{former.title}” is not finished; wait until it is, and try again")
                if former.name == name:
                    former.result = None
            job = Job(len(self._jobs), name, title, what="working", can_stop=False)
            self._jobs.append(job)
        job.thread = threading.Thread(target=_work_here, args=(job, function, args), daemon=True)
        job.thread.start()
        return job

    def get(self, number: int) -> Job | None:
        """A job by its number."""
        with self._lock:
            return self._jobs[number] if 0 <= number < len(self._jobs) else None

    def last(self, name: str) -> Job | None:
        """The last job of a name."""
        with self._lock:
            found = [job for job in self._jobs if job.name == name]
        return found[-1] if found else None

    def stop(self, number: int) -> None:
        """Stop a job; what it had written stays."""
        job, process = self.get(number), self._running.get(number)
        if job is not None and process is not None and job.running:
            job.state, job.ended = STOPPED, time.monotonic()
            process.terminate()

    def close(self) -> None:
        """Stop all jobs."""
        for number in list(self._running):
            self.stop(number)
        for process in list(self._running.values()):
            process.join(5)

    def _follow(self, job: Job, process: Any, pipe: Any, then: Callable[[Any], None] | None) -> None:
        try:
            while job.running:
                kind, content = pipe.recv()
                if kind == "progress":
                    job.what, job.done, job.total = content
                elif kind == "done":
                    if then is not None:
                        then(content)
                    job.result = content
                    job.ended, job.state = time.monotonic(), DONE
                else:
                    job.error = content
                    job.ended, job.state = time.monotonic(), FAILED
        except EOFError:
            if job.running:
                job.error = "the process ended without a word; the machine may be short of memory"
                job.ended, job.state = time.monotonic(), FAILED
        except Exception as error:  # of `then`
            job.error = f"{type(error).__name__}: {error}"
            job.ended, job.state = time.monotonic(), FAILED
        finally:
            process.join()
            pipe.close()
            self._running.pop(job.number, None)


def _work_here(job: Job, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    try:
        job.result = function(*args)
        state = DONE
    except Exception as error:
        job.error, state = _say_error(error), FAILED
    job.ended, job.state = time.monotonic(), state


def _say_error(error: BaseException) -> str:
    """What went wrong, for people; what is no fault of the input is printed with its place."""
    expected = isinstance(error, (ValueError, OSError, TypeError))
    if not expected:
        traceback.print_exception(error)
    return str(error) if expected and str(error) else f"{type(error).__name__}: {error}"


def _work(pipe: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """What the process does: the work, and reports of it."""
    threading.Thread(target=_end_with, args=(pipe,), daemon=True).start()
    last = [0.0]

    def hear(what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - last[0] >= OFTEN or not total:
            last[0] = now
            pipe.send(("progress", (what, done, total)))

    try:
        with listen(hear):
            result = function(*args)
        pipe.send(("done", result))
    except BaseException as error:
        pipe.send(("failed", _say_error(error)))


def _end_with(pipe: Any) -> None:
    """End this process when the studio ends, however it ends."""
    try:
        pipe.recv()
    except (EOFError, OSError):
        os._exit(1)
