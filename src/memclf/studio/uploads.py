"""Pictures that were sent, decoded in a process with little memory and time."""

from __future__ import annotations

import multiprocessing
import struct
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from memclf.exceptions import ImageError
from memclf.vision.files import COMMON_FORMATS, Pixels

PIXELS = 50_000_000
MEMORY = 2 * 2**30  # bytes beyond what the process has when it starts
SECONDS = 30.0
HEADER = struct.Struct("<?II")


class Decoder:
    """Decodes pictures in a child process, which is started when needed, and anew when it fails.

    Bytes come back, never objects: whatever a picture does to the child, this process reads pixels.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Any = None
        self._pipe: Any = None

    def decode(self, content: bytes, name: str = "the picture") -> Pixels:
        """The pixels of a picture, or `ImageError`."""
        with self._lock:
            self._start()
            try:
                self._pipe.send_bytes(content)
                if not self._pipe.poll(SECONDS):
                    raise ImageError(f"{name} took longer than {SECONDS:.0f} s to decode")
                answer = self._pipe.recv_bytes()
            except (EOFError, OSError):
                self._end()
                raise ImageError(f"{name} could not be decoded with the memory that is set aside") from None
            except ImageError:
                self._end()
                raise
        good, height, width = HEADER.unpack_from(answer)
        body = answer[HEADER.size :]
        if not good:
            raise ImageError(body.decode(errors="replace").replace("the picture", name))
        if len(body) != 3 * height * width:
            raise ImageError(f"{name} could not be decoded")
        return np.frombuffer(body, dtype=np.uint8).reshape(height, width, 3)

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._end()

    def _start(self) -> None:
        if self._process is not None and self._process.is_alive():
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_decode_all, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def _decode_all(pipe: Any) -> None:
    """What the child does until the studio ends."""
    from memclf.vision.files import decode_image

    _limit_memory()
    with suppress(EOFError, OSError):
        while True:
            content = pipe.recv_bytes()
            try:
                image = decode_image(content, "the picture", max_pixels=PIXELS, formats=COMMON_FORMATS)
                pipe.send_bytes(HEADER.pack(True, *image.shape[:2]) + image.tobytes())
            except (ImageError, MemoryError) as error:
                pipe.send_bytes(HEADER.pack(False, 0, 0) + (str(error) or "the picture is too large").encode())


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    usage = Path("/proc/self/statm")
    used = int(usage.read_text().split()[0]) * resource.getpagesize() if usage.exists() else 0
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
