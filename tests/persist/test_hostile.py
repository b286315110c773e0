"""Folders that are damaged or made up: each is refused by name, and nothing of it is run."""

import contextlib
import io
import json
import os
import pickle
import random
import struct
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.cluster import BisectingKMeans, KMeans
from sklearn.cluster._kmeans import _kmeans_single_lloyd
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, SplineTransformer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree

import memclf
from memclf import MemoryClassifier
from memclf.exceptions import ModelFolderError, UntrustedTypeError
from memclf.persist import archive
from memclf.similarity import CosineSimilarity, RBFSimilarity

DATA = ["arrays.npz", "estimators.skops"]
FILES = ["manifest.json", *DATA]


def located(folder, name):
    return folder / name if name == "manifest.json" else next(folder.glob(f"data-*/{name}"))


# ------------------------------------------------------------------------------------------------- damaged files


def test_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(ModelFolderError, match="nowhere is no model folder: there is no manifest.json"):
        memclf.load(tmp_path / "nowhere")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(name, folder):
    located(folder, name).unlink()
    with pytest.raises(ModelFolderError, match=name):
        memclf.load(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_folder_in_place_of_a_file_is_named(name, folder):
    path = located(folder, name)
    path.unlink()
    path.mkdir()
    with pytest.raises(ModelFolderError, match=name):
        memclf.load(folder)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
def test_a_truncated_file_is_named(name, share, folder):
    path = located(folder, name)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(ModelFolderError, match=name):
        memclf.load(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_has_grown_is_named(name, folder):
    with open(located(folder, name), "ab") as stream:
        stream.write(b"\0")
    with pytest.raises(ModelFolderError, match=name):
        memclf.load(folder)


@pytest.mark.parametrize("name", DATA)
def test_any_flipped_bit_in_a_data_file_is_noticed(name, folder):
    path = located(folder, name)
    content = path.read_bytes()
    for position in random.Random(0).sample(range(len(content)), 40):
        flipped = bytearray(content)
        flipped[position] ^= 1 << position % 8
        path.write_bytes(flipped)
        with pytest.raises(ModelFolderError, match=f"{name} was edited or damaged"):
            memclf.load(folder)


def test_any_edited_number_in_the_manifest_is_noticed(folder, tamper):
    manifest = tamper(folder).manifest
    for change in ({"format_version": 2.0}, {"created": "today"}, {"extra": 1}, {"classes": []}, {"sha256": "0" * 64}):
        (folder / "manifest.json").write_text(json.dumps({**manifest, **change}))
        with pytest.raises(ModelFolderError, match="manifest.json (was edited or damaged|is damaged)"):
            memclf.load(folder)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    memclf.load(folder)  # laid out differently, it is still the same manifest


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("name", DATA)
def test_a_truncated_file_with_a_new_checksum_is_named(name, share, folder, tamper):
    content = located(folder, name).read_bytes()
    tamper(folder).replace(name, content[: int(share * len(content))])
    with pytest.raises(ModelFolderError, match=f"{name} (is damaged|is not a file)"):
        memclf.load(folder)


@pytest.mark.parametrize("name", FILES)
def test_random_bytes_are_refused(name, folder, tamper):
    noise = random.Random(1)
    for size in (0, 1, 4, 22, 100, 5000):
        content = noise.randbytes(size)
        if name == "manifest.json":
            (folder / name).write_bytes(content)
        else:
            tamper(folder).replace(name, content)
        with pytest.raises(ModelFolderError, match=name):
            memclf.load(folder)


# ------------------------------------------------------------------------------------------- manifests made up


@pytest.mark.parametrize(
    "content", ["", "null", "[]", "3", '"memclf-model"', "{}", '{"format": "memclf-model"}', "\x00"]
)
def test_json_that_is_no_manifest_is_refused(content, folder):
    (folder / "manifest.json").write_text(content)
    with pytest.raises(ModelFolderError, match="manifest.json is damaged or not a manifest"):
        memclf.load(folder)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (4, r"was saved by a newer memclf \(format 4\); this one reads format 3. Update memclf"),
        (10**30, "Update memclf"),
        (1, r"was saved by an older memclf \(format 1\); fit the model again and save it, or load it with the memclf"),
        (0, "not a manifest"),
        (-1, "not a manifest"),
        (True, "not a manifest"),
        ("1", "not a manifest"),
        (None, "not a manifest"),
    ],
)
def test_other_format_versions_are_refused(version, message, folder, tamper):
    tamper(folder).change("format_version", to=version)
    with pytest.raises(ModelFolderError, match=f"manifest.json .*{message}"):
        memclf.load(folder)


NAMES = [
    "../x",
    "../../etc/passwd",
    "/etc/passwd",
    "data-0123456789ab/../../x.npz",
    "data-0123456789ab/../arrays.npz",
    "data-0123456789ab\\arrays.npz",
    "C:arrays.npz",
    "data-0123456789ab/arrays.npz\n",
    "data-0123456789ab/arrays.pkl",
    "data-0123456789ab/sub/arrays.npz",
    "data-/arrays.npz",
    "arrays.npz",
    "",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_name_that_memclf_does_not_give_is_refused(name, folder, tamper):
    manifest = tamper(folder).manifest
    entry = next(iter(manifest["files"].values()))
    manifest["files"] = {**manifest["files"], name: entry}
    tamper(folder).write(manifest)
    with pytest.raises(ModelFolderError, match="manifest.json names the file .* not a name that memclf gives"):
        memclf.load(folder)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_links_are_not_followed(what, folder, tmp_path):
    path = located(folder, "arrays.npz")
    path = path if what == "file" else path.parent
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ModelFolderError, match="arrays.npz is missing or not a plain file"):
        memclf.load(folder)


