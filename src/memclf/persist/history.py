"""Edits of a model folder: each is logged, keeps the state before it, and can be undone.

The data and the manifest of a former state stay in the folder (`former.json.data-...`): an undo puts a manifest back.
An entry is in the log before its state is in place, so that no edit is without one.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memclf.exceptions import ModelFolderError
from memclf.persist.folder import put_card, remove_others, sync_folder, write_file, write_state
from memclf.persist.inspection import inspect_folder
from memclf.persist.log import LOG, UNDO, append_entry, find_states, read_log
from memclf.persist.manifest import MANIFEST, read_file, read_manifest
from memclf.persist.summary import describe_training

NUMBERS = ("cases", "memories", "coverage", "mean_similarity")


def save_edit(before: Any, after: Any, folder: Path, what: list[str], note: str, more: dict[str, Any]) -> None:
    """Put an edited classifier in the place of the one that the folder holds, and log the edit.

    Parameters
    ----------
    before, after : MemoryClassifier
    folder : Path
    what : list of str
        What was done, in words.
    note : str
        Why, in the words of the user.
    more : dict
        Further numbers for the log.
    """
    manifest = read_manifest(folder)
    old = name_state(manifest)
    training = _stores_training(manifest)

    def announce(new: str) -> None:
        write_file(folder / former_name(old), (folder / MANIFEST).read_bytes())
        numbers = {"before": _numbers(before), "after": _numbers(after), **more}
        append_entry(folder, {**_entry(what, note, old, new), **numbers})

    write_state(after, folder, training=training, announce=announce)
    _remove_unreachable(folder)


def undo_edit(folder: Path, note: str = "") -> dict[str, Any]:
    """Put the state before the last edit back; returns the entry of the edit that is undone."""
    current, entries = name_state(read_manifest(folder)), read_log(folder)
    states = find_states(entries, current)
    if len(states) < 2:
        raise ModelFolderError(f"there is no edit of {folder} to undo")
    former = former_name(states[-2])
    manifest = read_manifest(folder, former)
    for name, entry in manifest["files"].items():
        read_file(folder, name, entry)
    undone = next(each for each in reversed(entries) if (each["from"], each["to"]) == (states[-2], current))
    staged = folder / f"{MANIFEST}.{states[-2]}"
    write_file(staged, (folder / former).read_bytes())
    append_entry(folder, _entry([UNDO], note, current, states[-2]))
    os.replace(staged, folder / MANIFEST)
    sync_folder(folder)
    put_card(folder, manifest, inspect_folder(folder).untrusted)
    _remove_unreachable(folder)
    return undone


def read_edits(folder: Path) -> list[dict[str, Any]]:
    """The edits that stand, oldest first: those that led to the state in place."""
    entries = read_log(folder)
    states = find_states(entries, name_state(read_manifest(folder)))
    made = {entry["to"]: entry for entry in entries if entry.get("what") != [UNDO]}
    return [made[state] for state in states[1:]]


def name_state(manifest: dict[str, Any]) -> str:
    """The name of the data folder of a manifest."""
    names = {name.split("/")[0] for name in manifest["files"]}
    if len(names) != 1:
        raise ModelFolderError(f"{MANIFEST} names files in {len(names)} data folders instead of one")
    return names.pop()


def former_name(state: str) -> str:
    """The name of the manifest of a former state."""
    return f"former.json.{state}"


def _stores_training(manifest: dict[str, Any]) -> bool:
    return manifest["model"].get("state", {}).get("training_") is not None


def _remove_unreachable(folder: Path) -> None:
    """Remove what neither the current state nor an undo needs."""
    states = find_states(read_log(folder), name_state(read_manifest(folder)))
    remove_others(folder, {LOG, *states, *map(former_name, states[:-1])})


def _entry(what: list[str], note: str, old: str, new: str) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"time": now, "what": what, "note": note, "from": old, "to": new}


def _numbers(clf: Any) -> dict[str, Any]:
    summary = describe_training(clf)
    return {name: summary[name] for name in NUMBERS}
