"""The manifest of a model folder, and reading the data files that it lists.

A folder of a newer format, or of one before `OLDEST_VERSION`, is refused. To change the format, raise `FORMAT_VERSION`;
what former versions lack has defaults in the classes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memclf.exceptions import ModelFolderError
from memclf.persist import archive

FORMAT = "memclf-model"
FORMAT_VERSION = 3  # 3: edits, training cases
OLDEST_VERSION = 2
MANIFEST = "manifest.json"
FILE_NAME = re.compile(r"data-[0-9a-f]{12}/[a-z]+\.(npz|skops|safetensors)")
MAX_MANIFEST = 64 * 2**20
MAX_BYTES = 8 * 2**30


def make_manifest(about: Mapping[str, Any], data: str, payload: Mapping[str, bytes]) -> bytes:
    """The content of a manifest: facts about the model, and the files in the folder `data`.

    A model that `read_manifest` or `read_file` would refuse is refused here.
    """
    files = {
        f"{data}/{name}": {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in payload.items()
    }
    manifest = {"format": FORMAT, "format_version": FORMAT_VERSION, **about, "files": files}
    manifest["sha256"] = hash_manifest(manifest)
    text = json.dumps(manifest, indent=1, allow_nan=False).encode()
    if len(text) > MAX_MANIFEST:
        raise ModelFolderError(
            f"{MANIFEST} would have {len(text)} bytes, more than {MAX_MANIFEST}: the memories are Python objects "
            "too large for it. Arrays and tables have no such limit."
        )
    for name, content in payload.items():
        if len(content) > MAX_BYTES:
            raise ModelFolderError(f"{name} would have {len(content)} bytes, more than {MAX_BYTES}")
        if not name.endswith(".safetensors"):
            archive.open_archive(content, name).close()
    return text


def read_folder(folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Manifest and files of one model, even if another one is saved over it in the meantime."""
    while True:
        manifest = read_manifest(folder)
        try:
            return manifest, {name: read_file(folder, name, entry) for name, entry in manifest["files"].items()}
        except ModelFolderError:
            if read_manifest(folder)["sha256"] == manifest["sha256"]:
                raise


def read_manifest(folder: Path, name: str = MANIFEST) -> dict[str, Any]:
    """The manifest, after a check of its format, version, hash and names of files."""
    path = folder / name
    if not path.is_file():
        raise ModelFolderError(f"{folder} is no model folder: there is no {MANIFEST} in it")
    if path.stat().st_size > MAX_MANIFEST:
        raise ModelFolderError(f"{path} has {path.stat().st_size} bytes, more than any manifest of memclf")
    try:
        manifest = json.loads(path.read_bytes().decode("utf-8"))
        version = manifest["format_version"] if manifest["format"] == FORMAT else None
        if type(version) is not int or version < 1:
            raise ValueError(f"format is not {FORMAT!r}, or its version is no positive number")
        own_hash = hash_manifest(manifest)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFolderError(f"{path} is damaged or not a manifest of memclf: {error}") from error
    _check_version(path, version)
    if manifest.get("sha256") != own_hash:
        raise ModelFolderError(f"{path} was edited or damaged: its checksum does not match")
    try:
        for name, entry in manifest["files"].items():
            if not FILE_NAME.fullmatch(name):
                raise ModelFolderError(f"{path} names the file {name!r}, which is not a name that memclf gives")
            if type(entry["bytes"]) is not int or type(entry["sha256"]) is not str:
                raise ValueError(f"bytes and sha256 of {name}")
        for name in ("arrays", "shared", "model"):
            if not isinstance(manifest[name], dict):
                raise ValueError(f"{name} is no object")
    except ModelFolderError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelFolderError(f"{path} is not a manifest of memclf: {error!r}") from error
    return dict(manifest)


def _check_version(path: Path, version: int) -> None:
    if version < OLDEST_VERSION:
        raise ModelFolderError(
            f"{path} was saved by an older memclf (format {version}); fit the model again and save it, or load it with "
            "the memclf version that wrote it (see the manifest)"
        )
    if version > FORMAT_VERSION:
        raise ModelFolderError(
            f"{path} was saved by a newer memclf (format {version}); this one reads format {FORMAT_VERSION}. Update "
            "memclf"
        )


def read_file(folder: Path, name: str, entry: Mapping[str, Any]) -> bytes:
    """A data file's content, after a check of size and checksum. Links are not followed."""
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


def holds_manifest(folder: Path) -> bool:
    """Whether memclf wrote the manifest, of whatever version, damaged or not."""
    try:
        return bool(json.loads((folder / MANIFEST).read_bytes())["format"] == FORMAT)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def hash_manifest(manifest: Mapping[str, Any]) -> str:
    """The checksum of the manifest without the checksum itself."""
    rest = {key: value for key, value in manifest.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