EDITS = {
    "no files": (["files"], {}),
    "files as a list": (["files"], ["arrays.npz"]),
    "no arrays": (["arrays"], {}),
    "arrays as a list": (["arrays"], []),
    "another array": (["arrays", "a0"], ["<f8", [10**9]]),
    "a list in place of an array's type": (["arrays", "a0"], []),
    "another model": (["model", "$memclf"], "RBFSimilarity"),
    "an unknown model": (["model", "$memclf"], "Popen"),
    "a list as the model": (["model"], []),
    "an unknown mark": (["model", "state", "labels_"], {"$pickle": "gASV"}),
    "two marks": (["model", "state", "labels_"], {"$array": "a0", "$part": "p0"}),
    "no mark": (["model", "state", "labels_"], {"array": "a0"}),
    "an array that is not there": (["model", "state", "labels_"], {"$array": "a99"}),
    "a part that is not there": (["model", "state", "pool_", "fields", "estimators", 0], {"$part": "p99"}),
    "an unknown record": (["model", "state", "pool_", "$record"], "Popen"),
    "a record with a strange field": (["model", "state", "pool_", "fields", "x"], 1),
    "an unknown parameter": (["model", "params", "command"], "rm -rf"),
    "an attribute that is no fitted one": (["model", "state", "_parameters"], {"$dict": []}),
    "a dunder": (["model", "state", "__class__"], None),
    "a method": (["model", "state", "predict"], None),
    "a strange number": (["model", "params", "threshold"], {"$float": "1e400"}),
    "objects of a wrong shape": (["model", "state", "labels_"], {"$objects": [1, 2], "shape": [10**6, 10**6]}),
    "unhashable keys": (["model", "params", "thresholds"], {"$dict": [[[], 1]]}),
    "pairs that are none": (["model", "params", "thresholds"], {"$dict": [1]}),
    "a partial of a number": (["model", "params", "similarity"], {"$partial": [1, {"$tuple": []}, {"$dict": []}]}),
    "a partial without parts": (["model", "params", "similarity"], {"$partial": []}),
    "a sparse matrix of no arrays": (["model", "state", "memories_"], {"$sparse": {}, "shape": [1, 1], "matrix": True}),
    "a table of no columns": (["model", "state", "memories_"], {"$table": [], "index": {"$array": "a0"}}),
    "a function without a name": (["model", "params", "similarity"], {"$function": {}}),
    "labels that are no array": (["model", "state", "labels_"], [0, 1, 2]),
    "no labels": (["model", "state", "labels_"], None),
    "no memories": (["model", "state", "memory_indices_"], {"$objects": [], "shape": [0]}),
    "too few estimators": (["model", "state", "pool_", "fields", "estimators"], []),
    "a property": (["model", "state", "estimators_"], []),
    "no answer rule": (["model", "state", "answer_"], None),
    "an answer rule that is none": (["model", "state", "answer_"], "local"),
    "an estimator that is not there": (["model", "state", "similarity_"], {"$shared": "s99"}),
    "estimators that hold each other": (["shared"], {"s0": {"$tuple": [{"$shared": "s0"}]}}),
    "shared estimators as a list": (["shared"], []),
    "unknown classes": (["model", "state", "classes_"], {"$objects": ["good", "fair"], "shape": [2]}),
    "classes twice": (["model", "state", "classes_"], {"$objects": ["bad", "bad"], "shape": [2]}),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_manifest_with_a_new_checksum_is_named(name, folder, tamper):
    keys, value = EDITS[name]
    tamper(folder).change(*keys, to=value)
    with pytest.raises(ModelFolderError, match=r"manifest.json|arrays.npz"):
        memclf.load(folder)


def test_a_file_entry_that_is_no_number_or_no_text_is_refused(folder, tamper):
    good = tamper(folder).manifest
    name, entry = next(iter(good["files"].items()))
    for wrong in ({}, [], None, {**entry, "bytes": "12"}, {**entry, "bytes": 1e3}, {**entry, "sha256": None}):
        tamper(folder).write({**good, "files": {**good["files"], name: wrong}})
        with pytest.raises(ModelFolderError, match="manifest.json is not a manifest"):
            memclf.load(folder)


@pytest.mark.parametrize("dtype", ["datetime64[ns, dateutil//dev/zero]", "Sparse[float64]", "arrow", "category[x]", 3])
def test_a_column_type_that_memclf_never_writes_is_refused(dtype, folder, tamper):
    numbers = {"$objects": [1.0, 2.0, 3.0], "shape": [3]}
    tamper(folder).change("model", "state", "memories_", to={"$table": [["x", dtype, numbers]], "index": numbers})
    with pytest.raises(ModelFolderError, match=r"manifest.json"):
        memclf.load(folder)


def nested(depth, opening="[", closing="]"):
    return opening * depth + closing * depth


@pytest.mark.parametrize("depth", [300, 900, 940, 960, 980, 1000, 5000, 200_000])
def test_deeply_nested_json_is_refused(depth, folder, tamper):
    text = json.dumps({**tamper(folder).manifest, "model": "HERE"}).replace('"HERE"', nested(depth))
    (folder / "manifest.json").write_text(text)
    with pytest.raises(ModelFolderError, match="manifest.json"):
        memclf.load(folder)


@pytest.mark.parametrize("depth", [100, 200, 300, 400, 500, 600, 700, 800, 900])
def test_deeply_nested_values_with_the_right_checksum_are_refused(depth, folder, tamper):
    deep = []
    for _ in range(depth):
        deep = {"$tuple": [deep]} if depth % 200 else [deep]
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(10_000)  # who makes such a folder has no limit
        tamper(folder).change("model", "state", "labels_", to=deep)
    finally:
        sys.setrecursionlimit(limit)
    with pytest.raises(ModelFolderError, match="manifest.json"):
        memclf.load(folder)


def test_a_manifest_of_enormous_size_is_refused_unread(folder):
    with open(folder / "manifest.json", "r+b") as stream:
        stream.truncate(100 * 2**20)  # a hole: takes no room on the disk
    with pytest.raises(ModelFolderError, match="manifest.json has 104857600 bytes, more than any manifest"):
        memclf.load(folder)


# ------------------------------------------------------------------------------------- archives that would harm


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def header(shape, descr="<f8", data=b""):
    """An array that claims to be of this shape and type."""
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


@pytest.fixture
def sparse_folder(cases, tmp_path):
    """A model with a sparse matrix in its file of estimators."""
    X, y = cases
    X = sp.csr_matrix(np.where(np.abs(X) < 2, 0.0, np.abs(X)))
    clf = MemoryClassifier(CosineSimilarity(), KNeighborsClassifier(2), 0.3, n_memories=2).fit(X, y)
    return memclf.save(clf, tmp_path / "sparse")


@contextlib.contextmanager
def refused_cheaply(match):
    """Refused without taking the memory that the bomb is about."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFolderError, match=match):
            yield
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", DATA)
def test_compressed_members_are_refused(name, folder, tamper):
    members = tamper(folder).members(name)
    first = next(iter(members))
    tamper(folder).rezip(name, {**members, first: bytes(60 * 2**20)}, zipfile.ZIP_DEFLATED)
    with refused_cheaply(f"{name}: .* is compressed"):
        memclf.load(folder)


@pytest.mark.parametrize("suffix", ["npz", "bin", "npy"])
def test_compressed_archives_in_an_archive_are_refused_whatever_they_are_called(
    suffix, sparse_folder, tamper, make_zip
):
    members = tamper(sparse_folder).members("estimators.skops")
    inner = next(name for name in members if name.endswith(".npz"))
    bomb = make_zip({"data.npy": header((60 * 2**17,), data=bytes(60 * 2**20))}, zipfile.ZIP_DEFLATED)
    text = members.pop("schema.json").decode().replace(inner, f"bomb.{suffix}")
    del members[inner]
    tamper(sparse_folder).rezip("estimators.skops", {**members, f"bomb.{suffix}": bomb, "schema.json": text})
    with refused_cheaply(f"estimators.skops: bomb.{suffix}: data.npy is compressed"):
        memclf.load(sparse_folder)


def test_sparse_matrices_are_saved_uncompressed(sparse_folder, tamper):
    inner = [content for name, content in tamper(sparse_folder).members("estimators.skops").items() if name[-1] == "z"]
    assert inner
    for content in inner:
        with zipfile.ZipFile(io.BytesIO(content)) as matrix:
            assert {member.compress_type for member in matrix.infolist()} == {zipfile.ZIP_STORED}


def overlapping(content, copies):
    """Many members that all mean the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as bomb:
        bomb.writestr("a0.npy", content)
        (member,) = bomb.infolist()
        for number in range(1, copies):
            twin = zipfile.ZipInfo(f"a{number}.npy")
            for name in ("header_offset", "file_size", "compress_size", "CRC"):
                setattr(twin, name, getattr(member, name))
            bomb.filelist.append(twin)
            bomb.NameToInfo[twin.filename] = twin
    return stream.getvalue()


def test_overlapping_members_are_refused(folder, tamper):
    tamper(folder).replace("arrays.npz", overlapping(npy(np.zeros(10_000)), 1000))
    with refused_cheaply("arrays.npz claims to hold more than its own size"):
        memclf.load(folder)


@pytest.mark.parametrize(
    "array",
    [
        header((10**12,)),
        header((10**6, 10**6), data=bytes(8)),
        header((2**62, 2**62)),
        header((-1,), data=bytes(8)),
        header((-2, -3), data=bytes(48)),
        header((10**12,), descr="|V0"),
        header((10**12,), descr="<U0"),
        header((1,), data=bytes(16)),
        header(("x",)),
        header((True, 2), data=bytes(7)),
        header((1,), descr="O", data=pickle.dumps([1])),
        header((1,), descr=[("x", "O")], data=bytes(8)),
        header((1,), descr="__import__('os')"),
        b"\x93NUMPY\x09\x09" + bytes(100),
        b"\x93NUMPY",
        b"",
        pickle.dumps([1.0]),
    ],
    ids=range(17),
)
@pytest.mark.parametrize("name", DATA)
def test_an_array_that_claims_what_it_is_not_is_named(name, array, folder, tamper):
    members = tamper(folder).members(name)
    first = next(member for member in members if member.endswith(".npy"))
    tamper(folder).rezip(name, {**members, first: array})
    with refused_cheaply(f"{name}: {first}"):
        memclf.load(folder)


def test_an_array_is_checked_whatever_its_member_is_called(folder, tamper):
    members = tamper(folder).members("estimators.skops")
    first = next(member for member in members if member.endswith(".npy"))
    text = members["schema.json"].decode().replace(first, "harmless.bin")
    members = {**members, "harmless.bin": header((10**12,)), "schema.json": text}
    tamper(folder).rezip("estimators.skops", members)
    with refused_cheaply("estimators.skops: harmless.bin claims shape"):
        memclf.load(folder)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("member", ["../x.npy", "/etc/x.npy", "a/b.npy", "C:x.npy", ".hidden", "a b", "a\\b"])
def test_a_member_of_a_forbidden_name_is_refused(name, member, folder, tamper):
    members = tamper(folder).members(name)
    tamper(folder).rezip(name, {**members, member: npy(np.zeros(2))})
    with pytest.raises(ModelFolderError, match=f"{name} has a member with the forbidden name"):
        memclf.load(folder)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(folder, tamper):
    content = located(folder, "arrays.npz").read_bytes()
    stream = io.BytesIO(content)
    with zipfile.ZipFile(stream, "a") as twice:
        twice.writestr("a0.npy", npy(np.zeros(2)))
    tamper(folder).replace("arrays.npz", stream.getvalue())
    with pytest.raises(ModelFolderError, match="arrays.npz has several members of the same name"):
        memclf.load(folder)


def test_an_archive_of_too_many_members_is_refused(folder, monkeypatch):
    monkeypatch.setattr(archive, "MAX_MEMBERS", 3)
    with pytest.raises(ModelFolderError, match=r"arrays.npz has \d+ members, more than any model"):
        memclf.load(folder)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("bit", [0x1, 0x20, 0x40])
def test_encrypted_and_patched_members_are_refused(name, bit, folder, tamper):
    content = bytearray(located(folder, name).read_bytes())
    at = 0
    while (at := content.find(b"PK\x01\x02", at)) >= 0:  # the flags in the archive's directory
        content[at + 8] |= bit
        at += 4
    tamper(folder).replace(name, bytes(content))
    with pytest.raises(ModelFolderError, match=f"{name}: .* is missing or damaged"):
        memclf.load(folder)


def test_an_array_more_or_less_is_noticed(folder, tamper):
    members = tamper(folder).members("arrays.npz")
    for other in ({**members, "a99.npy": npy(np.zeros(2))}, dict(list(members.items())[1:])):
        tamper(folder).rezip("arrays.npz", other)
        with pytest.raises(ModelFolderError, match="arrays.npz should hold .* arrays as listed in manifest.json"):
            memclf.load(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda array: array.astype(np.complex128),
        lambda array: array.astype(array.dtype.newbyteorder()),
        lambda array: array.astype("U"),
        lambda array: array[..., None],
        lambda array: array[:-1],
    ],
    ids=["complex", "byte order", "text", "dimensions", "length"],
)
def test_an_array_of_another_type_or_shape_is_named(change, folder, tamper):
    members = tamper(folder).members("arrays.npz")
    for name in members:
        array = np.load(io.BytesIO(members[name]))
        if array.ndim and array.dtype.kind in "if":
            tamper(folder).rezip("arrays.npz", {**members, name: npy(change(array))})
            with pytest.raises(ModelFolderError, match=f"arrays.npz: array {name[:-4]} is"):
                memclf.load(folder)


