"""Model folders: `save` and `load`.

A folder holds `manifest.json`, which names the data files with their sizes and checksums, and a data folder
with a name of its own for each save. Saving writes new data first and then replaces the manifest in one step,
so that at any moment the folder holds one whole model, the old or the new.
"""

from __future__ import annotations

import contextlib
import functools
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

from memclf import fitted
from memclf.classifier import MemoryClassifier
from memclf.exceptions import MemclfError, ModelFolderError, UntrustedTypeError
from memclf.persist import archive, references, sane, schema, vision
from memclf.persist.card import model_card
from memclf.persist.codec import Decoder, Encoder
from memclf.persist.summary import input_schema, training_summary
from memclf.persist.trust import KNOWN, OWN_FUNCTIONS, trusted_names
from memclf.selector import MemorySelector

FORMAT = "memclf-model"
FORMAT_VERSION = 1
MIGRATIONS: dict[int, Any] = {}  # version -> function that turns its manifest into one of the next version
MANIFEST = "manifest.json"
CARD = "MODEL_CARD.md"
MODELS = (MemoryClassifier, MemorySelector)
OWN_NAME = re.compile(r"(manifest\.json\.)?data-[0-9a-f]{12}")  # of data folders and of manifests on their way
FILE_NAME = re.compile(r"data-[0-9a-f]{12}/[a-z]+\.(npz|skops|safetensors)")
MAX_MANIFEST = 64 * 2**20
MAX_BYTES = 8 * 2**30


def save(model: Any, folder: str | os.PathLike[str]) -> Path:
    """Save a fitted model to a folder, replacing the model that is there.

    Parameters
    ----------
    model : MemoryClassifier, MemorySelector or ImageClassifier
        Estimators inside it go through skops; a user's own function is stored as import path and source hash.
    folder : path
        Created if absent. A folder that holds other things is left alone, with an error.

    Raises
    ------
    ModelFolderError
        If the model could never be loaded: it holds a lambda, for example, or a class made inside a function.
        Nothing is written then.
    FittedPartsError
        If fitted attributes were overwritten. Nothing is written then.
    """
    if type(model) not in MODELS and not vision.is_network(model):
        raise TypeError(
            "save takes a MemoryClassifier, a MemorySelector or an ImageClassifier, got "
            f"{type(model).__name__}. Preprocessing belongs in the similarity (features=...) and in the estimator "
            "(a Pipeline)."
        )
    check_is_fitted(model)
    folder = Path(folder)
    _check_target(folder)
    encoder = Encoder()
    tree = encoder.encode(model)
    payload = {"arrays.npz": archive.write_arrays(encoder.arrays), "estimators.skops": _dump_parts(encoder.parts)}
    if encoder.tensors:
        payload["networks.safetensors"] = vision.write_tensors(encoder.tensors)
    needs = _needs(encoder, payload["estimators.skops"])
    if type(model) in MODELS:
        fitted.check(model)

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
        **({"shared": encoder.shared} if encoder.shared else {}),
    }
    manifest["sha256"] = _own_hash(manifest)
    text = json.dumps(manifest, indent=1, allow_nan=False).encode()
    _check_size(text, payload)
    staged = folder / f"{MANIFEST}.{data.name}"
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        data.mkdir(parents=True)
        for name, content in payload.items():
            _write(data / name, content)
        _sync(data)
        _write(staged, text)
        os.replace(staged, folder / MANIFEST)
    except BaseException:
        if not _is_current(folder, data):  # an interrupt may come when the new model is already in place
            shutil.rmtree(data, ignore_errors=True)
            staged.unlink(missing_ok=True)
            for each in made:
                with contextlib.suppress(OSError):  # not made yet, or something else lies in it by now
                    each.rmdir()
        raise
    _sync(folder)
    (folder / CARD).write_text(model_card(manifest, needs), encoding="utf-8", errors="backslashreplace")
    for old in folder.iterdir():
        if OWN_NAME.fullmatch(old.name) and old != data:
            if old.is_dir() and not old.is_symlink():
                shutil.rmtree(old, ignore_errors=True)
            else:
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
    manifest, contents = _read_all(folder)
    try:
        by_kind = {Path(name).name: (name, content) for name, content in contents.items()}
        name, content = by_kind["arrays.npz"]
        arrays = archive.read_arrays(content, name, manifest["arrays"])
        name, content = by_kind["estimators.skops"]
        parts = _load_parts(content, name, allowed)
        tensors = None
        if "networks.safetensors" in by_kind:
            name, content = by_kind["networks.safetensors"]
            tensors = vision.read_tensors(content, name)
        find = functools.partial(references.find, trusted=allowed, given=given)
        decoder = Decoder(arrays, parts, find, manifest.get("shared"), tensors)
        model = decoder.decode(manifest["model"])
        if type(model) in MODELS:
            sane.check_fitted(model, str(folder / MANIFEST))
        elif not vision.is_network(model):
            raise ModelFolderError(f"{folder / MANIFEST} holds a {type(model).__name__}, not a model")
    except MemclfError:
        raise
    except Exception as error:
        raise ModelFolderError(
            f"{folder / MANIFEST} does not describe a sound model: {type(error).__name__}: {error}"
        ) from error
    return model


