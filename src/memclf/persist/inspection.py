"""A look at a model folder, without running or constructing anything in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memclf.exceptions import ModelFolderError
from memclf.persist import archive
from memclf.persist.estimators import find_untrusted, list_nodes, name_node
from memclf.persist.log import read_log
from memclf.persist.manifest import read_file, read_manifest
from memclf.persist.trust import OWN_FUNCTIONS


@dataclass(frozen=True)
class Inspection:
    """What a folder holds. `problems` is empty when all files are whole."""

    manifest: dict[str, Any]
    types: dict[str, int]  # every type that loading would construct, and how often
    untrusted: list[str]  # types and functions that `load` refuses until the caller allows them
    problems: list[str]
    edits: list[dict[str, Any]]  # the log of edits, oldest first


def inspect_folder(folder: str | Path) -> Inspection:
    """Read the manifest, check sizes and checksums, and list the types in the estimators' file."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    types: Counter[str] = Counter()
    untrusted: set[str] = set()
    problems = []
    for name, entry in manifest["files"].items():
        try:
            content = read_file(folder, name, entry)
            if not name.endswith(".safetensors"):
                archive.open_archive(content, name).close()
            if name.endswith(".skops"):
                types.update(name_node(node) for _, node in list_nodes(content))
                untrusted |= find_untrusted(content)
        except ModelFolderError as error:
            problems.append(str(error))
        except Exception as error:
            problems.append(f"{name} is not a file of estimators: {type(error).__name__}: {error}")
    for node in _list_dictionaries([manifest["model"], manifest["shared"]]):
        if isinstance(function := node.get("$function"), dict):
            untrusted.add(f"{function.get('module')}.{function.get('name')}")
    return Inspection(
        manifest, dict(sorted(types.items())), sorted(untrusted - OWN_FUNCTIONS), problems, read_log(folder)
    )


def _list_dictionaries(root: Any) -> Iterator[dict[str, Any]]:
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack += node.values()
        elif isinstance(node, list):
            stack += node