def arrays_of(node):
    """Every place in the manifest that names an array."""
    if isinstance(node, dict):
        if "$array" in node:
            yield node
        for value in node.values():
            yield from arrays_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from arrays_of(value)


@pytest.mark.parametrize("attribute", ["memory_indices_", "labels_", "memories_", "descriptions_", "thresholds_"])
def test_swapped_arrays_are_noticed(attribute, folder, tamper):
    good = tamper(folder).manifest
    shapes = {name: shape for name, (_, shape) in good["arrays"].items()}
    own = shapes[good["model"]["state"][attribute]["$array"]]
    others = {place["$array"] for place in arrays_of(good["model"])}
    # What a description looks like is the similarity's own business; only their number is known.
    strange = [name for name in others if shapes[name] != own and (attribute[0] != "d" or shapes[name][:1] != own[:1])]
    assert len(strange) >= 4
    for other in strange:
        manifest = tamper(folder).manifest
        manifest["model"]["state"][attribute]["$array"] = other
        tamper(folder).write(manifest)
        with pytest.raises(ModelFolderError, match="manifest.json"):
            memclf.load(folder)
        tamper(folder).write(good)


def test_arrays_that_change_places_in_the_file_are_noticed(folder, tamper):
    listed, members = tamper(folder).manifest["arrays"], tamper(folder).members("arrays.npz")
    for other in list(listed)[1:]:
        if listed[other] != listed["a0"]:
            swapped = {**members, "a0.npy": members[f"{other}.npy"], f"{other}.npy": members["a0.npy"]}
            tamper(folder).rezip("arrays.npz", swapped)
            with pytest.raises(ModelFolderError, match="arrays.npz: array a"):
                memclf.load(folder)