def _read_all(folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Manifest and files of one model, even if another one is saved over it in the meantime."""
    while True:
        manifest = read_manifest(folder)
        try:
            return manifest, {name: read_file(folder, name, entry) for name, entry in manifest["files"].items()}
        except ModelFolderError:
            if read_manifest(folder)["sha256"] == manifest["sha256"]:
                raise


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
        own_hash = _own_hash(manifest)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFolderError(f"{path} is damaged or not a manifest of memclf: {error}") from error
    if version > FORMAT_VERSION:
        raise ModelFolderError(
            f"{path} has format version {version}; this memclf reads up to version {FORMAT_VERSION}. Update memclf."
        )
    if manifest.get("sha256") != own_hash:
        raise ModelFolderError(f"{path} was edited or damaged: its checksum does not match")
    while version < FORMAT_VERSION:
        if version not in MIGRATIONS:
            raise ModelFolderError(f"{path} has format version {version}, which never existed")
        manifest, version = MIGRATIONS[version](manifest), version + 1
    try:
        for name, entry in manifest["files"].items():
            if not FILE_NAME.fullmatch(name):
                raise ModelFolderError(f"{path} names the file {name!r}, which is not a name that memclf gives")
            if type(entry["bytes"]) is not int or type(entry["sha256"]) is not str:
                raise ValueError(f"bytes and sha256 of {name}")
        manifest["arrays"].items(), len(manifest["model"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, ModelFolderError):
            raise
        raise ModelFolderError(f"{path} is not a manifest of memclf: {error!r}") from error
    return dict(manifest)


def read_file(folder: Path, name: str, entry: Mapping[str, Any]) -> bytes:
    """A data file's content, after size and checksum have been found right. Links are not followed."""
    path = folder / name
    if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
        raise ModelFolderError(f"{path} is missing or not a plain file")
    try:
        size = path.stat().st_size
        if size != entry["bytes"] or size > MAX_BYTES:
            raise ModelFolderError(f"{path} has {size} bytes instead of {entry['bytes']}: it was truncated or replaced")
        content = path.read_bytes()
    except OSError as error:
        raise ModelFolderError(f"{path} cannot be read: {error}") from error
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise ModelFolderError(f"{path} was edited or damaged: its checksum does not match")
    return content


def _dump_parts(parts: dict[str, Any]) -> bytes:
    try:
        return archive.unpacked(skops.io.dumps(parts))
    except Exception as whole:
        for part in parts.values():
            try:
                skops.io.dumps(part)
            except Exception as error:
                raise ModelFolderError(f"{type(part).__name__} cannot be saved without pickle: {error}") from error
        raise ModelFolderError(f"the estimators cannot be saved without pickle: {whole}") from whole


def _needs(encoder: Encoder, content: bytes) -> list[str]:
    """What the caller of `load` has to allow; an error for a model that `load` would refuse whatever is allowed."""
    sane.check_parts(encoder.parts, "the model")
    objects = {id(thing): thing for thing in sane.walk(encoder.parts)}
    strangers = schema.check_findable(content, encoder.places, objects)
    functions = {f"{each['module']}.{each['name']}" for each in encoder.functions}
    return sorted((strangers | functions | set(sane.beyond_check(encoder.parts))) - OWN_FUNCTIONS)


def _load_parts(content: bytes, name: str, allowed: set[str]) -> dict[str, Any]:
    archive.opened(content, name).close()
    try:
        wanted, called = schema.strangers(content), schema.called(content) - allowed
    except Exception as error:
        raise ModelFolderError(f"{name} is not a file of estimators: {type(error).__name__}: {error}") from error
    if called:
        raise ModelFolderError(f"{name} would call {', '.join(sorted(called))}, which no file of memclf does")
    refused = sorted(wanted - allowed)
    if refused:
        raise UntrustedTypeError(
            f"{name} wants types that are not on the list of memclf's and scikit-learn's own: {', '.join(refused)}. "
            f"If you know where this folder comes from and trust them: load(folder, trusted={refused})",
            refused,
        )
    try:
        parts = skops.io.loads(content, trusted=sorted(wanted | KNOWN))
    except Exception as error:
        raise ModelFolderError(f"{name} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(parts, dict):
        raise ModelFolderError(f"{name} does not hold the estimators of a model")
    beyond = {kind: why for kind, why in sane.beyond_check(parts).items() if kind not in allowed}
    if beyond:
        raise UntrustedTypeError(
            f"{name} holds {'; '.join(beyond.values())}. If you know where this folder comes from and trust it: "
            f"load(folder, trusted={sorted(beyond)})",
            sorted(beyond),
        )
    sane.check_parts(parts, name)
    return parts


def _check_target(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ModelFolderError(f"{folder} is a file; a model needs a folder")
    if folder.is_dir() and not _holds_model(folder):
        others = sorted(path.name for path in folder.iterdir() if not OWN_NAME.fullmatch(path.name))
        if others:
            raise ModelFolderError(f"{folder} holds other things ({others[0]}, ...); choose a new or empty folder")


def _holds_model(folder: Path) -> bool:
    """Whether the manifest is memclf's at all; it may be of another version or damaged further inside."""
    try:
        return bool(json.loads((folder / MANIFEST).read_bytes())["format"] == FORMAT)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _is_current(folder: Path, data: Path) -> bool:
    try:
        return data.name.encode() in (folder / MANIFEST).read_bytes()
    except OSError:
        return False


def _check_size(manifest: bytes, payload: Mapping[str, bytes]) -> None:
    """What `load` would refuse is not written in the first place."""
    if len(manifest) > MAX_MANIFEST:
        raise ModelFolderError(
            f"{MANIFEST} would have {len(manifest)} bytes, more than {MAX_MANIFEST}: the memories are Python objects "
            "too large for it. Arrays and tables have no such limit."
        )
    for name, content in payload.items():
        if len(content) > MAX_BYTES:
            raise ModelFolderError(f"{name} would have {len(content)} bytes, more than {MAX_BYTES}")
        if not name.endswith(".safetensors"):
            archive.opened(content, name).close()


def _write(path: Path, content: bytes) -> None:
    with open(path, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
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
    modules = [np, scipy, sklearn, joblib, skops]
    modules += [sys.modules[name] for name in ("torch", "torchvision", "timm", "cv2", "PIL") if name in sys.modules]
    return {"memclf": __version__, "python": python, **{m.__name__: str(m.__version__) for m in modules}}
