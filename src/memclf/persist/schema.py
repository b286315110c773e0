"""The schema of a file of estimators: which types and functions it names, and whether they can be found again."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import skops.io

from memclf.exceptions import ModelFolderError
from memclf.persist import references
from memclf.persist.trust import FUNCTIONS, KNOWN

NAMED = ("FunctionNode", "TypeNode")  # nodes that stand for the named object itself; the others are made from it
HOLDERS = ("PartialNode", "MethodNode")  # what they hold has nodes of its own
Node = dict[str, Any]


def strangers(content: bytes) -> set[str]:
    """Types and functions in a file of estimators that the caller of `load` has to allow. Nothing is imported."""
    return set(skops.io.get_untrusted_types(data=content)) - KNOWN


def called(content: bytes) -> set[str]:
    """Known functions that loading would call. memclf never writes such a file: functions are held, not called."""
    return {
        name
        for _, node in _nodes(content)
        if (name := _name(node)) in FUNCTIONS and node.get("__loader__") != "FunctionNode"
    }


def check_findable(content: bytes, places: Mapping[str, str], objects: Mapping[int, Any]) -> set[str]:
    """Refuse what could be saved but never loaded: objects whose names do not lead to them. The strangers otherwise.

    Parameters
    ----------
    content : bytes
        A file of estimators that was just made.
    places : mapping
        Where in the model each part belongs.
    objects : mapping
        The objects in the file by their identity, as far as they are known.
    """
    nodes = list(_nodes(content, places))
    for where, node in nodes:
        if node["__loader__"] == "MethodNode" and _name(node) != _name(node["content"]["obj"]):
            raise _unfindable(where, f"the method {node['content']['func']} of {_name(node['content']['obj'])}")
    needed = strangers(content)
    for where, node in nodes:
        if _name(node) not in needed or node["__loader__"] in HOLDERS:
            continue
        found = references.resolve(node["__module__"], node["__class__"], load=False)
        made = objects.get(node["__id__"])  # None where an object describes itself by others, made on the way
        if node["__loader__"] in NAMED:
            if found is None or id(found) != node["__id__"]:
                raise _unfindable(where, _name(node))
        elif found is None or (made is not None and type(made) is not found):
            raise _unfindable(where, f"of the type {_name(node)}")
    return needed


def _unfindable(where: str, what: str) -> ModelFolderError:
    return ModelFolderError(
        f"{where} is {what}, which cannot be found again by name, so the model could never be loaded. Define it with "
        "def or class at the top level of a module that can be imported (not as a lambda, nor inside a function or a "
        "class), and fit again"
    )


def _name(node: Node) -> str:
    return f"{node.get('__module__')}.{node.get('__class__')}"


def _nodes(content: bytes, places: Mapping[str, str] | None = None) -> Iterator[tuple[str, Node]]:
    """Every node of the schema, in order, with its place in the model."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        schema = json.loads(archive.read("schema.json"))
    stack: list[tuple[str, Any]] = [("", schema)]
    while stack:
        where, value = stack.pop()
        if isinstance(value, dict):
            if "__class__" in value:
                yield where, value
            inside = [(_place(where, key, value, places or {}), item) for key, item in value.items()]
        else:
            inside = [(f"{where}[{number}]", item) for number, item in enumerate(value)]
        stack += [(place, item) for place, item in reversed(inside) if isinstance(item, (dict, list))]


def _place(where: str, key: str, holder: Node, places: Mapping[str, str]) -> str:
    if "__class__" in holder:  # a word of the format, not of the model
        return where
    return f"{where}.{key}" if where else places.get(key, key)
