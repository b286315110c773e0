"""What a user of `corrupt` may rely on: shapes, draws, errors."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import Parallel, delayed
from PIL import Image

from memclf.exceptions import ImageError, MissingExtraError
from memclf.vision.corruptions import CORRUPTIONS, PRESETS, REGISTRY, SEVERITIES, check, corrupt, textures


def image(seed=0, shape=(48, 60, 3)):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: shape[0], : shape[1]]
    smooth = 128 + 60 * np.sin(x / 9 + seed) + 50 * np.cos(y / 7)
    smooth = smooth if len(shape) == 2 else smooth[..., None] + 20 * np.arange(3)
    return np.clip(smooth + rng.normal(0, 8, shape), 0, 255).astype(np.uint8)


RANDOM = [name for name, corruption in REGISTRY.items() if corruption.random]
FIXED = [name for name, corruption in REGISTRY.items() if not corruption.random]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", CORRUPTIONS)
def test_every_severity_of_every_preset_gives_an_image_of_the_same_shape(name, preset):
    for severity in SEVERITIES:
        for shape in ((32, 32, 3), (37, 64)):
            result = corrupt(image(shape=shape), name, severity, preset=preset)
            assert result.shape == shape
            assert result.dtype == np.uint8


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(CORRUPTIONS),
    severity=st.sampled_from(SEVERITIES),
    height=st.integers(32, 90),
    width=st.integers(32, 90),
    grey=st.booleans(),
    level=st.sampled_from([None, 0, 255]),
)
def test_any_image_keeps_its_shape_and_is_itself_not_changed(name, severity, height, width, grey, level):
    shape = (height, width) if grey else (height, width, 3)
    before = image(shape=shape) if level is None else np.full(shape, level, dtype=np.uint8)
    kept = before.copy()
    before.setflags(write=False)
    result = corrupt(before, name, severity)
    assert result.shape == shape
    assert result.dtype == np.uint8
    assert not np.shares_memory(result, before)
    np.testing.assert_array_equal(before, kept)


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_view_is_corrupted_like_its_copy(name):
    view = image(shape=(60, 96, 3))[::-1, ::2]
    np.testing.assert_array_equal(corrupt(view, name, 3), corrupt(view.copy(), name, 3))


CASES = [(name, number) for name in CORRUPTIONS for number in (0, 1)]


def everything(cases):
    return {case: corrupt(image(case[1]), case[0], 4, seed=7, key=f"k{case[1]}") for case in cases}


def test_results_depend_neither_on_the_order_nor_on_threads_nor_on_processes():
    wanted = everything(CASES)
    found = [everything(CASES[::-1])]
    work = (delayed(corrupt)(image(number), name, 4, seed=7, key=f"k{number}") for name, number in CASES)
    found.append(dict(zip(CASES, Parallel(n_jobs=2)(work), strict=True)))
    with ThreadPoolExecutor(2) as pool:
        found += pool.map(everything, (CASES, CASES[::-1]))
    assert len(found) == 4
    for results in found:
        for case in CASES:
            np.testing.assert_array_equal(results[case], wanted[case], err_msg=str(case))


@pytest.mark.parametrize("name", RANDOM)
def test_another_seed_or_key_gives_another_draw(name):
    # frost draws from few photographs and places, all the others from a continuum
    seen = {corrupt(image(), name, 3, seed=seed, key=key).tobytes() for seed in (0, 1) for key in ("a", "b", 3, b"c")}
    assert len(seen) == 8


@pytest.mark.parametrize("name", FIXED)
def test_what_is_not_random_does_not_look_at_seed_and_key(name):
    np.testing.assert_array_equal(corrupt(image(), name, 3), corrupt(image(), name, 3, seed=5, key="b"))


def test_without_a_key_the_pixels_are_the_key():
    first, second = image(0), image(1)
    grey = np.full((40, 40, 3), 128, dtype=np.uint8)
    nearly = grey.copy()
    nearly[0, 0, 0] = 129
    np.testing.assert_array_equal(corrupt(first, "fog", 2), corrupt(first.copy(), "fog", 2))
    assert not np.array_equal(corrupt(grey, "impulse_noise", 5)[1:], corrupt(nearly, "impulse_noise", 5)[1:])
    assert not np.array_equal(corrupt(first, "fog", 2), corrupt(second, "fog", 2))


def test_draws_differ_between_severities():
    grey = np.full((64, 64, 3), 128, dtype=np.uint8)
    strong, weak = (corrupt(grey, "gaussian_noise", severity, key="a").astype(int) - 128 for severity in (2, 1))
    assert abs(np.corrcoef(strong.ravel(), weak.ravel())[0, 1]) < 0.05


@pytest.mark.parametrize(
    ("name", "digest"),
    [("gaussian_noise", "94777c9942ae6760"), ("impulse_noise", "a4d9a752449b5b44")],
)
def test_draws_stay_the_same_from_version_to_version(name, digest):
    """Whole-number corruptions, so that no processor may differ. If this must change, raise RESULTS in folder.py."""
    ramp = np.tile(np.arange(256, dtype=np.uint8), (32, 1))
    assert hashlib.sha256(corrupt(ramp, name, 3, seed=1, key="leaf/900.jpg")).hexdigest()[:16] == digest


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gausian_noise", "gaussian_noise"),
        ("Gaussian Noise", "gaussian_noise"),
        ("jpeg", "jpeg_compression"),
        ("elastic", "elastic_transform"),
    ],
)
def test_a_wrong_name_gets_a_hint(name, hint):
    with pytest.raises(ValueError, match=f"there is no corruption '{name}'. Did you mean '{hint}'\\? There are: gaus"):
        corrupt(image(), name, 1)


@pytest.mark.parametrize("severity", [0, 6, -1, 2.5, "3", True, None])
def test_severities_are_whole_numbers_from_1_to_5(severity):
    with pytest.raises(ValueError, match=f"severity must be 1, 2, 3, 4 or 5, got {severity!r}"):
        corrupt(image(), "fog", severity)


def test_whole_numbers_of_numpy_are_severities():
    assert check("fog", np.int64(3)) == 3


def test_wrong_presets_and_keys_are_named():
    with pytest.raises(ValueError, match="there is no preset 'cifar32'. Did you mean 'cifar-32'"):
        corrupt(image(), "fog", 1, preset="cifar32")
    with pytest.raises(TypeError, match="key must be a string, a whole number, bytes or None, got 1.5"):
        corrupt(image(), "fog", 1, key=1.5)
    with pytest.raises(TypeError, match="seed must be a whole number, got None"):
        corrupt(image(), "fog", 1, seed=None)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.zeros((64, 64, 3)), "array of uint8 from 0 to 255, got float64"),
        ("leaf.jpg", r"must be an array; read the file first: read_image\('leaf.jpg'\)"),
        (np.zeros((64, 64, 4), dtype=np.uint8), r"h x w x 3 \(RGB\) or h x w \(grey\), got shape \(64, 64, 4\)"),
        (np.zeros((2, 64, 64, 3), dtype=np.uint8), r"got shape \(2, 64, 64, 3\)"),
        (np.zeros((31, 64, 3), dtype=np.uint8), r"at least 32 pixels a side, got shape \(31, 64, 3\). Enlarge it, or"),
    ],
)
def test_what_is_no_image_is_refused(wrong, message):
    with pytest.raises(ImageError, match=message):
        corrupt(wrong, "fog", 1)


def test_frost_of_a_folder_of_ones_own(tmp_path):
    Image.new("RGB", (50, 40), (0, 0, 200)).save(tmp_path / "ice.png")
    (tmp_path / "notes.txt").write_text("no image")
    frosted = corrupt(np.zeros((64, 48, 3), dtype=np.uint8), "frost", 1, texture_dir=tmp_path)
    np.testing.assert_array_equal(frosted, np.broadcast_to(np.array([0, 0, 80], dtype=np.uint8), (64, 48, 3)))


def test_of_the_six_files_of_imagenet_c_the_last_is_not_drawn(tmp_path):
    for number in range(1, 7):
        Image.new("RGB", (8, 8)).save(tmp_path / f"frost{number}.png")
    files, chances = textures.texture_files(tmp_path)
    assert [file.stem for file in files] == ["frost1", "frost2", "frost3", "frost4", "frost5"]
    assert chances == [0.2] * 5
    assert sum(textures.PACKAGE_CHANCES.values()) == pytest.approx(1)


def test_missing_photographs_of_frost_are_errors_that_say_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(ImageError, match="there is no folder .*nowhere"):
        corrupt(image(), "frost", 1, texture_dir=tmp_path / "nowhere")
    with pytest.raises(ImageError, match="holds no images"):
        corrupt(image(), "frost", 1, texture_dir=tmp_path)
    monkeypatch.setattr(textures, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="memclf\\[corruptions\\].*texture_dir"):
        corrupt(image(), "frost", 1)


def test_frost_of_an_image_larger_than_every_photograph():
    assert corrupt(np.zeros((700, 1100, 3), dtype=np.uint8), "frost", 3, preset="authors-299").any()
    assert corrupt(np.zeros((40, 2600), dtype=np.uint8), "frost", 3).any()
