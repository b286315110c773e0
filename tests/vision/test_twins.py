"""Near-duplicates: pictures that show nearly the same."""

import cv2
import numpy as np

from memclf.vision.twins import group_twins, look_hash


def scene(seed):
    """Soft shapes that a hash can tell apart."""
    noise = np.random.default_rng(seed).integers(0, 256, (12, 12, 3), dtype=np.uint8)
    return cv2.resize(noise, (120, 90), interpolation=cv2.INTER_CUBIC)


def test_another_size_format_or_light_is_a_twin():
    image = scene(0)
    small = cv2.resize(image, (60, 45), interpolation=cv2.INTER_AREA)
    light = np.clip(image * 0.9 + 20, 0, 255).astype(np.uint8)
    jpeg = cv2.imdecode(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 60])[1], cv2.IMREAD_COLOR)
    others = [scene(seed) for seed in range(1, 30)]
    hashes = [look_hash(each) for each in [image, small, light, jpeg, *others]]
    assert group_twins(hashes) == [[0, 1, 2, 3]]


def test_pictures_without_shapes_are_no_twins():
    hashes = [look_hash(np.full((40, 40, 3), value, dtype=np.uint8)) for value in (10, 90, 200)]
    assert group_twins(hashes) == []


def test_no_pictures_have_no_twins():
    assert group_twins([]) == []
