"""One small saved model of each kind, shared by the tests of commands that read a model."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import memclf
from memclf import MemoryClassifier
from memclf.cli import app
from memclf.similarity import GowerSimilarity, RBFSimilarity


@pytest.fixture(scope="session")
def run():
    """Runs a command as a user would."""

    def invoke(*arguments):
        return CliRunner().invoke(app, list(map(str, arguments)), prog_name="memclf")

    return invoke


def draw_seeds(n, seed, shift=0.0):
    """Seeds of three kinds: two numbers and the ground they were found on."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    length = np.array([2.0, 4.0, 7.0])[kind] + rng.normal(0, 0.6, n) + shift
    width = np.array([1.0, 3.0, 2.0])[kind] + rng.normal(0, 0.4, n) + shift
    ground = np.array(["sand", "clay", "loam"])[(kind + (rng.random(n) < 0.2)) % 3]
    kinds = np.array(["oat", "rye", "maize"])[kind]
    return pd.DataFrame({"length": length, "width": width, "ground": ground, "kind": kinds})


@pytest.fixture(scope="session")
def seeds(tmp_path_factory):
    """A classifier of a table, its folder, and tables of new cases."""
    folder = tmp_path_factory.mktemp("seeds")
    train = draw_seeds(90, 0)
    clf = MemoryClassifier(
        GowerSimilarity(), LogisticRegression(), threshold=0.8, unknown_rate=0.1, answer="labels", random_state=0
    ).fit(train.drop(columns="kind"), train["kind"].to_numpy())
    tables = {"train": train, "new": draw_seeds(60, 1), "moved": draw_seeds(60, 2, shift=4.0)}
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    files = {name: folder / f"{name}.csv" for name in tables}
    return SimpleNamespace(clf=clf, model=memclf.save(clf, folder / "model"), tables=tables, **files)


def draw_patches(n, seed):
    """Pictures that are more or less red, and their names."""
    rng = np.random.default_rng(seed)
    red = np.arange(n) % 2
    images = rng.integers(0, 60, (n, 32, 32, 3), dtype=np.uint8)
    images[..., 0] += (120 * red[:, None, None]).astype(np.uint8)
    return images, np.array(["dark", "red"])[red]


@pytest.fixture(scope="session")
def patches(tmp_path_factory):
    """A classifier of images, its folder, and folders of images."""
    from memclf.vision import ImageCollection
    from memclf.vision.features import PatchColour

    folder = tmp_path_factory.mktemp("patches")
    for name, n, seed in (("train", 20, 0), ("new", 10, 1)):
        for number, (image, label) in enumerate(zip(*draw_patches(n, seed), strict=True)):
            (folder / name / label).mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(folder / name / label / f"{number:02d}.png")
    train = ImageCollection.from_folder(folder / "train")
    clf = MemoryClassifier(
        RBFSimilarity(gamma=5.0, features=PatchColour()),
        make_pipeline(PatchColour(), StandardScaler(), LogisticRegression()),
        n_memories=2,
        threshold=0.1,
        fallback="global",
        random_state=0,
    ).fit(train, train.labels)
    return SimpleNamespace(
        clf=clf, model=memclf.save(clf, folder / "model"), train=folder / "train", new=folder / "new"
    )
