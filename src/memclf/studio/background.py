"""Work that follows the expert's hand: one thread, and only the newest state counts."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

logger = logging.getLogger("memclf.studio")


class Background:
    """Calls `work` in a thread after each `wake`; wakes in quick succession are one call.

    Parameters
    ----------
    work : function without arguments
    after : function without arguments, or None
        Done after the work, as long as nothing newer waits.
    pause : float
        Seconds without a wake, after which the work begins.
    """

    def __init__(self, work: Callable[[], None], after: Callable[[], None] | None = None, pause: float = 0.0):
        self._work, self._after, self._pause = work, after, pause
        self._state = threading.Condition()
        self._wanted = self._done = 0
        self._closed = False
        self._thread: threading.Thread | None = None
        self.problem = ""

    @property
    def busy(self) -> bool:
        """Whether there is work that is not done."""
        with self._state:
            return self._done < self._wanted

    @property
    def asked(self) -> bool:
        """Whether there ever was a wake."""
        with self._state:
            return self._wanted > 0

    @property
    def stale(self) -> bool:
        """Whether what is being done is for nothing: something newer waits, or the studio ends."""
        return self._closed or self._wanted > self._done

    def wake(self) -> None:
        """Work with the state as it is now."""
        with self._state:
            self._wanted += 1
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
            self._state.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait until all work is done; False if it takes longer."""
        with self._state:
            return self._state.wait_for(lambda: self._done >= self._wanted, seconds)

    def close(self) -> None:
        """End the thread."""
        with self._state:
            self._closed = True
            self._state.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(10)

    def _run(self) -> None:
        while (wanted := self._next()) is not None:
            self._try(self._work)
            with self._state:
                self._done = wanted
                self._state.notify_all()
            if self._after is not None and not self.stale and not self.problem:
                self._try(self._after)

    def _next(self) -> int | None:
        """Wait for a wake and for a pause after it; None at the end."""
        with self._state:
            self._state.wait_for(lambda: self._closed or self._done < self._wanted)
            while not self._closed:
                wanted = self._wanted
                self._state.wait_for(lambda: self._closed, self._pause)
                if wanted == self._wanted and not self._closed:
                    return wanted
            return None

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
            self.problem = ""
        except Exception as error:
            if self._closed:  # the project is closed under it
                return
            logger.exception("work in the background failed")
            self.problem = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
