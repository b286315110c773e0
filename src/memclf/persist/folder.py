"""Model folders: `save` and `load`.

A folder holds `manifest.json`, which names the data files with their sizes and checksums, and a data folder
with a name of its own for each save. Saving writes new data first and then replaces the manifest in one step,
so that at any moment the folder holds one whole model, the old or the new.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn
import skops
from sklearn.utils.validation import check_is_fitted

from memclf import integrity
from memclf._version import __version__
from memclf.exceptions import MemclfError, ModelFolderError
from memclf.persist import archive, references
from memclf.persist.card import write_card
from memclf.persist.classes import MODELS, is_feature, is_network, is_similarity
from memclf.persist.codec_vision import VisionDecoder, VisionEncoder, read_tensors, write_tensors
from memclf.persist.estimators import check_parts, dump_parts, load_parts
from memclf.persist.manifest import MANIFEST, holds_manifest, make_manifest, read_folder
from memclf.persist.summary import describe_input, describe_training, list_classes, show
from memclf.persist.trust import OWN_FUNCTIONS, list_trusted

ARRAYS, ESTIMATORS, NETWORKS = "arrays.npz", "estimators.skops", "networks.safetensors"
CARD = "MODEL_CARD.md"

# Data folders, manifests before they are in place and after they were replaced by an edit, and the log of edits.
OWN_NAME = re.compile(r"((manifest\.json\.|former\.json\.)?data-[0-9a-f]{12})|edits\.jsonl")


def save(model: Any, folder: str | os.PathLike[str], *, training: bool = False) -> Path:
    """Save a fitted model to a folder, replacing the model that is there.

    Parameters
    ----------
    model : MemoryClassifier, MemorySelector, ImageClassifier, or a similarity or an expert feature of memclf
        Estimators inside it go through skops; a user's own function is stored as import path and source hash.
    folder : path
        Created if absent. A folder that holds other things is left alone, with an error.
    training : bool
        Whether to store the training cases of a MemoryClassifier as well, so that the loaded model can be edited. They
        can be read by all who can read the folder, and may be large.

    Raises
    ------
    ModelFolderError
        If the model could never be loaded: it holds a lambda, for example, or a class made inside a function.
        Nothing is written then.
    FittedPartsError
        If fitted attributes were overwritten. Nothing is written then.
    """
    if not _can_stand_alone(model):
        raise TypeError(
            "save takes a MemoryClassifier, a MemorySelector, an ImageClassifier, or a similarity or an expert feature "
            f"of memclf, got {type(model).__name__}. Preprocessing belongs in the similarity (features=...) and in the "
            "estimator (a Pipeline)."
        )
    check_is_fitted(model)
    if training and vars(model).get("training_") is None:
        raise ValueError(
            f"this {type(model).__name__} has no training cases to save; a MemoryClassifier has them after fit or "
            "with_training(X, y)"
        )
    folder = Path(folder)
    data = write_state(model, folder, training=training)
    remove_others(folder, {data})
    return folder


def write_state(
    model: Any, folder: Path, *, training: bool = False, announce: Callable[[str], None] | None = None
) -> str:
    """Write a model and its card; returns the name of its data folder. Former data stay.

    `announce` is called with that name when all is written, and nothing is in place yet.
    """
    check_target(folder)
    encoder = VisionEncoder(training=training)
    tree = encoder.encode_model(model)
    payload = {ARRAYS: archive.write_arrays(encoder.arrays), ESTIMATORS: dump_parts(encoder.parts)}
    if encoder.tensors:
        payload[NETWORKS] = write_tensors(encoder.tensors)
    needed = check_parts(encoder.parts, encoder.places, payload[ESTIMATORS])
    needed |= {f"{each['module']}.{each['name']}" for each in encoder.functions}
    for each in encoder.models:
        integrity.check(each)
    about = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": _list_versions(),
        "kind": type(model).__name__,
        "classes": list_classes(model),
        "parameters": {name: show(value) for name, value in model.get_params(deep=False).items()},
        "input": describe_input(model),
        "training": describe_training(model),
        "functions": encoder.functions,
        "arrays": {name: [array.dtype.str, list(array.shape)] for name, array in encoder.arrays.items()},
        "shared": encoder.shared,
        "model": tree,
    }
    data = folder / f"data-{uuid.uuid4().hex[:12]}"
    _replace_model(folder, data, payload, make_manifest(about, data.name, payload), announce)
    put_card(folder, about, sorted(needed - OWN_FUNCTIONS))
    return data.name


def put_card(folder: Path, about: Mapping[str, Any], needed: list[str]) -> None:
    """Write the model card."""
    (folder / CARD).write_text(write_card(about, needed), encoding="utf-8", errors="backslashreplace")


def load(
    folder: str | os.PathLike[str],
    *,
    trusted: Iterable[Any] = (),
    functions: Mapping[str, Any] | None = None,
) -> Any:
    """Load a model from a folder, without pickle and without code that the caller did not allow.

    Parameters
    ----------
    folder : path
    trusted : list of names, types or functions
        What may be loaded beside memclf's and scikit-learn's own types: ``["mylab.MyClassifier"]``. The error
        of a refused model names what it needs; allow it only if you know where the folder comes from.
    functions : mapping
        Functions to use in place of those that the model names, whether or not their source has changed:
        ``{"mylab.alike": alike}``.
    """
    trusted = [references.as_function(each) for each in trusted] if not isinstance(trusted, str) else trusted
    allowed = list_trusted(trusted)
    given = references.collect_functions(functions, trusted)
    folder = Path(folder)
    manifest, contents = read_folder(folder)
    try:
        files = {Path(name).name: (content, name) for name, content in contents.items()}
        arrays = archive.read_arrays(*files[ARRAYS], manifest["arrays"])
        parts = load_parts(*files[ESTIMATORS], allowed)
        tensors = read_tensors(*files[NETWORKS]) if NETWORKS in files else {}
        find = functools.partial(references.find_function, trusted=allowed, given=given)
        decoder = VisionDecoder(arrays, parts, manifest["shared"], find, tensors=tensors)
        model = decoder.decode(manifest["model"])
        if not _can_stand_alone(model):
            raise ModelFolderError(f"{folder / MANIFEST} holds a {type(model).__name__}, not a model")
    except MemclfError:
        raise
    except Exception as error:
        raise ModelFolderError(
            f"{folder / MANIFEST} does not describe a sound model: {type(error).__name__}: {error}"
        ) from error
    return model


def _can_stand_alone(model: Any) -> bool:
    return type(model) in MODELS or is_network(model) or is_feature(model) or is_similarity(model)


def check_target(folder: Path) -> None:
    """Raise an error if a model cannot be saved to this folder, before the work of fitting one."""
    if folder.exists() and not folder.is_dir():
        raise ModelFolderError(f"{folder} is a file; a model needs a folder")
    if folder.is_dir() and not holds_manifest(folder):
        others = sorted(path.name for path in folder.iterdir() if not OWN_NAME.fullmatch(path.name))
        if others:
            raise ModelFolderError(f"{folder} holds other things ({others[0]}, ...); choose a new or empty folder")


def _replace_model(
    folder: Path,
    data: Path,
    payload: Mapping[str, bytes],
    manifest: bytes,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Write the data, then replace the manifest in one step; remove both if that fails."""
    staged = folder / f"{MANIFEST}.{data.name}"
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        data.mkdir(parents=True)
        for name, content in payload.items():
            write_file(data / name, content)
        sync_folder(data)
        write_file(staged, manifest)
        if announce is not None:
            announce(data.name)
        os.replace(staged, folder / MANIFEST)
    except BaseException:
        if not _is_current(folder, data):  # an interrupt may come when the new model is already in place
            shutil.rmtree(data, ignore_errors=True)
            staged.unlink(missing_ok=True)
            for each in made:
                with contextlib.suppress(OSError):  # not made yet, or something else lies in it by now
                    each.rmdir()
        raise
    sync_folder(folder)


def remove_others(folder: Path, keep: set[str]) -> None:
    """Remove the data of earlier models and of saves that were interrupted, except these names."""
    for old in folder.iterdir():
        if OWN_NAME.fullmatch(old.name) and old.name not in keep:
            if old.is_dir() and not old.is_symlink():
                shutil.rmtree(old, ignore_errors=True)
            else:
                old.unlink(missing_ok=True)


def _is_current(folder: Path, data: Path) -> bool:
    try:
        return data.name.encode() in (folder / MANIFEST).read_bytes()
    except OSError:
        return False


def write_file(path: Path, content: bytes) -> None:
    """Write a file that is on the disk afterwards."""
    with open(path, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk."""
    if os.name == "nt":  # folders cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _list_versions() -> dict[str, str]:
    python = ".".join(map(str, sys.version_info[:3]))
    modules = [np, scipy, sklearn, joblib, skops]
    modules += [sys.modules[name] for name in ("torch", "torchvision", "timm", "cv2", "PIL") if name in sys.modules]
    return {"memclf": __version__, "python": python, **{m.__name__: str(m.__version__) for m in modules}}
