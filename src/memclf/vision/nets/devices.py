"""Where networks are trained: a processor or a GPU, its precision and its memory."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import torch

AMPERE = 8  # compute capability from which GPUs of Nvidia compute in bfloat16
TRIM, MMAP = -1, -3  # parameters of mallopt(3)
LARGEST = 2**30  # bytes; no layer of a batch needs more
USUAL = 2**25  # bytes; the most that glibc raises its own limit to


def find_device(name: str) -> str:
    """The device of torch that the name means; "auto" is a GPU if there is one.

    >>> find_device("cpu")
    'cpu'
    """
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ValueError(
            f"device must be 'auto' or one of torch ('cpu', 'cuda', 'cuda:1', 'mps'); got {name!r}"
        ) from error
    if device.type == "cuda" and (device.index or 0) >= (count := torch.cuda.device_count()):
        there = f"numbered 0 to {count - 1}" if count else "none"
        raise ValueError(
            f"device={name!r} needs a GPU, and those that torch finds on this machine are {there}; use 'auto' or "
            "'cpu', or install torch for CUDA"
        )
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise ValueError("device='mps' needs a GPU of Apple, and torch finds none here; use 'auto' or 'cpu'")
    if device.type not in ("cpu", "cuda", "mps"):
        try:
            torch.ones(1, device=device).sum().item()
        except Exception as error:  # each kind of device has its own
            raise ValueError(
                f"torch cannot compute on device={name!r} here ({type(error).__name__}); use 'auto', 'cpu', 'cuda' or "
                "'mps'"
            ) from error
    return str(device)


def half_precision(device: str) -> torch.dtype | None:
    """The short numbers that a GPU computes fast with; None: the device has none.

    bfloat16 has the range of ordinary numbers. Older GPUs have float16 alone, whose gradients must be scaled up.
    """
    if torch.device(device).type != "cuda":
        return None
    return torch.bfloat16 if torch.cuda.get_device_capability(device)[0] >= AMPERE else torch.float16


@contextmanager
def reuse_memory(device: str) -> Iterator[None]:
    """Let batch after batch reuse the memory of the one before, on a processor.

    glibc returns large arrays to the system at once, and the system clears them page by page for the next batch. That
    was a third of the processor time of a training step, and as much of prediction. Afterwards, free memory is
    returned. Other devices and other libraries of C stay as they are.
    """
    if torch.device(device).type != "cpu" or platform.libc_ver()[0] != "glibc":
        yield
        return
    library = ctypes.CDLL(None)
    library.mallopt(MMAP, LARGEST)
    library.mallopt(TRIM, LARGEST)
    try:
        yield
    finally:
        library.mallopt(MMAP, USUAL)
        library.mallopt(TRIM, 2 * USUAL)
        library.malloc_trim(0)
