"""Descriptions that last: another process, another writer, a bound, other code, a damaged file."""

import inspect
import os
import pickle
import sqlite3
import subprocess
import sys
import textwrap
import threading
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import memclf
from counting import CountingFeatures, CountingFunction, CountingMeasure, count, digest, make_cases, rows_of
from memclf import Cases, MemoryClassifier
from memclf.cases import store as store_module
from memclf.cases.computation import Computation
from memclf.cases.digest import digest_cases
from memclf.cases.store import Row, Store
from memclf.similarity import FunctionSimilarity, RBFSimilarity
from memclf.vision import ImageClassifier, ImageCollection
from pictures import passes, squares, tiny

KINDS = ("array", "frame", "sparse", "texts")


@pytest.fixture
def log(tmp_path):
    return str(tmp_path / "log")


def describe(X, cache, features, **settings):
    return RBFSimilarity(features=features, **settings).fit_describe(Cases(X, cache=cache))


def run(code, *arguments):
    """Run code in another process, with the tests' helpers at hand."""
    source = Path(memclf.__file__).parents[1]
    paths = [str(source), str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    arguments = [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def output_of(process):
    printed, errors = process.communicate(timeout=120)
    assert not errors
    return printed


FIT = """
    import sys
    from counting import CountingFeatures, make_cases
    from memclf import Cases, MemoryClassifier
    from memclf.similarity import RBFSimilarity
    folder, log, *kinds = sys.argv[1:]
    for kind in kinds:
        X, y = make_cases(kind, 40, 0)
        print(RBFSimilarity(features=CountingFeatures(log)).fit_describe(Cases(X, cache=folder)).sum())
"""


# ----------------------------------------------------------------------------------- within one process


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [CountingFeatures, CountingFunction])
def test_a_second_run__same_cases__computes_nothing(kind, make, log, tmp_path):
    X, _ = make_cases(kind, 40, 0)
    first = describe(X, tmp_path / "cache", make(log))
    assert sum(count(log).values()) == 40
    np.testing.assert_array_equal(describe(X, tmp_path / "cache", make(log)), first)
    assert not count(log)


def test_a_second_run__some_new_cases__computes_these(log, tmp_path):
    X, _ = make_cases("array", 40, 0)
    describe(X[:30], tmp_path, CountingFeatures(log))
    count(log)
    Z = describe(X[::-1], tmp_path, CountingFeatures(log))
    assert count(log) == {digest(case): 1 for case in X[30:]}
    np.testing.assert_array_equal(Z, describe(X[::-1], None, CountingFeatures(log)))


def test_changed_cases__of_every_kind__have_other_digests():
    for kind in KINDS:
        X, _ = make_cases(kind, 6, 0)
        other, _ = make_cases(kind, 6, 1)
        found, again, others = (digest_cases(data, np.arange(6)) for data in (X, make_cases(kind, 6, 0)[0], other))
        assert found == again
        assert not set(found) & set(others)
    table = pd.DataFrame({"a": [1, 2]})
    assert digest_cases(table, np.arange(2)) != digest_cases(table.rename(columns={"a": "b"}), np.arange(2))
    assert digest_cases(table, np.arange(2)) != digest_cases(table.astype(float), np.arange(2))
    dense = np.array([[1.0, 0.0]])
    assert digest_cases(dense, np.arange(1)) != digest_cases(sp.csr_array(dense), np.arange(1))
    assert digest_cases([object()], np.arange(1)) == [None]


def test_another_parameter__or_state__is_computed_anew(log, tmp_path):
    X, _ = make_cases("array", 40, 0)
    describe(X, tmp_path, CountingFeatures(log))
    count(log)
    Z = describe(X, tmp_path, CountingFeatures(log, scale=2.0))
    assert sum(count(log).values()) == 40
    np.testing.assert_array_equal(Z, 2 * describe(X, tmp_path, CountingFeatures(log)))
    assert not count(log)


def test_n_jobs_and_verbose__change_nothing_that_is_kept(log, tmp_path):
    X, _ = make_cases("array", 40, 0)
    describe(X, tmp_path, CountingFeatures(log))
    count(log)
    describe(X, tmp_path, CountingFeatures(log), n_jobs=2)
    assert not count(log)


def double(x):
    return 2 * x


class WithLock:
    def __init__(self):
        self.lock = threading.Lock()

    def __deepcopy__(self, memo):
        return WithLock()

    def __call__(self, x):
        return x


@pytest.mark.parametrize(
    "features",
    [
        double,
        partial(np.add, 1.0),
        FunctionTransformer(double),
        make_pipeline(FunctionTransformer(double), StandardScaler()),
        lambda x: 2 * x,
        FunctionTransformer(lambda X: 2 * X),
    ],
)
def test_functions_and_transformers__of_all_kinds__are_kept(features, tmp_path):
    X, _ = make_cases("array", 10, 0)
    Z = describe(X, tmp_path, features)
    np.testing.assert_array_equal(describe(X, tmp_path, features), Z)
    assert (tmp_path / store_module.FILE).exists()


def test_functions_that_differ_in_code_or_closure__are_told_apart(tmp_path):
    def times(number):
        return lambda x: number * x

    X = np.ones((3, 2))
    similarities = [FunctionSimilarity(near, features=f) for f in (times(2), times(3), times(2), lambda x: x + 1.5)]
    found = [each.fit_describe(Cases(X, cache=tmp_path)) for each in similarities]
    assert [Z[0][0] for Z in found] == [2, 3, 2, 2.5]


def near(a, b):
    return 1.0


def test_features_that_cannot_be_hashed__are_not_kept_with_one_warning(tmp_path):
    X, _ = make_cases("array", 10, 0)
    cases = Cases(X, cache=tmp_path)
    with pytest.warns(UserWarning, match=r"WithLock.*is not stored in .* cannot be hashed by content"):
        RBFSimilarity(features=WithLock()).fit_describe(cases)
    RBFSimilarity(features=WithLock()).fit_describe(cases[:5])  # warnings are errors here
    assert not (tmp_path / store_module.FILE).exists()


def test_rows_that_are_no_numbers__are_computed_anew(tmp_path):
    rows = [Row(value, True) for value in ("text", None, {"a": 1}, [1.0, "b"], np.array(["a"]), 1j, 2**70, [[1.0]])]
    mixed = [1.0, np.float64(2), 3, True, np.float32(4), np.arange(3)]
    kept = [Row(value, True) for value in (1.5, 3, True, [1.0, 2.0], (0.5,), [], np.arange(3), np.float32(2), mixed)]
    store = Store(tmp_path)
    names = [bytes([number]) for number in range(len(rows) + len(kept))]
    store.put(zip(names, rows + kept, strict=True))
    found = store.get(names)
    assert found[: len(rows)] == [None] * len(rows)
    for row, expected in zip(found[len(rows) :], kept, strict=True):
        assert type(row.value) is type(expected.value)
        assert row.is_item
        assert str(row.value) == str(expected.value)


# ------------------------------------------------------------------------------------- other processes


def test_another_process__reads_what_the_first_wrote(log, tmp_path):
    cases = [make_cases(kind, 40, 0)[0] for kind in KINDS]
    first = [describe(X, tmp_path / "cache", CountingFeatures(log)).sum() for X in cases]
    assert sum(count(log).values()) == 4 * 40
    assert output_of(run(FIT, tmp_path / "cache", log, *KINDS)).split() == [str(number) for number in first]
    assert not count(log)


def write_every_second(folder, first):
    store = Store(folder)
    for start in range(first, 100, 2):
        names = [number.to_bytes(4, "little") for number in range(start, start + 50)]
        store.put([(name, Row(np.full(8, float(start + k)), False)) for k, name in enumerate(names)])
        assert all(found is not None for found in store.get(names))


def test_two_processes__writing_at_once__leave_a_whole_file(tmp_path):
    code = f"""import sys
import numpy as np
from memclf.cases.store import Row, Store
{inspect.getsource(write_every_second)}
print("ready", flush=True)
write_every_second(sys.argv[1], 1)
"""
    other = run(code, tmp_path)
    assert other.stdout.readline() == "ready\n"
    write_every_second(tmp_path, 0)
    assert output_of(other) == ""
    names = [number.to_bytes(4, "little") for number in range(149)]
    found = Store(tmp_path).get(names)
    assert [row.value[0] for row in found] == list(range(149))


def test_a_killed_writer__leaves_no_half_entry_and_no_lock(tmp_path):
    code = """
        import os, sys
        from memclf.cases import store as s
        import numpy as np
        real = s._encode
        store = s.Store(sys.argv[1])
        store.put([(b"a", s.Row(np.ones(2), False))])
        s.Store._make_room = lambda *_: os._exit(9)  # inside the transaction
        store.put([(b"b", s.Row(np.ones(2), False))])
    """
    process = run(code, tmp_path)
    assert output_of(process) == ""
    assert process.returncode == 9
    store = Store(tmp_path)
    whole, half = store.get([b"a", b"b"])
    assert whole is not None
    assert half is None
    store.put([(b"b", Row(np.ones(2), False))])
    assert store.get([b"b"])[0] is not None


CODE = {
    "first": "NUMBER = 1.0\ndef helper(x):\n    return x + NUMBER\ndef main(x):\n    return helper(x)\n",
    "comment": "NUMBER = 1.0\n\n# why\ndef helper(x):\n    return x + NUMBER\ndef main(x):\n    return helper(x)\n",
    "helper": "NUMBER = 1.0\ndef helper(x):\n    return x - NUMBER\ndef main(x):\n    return helper(x)\n",
    "constant": "NUMBER = 2.0\ndef helper(x):\n    return x + NUMBER\ndef main(x):\n    return helper(x)\n",
    "main": "NUMBER = 1.0\ndef helper(x):\n    return x + NUMBER\ndef main(x):\n    return 2 * helper(x)\n",
}


def test_changed_code__of_a_function_or_of_what_it_calls__is_computed_anew(tmp_path, monkeypatch):
    found = {}
    for name, text in CODE.items():
        module = ModuleType("their_features")
        module.__file__ = str(tmp_path / "their_features.py")
        monkeypatch.setitem(sys.modules, "their_features", module)
        exec(text, vars(module))
        similarity = FunctionSimilarity(near, features=module.main)
        found[name] = similarity.fit_describe(Cases(np.ones((3, 2)), cache=tmp_path))[0][0]
    assert found == {"first": 2, "comment": 2, "helper": 0, "constant": 3, "main": 4}
    connection = sqlite3.connect(tmp_path / store_module.FILE)
    assert connection.execute("SELECT COUNT(*) FROM entries").fetchone() == (4,)  # three equal cases are one entry
    connection.close()


# ---------------------------------------------------------------------------------- bound and damage


def test_the_bound__removes_what_was_not_used_for_the_longest_time(tmp_path, monkeypatch):
    clock = iter(range(0, 10**6, 100))
    monkeypatch.setattr(store_module.time, "time", lambda: float(next(clock)))
    store = Store(tmp_path, max_bytes=10_000)
    names = [bytes([number]) for number in range(20)]
    for name in names:
        store.put([(name, Row(np.ones(100), False))])
        store.get([names[0]])
    found = [row is not None for row in store.get(names)]
    assert found[0]  # the oldest, but used all the time
    assert found[-1]
    assert found == sorted(found[:1], reverse=True) + sorted(found[1:])
    assert sum(found) * 920 <= 10_000 < (sum(found) + 3) * 920
    with pytest.raises(ValueError, match="max_bytes must be a positive whole number, got 0"):
        Store(tmp_path, max_bytes=0)


@pytest.mark.parametrize("damage", ["all", "start", "middle", "empty"])
def test_a_damaged_file__counts_as_absent(damage, log, tmp_path):
    X, _ = make_cases("array", 40, 0)
    Z = describe(X, tmp_path, CountingFeatures(log))
    file = tmp_path / store_module.FILE
    content = bytearray(file.read_bytes())
    if damage == "all":
        content = bytearray(b"no database at all" * 100)
    elif damage == "start":
        content[:200] = os.urandom(200)
    elif damage == "middle":
        content[4096:] = os.urandom(len(content) - 4096)
    file.write_bytes(b"" if damage == "empty" else bytes(content))
    np.testing.assert_array_equal(describe(X, tmp_path, CountingFeatures(log)), Z)
    count(log)
    np.testing.assert_array_equal(describe(X, tmp_path, CountingFeatures(log)), Z)
    assert not count(log)


def test_a_damaged_entry__is_computed_anew_and_kept_again(log, tmp_path):
    X, _ = make_cases("array", 40, 0)
    Z = describe(X, tmp_path, CountingFeatures(log))
    connection = sqlite3.connect(tmp_path / store_module.FILE)
    with connection:
        connection.execute("UPDATE entries SET content = zeroblob(24) WHERE rowid = 7")
        connection.execute("UPDATE entries SET kind = 'row array O 3' WHERE rowid = 8")
    connection.close()
    count(log)
    np.testing.assert_array_equal(describe(X, tmp_path, CountingFeatures(log)), Z)
    assert sum(count(log).values()) == 2
    describe(X, tmp_path, CountingFeatures(log))
    assert not count(log)


def test_a_folder_that_cannot_be_used__warns_and_works(log, tmp_path):
    X, _ = make_cases("array", 10, 0)
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning, match="nothing is stored in"):
        Z = describe(X, tmp_path / "file", CountingFeatures(log))
    np.testing.assert_array_equal(Z, describe(X, None, CountingFeatures(log)))