# ------------------------------------------------------------------------------------------- code in disguise


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)


@pytest.fixture
def marker(tmp_path):
    """A file that hostile code would make; it must not be there in the end."""
    path = tmp_path / "the code has run"
    yield str(path).replace(" ", "_")
    assert not os.path.exists(str(path).replace(" ", "_"))


def test_the_bomb_of_these_tests_goes_off(tmp_path):
    pickle.loads(pickle.dumps(Bomb(tmp_path / "mark")))
    assert (tmp_path / "mark").exists()


@pytest.mark.parametrize("name", DATA)
def test_a_pickle_under_another_name_is_refused(name, folder, tamper, marker):
    tamper(folder).replace(name, pickle.dumps(Bomb(marker)))
    with pytest.raises(ModelFolderError, match=f"{name} is damaged or no zip archive"):
        memclf.load(folder)


@pytest.mark.parametrize("name", DATA)
def test_an_array_of_pickled_objects_is_refused(name, folder, tamper, marker):
    stream = io.BytesIO()
    np.save(stream, np.array([Bomb(marker)], dtype=object), allow_pickle=True)
    members = tamper(folder).members(name)
    first = next(member for member in members if member.endswith(".npy"))
    tamper(folder).rezip(name, {**members, first: stream.getvalue()})
    with pytest.raises(ModelFolderError, match=f"{name}: {first} holds pickled Python objects"):
        memclf.load(folder)


@pytest.mark.parametrize("loader", ["NdArrayNode", "SparseMatrixNode", "BytesNode"])
def test_a_pickle_that_the_schema_calls_an_array_is_refused(loader, folder, tamper, marker):
    members = tamper(folder).members("estimators.skops")
    node = {"__class__": "ndarray", "__module__": "numpy", "__loader__": loader, "type": "numpy", "file": "x.bin"}
    if loader == "SparseMatrixNode":
        node |= {"__class__": "csr_matrix", "__module__": "scipy.sparse._csr", "type": "scipy"}
    if loader == "BytesNode":
        node |= {"__class__": "bytes", "__module__": "builtins"}
    schema = {**tamper(folder).schema, **node}
    members = {**members, "x.bin": pickle.dumps(Bomb(marker)), "schema.json": json.dumps(schema).encode()}
    tamper(folder).rezip("estimators.skops", members)
    with pytest.raises(ModelFolderError, match="estimators.skops"):
        memclf.load(folder)


TEXT = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "is_json": True}
CODE = {
    "os.system": "touch {marker}",
    "subprocess.Popen": ["touch", "{marker}"],
    "builtins.eval": "open('{marker}', 'w')",
    "builtins.open": "{marker}",
    "builtins.__import__": "hostile_module",
    "numpy.testing._private.utils.runstring": "open('{marker}', 'w')",
    "sklearn.utils._testing.os.system": "touch {marker}",
    "sklearn.externals._packaging.version.eval": "open('{marker}', 'w')",
    "pickle.loads": "{marker}",
    "hostile_module.function": "{marker}",
}
LOADERS = [
    "FunctionNode",
    "TypeNode",
    "ObjectNode",
    "ConstructorFromReduceNode",
    "PartialNode",
    "MethodNode",
    "OperatorFuncNode",
    "ListNode",
    "SetNode",
    "TupleNode",
    "DictNode",
    "DefaultDictNode",
    "NdArrayNode",
    "RandomStateNode",
    "RandomGeneratorNode",
    "LossNode",
    "TreeNode",
    "NoSuchNode",
]


