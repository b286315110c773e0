"""Model folders: `save` and `load`.

A folder holds `manifest.json`, which names the data files with their sizes and checksums, and a data folder
with a name of its own for each save. Saving writes new data first and then replaces the manifest in one step,
so that at any moment the folder holds one whole model, the old or the new.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn
import skops
import skops.io
from sklearn.utils.validation import check_is_fitted

from memclf.exceptions import MemclfError, ModelFolderError, UntrustedTypeError
from memclf.persist import archive, references, sane
from memclf.persist.card import model_card
from memclf.persist.codec import ESTIMATORS, Decoder, Encoder
from memclf.persist.summary import input_schema, training_summary
from memclf.persist.trust import SCIKIT_LEARN, trusted_names

FORMAT = "memclf-model"
FORMAT_VERSION = 1
MIGRATIONS: dict[int, Any] = {}  # version -> function that turns its manifest into one of the next version
MANIFEST = "manifest.json"
CARD = "MODEL_CARD.md"
FILE_NAME = re.compile(r"data-[0-9a-f]{12}/[a-z]+\.(npz|skops)")
MAX_MANIFEST = 64 * 2**20
MAX_BYTES = 8 * 2**30


def save(model: Any, folder: str | os.PathLike[str]) -> Path:
    """Save a fitted `MemoryClassifier` or `MemorySelector` to a folder, replacing the model that is there.

    Parameters
    ----------
    model : MemoryClassifier or MemorySelector
        Estimators inside it go through skops; a user's own function is stored as import path and source hash.
    folder : path
        Created if absent. A folder that holds other things is left alone, with an error.
    """
    if type(model).__name__ not in ("MemoryClassifier", "MemorySelector") or type(model).__name__ not in ESTIMATORS:
        raise TypeError(
            f"save takes a MemoryClassifier or a MemorySelector, got {type(model).__name__}. Preprocessing belongs in "
            "the similarity (features=...) and in the estimator (a Pipeline)."
        )
    check_is_fitted(model)
    folder = Path(folder)
    _check_target(folder)
    encoder = Encoder()
    tree = encoder.encode(model)
    payload = {"arrays.npz": archive.write_arrays(encoder.arrays), "estimators.skops": _dump_parts(encoder.parts)}

    data = folder / f"data-{uuid.uuid4().hex[:12]}"
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": _versions(),
        "kind": type(model).__name__,
        "classes": [str(label) for label in getattr(model, "classes_", [])],
        "parameters": {name: repr(value) for name, value in model.get_params(deep=False).items()},
        "input": input_schema(model),
        "training": training_summary(model),
        "functions": encoder.functions,
        "arrays": {name: [array.dtype.str, list(array.shape)] for name, array in encoder.arrays.items()},
        "files": {
            f"{data.name}/{name}": {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in payload.items()
        },
        "model": tree,
    }
    manifest["sha256"] = _own_hash(manifest)
    data.mkdir(parents=True)
    try:
        for name, content in payload.items():
            _write(data / name, content)
        _sync(data)
        staged = folder / f"{MANIFEST}.{data.name}"
        _write(staged, json.dumps(manifest, indent=1, allow_nan=False).encode())
        os.replace(staged, folder / MANIFEST)
    except BaseException:
        shutil.rmtree(data, ignore_errors=True)
        (folder / f"{MANIFEST}.{data.name}").unlink(missing_ok=True)
        raise
    _sync(folder)
    (folder / CARD).write_text(model_card(manifest), encoding="utf-8")
    for old in folder.glob("data-*"):
        if old != data:
            shutil.rmtree(old, ignore_errors=True)
    for old in folder.glob(f"{MANIFEST}.data-*"):
        old.unlink(missing_ok=True)
    return folder


def load(
    folder: str | os.PathLike[str],
    *,
    trusted: Iterable[Any] = (),
    functions: Mapping[str, Any] | None = None,
) -> Any:
    """Load a model from a folder. Nothing is unpickled, and no code runs that the caller has not allowed.

    Parameters
    ----------
    folder : path
    trusted : list of names, types or functions
        What may be loaded beside memclf's and scikit-learn's own types: ``["mylab.MyClassifier"]``. The error
        of a refused model names what it wants; allow it only if you know where the folder comes from.
    functions : mapping
        Functions to use in place of those that the model names, whether or not their source has changed:
        ``{"mylab.alike": alike}``.
    """
    trusted = list(trusted) if not isinstance(trusted, str) else trusted
    allowed = trusted_names(trusted)
    given = references.given_functions(functions, trusted)
    folder = Path(folder)
    manifest = read_manifest(folder)
    contents = {name: read_file(folder, name, entry) for name, entry in manifest["files"].items()}
    try:
        by_kind = {Path(name).name: (name, content) for name, content in contents.items()}
        name, content = by_kind["arrays.npz"]
        arrays = archive.read_arrays(content, name, manifest["arrays"])
        name, content = by_kind["estimators.skops"]
        parts = _load_parts(content, name, allowed)
        decoder = Decoder(arrays, parts, lambda wanted: references.find(wanted, allowed, given))
        model = decoder.decode(manifest["model"])
        if type(model).__name__ not in ("MemoryClassifier", "MemorySelector"):
            raise ModelFolderError(f"{folder / MANIFEST} holds a {type(model).__name__}, not a model")
        sane.check_fitted(model)
    except MemclfError:
        raise
    except Exception as error:
        raise ModelFolderError(f"{folder} does not hold a sound model: {type(error).__name__}: {error}") from error
    return model


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest, checked: format, version, own hash, and names of files that stay inside the folder."""
    path = folder / MANIFEST
    if not path.is_file():
        raise ModelFolderError(f"{folder} is no model folder: there is no {MANIFEST} in it")
    if path.stat().st_size > MAX_MANIFEST:
        raise ModelFolderError(f"{path} has {path.stat().st_size} bytes, more than any manifest of memclf")
    try:
        manifest = json.loads(path.read_bytes().decode("utf-8"))
        version = manifest["format_version"] if manifest["format"] == FORMAT else None
        if type(version) is not int:
            raise ValueError(f"format is not {FORMAT!r}")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFolderError(f"{path} is damaged or not a manifest of memclf: {error}") from error
    if version > FORMAT_VERSION:
        raise ModelFolderError(
            f"{path} has format version {version}; this memclf reads up to version {FORMAT_VERSION}. Update memclf."
        )
    if manifest.get("sha256") != _own_hash(manifest):
        raise ModelFolderError(f"{path} was edited or damaged: its checksum does not match")
    while version < FORMAT_VERSION:
        if version not in MIGRATIONS:
            raise ModelFolderError(f"{path} has format version {version}, which never existed")
        manifest, version = MIGRATIONS[version](manifest), version + 1
    try:
        for name, entry in manifest["files"].items():
            if not FILE_NAME.fullmatch(name):
                raise ModelFolderError(f"{path} names the file {name!r}, which is not a name that memclf gives")
            int(entry["bytes"]), str(entry["sha256"])
        manifest["arrays"].items(), manifest["model"]["$memclf"]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelFolderError(f"{path} is not a manifest of memclf: {error!r}") from error
    return dict(manifest)