# --------------------------------------------------------------------------------------- scikit-learn


@pytest.mark.parametrize("kind", KINDS)
def test_cases__are_picked_as_scikit_learn_picks_rows(kind):
    X, _ = make_cases(kind, 8, 0)
    cases, mask = Cases(X), np.arange(8) % 2 == 0
    assert len(cases) == 8
    assert cases.shape[0] == 8
    for index, rows in ((slice(1, 4), [1, 2, 3]), ([5, 1], [5, 1]), (mask, [0, 2, 4, 6]), ((np.array([2]), ...), [2])):
        assert [digest(case) for case in rows_of(cases[index].data)] == [digest(list(rows_of(X))[row]) for row in rows]
    assert [digest(case) for case in cases] == [digest(case) for case in rows_of(X)]
    assert digest(cases[3]) == digest(list(rows_of(X))[3])
    with pytest.raises(IndexError):
        cases[8]


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_cross_validation_and_searches__describe_each_case_once(kind, log, tmp_path):
    X, y = make_cases(kind, 60, 0)
    cases = Cases(X, cache=tmp_path / "cache")
    clf = MemoryClassifier(
        RBFSimilarity(features=CountingFeatures(log)), threshold=0.2, fallback="nearest", random_state=0
    )
    assert len(cross_val_score(clf, cases, y, cv=3)) == 3
    GridSearchCV(clf, {"threshold": [0.2, 0.4]}, cv=3).fit(cases, y)
    steps = Pipeline([("nothing", "passthrough"), ("clf", clf)]).fit(cases, y)
    assert (steps.predict(cases) == clf.fit(X, y).predict(X)).all()
    counted = count(log)
    assert set(counted.values()) == {3}  # once in all, and twice for the plain X at the end


