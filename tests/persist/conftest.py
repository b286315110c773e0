"""Small models, folders that have been tampered with, and users' modules that can be imported."""

import hashlib
import importlib
import io
import json
import shutil
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples
from threadpoolctl import threadpool_limits

import memclf
from memclf import MemoryClassifier, integrity
from memclf.persist import validate
from memclf.similarity import RBFSimilarity


def _cases():
    X, group = make_blobs(90, centers=3, n_features=3, cluster_std=1.5, random_state=3)
    noise = np.random.default_rng(0).random(90) < 0.25
    y = np.where(noise, 1 - group % 2, group % 2)
    return X, np.where(group == 2, 1, y)  # the last cluster holds one class only, so a constant answers for it


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """The models are so small that threads only get into each other's way."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def cases():
    """Three clusters, two of them with both classes."""
    return _cases()


@pytest.fixture(scope="session")
def queries(cases):
    """The training cases, and one that is like none of them."""
    return np.vstack([cases[0], np.full((1, 3), 1e3)])


@pytest.fixture(scope="session")
def classifier(cases):
    X, y = cases
    labels = np.array(["good", "bad"])[y]
    return MemoryClassifier(RBFSimilarity(0.05), threshold=0.5, n_memories=3, random_state=0).fit(X, labels)


@pytest.fixture(scope="session")
def saved_once(classifier, tmp_path_factory):
    return memclf.save(classifier, tmp_path_factory.mktemp("saved") / "model")


@pytest.fixture
def folder(saved_once, tmp_path):
    """A saved model that the test may spoil."""
    return shutil.copytree(saved_once, tmp_path / "model")


@pytest.fixture
def save_unchecked():
    """Save a model that was spoilt in memory, without the checks that would refuse it."""

    def save_unchecked(model, folder):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(validate, "check_parts", lambda parts, name: None)
            patch.setattr(integrity, "check", lambda model: None)
            return memclf.save(model, folder)

    return save_unchecked


@pytest.fixture
def fit_and_save(cases, save_unchecked, tmp_path):
    """Fit a classifier with this local estimator, let the test spoil it in memory, and save it without checks."""

    def fit_and_save(estimator, spoil=lambda clf: None, X=None):
        own_X, y = cases
        clf = MemoryClassifier(RBFSimilarity(0.05), estimator, 0.5, n_memories=2, random_state=0, fallback="nearest")
        clf.fit(own_X if X is None else X, y)
        spoil(clf)
        return save_unchecked(clf, tmp_path / "spoilt")

    return fit_and_save


class Tamper:
    """Changes to a folder by a person who knows the format, checksums included."""

    def __init__(self, folder):
        self.folder = Path(folder)

    @property
    def manifest(self):
        return json.loads((self.folder / "manifest.json").read_text())

    def write(self, manifest):
        """Replace the manifest and recompute its own checksum."""
        rest = {key: value for key, value in manifest.items() if key != "sha256"}
        plain = json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()
        text = json.dumps({**rest, "sha256": hashlib.sha256(plain).hexdigest()})
        (self.folder / "manifest.json").write_text(text)

    def change(self, *keys, to):
        """Set one value, deep inside the manifest; references to shared estimators are followed."""
        manifest = self.manifest
        inner = manifest
        for key in keys[:-1]:
            inner = inner[key]
            if isinstance(inner, dict) and "$shared" in inner:
                inner = manifest["shared"][inner["$shared"]]
        inner[keys[-1]] = to
        self.write(manifest)

    def path(self, name):
        return next(self.folder.glob(f"data-*/{name}"))

    def replace(self, name, content):
        """Replace a data file and recompute its size and checksum."""
        path = self.path(name)
        path.write_bytes(content)
        manifest = self.manifest
        entry = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        manifest["files"][f"{path.parent.name}/{name}"] = entry
        self.write(manifest)

    def members(self, name):
        with zipfile.ZipFile(self.path(name)) as archive:
            return {member: archive.read(member) for member in archive.namelist()}

    def rezip(self, name, members, compression=zipfile.ZIP_STORED):
        """Replace a data file by an archive of these members."""
        self.replace(name, zipped(members, compression))

    @property
    def schema(self):
        return json.loads(self.members("estimators.skops")["schema.json"])

    def change_schema(self, schema):
        members = self.members("estimators.skops")
        self.rezip("estimators.skops", {**members, "schema.json": json.dumps(schema).encode()})


def zipped(members, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.fixture
def tamper():
    return Tamper


@pytest.fixture
def make_zip():
    return zipped


@pytest.fixture
def user_module(tmp_path_factory, monkeypatch):
    """Write a module of a user's own and import it; gone again after the test."""
    place = tmp_path_factory.mktemp("modules")
    monkeypatch.syspath_prepend(place)
    names = []

    def user_module(name, source):
        (place / f"{name}.py").write_text(textwrap.dedent(source))
        names.append(name)
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield user_module
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def forget():
    """Make Python import a module anew, as another process would."""

    def forget(name):
        sys.modules.pop(name, None)
        importlib.invalidate_caches()

    return forget


@pytest.fixture
def same_answers():
    """Both classifiers answer, route and explain these cases alike, to the last bit."""

    def same_answers(old, new, X):
        np.testing.assert_array_equal(old.predict(X), new.predict(X), strict=True)
        assert hasattr(old, "predict_proba") == hasattr(new, "predict_proba")
        if hasattr(old, "predict_proba"):
            np.testing.assert_array_equal(old.predict_proba(X), new.predict_proba(X), strict=True)
        np.testing.assert_array_equal(old.decision_function(X), new.decision_function(X), strict=True)
        before, after = old.route(X).to_dict(), new.route(X).to_dict()
        for name, values in before.items():
            np.testing.assert_array_equal(values, after[name], strict=True)
        n = _num_samples(X)
        some = _safe_indexing(X, [*range(0, n, 10), n - 1])  # explaining is slow
        assert str(old.explain(some)) == str(new.explain(some))

    return same_answers
