"""Whatever happens while a model is saved: the folder holds the old one or the new one, whole."""

import builtins
import contextlib
import errno
import io
import itertools
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import memclf
from memclf import MemorySelector
from memclf.exceptions import ModelFolderError
from memclf.similarity import RBFSimilarity

X = np.arange(12.0)[:, None]
ERRORS = {"disk full": OSError(errno.ENOSPC, "No space left on device"), "interrupt": KeyboardInterrupt()}


def selector(n_memories):
    """Tells by its number of memories which one it is."""
    return MemorySelector(RBFSimilarity(0.1), n_memories=n_memories).fit(X)


@pytest.fixture(scope="module")
def old():
    return selector(2)


@pytest.fixture(scope="module")
def new():
    return selector(3)


def which(folder):
    """Number of memories of the model in the folder, after it has answered."""
    model = memclf.load(folder)
    assert set(model.predict(X)) == set(range(len(model.memory_indices_)))
    return len(model.memory_indices_)


class Faults:
    """Lets the operating system fail at the n-th call that changes the disk."""

    def __init__(self, monkeypatch, step, error, mode):
        self.step, self.error, self.mode = step, error, mode
        self.count = 0
        for module, name in (
            (os, "mkdir"),
            (os, "fsync"),
            (os, "replace"),
            (os, "unlink"),
            (os, "rmdir"),
            (builtins, "open"),
            (io, "open"),
        ):
            monkeypatch.setattr(module, name, self._wrap(name, getattr(module, name)))

    @property
    def happened(self):
        return self.count > self.step

    def _wrap(self, name, real):
        def call(*args, **kwargs):
            if name == "open" and "w" not in args[1]:
                return real(*args, **kwargs)
            number, self.count = self.count, self.count + 1
            if self.mode == "dead from then on" and number >= self.step:
                raise self.error
            if number != self.step:
                return real(*args, **kwargs)
            if self.mode == "after it":
                done = real(*args, **kwargs)
                if name == "open":
                    done.close()
            raise self.error

        return call


@pytest.mark.parametrize(
    ("error", "mode"),
    [("disk full", "in place of it"), ("interrupt", "after it"), ("disk full", "dead from then on")],
)
def test_a_failure_at_any_step_leaves_the_old_model_or_the_new_one(error, mode, old, new, tmp_path):
    folder = memclf.save(old, tmp_path / "model")
    seen = set()
    for step in itertools.count():
        with pytest.MonkeyPatch.context() as patch:
            faults = Faults(patch, step, ERRORS[error], mode)
            with contextlib.suppress(type(ERRORS[error])):
                memclf.save(new, folder)
        seen.add(which(folder))
        if not faults.happened:
            break
        memclf.save(old, folder)
    assert step >= 10  # two data files and the manifest: opened, synced, moved; the card; the old data
    assert seen == {2, 3}
    assert which(folder) == 3


def test_a_failure_before_there_is_any_model_leaves_room_for_one(old, tmp_path):
    folder = tmp_path / "model"
    for step in itertools.count():
        with pytest.MonkeyPatch.context() as patch:
            faults = Faults(patch, step, ERRORS["disk full"], "dead from then on")
            with contextlib.suppress(OSError):
                memclf.save(old, folder)
        if not faults.happened:
            break
        assert which(memclf.save(old, folder)) == 2
        shutil.rmtree(folder)
    assert step >= 8


def test_a_full_disk_leaves_nothing_behind_where_nothing_was(old, tmp_path):
    folder = tmp_path / "new" / "model"
    for step in itertools.count():
        with pytest.MonkeyPatch.context() as patch:
            faults = Faults(patch, step, ERRORS["disk full"], "in place of it")
            with contextlib.suppress(OSError):
                memclf.save(old, folder)
        if not faults.happened or (folder / "manifest.json").exists():
            break
        assert not (tmp_path / "new").exists()
    assert step >= 7  # folders, two data files and the manifest
    assert which(folder) == 2