def hostile_node(loader, name, argument, make=TEXT):
    """A node of a skops file that would call `name` with the argument, in the shape that this loader expects."""
    module, _, kind = name.rpartition(".")
    text = {**make, "content": json.dumps(argument)}
    listed = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode", "content": [text]}
    empty = {"__class__": "dict", "__module__": "builtins", "__loader__": "DictNode", "content": {}}
    empty["key_types"] = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": []}
    called = {"__class__": kind, "__module__": module, "__loader__": "FunctionNode"}
    typed = {"__class__": kind, "__module__": module, "__loader__": "TypeNode"}
    node = {"__class__": kind, "__module__": module, "__loader__": loader}
    return {
        "ConstructorFromReduceNode": node | {"content": listed},
        "ObjectNode": node | {"content": listed},
        "PartialNode": node
        | {"__class__": "partial", "__module__": "functools"}
        | {"content": {"func": called, "args": listed, "kwds": empty, "namespace": empty}},
        "MethodNode": node | {"content": {"func": "__init__", "obj": node | {"__loader__": "ObjectNode"}}},
        "OperatorFuncNode": {
            "__class__": "methodcaller",
            "__module__": "operator",
            "__loader__": loader,
            "attrs": listed,
        },
        "ListNode": node | {"content": [text]},
        "SetNode": node | {"content": [text]},
        "TupleNode": node | {"content": [text]},
        # The types of a dictionary's keys are called with the keys.
        "DictNode": {
            **empty,
            "content": {json.dumps(argument): text},
            "key_types": {**empty["key_types"], "content": [typed]},
        },
        "DefaultDictNode": {
            "__class__": "defaultdict",
            "__module__": "collections",
            "__loader__": loader,
            "content": {"main": empty, "default_factory": typed},
        },
        "NdArrayNode": node | {"type": "json", "content": [text], "shape": listed},
        "RandomStateNode": node | {"content": text},
        "RandomGeneratorNode": node | {"content": {"bit_generator": empty | {"content": {"bit_generator": text}}}},
        "LossNode": node | {"__reduce__": {"args": listed}, "content": empty},
        "TreeNode": node | {"__reduce__": {"args": listed}, "content": empty},
    }.get(loader, node)


@pytest.fixture
def hostile_module(user_module, marker, forget):
    """A module that leaves a mark as soon as it is imported."""
    with open(marker, "w") as stream:
        stream.write("made by the module below")
    user_module("hostile_module", f"open({marker!r}, 'w').close()\ndef function(*args): pass\n")
    forget("hostile_module")
    os.remove(marker)


@pytest.mark.usefixtures("hostile_module")
@pytest.mark.parametrize("loader", LOADERS)
def test_a_schema_that_names_code_is_refused_and_nothing_runs(loader, folder, tamper, marker):
    schema = tamper(folder).schema
    for name, argument in CODE.items():
        argument = json.loads(json.dumps(argument).replace("{marker}", marker))
        node = hostile_node(loader, name, argument)
        for protocol in (schema["protocol"], 0):
            first = next(iter(schema["content"]))
            changed = {**schema, "protocol": protocol, "content": {**schema["content"], first: node}}
            tamper(folder).change_schema(changed)
            with pytest.raises(ModelFolderError, match="estimators.skops") as caught:
                memclf.load(folder)
            if loader in ("FunctionNode", "TypeNode", "ObjectNode", "ListNode") and protocol:
                assert isinstance(caught.value, UntrustedTypeError)
                assert caught.value.names == [name]
    assert "hostile_module" not in sys.modules


KNOWN_FUNCTIONS = [
    "numpy.mean",
    "sklearn.cluster._kmeans._kmeans_single_lloyd",
    "sklearn.metrics._ranking.roc_auc_score",
]


@pytest.mark.parametrize("loader", [each for each in LOADERS if each not in ("OperatorFuncNode", "FunctionNode")])
def test_a_known_function_is_not_called_while_loading(loader, folder, tamper, monkeypatch):
    """Estimators may hold them; a file that has them called with arguments of its own choice is refused."""
    monkeypatch.setattr(skops.io, "loads", lambda *args, **kwargs: pytest.fail("something was constructed"))
    schema = tamper(folder).schema
    first = next(iter(schema["content"]))
    for name in KNOWN_FUNCTIONS:
        node = hostile_node(loader, name, [1.0, 2.0])
        tamper(folder).change_schema({**schema, "content": {**schema["content"], first: node}})
        with pytest.raises(ModelFolderError, match="estimators.skops"):
            memclf.load(folder)


def test_a_known_function_in_a_strange_place_must_be_allowed(fit_and_save):
    """Where a transformer would call it with arguments that the file chooses."""
    before = FunctionTransformer(_kmeans_single_lloyd, kw_args={"centers_init": np.ones((1, 1))})
    folder = fit_and_save(LogisticRegression(), lambda clf: setattr(local(clf), "note", before))
    with pytest.raises(UntrustedTypeError, match="_kmeans_single_lloyd where scikit-learn does not put it") as caught:
        memclf.load(folder)
    assert caught.value.names == ["sklearn.cluster._kmeans._kmeans_single_lloyd"]


def test_a_type_that_is_allowed_does_not_allow_code_beside_it(folder, tamper, marker):
    schema = tamper(folder).schema
    first = next(iter(schema["content"]))
    node = hostile_node("ConstructorFromReduceNode", "os.system", f"touch {marker}")
    tamper(folder).change_schema({**schema, "content": {**schema["content"], first: node}})
    with pytest.raises(UntrustedTypeError, match="os.system") as caught:
        memclf.load(folder, trusted=["sklearn.tree._tree.Tree", "mylab.Type", LogisticRegression])
    assert caught.value.names == ["os.system"]


@pytest.mark.parametrize("name", ["os.system", "subprocess.Popen", "builtins.eval", "hostile_module.function"])
@pytest.mark.usefixtures("hostile_module")
def test_a_manifest_that_names_code_is_refused_and_nothing_runs(name, folder, tamper, marker):
    module, _, function = name.rpartition(".")
    reference = {"$function": {"module": module, "name": function, "source_sha256": None}}
    called = {"$partial": [reference, {"$tuple": [f"touch {marker}"]}, {"$dict": []}]}
    for value in (reference, called, {"$dict": [[reference, 1]]}, [[reference]]):
        tamper(folder).change("model", "params", "similarity", to=value)
        with pytest.raises(UntrustedTypeError, match=name) as caught:
            memclf.load(folder)
        assert caught.value.names == [name]
    assert "hostile_module" not in sys.modules


@pytest.mark.parametrize("schema", [None, [], 3, {}, {"protocol": 2}, {"protocol": 10**9}, {"protocol": "2"}])
def test_a_schema_that_is_none_is_refused(schema, folder, tamper):
    tamper(folder).change_schema(schema)
    with pytest.raises(ModelFolderError, match="estimators.skops is not a file of estimators"):
        memclf.load(folder)


@pytest.mark.parametrize("depth", [200, 1000, 100_000])
def test_a_deeply_nested_schema_is_refused(depth, folder, tamper):
    start = '{"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": ['
    members = tamper(folder).members("estimators.skops")
    text = nested(depth, start, "]}")[:-1] + ', "protocol": 2}'
    tamper(folder).rezip("estimators.skops", {**members, "schema.json": text})
    with pytest.raises(ModelFolderError, match="estimators.skops"):
        memclf.load(folder)