def read_file(folder: Path, name: str, entry: Mapping[str, Any]) -> bytes:
    """A data file's content, after size and checksum have been found right. Links are not followed."""
    path = folder / name
    if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
        raise ModelFolderError(f"{path} is missing or not a plain file")
    size = path.stat().st_size
    if size != entry["bytes"] or size > MAX_BYTES:
        raise ModelFolderError(f"{path} has {size} bytes instead of {entry['bytes']}: it was truncated or replaced")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise ModelFolderError(f"{path} was edited or damaged: its checksum does not match")
    return content


def _dump_parts(parts: dict[str, Any]) -> bytes:
    try:
        return bytes(skops.io.dumps(parts))
    except Exception as whole:
        for part in parts.values():
            try:
                skops.io.dumps(part)
            except Exception as error:
                raise ModelFolderError(f"{type(part).__name__} cannot be saved without pickle: {error}") from error
        raise ModelFolderError(f"the estimators cannot be saved without pickle: {whole}") from whole


def _load_parts(content: bytes, name: str, allowed: set[str]) -> dict[str, Any]:
    archive.opened(content, name).close()
    try:
        wanted = set(skops.io.get_untrusted_types(data=content))
    except Exception as error:
        raise ModelFolderError(f"{name} is not a file of estimators: {type(error).__name__}: {error}") from error
    refused = sorted(wanted - SCIKIT_LEARN - allowed)
    if refused:
        raise UntrustedTypeError(
            f"{name} wants types that are not on the list of memclf's and scikit-learn's own: {', '.join(refused)}. "
            f"If you know where this folder comes from and trust them: load(folder, trusted={refused})",
            refused,
        )
    try:
        parts = skops.io.loads(content, trusted=sorted(wanted))
    except Exception as error:
        raise ModelFolderError(f"{name} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(parts, dict):
        raise ModelFolderError(f"{name} does not hold the estimators of a model")
    sane.check_trees(parts, name)
    return parts


def _check_target(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ModelFolderError(f"{folder} is a file; a model needs a folder")
    if folder.is_dir() and not (folder / MANIFEST).exists():
        strangers = [p.name for p in folder.iterdir() if not p.name.startswith(("data-", f"{MANIFEST}.data-"))]
        if strangers:
            raise ModelFolderError(f"{folder} holds other things ({strangers[0]}, ...); choose a new or empty folder")


def _write(path: Path, content: bytes) -> None:
    with open(path, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _own_hash(manifest: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in manifest.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _versions() -> dict[str, str]:
    from memclf import __version__

    python = ".".join(map(str, sys.version_info[:3]))
    modules = (np, scipy, sklearn, joblib, skops)
    return {"memclf": __version__, "python": python, **{m.__name__: str(m.__version__) for m in modules}}