def test_a_full_disk_leaves_an_empty_folder_that_was_there(old, tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        Faults(patch, 2, ERRORS["disk full"], "in place of it")
        with pytest.raises(OSError, match="No space left"):
            memclf.save(old, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_of_earlier_saves_and_crashes(old, new, tmp_path):
    folder = memclf.save(old, tmp_path / "model")
    (data,) = folder.glob("data-*")
    shutil.copytree(data, folder / "data-0123456789ab")
    shutil.copy(folder / "manifest.json", folder / "manifest.json.data-0123456789ab")
    memclf.save(new, folder)
    (data,) = folder.glob("data-*")
    assert {path.name for path in folder.iterdir()} == {"manifest.json", "MODEL_CARD.md", data.name}
    assert {path.name for path in data.iterdir()} == {"arrays.npz", "estimators.skops"}
    assert which(folder) == 3


def test_a_model_that_cannot_be_saved_leaves_the_old_one(old, tmp_path):
    folder = memclf.save(old, tmp_path / "model")
    unsavable = selector(3)
    unsavable.memories_ = [lambda: None]
    with pytest.raises(ModelFolderError, match="cannot be found again by name"):
        memclf.save(unsavable, folder)
    assert which(folder) == 2


@pytest.mark.parametrize("name", ["notes.txt", "data-raw/measurements.csv", "data-/x", "data-0123456789ab.bak"])
def test_a_folder_that_holds_other_things_is_left_alone(name, old, tmp_path):
    folder = tmp_path / "precious"
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text("years of work")
    with pytest.raises(ModelFolderError, match=r"precious holds other things \((notes|data-)"):
        memclf.save(old, folder)
    assert (folder / name).read_text() == "years of work"
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("content", ['{"name": "My web page", "icons": []}', "[]", "not JSON", '{"format": "other"}'])
def test_a_manifest_of_another_program_is_left_alone(content, old, tmp_path):
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(ModelFolderError, match=r"holds other things \(manifest.json"):
        memclf.save(old, tmp_path)
    assert (tmp_path / "manifest.json").read_text() == content


def test_other_files_beside_a_model_stay(old, new, tmp_path):
    folder = memclf.save(old, tmp_path / "model")
    (folder / "data-raw").mkdir()
    (folder / "data-raw" / "measurements.csv").write_text("years of work")
    memclf.save(new, folder)
    assert which(folder) == 3
    assert (folder / "data-raw" / "measurements.csv").read_text() == "years of work"


def test_a_link_among_the_old_data_is_removed_and_not_followed(old, new, tmp_path):
    folder = memclf.save(old, tmp_path / "model")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_text("years of work")
    (folder / "data-0123456789ab").symlink_to(tmp_path / "elsewhere")
    memclf.save(new, folder)
    assert not (folder / "data-0123456789ab").is_symlink()
    assert (tmp_path / "elsewhere" / "file").read_text() == "years of work"


def test_a_file_in_place_of_the_folder_is_refused(old, tmp_path):
    (tmp_path / "model").write_text("a file")
    with pytest.raises(ModelFolderError, match="model is a file"):
        memclf.save(old, tmp_path / "model")
    assert (tmp_path / "model").read_text() == "a file"


def test_a_damaged_model_can_be_replaced(old, new, tmp_path, tamper):
    folder = memclf.save(old, tmp_path / "model")
    tamper(folder).path("arrays.npz").write_bytes(b"damaged")
    with pytest.raises(ModelFolderError, match="arrays.npz"):
        memclf.load(folder)
    assert which(memclf.save(new, folder)) == 3


@pytest.mark.parametrize("version", [1, 99])
def test_a_model_of_another_format_version_can_be_replaced(version, old, new, tmp_path, tamper):
    folder = memclf.save(old, tmp_path / "model")
    tamper(folder).change("format_version", to=version)
    with pytest.raises(ModelFolderError, match=rf"was saved by an? (older|newer) memclf \(format {version}\)"):
        memclf.load(folder)
    assert which(memclf.save(new, folder)) == 3


def test_a_model_can_be_loaded_at_any_moment_while_others_are_saved_over_it(old, new, tmp_path):
    folder = memclf.save(old, tmp_path / "model")
    stop, seen, problems = threading.Event(), [], []

    def read():
        while not stop.is_set():
            try:
                seen.append(which(folder))
            except Exception as error:
                problems.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(30):
        memclf.save((old, new)[number % 2], folder)
    stop.set()
    reader.join()
    assert problems == []
    assert {2, 3} == set(seen)


# In a process of its own, so that a child can be killed: Python starts once, and forks for every kill.
KILLING = """
import os, random, signal, sys, time
import numpy as np
import memclf
from memclf import MemorySelector
from memclf.similarity import RBFSimilarity

folder, chance = sys.argv[1], random.Random(0)
X = np.arange(12.0)[:, None]
models = [MemorySelector(RBFSimilarity(0.1), n_memories=n).fit(X) for n in (2, 3)]
memclf.save(models[0], folder)
left_over = 0
for _ in range(10):
    child = os.fork()
    if child == 0:
        while True:
            for model in models:
                memclf.save(model, folder)
    time.sleep(chance.uniform(0.02, 0.08))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    left_over += len(os.listdir(folder)) > 3
    assert len(memclf.load(folder).memory_indices_) in (2, 3)
memclf.save(models[1], folder)
assert len(os.listdir(folder)) == 3, os.listdir(folder)
print("left over", left_over)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killing_the_process_in_the_middle_of_saving_leaves_a_whole_model(tmp_path):
    threads = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")
    done = subprocess.run(
        [sys.executable, "-c", KILLING, tmp_path / "model"],
        env={**os.environ, **threads},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) > 0  # some kills did come in the middle
    assert which(tmp_path / "model") == 3  # saved there, loaded here
