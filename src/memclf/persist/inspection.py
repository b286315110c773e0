"""Looking at a model folder without running or constructing anything in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memclf.exceptions import ModelFolderError
from memclf.persist import archive
from memclf.persist.folder import read_file, read_manifest
from memclf.persist.trust import SCIKIT_LEARN


@dataclass(frozen=True)
class Inspection:
    """What a folder holds. `problems` is empty when all files are whole."""

    manifest: dict[str, Any]
    types: dict[str, int]  # every type that loading would construct, and how often
    strangers: list[str]  # those that are neither memclf's nor scikit-learn's nor plain data
    problems: list[str]


def inspect_folder(folder: str | Path) -> Inspection:
    """Read the manifest, check sizes and checksums, and list the types in the estimators' file."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    types: dict[str, int] = {}
    problems = []
    for name, entry in manifest["files"].items():
        try:
            content = read_file(folder, name, entry)
            with archive.opened(content, name) as opened:
                if name.endswith(".skops"):
                    _count(json.loads(opened.read("schema.json")), types)
        except (ModelFolderError, ValueError, KeyError, RecursionError) as error:
            problems.append(str(error))
    known = ("builtins.", "numpy.", "scipy.sparse.", "sklearn.")
    strangers = [name for name in types if not name.startswith(known) and name not in SCIKIT_LEARN]
    strangers += [f"{each['module']}.{each['name']}" for each in manifest["functions"]]
    return Inspection(manifest, dict(sorted(types.items())), sorted(strangers), problems)


def _count(node: Any, types: dict[str, int]) -> None:
    if isinstance(node, dict):
        if isinstance(node.get("__class__"), str):
            name = f"{node.get('__module__')}.{node['__class__']}"
            types[name] = types.get(name, 0) + 1
        for value in node.values():
            _count(value, types)
    elif isinstance(node, list):
        for value in node:
            _count(value, types)
