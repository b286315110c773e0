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
    """The states that led to the current one by edits, oldest first.

    Every state comes from one edit, so entries of undos, and of edits that were interrupted before their state was in
    place, change nothing.

    >>> edit, undo = {"from": "a", "to": "b", "what": []}, {"from": "b", "to": "a", "what": ["undo"]}
    >>> find_states([edit], "b"), find_states([edit, undo], "a")
    (['a', 'b'], ['a'])
    """
    before = {entry["to"]: entry["from"] for entry in entries if entry.get("what") != [UNDO]}
    states = [current]
    while (former := before.get(states[0])) is not None and former not in states:
        states.insert(0, former)
    return states
