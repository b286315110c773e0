"""How much memory a search may take, and how much it needs."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from numbers import Real
from pathlib import Path
from typing import Any

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
SHARE = 0.5  # of the memory that is free, unless told
ASSUMED = 2 * 10**9  # free memory, where the system does not tell
PER_CASE = 104  # bytes per case that a search in batches holds at its peak: keys, weights, memories, similarities
EXACT_COPIES = 2.5  # copies of the similarities to all memories that exact swaps hold at their peak
ASSUMED_MEMORIES = 100  # while their number is open
LEAST_ROWS = 256  # of a block


def parse_bytes(max_memory: Any) -> int:
    """``max_memory`` in bytes; None is a share of what is free.

    >>> parse_bytes("1.5 GB"), parse_bytes(1000)
    (1500000000, 1000)
    """
    if max_memory is None:
        return int(SHARE * free_memory())
    if isinstance(max_memory, str) and (
        found := re.fullmatch(r"([0-9.]+)\s*([KMGT]?I?B)?", max_memory.strip().upper())
    ):
        number, unit = found.groups()
        try:
            value = float(number) * UNITS[unit or ""]
        except (KeyError, ValueError):
            value = 0.0
    else:
        value = float(max_memory) if isinstance(max_memory, Real) and not isinstance(max_memory, bool) else 0.0
    if not 0 < value < float("inf"):
        raise ValueError(f'max_memory must be a text such as "2GB" or a positive number of bytes; got {max_memory!r}')
    return int(value)


def free_memory() -> int:
    """Bytes that a new program could take, as far as the system tells."""
    found = []
    try:
        about = Path("/proc/meminfo").read_text()
        found += [1024 * int(line.split()[1]) for line in about.splitlines() if line.startswith("MemAvailable:")]
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            found.append(max(0, int(limit) - int((group / "memory.current").read_text())))
    except (OSError, ValueError):  # another system, or no control groups
        pass
    if not found:
        with suppress(AttributeError, OSError, ValueError):  # Windows has none of it
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(found, default=ASSUMED)


def in_bytes(value: float) -> str:
    """A number of bytes, rounded up, as `parse_bytes` reads it.

    >>> in_bytes(1_234_567_890)
    '1.24GB'
    """
    unit = next((name for name in ("GB", "MB", "KB") if value >= UNITS[name]), "B")
    return f"{-(-int(value) * 100 // UNITS[unit]) / 100:g}{unit}"


def exact_bytes(n: int, row: int, n_memories: int | None) -> int:
    """What exact swaps hold at their peak, for rows of so many bytes."""
    return int(n * (EXACT_COPIES * 8 * (n_memories or ASSUMED_MEMORIES) + 4 * row + PER_CASE))


def rows_within(max_memory: Any, n: int, row: int, q: int, sample: int, threads: int, rows: int) -> int:
    """At most `rows` rows of a block, such that a search in batches stays within the budget."""
    budget = parse_bytes(max_memory)
    fixed = n * PER_CASE + sample * (4 * row + 8 * EXACT_COPIES * q)
    per_row = threads * (4 * row + 64)
    least = int(fixed + LEAST_ROWS * per_row)
    if budget < least:
        told = (
            f"max_memory={max_memory!r}" if max_memory is not None else f"half of the free memory, {in_bytes(budget)},"
        )
        raise ValueError(
            f"{told} is too small for the search among {n:,} cases: it needs at least {in_bytes(least)}, of which "
            f"{in_bytes(n * PER_CASE)} for {PER_CASE} bytes per case. Give max_memory={in_bytes(least)!r} or more"
        )
    while rows > LEAST_ROWS and fixed + rows * per_row > budget:
        rows //= 2
    return rows
