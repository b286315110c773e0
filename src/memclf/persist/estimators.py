"""The skops file of estimators: saving it, and loading it after a check of its types."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from memclf.exceptions import ModelFolderError, UntrustedTypeError
from memclf.persist import archive, references, skops_io, validate
from memclf.persist.trust import FUNCTIONS, KNOWN

NAMED = ("FunctionNode", "TypeNode")  # nodes that stand for the named object itself; the others are made from it
HOLDERS = ("PartialNode", "MethodNode")  # what they hold has nodes of its own
Node = dict[str, Any]


def dump_parts(parts: Mapping[str, Any]) -> bytes:
    """The content of a file of estimators."""
    try:
        return archive.uncompress(skops_io.dumps(dict(parts)))
    except Exception as whole:
        for part in parts.values():
            try:
                skops_io.dumps(part)
            except Exception as error:
                raise ModelFolderError(f"{type(part).__name__} cannot be saved without pickle: {error}") from error
        raise ModelFolderError(f"the estimators cannot be saved without pickle: {whole}") from whole


def load_parts(content: bytes, name: str, allowed: set[str]) -> dict[str, Any]:
    """The estimators in a file's content; an error unless types are allowed and numbers sound."""
    archive.open_archive(content, name).close()
    try:
        wanted, called = find_untrusted(content), _find_called(content) - allowed
    except Exception as error:
        raise ModelFolderError(f"{name} is not a file of estimators: {type(error).__name__}: {error}") from error
    if called:
        raise ModelFolderError(f"{name} would call {', '.join(sorted(called))}, which no file of memclf does")
    refused = sorted(wanted - allowed)
    if refused:
        raise UntrustedTypeError(
            f"{name} needs types that are not on the list of memclf's and scikit-learn's own: {', '.join(refused)}. "
            f"If you know where this folder comes from and trust them: load(folder, trusted={refused})",
            refused,
        )
    try:
        parts = skops_io.loads(content, trusted=sorted(wanted | KNOWN))
    except Exception as error:
        raise ModelFolderError(f"{name} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(parts, dict):
        raise ModelFolderError(f"{name} does not hold the estimators of a model")
    unchecked = {kind: why for kind, why in validate.find_unchecked(parts).items() if kind not in allowed}
    if unchecked:
        raise UntrustedTypeError(
            f"{name} holds {'; '.join(unchecked.values())}. If you know where this folder comes from and trust it: "
            f"load(folder, trusted={sorted(unchecked)})",
            sorted(unchecked),
        )
    validate.check_parts(parts, name)
    return parts


def check_parts(parts: Mapping[str, Any], places: Mapping[str, str], content: bytes) -> set[str]:
    """Refuse estimators that could never be loaded; return the names `load` has to allow.

    Parameters
    ----------
    parts : mapping
        The estimators.
    places : mapping
        Where in the model each of them belongs.
    content : bytes
        What `dump_parts` made of them.
    """
    validate.check_parts(parts, "the model")
    objects = {id(thing): thing for thing in validate.walk(parts)}
    nodes = list(list_nodes(content, places))
    for where, node in nodes:
        if node["__loader__"] == "MethodNode" and name_node(node) != name_node(node["content"]["obj"]):
            raise _not_findable(where, f"the method {node['content']['func']} of {name_node(node['content']['obj'])}")
    needed = find_untrusted(content)
    for where, node in nodes:
        if name_node(node) not in needed or node["__loader__"] in HOLDERS:
            continue
        found = references.resolve(node["__module__"], node["__class__"], load=False)
        made = objects.get(node["__id__"])  # None for objects that skops makes on the way
        if node["__loader__"] in NAMED:
            if found is None or id(found) != node["__id__"]:
                raise _not_findable(where, name_node(node))
        elif found is None or (made is not None and type(made) is not found):
            raise _not_findable(where, f"of the type {name_node(node)}")
    return needed | set(validate.find_unchecked(parts))


def find_untrusted(content: bytes) -> set[str]:
    """Types and functions in a file of estimators that are not known. Nothing is imported."""
    return set(skops_io.get_untrusted_types(data=content)) - KNOWN


def _find_called(content: bytes) -> set[str]:
    """Known functions that loading would call; a file written by memclf has none."""
    return {
        name
        for _, node in list_nodes(content)
        if (name := name_node(node)) in FUNCTIONS and node.get("__loader__") != "FunctionNode"
    }


def _not_findable(where: str, what: str) -> ModelFolderError:
    return ModelFolderError(
        f"{where} is {what}, which cannot be found again by name, so the model could never be loaded. Define it with "
        "def or class at the top level of a module that can be imported (not as a lambda, nor inside a function or a "
        "class), and fit again"
    )


def name_node(node: Node) -> str:
    """The type or function that a node names."""
    return f"{node.get('__module__')}.{node.get('__class__')}"


def list_nodes(content: bytes, places: Mapping[str, str] | None = None) -> Iterator[tuple[str, Node]]:
    """Every node of the schema, in order, with its place in the model."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        schema = json.loads(archive.read_member(file, "schema.json", "the file of estimators"))
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
