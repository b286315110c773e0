"""Faithful: what comes out has the statistics of imagecorruptions 1.1.2 (tests/data/corruption_reference.csv).

The file holds, for 17 corruptions and 5 severities on three images, means over 8 draws and their spread. Gaussian and
glass blur are not in it; test_corruption_oracles.py compares those with their definitions.
"""

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from memclf.vision.corruptions import CORRUPTIONS, corrupt

DATA = Path(__file__).parents[2] / "data"
SHARED = Path(__file__).parents[3] / ".." / "shared" / "data"
STATISTICS = ("mean", "std", "rmse_vs_clean", "mean_abs_dx")
SPREADS = ("sd_mean", "sd_std", "sd_rmse", "sd_dx")
DRAWS = 8

# How many standard errors a mean over 8 draws may be away. The spreads are themselves estimated from 8 draws, so that
# z follows Student's t with 7 degrees of freedom, and there are about a thousand comparisons.
FACTOR = 6
# Grey levels that are allowed on top, for what is no chance: the default covers rounding in the file and in float32.
SLACK = {
    # Where a result is a whole number, float errors often put the reference a hair below, and it truncates to the
    # grey level before; memclf does not (see `to_bytes`). Flat regions show it, and V + 51 or 2 S of whole numbers.
    **dict.fromkeys(("defocus_blur", "motion_blur", "zoom_blur", "brightness", "contrast", "saturate"), 0.2),
    # Two of the four photographs of frost are JPEG copies of the PNG files of the reference.
    "frost": 0.5,
}
FLAT_SLACK = 1.001  # on the constant image that same truncation is a whole grey level


def reference():
    with open(DATA / "corruption_reference.csv", newline="") as stream:
        return list(csv.DictReader(stream))


def statistics(image, clean):
    values = image.astype(np.float64)
    gradient = np.abs(np.diff(values.mean(axis=2), axis=1)).mean()
    return [values.mean(), values.std(), np.sqrt(((values - clean) ** 2).mean()), gradient, *values.mean(axis=(0, 1))]


def disagreements(image, rows):
    for row in rows:
        name, severity = row["corruption"], int(row["severity"])
        random = float(row["sd_mean"]) > 0 or float(row["sd_rmse"]) > 0
        draws = [corrupt(image, name, severity, seed=seed, key="reference") for seed in range(DRAWS if random else 1)]
        seen = np.mean([statistics(drawn, image.astype(np.float64)) for drawn in draws], axis=0)
        slack = FLAT_SLACK if not image.std() and not random else SLACK.get(name, 0.03)
        for position, statistic in enumerate((*STATISTICS, "mean_r", "mean_g", "mean_b")):
            # channel means have no spread of their own in the file; three times that of the mean covers a channel's
            spread = float(row[SPREADS[position]]) if position < 4 else 3 * float(row["sd_mean"])
            allowed = FACTOR * spread * np.sqrt(1 / 8 + 1 / len(draws)) + slack
            wanted = float(row[statistic])
            if abs(seen[position] - wanted) > allowed:
                yield f"{name} {severity}: {statistic} is {seen[position]:.3f}, wanted {wanted} within {allowed:.3f}"


def check(image, image_name, name):
    rows = [row for row in reference() if row["image"] == image_name and row["corruption"] == name]
    assert len(rows) == 5
    assert not list(disagreements(image, rows))


IN_FILE = [name for name in CORRUPTIONS if name not in ("gaussian_blur", "glass_blur")]


def test_the_file_holds_what_is_compared():
    assert {row["corruption"] for row in reference()} == set(IN_FILE)
    assert len(reference()) == 3 * 5 * 17


@pytest.mark.parametrize("name", IN_FILE)
def test_statistics_on_the_astronaut_agree_with_the_reference(name):
    data = pytest.importorskip("skimage.data", reason="the astronaut comes with scikit-image")
    astronaut = Image.fromarray(data.astronaut()).resize((224, 224), Image.Resampling.BILINEAR)
    check(np.asarray(astronaut), "skimage.astronaut@224", name)


@pytest.mark.parametrize("name", IN_FILE)
def test_statistics_on_a_grey_image_agree_with_the_reference(name):
    check(np.full((224, 224, 3), 128, dtype=np.uint8), "gray128@224", name)


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_FILE)
def test_statistics_on_a_leaf_agree_with_the_reference(name):
    file = SHARED / "leaf" / "leaf" / "900.jpg"
    if not file.is_file():
        pytest.skip(f"{file} is not there")
    leaf = Image.open(file).convert("RGB").resize((448, 224), Image.Resampling.BILINEAR)
    check(np.asarray(leaf), "leaf900@448x224", name)
