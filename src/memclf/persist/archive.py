"""Safe zip archives: uncompressed, with plain members whose sizes add up."""

from __future__ import annotations

import io
import math
import re
import zipfile
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf.exceptions import ModelFolderError

MEMBER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
MAX_MEMBERS = 2_000_000  # a forest of 100 trees has about 500
ZIP, NPY = (b"PK\x03\x04", b"PK\x05\x06"), b"\x93NUMPY"  # numpy reads a member by these, whatever its name is


def open_archive(data: bytes, name: str, *, inner: bool = False) -> zipfile.ZipFile:
    """The archive, after a check of its directory, its members and the headers of arrays."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = archive.infolist()
    except Exception as error:
        raise ModelFolderError(f"{name} is damaged or no zip archive: {error}") from error
    if len(members) > MAX_MEMBERS:
        raise ModelFolderError(f"{name} has {len(members)} members, more than any model of memclf")
    if len({member.filename for member in members}) != len(members):
        raise ModelFolderError(f"{name} has several members of the same name")
    for member in members:
        if not MEMBER.fullmatch(member.filename):
            raise ModelFolderError(f"{name} has a member with the forbidden name {member.filename!r}")
        if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
            raise ModelFolderError(f"{name}: {member.filename} is compressed; memclf stores its members uncompressed")
    if sum(member.file_size for member in members) > len(data):
        raise ModelFolderError(f"{name} claims to hold more than its own size")
    for member in members:
        content = read_member(archive, member.filename, name)
        if content.startswith(ZIP) and not inner:  # a sparse matrix
            open_archive(content, f"{name}: {member.filename}", inner=True).close()
        elif content.startswith(NPY) or inner or member.filename.endswith(".npy"):
            _check_array(content, f"{name}: {member.filename}")
    return archive


def read_member(archive: zipfile.ZipFile, member: str, name: str) -> bytes:
    """The content of a member."""
    try:
        return archive.read(member)
    except Exception as error:
        raise ModelFolderError(f"{name}: {member} is missing or damaged: {error}") from error


def _check_array(data: bytes, name: str) -> None:
    """Refuse an array whose header contradicts its size, or that holds Python objects."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(stream)
    except Exception as error:
        raise ModelFolderError(f"{name} is not an array: {error}") from error
    if dtype.hasobject:
        raise ModelFolderError(f"{name} holds pickled Python objects, which memclf never loads")
    items = math.prod(shape)
    endless = items and not dtype.itemsize  # of items without size a file could claim any number
    if endless or any(n < 0 for n in shape) or items * dtype.itemsize != len(data) - stream.tell():
        raise ModelFolderError(f"{name} claims shape {shape} of {dtype}, which its size contradicts")


def write_arrays(arrays: dict[str, Array]) -> bytes:
    """What `np.savez` writes, whose older versions would save `allow_pickle` as an array."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    return stream.getvalue()


def read_arrays(data: bytes, name: str, expected: dict[str, Any]) -> dict[str, Array]:
    """The arrays, if they are exactly those that the manifest lists, type and shape included."""
    with open_archive(data, name) as archive:
        if set(archive.namelist()) != {f"{key}.npy" for key in expected}:
            raise ModelFolderError(f"{name} should hold {len(expected)} arrays as listed in manifest.json; it differs")
        arrays = {}
        for key, (dtype, shape) in expected.items():
            content = io.BytesIO(read_member(archive, f"{key}.npy", name))
            array = np.lib.format.read_array(content, allow_pickle=False)
            if array.dtype.str != dtype or list(array.shape) != list(shape):
                raise ModelFolderError(
                    f"{name}: array {key} is {array.dtype.str} of shape {list(array.shape)}, manifest.json says "
                    f"{dtype} of shape {shape}"
                )
            arrays[key] = array
    return arrays


def uncompress(data: bytes) -> bytes:
    """The same archive with the archives in it uncompressed: skops compresses sparse matrices."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(stream, "w") as target:
        if not any(name.endswith(".npz") for name in source.namelist()):
            return data
        for name in source.namelist():
            content = source.read(name)
            if name.endswith(".npz"):
                with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                    content = write_arrays(dict(arrays))
            target.writestr(name, content)
    return stream.getvalue()
