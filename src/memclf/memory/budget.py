"""How much memory a search may take, and how much it needs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
SHARE = 0.5  # of the memory that is free, unless told
ASSUMED = 2 * 10**9  # free memory, where the system does not tell
PER_CASE = 104  # bytes per case that a search in batches holds at its peak: keys, weights, memories, similarities
EXACT_COPIES = 2.5  # copies of the similarities to all memories that exact swaps hold at their peak
ASSUMED_MEMORIES = 100  # while their number is open
KEYS = f"keys, weights and labels ({PER_CASE} bytes per case)"
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


@dataclass(frozen=True)
class Need:
    """What a search holds at its peak: bytes, by what they are for."""

    parts: dict[str, float]

    @property
    def total(self) -> int:
        """All of it, in bytes."""
        return int(sum(self.parts.values()))

    def __str__(self) -> str:
        """In words, the largest part first."""
        told = [f"{in_bytes(value)} for {what}" for what, value in sorted(self.parts.items(), key=lambda it: -it[1])]
        return f"{', '.join(told[:-1])} and {told[-1]}"


def exact_need(n: int, row: int, n_memories: int | None) -> Need:
    """What exact swaps among n cases hold, for rows of so many bytes."""
    q = n_memories or min(n, ASSUMED_MEMORIES)
    return Need(
        {
            f"the similarities of all cases to {_memories(q, n_memories)}": n * EXACT_COPIES * 8 * q,
            "copies of all descriptions": n * 4 * row,
            KEYS: n * PER_CASE,
        }
    )


def batch_need(
    n: int,
    row: int,
    n_memories: int | None,
    sample: int,
    threads: int,
    rows: int,
    *,
    wide: int = 0,
    judged: bool = True,
) -> Need:
    """What a search in batches holds with blocks of so many rows.

    `wide` is the number of memories whose similarities to a block are held at once. Without `judged`, no exact swaps
    judge the sample by all memories; the cover then takes no more than some memories would.
    """
    assumed = min(n, ASSUMED_MEMORIES)
    q = (n_memories or assumed) if judged else assumed
    beside = f" and their similarities to {_memories(q, n_memories)}" if judged else ", for cover and candidates"
    return Need(
        {
            KEYS: n * PER_CASE,
            f"a sample of {sample:,} cases{beside}": sample * (4 * row + 8 * EXACT_COPIES * q),
            f"blocks of {rows:,} cases in {threads} thread{'s' * (threads > 1)}": rows
            * threads
            * (4 * row + 64 + 8 * EXACT_COPIES * wide),
        }
    )


def most_memories(max_memory: Any, n: int, row: int) -> int | None:
    """With how many memories exact swaps stay within a given budget; None for any number."""
    if max_memory is None:
        return None
    return max(0, int((parse_bytes(max_memory) - n * (4 * row + PER_CASE)) // (n * 8 * EXACT_COPIES)))


def rows_within(max_memory: Any, need: Callable[[int], Need], rows: int, search: str, other: Need | None = None) -> int:
    """At most `rows` rows of a block, such that a search in batches stays within the budget.

    Parameters
    ----------
    max_memory : str, number or None
    need : function
        What the search needs with blocks of so many rows.
    rows : int
    search : str
        The search, for a message.
    other : Need or None
        What another way needs that could be gone. The message names the smaller need.
    """
    budget, least = parse_bytes(max_memory), need(LEAST_ROWS)
    if budget < least.total:
        if other is not None and other.total < least.total:
            least = other
        told = (
            f"max_memory={max_memory!r}" if max_memory is not None else f"half of the free memory, {in_bytes(budget)},"
        )
        raise ValueError(
            f"{told} is too small for {search}: it needs at least {in_bytes(least.total)}, which is {least}. Give "
            f"max_memory={in_bytes(least.total)!r} or more"
        )
    while rows > LEAST_ROWS and need(rows).total > budget:
        rows //= 2
    return rows


def _memories(q: int, n_memories: int | None) -> str:
    return f"{q:,} memor{'y' if q == 1 else 'ies'}{'' if n_memories else ' (assumed, n_memories is open)'}"