def test_a_file_of_something_else_than_parts_is_refused(folder, tamper):
    schema = tamper(folder).schema
    tamper(folder).change_schema({**TEXT, "content": "3", "protocol": schema["protocol"]})
    with pytest.raises(ModelFolderError, match="estimators.skops does not hold the estimators"):
        memclf.load(folder)


# ------------------------------------------------------------- numbers that compiled code would follow blindly


def local(clf):
    """A local classifier that was trained."""
    return next(each for each in clf.estimators_ if type(each).__name__ != "DummyClassifier")


def in_tree(field, value, of=lambda estimator: estimator):
    """Change one number in the root of a decision tree."""

    def spoil(clf):
        tree = of(local(clf)).tree_
        state = tree.__getstate__()
        nodes = state["nodes"].copy()
        for name in [field] if isinstance(field, str) else field:
            nodes[name][0] = value
        tree.__setstate__({**state, "nodes": nodes})

    return spoil


def wider_tree(of=lambda estimator: estimator):
    """A tree that looks at a column which its estimator does not know of."""

    def spoil(clf):
        owner = of(local(clf))
        _, classes, outputs = owner.tree_.__reduce__()[1]
        state = owner.tree_.__getstate__()
        nodes = state["nodes"].copy()
        nodes["feature"][0] = 10**6
        owner.tree_ = Tree(10**6 + 1, classes, outputs)
        owner.tree_.__setstate__({**state, "nodes": nodes})

    return spoil


def hidden_tree(clf):
    """Behind the mask of a masked array."""
    forest = local(clf)
    in_tree("left_child", 10**9, first)(clf)
    trees = np.empty(len(forest.estimators_), dtype=object)
    trees[:] = forest.estimators_
    forest.estimators_ = np.ma.MaskedArray(trees, mask=True)


def first(ensemble):
    return ensemble.estimators_[0]


def first_stage(ensemble):
    return ensemble.estimators_[0, 0]


def setting(**attributes):
    def spoil(clf):
        for name, value in attributes.items():
            setattr(local(clf), name, value(local(clf)) if callable(value) else value)

    return spoil


def in_histogram_tree(field, value, **others):
    def spoil(clf):
        nodes = local(clf)._predictors[0][0].nodes
        for name, number in {field: value, **others}.items():
            nodes[name][0] = number

    return spoil


def in_neighbour_tree(position, change):
    def spoil(clf):
        tree = local(clf)._tree
        state = list(tree.__getstate__())
        state[position] = change(state[position].copy() if hasattr(state[position], "copy") else state[position])
        tree.__setstate__(tuple(state))

    return spoil


def put(field, where, value):
    def change(nodes):
        nodes[field][where] = value
        return nodes

    return change


def filled(value):
    def change(array):
        array[:] = value
        return array

    return change


def short_weights(clf):
    tree = local(clf)._tree
    metric = tree.__getstate__()[11]
    metric.__setstate__((metric.__getstate__()[0], np.ones(1), np.ones((1, 1))))


def in_first_step(**attributes):
    def spoil(clf):
        for name, value in attributes.items():
            setattr(local(clf)[0], name, value(local(clf)[0]))

    return spoil


def in_spline(**attributes):
    def spoil(clf):
        spline = local(clf)[0].bsplines_[0]
        for name, value in attributes.items():
            kept = f"_{name}" if f"_{name}" in vars(spline) else name  # new versions of scipy keep it so
            vars(spline)[kept] = value(spline) if callable(value) else value

    return spoil


def in_bisecting_tree(center):
    def spoil(clf):
        local(clf)[0]._bisecting_tree.left.center = center

    return spoil


def short_matrix(clf):
    metric = local(clf)._tree.__getstate__()[11]
    metric.__setstate__((metric.__getstate__()[0], np.ones(1), np.ones((3, 1))))