def test_searches_in_processes__share_the_folder(log, tmp_path):
    X, y = make_cases("array", 60, 0)
    describe(X, tmp_path, CountingFeatures(log))
    count(log)
    clf = MemoryClassifier(
        RBFSimilarity(features=CountingFeatures(log)), threshold=0.2, fallback="nearest", random_state=0
    )
    GridSearchCV(clf, {"threshold": [0.2, 0.4]}, cv=3, n_jobs=2).fit(Cases(X, cache=tmp_path), y)
    assert not count(log)


def test_cases__picked_and_pickled__take_only_their_own_data(tmp_path):
    cases = Cases(np.zeros((10_000, 10)), cache=tmp_path)[:3]
    content = pickle.dumps(cases)
    assert len(content) < 2000
    assert pickle.loads(content).data.shape == (3, 10)


# --------------------------------------------------------------------------------------------- images


def test_images__files_and_pixels__are_measured_once_for_all(log, tmp_path):
    pictures, _ = squares(12, size=36)
    for X in (pictures, ImageCollection(pictures)):
        RBFSimilarity(features=CountingMeasure(log)).fit_describe(Cases(X, cache=tmp_path))
    assert sorted(count(log).values()) == [1] * 12
    noisy = ImageCollection(pictures).corrupted("gaussian_noise", 2)
    rows = RBFSimilarity(features=CountingMeasure(log)).fit_describe(Cases(noisy, cache=tmp_path))
    assert sorted(count(log).values()) == [1] * 12
    again = Cases(ImageCollection(pictures), cache=tmp_path).data.corrupted("gaussian_noise", 2)
    np.testing.assert_array_equal(RBFSimilarity(features=CountingMeasure(log)).fit_describe(again), rows)
    assert not count(log)


def test_embeddings__of_a_network__last(tmp_path):
    pictures, labels = squares(12, size=36)
    net = ImageClassifier(tiny, image_size=36, epochs=1, random_state=0).fit(pictures, labels)
    E = net.embed(Cases(ImageCollection(pictures), cache=tmp_path))
    seen, handle = passes(net.backbone_)
    np.testing.assert_array_equal(net.embed(Cases(ImageCollection(pictures), cache=tmp_path)), E)
    handle.remove()
    assert not seen


def test_computations__of_methods_and_objects__are_told_apart():
    class Local:
        def __init__(self, number):
            self.number = number

        def method(self, x):
            return x * self.number

    assert Computation(Local(1)) == Computation(Local(1))
    assert Computation(Local(1)) != Computation(Local(2))
    assert Computation(Local(1).method) == Computation(Local(1).method)
    assert Computation(Local(1).method) != Computation(Local(2).method)
    assert Computation(Local(1)).lasting_key() != Computation(Local(2)).lasting_key()
    assert Computation(threading.Lock()).lasting_key() is None
    assert Computation("a name").lasting_key() == Computation("a name").lasting_key() is not None
