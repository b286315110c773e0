"""Mild perturbations: no corruptions, repeatable, and mild."""

import numpy as np
import pytest

from memclf.vision import CORRUPTIONS
from memclf.vision.perturbations import PERTURBATIONS, perturb

FORBIDDEN = (
    *("noise", "blur", "snow", "frost", "fog", "bright"),
    *("contrast", "elastic", "pixel", "jpeg", "spatter", "satur"),
)
PICTURES = np.random.default_rng(0).integers(0, 256, (6, 12, 12, 3), dtype=np.uint8).repeat(4, 1).repeat(4, 2)


def test_perturbations__names__are_no_corruptions():
    assert not set(PERTURBATIONS) & set(CORRUPTIONS)
    assert not [name for name in PERTURBATIONS for word in FORBIDDEN if word in name]


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_perturbations__every_kind__changes_an_image_mildly(name):
    for number, image in enumerate(PICTURES):
        x = image.astype(np.float32) / 255
        changed = PERTURBATIONS[name](x, np.random.default_rng(number), 0.6)
        assert changed.shape == x.shape
        assert not np.array_equal(changed, x)
        assert 255 * np.abs(np.clip(changed, 0, 1) - x).mean() < 45


def test_perturb__same_seed_and_key__gives_the_same_image():
    made = set()
    for number in range(20):
        changed = perturb(PICTURES[0], seed=number, key="one")
        assert changed.dtype == np.uint8
        np.testing.assert_array_equal(changed, perturb(PICTURES[0], seed=number, key="one"))
        made.add(changed.tobytes())
    assert len(made) > 10