SPLINE = make_pipeline(SplineTransformer(), LogisticRegression())
MEANS, BISECTING = (make_pipeline(each(n_clusters=3), LogisticRegression()) for each in (KMeans, BisectingKMeans))
MAHALANOBIS = KNeighborsClassifier(2, algorithm="ball_tree", metric="mahalanobis", metric_params={"VI": np.eye(3)})
FOREST, TREE = RandomForestClassifier(3), DecisionTreeClassifier()
BOOSTING, HISTOGRAM = GradientBoostingClassifier(n_estimators=2), HistGradientBoostingClassifier(max_iter=2)
HISTOGRAM.set_params(min_samples_leaf=2)
KD = KNeighborsClassifier(2, algorithm="kd_tree", leaf_size=3)
BALL = KNeighborsClassifier(2, algorithm="ball_tree", leaf_size=3, p=3, metric_params={"w": np.ones(3)})
BRUTE = KNeighborsClassifier(2, algorithm="brute")
SPOILT = {
    "left child too large": (TREE, in_tree("left_child", 10**9)),
    "right child too large": (FOREST, in_tree("right_child", 10**9, first)),
    "child below zero": (FOREST, in_tree("left_child", -5, first)),
    "both children the same": (FOREST, in_tree(["left_child", "right_child"], 10**9, first)),
    "child that is its own parent": (FOREST, in_tree("left_child", 0, first)),
    "feature too large": (FOREST, in_tree("feature", 10**9, first)),
    "feature below zero": (FOREST, in_tree("feature", -2, first)),
    "tree of more columns than its estimator": (TREE, wider_tree()),
    "tree of more columns than its forest": (FOREST, wider_tree(first)),
    "estimator that does not count its columns": (TREE, lambda clf: delattr(local(clf), "n_features_in_")),
    "estimator whose check is replaced": (TREE, setting(_validate_X_predict=lambda _: np.tanh)),
    "estimator whose method is replaced": (LogisticRegression(), setting(decision_function=lambda _: np.tanh)),
    "tree behind a mask": (FOREST, hidden_tree),
    "boosted tree with a child too large": (BOOSTING, in_tree("left_child", 10**9, first_stage)),
    "boosted tree of more columns": (BOOSTING, wider_tree(first_stage)),
    "boosting with more trees than answers": (BOOSTING, setting(estimators_=lambda e: np.repeat(e.estimators_, 9, 1))),
    "boosting with no answers": (BOOSTING, setting(init_="zero", n_trees_per_iteration_=0)),
    "histogram child too large": (HISTOGRAM, in_histogram_tree("left", 2**31)),
    "histogram child that is its own parent": (HISTOGRAM, in_histogram_tree("right", 0)),
    "histogram feature too large": (HISTOGRAM, in_histogram_tree("feature_idx", 10**9)),
    "histogram feature below zero": (HISTOGRAM, in_histogram_tree("feature_idx", -1)),
    "histogram set of categories not there": (HISTOGRAM, in_histogram_tree("is_categorical", 1, bitset_idx=10**6)),
    "histogram in the middle of fitting": (HISTOGRAM, setting(_in_fit=True)),
    "histogram with steps before it": (HISTOGRAM, setting(_preprocessor=lambda _: make_pipeline("passthrough"))),
    "neighbour's number too large": (KD, in_neighbour_tree(1, filled(10**9))),
    "neighbours' nodes end too late": (KD, in_neighbour_tree(2, put("idx_end", -1, 10**9))),
    "neighbours' nodes start too early": (BALL, in_neighbour_tree(2, put("idx_start", 0, -1))),
    "neighbours' lowest node is no leaf": (KD, in_neighbour_tree(2, put("is_leaf", -1, 0))),
    "neighbours' bounds too few": (KD, in_neighbour_tree(3, lambda bounds: bounds[:1].copy())),
    "neighbours' bounds too narrow": (BALL, in_neighbour_tree(3, lambda bounds: bounds[..., :1].copy())),
    "neighbours' levels too many": (BALL, in_neighbour_tree(5, lambda levels: levels + 20)),
    "neighbours' nodes too many": (BALL, in_neighbour_tree(6, lambda nodes: nodes + 10**6)),
    "weights of too few columns": (BALL, short_weights),
    "neighbours of fewer columns": (BRUTE, setting(_fit_X=lambda e: e._fit_X[:, :1].copy())),
    "neighbours of no class": (BRUTE, setting(_y=lambda e: e._y + 10**9)),
    "neighbours of a class below zero": (BRUTE, setting(_y=lambda e: e._y - 10**9)),
    "neighbours with too few answers": (BRUTE, setting(_y=lambda e: e._y[:1])),
    "neighbours that miscount themselves": (BRUTE, setting(n_samples_fit_=10**9)),
    "neighbours that claim to be precomputed": (BRUTE, setting(metric="precomputed")),
    "neighbours that know their lengths": (BRUTE, setting(effective_metric_params_={"Y_norm_squared": np.ones(1)})),
    "support vectors too many": (SVC(), setting(_n_support=np.array([10**9, 10**9], dtype=np.int32))),
    "support vectors of too many classes": (
        SVC(),
        setting(_n_support=lambda e: np.r_[e._n_support, np.zeros(99, "i4")]),
    ),
    "support vectors below zero": (
        SVC(),
        setting(_n_support=lambda e: e._n_support + np.array([10**6, -(10**6)], "i4")),
    ),
    "weights of too few support vectors": (SVC(), setting(_dual_coef_=lambda e: e._dual_coef_[:, :1].copy())),
    "no intercept": (SVC(), setting(_intercept_=np.empty(0))),
    "probabilities of too few pairs": (SVC(), setting(_probA=np.ones(9), _probB=np.ones(9))),
    "support vector out of range": (SVC(), setting(support_=lambda e: e.support_ + 10**6)),
    "support vectors fewer than said": (SVC(), setting(support_vectors_=lambda e: e.support_vectors_[:1].copy())),
    "spline with too few weights": (SPLINE, in_spline(c=lambda spline: spline.c[:2].copy())),
    "spline with knots of another type": (SPLINE, in_spline(t=lambda spline: spline.t.astype(np.float32))),
    "spline of a higher degree": (SPLINE, in_spline(k=10**6)),
    "spline of a degree below zero": (SPLINE, in_spline(k=-1)),
    "spline with knots that fall": (SPLINE, in_spline(t=lambda spline: spline.t[::-1].copy())),
    "spline with a knot that is no number": (SPLINE, in_spline(t=lambda spline: np.full_like(spline.t, np.nan))),
    "spline whose method is replaced": (SPLINE, in_spline(_ensure_c_contiguous=lambda _: np.tanh)),
    "centres of fewer columns": (MEANS, in_first_step(cluster_centers_=lambda e: e.cluster_centers_[:, :1].copy())),
    "centres of a tree of fewer columns": (BISECTING, in_bisecting_tree(center=np.ones(1))),
    "distances in a matrix of fewer columns": (MAHALANOBIS, short_matrix),
    "sparse weights out of range": (
        LogisticRegression(),
        setting(coef_=lambda _: sp.csr_matrix((np.ones(1), np.array([10**6]), np.array([0, 1])), shape=(1, 3))),
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_model_that_would_read_foreign_memory_is_refused(name, fit_and_save):
    estimator, spoil = SPOILT[name]
    folder = fit_and_save(estimator, spoil)
    with pytest.raises(
        ModelFolderError, match=r"estimators.skops holds a (\w+ whose parts point outside|damaged \w+: )"
    ):
        memclf.load(folder)


@pytest.mark.parametrize("name", SPOILT)
def test_a_model_that_could_never_be_loaded_is_not_saved(name, cases, tmp_path):
    estimator, spoil = SPOILT[name]
    clf = MemoryClassifier(RBFSimilarity(0.05), estimator, 0.5, n_memories=2, random_state=0).fit(*cases)
    spoil(clf)
    with pytest.raises(ModelFolderError, match=r"the model holds a (\w+ whose parts point outside|damaged \w+: )"):
        memclf.save(clf, tmp_path / "model")
    assert not (tmp_path / "model").exists()


WHOLE = [TREE, FOREST, BOOSTING, HISTOGRAM, KD, BALL, BRUTE, SVC(), SPLINE, MEANS, BISECTING, MAHALANOBIS]


@pytest.mark.parametrize("estimator", WHOLE, ids=str)
def test_the_same_models_load_when_they_are_not_spoilt(estimator, fit_and_save):
    memclf.load(fit_and_save(estimator))


def test_boosting_that_starts_from_a_classifier_must_be_allowed(fit_and_save):
    folder = fit_and_save(GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()))
    with pytest.raises(UntrustedTypeError, match="starts from a classifier of its own") as caught:
        memclf.load(folder)
    assert caught.value.names == ["sklearn.ensemble._gb.GradientBoostingClassifier"]
    memclf.load(folder, trusted=[GradientBoostingClassifier])


def test_categories_in_histogram_boosting_must_be_allowed(fit_and_save, cases):
    X = cases[0].round() % 4
    folder = fit_and_save(HISTOGRAM.__class__(max_iter=2, categorical_features=[0]), X=X)
    with pytest.raises(UntrustedTypeError, match="functools.partial") as caught:
        memclf.load(folder)
    assert caught.value.names == ["functools.partial", "sklearn.utils.validation.check_array"]
    memclf.load(folder, trusted=caught.value.names).predict(X)


def test_words_that_point_outside_of_the_vocabulary_are_refused(save_unchecked, tmp_path):
    texts, y = ["valve leaks", "pump hums", "valve hums", "pump leaks"] * 4, [0, 1, 1, 0] * 4
    vectorizer = TfidfVectorizer()
    clf = MemoryClassifier(CosineSimilarity(features=vectorizer), make_pipeline(vectorizer, LogisticRegression()), 0.3)
    clf.fit(texts, y)
    local(clf)[0].vocabulary_["valve"] = 10**6
    folder = save_unchecked(clf, tmp_path / "model")
    with pytest.raises(ModelFolderError, match="TfidfVectorizer whose parts point outside"):
        memclf.load(folder)


@pytest.mark.parametrize("part", ["indices", "indptr"])
def test_a_sparse_matrix_of_memories_that_points_outside_is_refused(part, cases, save_unchecked, tmp_path):
    X, y = cases
    clf = MemoryClassifier(CosineSimilarity(), n_memories=2).fit(sp.csr_matrix(np.abs(X)), y)
    getattr(clf.memories_, part)[-1] = 10**6
    folder = save_unchecked(clf, tmp_path / "model")
    with pytest.raises(ModelFolderError, match="manifest.json does not describe a sound model"):
        memclf.load(folder)


# -------------------------------------------------------------------------------------------- random mutations

JUNK = [
    None,
    True,
    -1,
    0,
    2,
    10**9,
    2**63,
    1e308,
    "",
    "x",
    "os",
    "system",
    [],
    {},
    [[]],
    {"$part": "p0"},
    {"$array": "a0"},
]


def places(node, path=()):
    """The paths to all values in a JSON document."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in pairs:
        yield (*path, key)
        yield from places(value, (*path, key))


def mutated(document, chance):
    """A copy with one value replaced, by junk or by another value of the document, or left out."""
    document = json.loads(json.dumps(document))
    paths = list(places(document))
    path, other = chance.choice(paths), chance.choice(paths)
    parent, replacement = document, document
    for key in path[:-1]:
        parent = parent[key]
    for key in other:
        replacement = replacement[key]
    how = chance.random()
    if how < 0.2:
        del parent[path[-1]]
    else:
        parent[path[-1]] = json.loads(json.dumps(chance.choice(JUNK) if how < 0.6 else replacement))
    return document


def mutate_array(content, chance):
    """Change some bytes of an array, mostly behind its header."""
    content = bytearray(content)
    start = 128 if len(content) > 128 and chance.random() < 0.9 else 0
    at = chance.randrange(start, len(content))
    number = chance.choice([b"\xff" * 8, bytes(8), (10**9).to_bytes(8, "little"), chance.randbytes(1)])
    at -= at % 8 if len(number) == 8 else 0
    content[at : at + len(number)] = number[: len(content) - at]
    return bytes(content)


def mutate_folder(tools, original, chance):
    """Spoil one thing in the folder, with all checksums recomputed."""
    manifest, files = original
    tools.write(manifest)
    for name, members in files.items():
        tools.rezip(name, members)
    name = chance.choice(FILES)
    if name == "manifest.json":
        tools.write({**mutated(manifest, chance), "format": "memclf-model", "format_version": 3})
        return
    members = dict(files[name])
    if name == "estimators.skops" and chance.random() < 0.5:
        members["schema.json"] = json.dumps(mutated(json.loads(members["schema.json"]), chance)).encode()
    else:
        member = chance.choice([member for member in members if member.endswith(".npy")])
        members[member] = mutate_array(members[member], chance)
    tools.rezip(name, members)


def attempt(folder):
    """Load and answer; anything but a refusal or a Python error while answering is a fault of memclf."""
    try:
        model = memclf.load(folder)
    except ModelFolderError:
        return "refused"
    X = np.random.default_rng(0).normal(scale=5, size=(20, 3))
    for method in ("predict", "predict_proba"):
        try:
            getattr(model, method)(X)
        except Exception:
            return "failed to answer"
    return "answered"


def fuzz(folder, tools, seed, n):
    """What came of n mutations of a folder."""
    chance = random.Random(seed)
    original = (tools.manifest, {name: tools.members(name) for name in DATA})
    outcomes = []
    for _ in range(n):
        mutate_folder(tools, original, chance)
        outcomes.append(attempt(folder))
    return outcomes


@pytest.mark.filterwarnings("ignore")
def test_mutations_of_a_folder_are_refused_or_harmless(folder, tamper):
    outcomes = fuzz(folder, tamper(folder), seed=0, n=100)
    assert outcomes.count("refused") > 30
    assert outcomes.count("answered") > 10  # the mutations are not so wild that all is refused at the door


# In a process of its own: what is looked for here would end the process.
CRASHES = """
import pathlib, sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
import conftest, test_hostile
from threadpoolctl import threadpool_limits
with threadpool_limits(1):
    for number, folder in enumerate(sys.argv[2:]):
        outcomes = test_hostile.fuzz(pathlib.Path(folder), conftest.Tamper(folder), seed=number, n=12)
        print(pathlib.Path(folder).name, len(outcomes), flush=True)
"""


@pytest.mark.slow
def test_no_mutation_brings_the_interpreter_down(cases, tmp_path):
    X, y = cases
    folders = []
    for number, estimator in enumerate([FOREST, BOOSTING, HISTOGRAM, KD, BRUTE, SVC()]):
        clf = MemoryClassifier(RBFSimilarity(0.05), estimator, 0.2, n_memories=2, fallback="nearest", random_state=0)
        folders.append(memclf.save(clf.fit(X, y), tmp_path / str(number)))
    command = [sys.executable, "-X", "faulthandler", "-c", CRASHES, os.path.dirname(__file__), *folders]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == [word for folder in folders for word in (folder.name, "12")]
