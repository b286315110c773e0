"""The log of edits in a model folder: one JSON object per line, added at the end."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LOG = "edits.jsonl"
UNDO = "undo"
STATE = re.compile(r"data-[0-9a-f]{12}")  # anything else could name files elsewhere
MAX_BYTES = 64 * 2**20


def append_entry(folder: Path, entry: Mapping[str, Any]) -> None:
    """Add an entry. A line that an interruption left unfinished is ended first."""
    with open(folder / LOG, "a+b") as stream:
        if stream.tell():
            stream.seek(-1, os.SEEK_END)
            if stream.read(1) != b"\n":
                stream.write(b"\n")
        stream.write(json.dumps(entry, allow_nan=False).encode() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def read_log(folder: Path) -> list[dict[str, Any]]:
    """All entries, oldest first; lines that are no entries are left out."""
    path = folder / LOG
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
        return []
    found = []
    for line in path.read_bytes().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and all(STATE.fullmatch(str(entry.get(name))) for name in ("from", "to")):
            found.append(entry)
    return found


def find_states(entries: list[dict[str, Any]], current: str) -> list[str]:
    """The states that led to the current one, oldest first: each edit adds one, each undo takes one.

    An entry at the end that was written before an interruption, and whose state was never in place, does not count.

    >>> edit, undo = {"from": "a", "to": "b", "what": []}, {"from": "b", "to": "a", "what": ["undo"]}
    >>> find_states([edit], "b"), find_states([edit, undo], "a"), find_states([edit], "a")
    (['a', 'b'], ['a'], ['a'])
    """
    for end in range(len(entries), 0, -1):
        states = _replay(entries[:end])
        if states and states[-1] == current:
            return states
    return [current]


def _replay(entries: list[dict[str, Any]]) -> list[str]:
    states: list[str] = []
    for entry in entries:
        if not states or states[-1] != entry["from"]:  # an entry that was never carried out stands before it
            states = states[: states.index(entry["from"]) + 1] if entry["from"] in states else [entry["from"]]
        if entry.get("what") == [UNDO]:
            states = states[:-1] if len(states) > 1 and states[-2] == entry["to"] else [entry["to"]]
        else:
            states = [*states, entry["to"]]
    return states
