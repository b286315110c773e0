"""A table and a folder of images that tell the classes apart, and models fitted on them once."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from memclf.own import fit_data


def draw_rows(n, seed):
    """Patients of three wards; the outcome hangs on age and ward, with some noise and gaps."""
    rng = np.random.default_rng(seed)
    age, ward = rng.integers(20, 90, n).astype(float), rng.choice(["A", "B", "C"], n)
    risk = age / 90 + (ward == "C") + rng.normal(0, 0.1, n)
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.05, np.nan, age),
            "ward": np.where(rng.random(n) < 0.05, None, ward),
            "smokes": rng.random(n) < 0.4,
            "outcome": np.where(risk > 0.9, "ill", "well"),
        }
    )


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "patients.csv"
    draw_rows(120, 0).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def fitted(table):
    """A fit with the quickest parts, and its model folder."""
    return fit_data(table, table.parent / "model", target="outcome", answer="labels", estimator="logistic")


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    """Red squares and blue discs on grey, 10 of each."""
    folder = tmp_path_factory.mktemp("pictures") / "shapes"
    rng = np.random.default_rng(0)
    down, across = np.indices((40, 40))
    for k in range(20):
        image = np.clip(150 + rng.normal(0, 4, (40, 40, 3)), 0, 255)
        y, x, half = *rng.integers(14, 26, 2), rng.integers(6, 10)
        kind = "red" if k % 2 else "blue"
        square = np.maximum(abs(down - y), abs(across - x)) < half
        image[square if k % 2 else np.hypot(down - y, across - x) < half] = (190, 40, 30) if k % 2 else (30, 50, 180)
        (folder / kind).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image.astype(np.uint8)).save(folder / kind / f"{k:02}.png")
    return folder
