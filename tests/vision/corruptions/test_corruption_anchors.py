"""What follows from the definitions without computing much."""

import numpy as np
import pytest

from memclf.vision.corruptions import SEVERITIES, corrupt, weather
from memclf.vision.corruptions.table import parameters

GREY = np.full((224, 224, 3), 128, dtype=np.uint8)
N = GREY.size


def photograph(seed=0):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:120, :150]
    image = 128 + 70 * np.sin(x / 11)[..., None] * np.cos(y[..., None] / 13 + np.arange(3))
    image[30:60, 40:90] = (220, 60, 30)
    return np.clip(image + rng.normal(0, 15, image.shape), 0, 255).astype(np.uint8)


def value(name, severity, parameter):
    return parameters("imagenet-c", name, severity)[parameter]


@pytest.mark.parametrize("severity", [1, 2])  # beyond, clipping bites
def test_gaussian_noise_has_the_given_spread(severity):
    change = (corrupt(GREY, "gaussian_noise", severity).astype(float) + 0.5 - 128) / 255
    std = value("gaussian_noise", severity, "std")
    assert change.std() == pytest.approx(std, rel=0.01)
    assert abs(change.mean()) < 5 * std / np.sqrt(N)


@pytest.mark.parametrize("severity", [1, 2])
def test_speckle_noise_grows_with_the_value(severity):
    dark = np.full_like(GREY, 64)
    std = value("speckle_noise", severity, "std")
    for level, image in ((128, GREY), (64, dark)):
        change = (corrupt(image, "speckle_noise", severity).astype(float) + 0.5 - level) / 255
        assert change.std() == pytest.approx(std * level / 255, rel=0.02)
    assert not corrupt(np.zeros_like(GREY), "speckle_noise", severity).any()


@pytest.mark.parametrize("severity", [1, 2])
def test_shot_noise_has_the_variance_of_counted_photons(severity):
    photons = value("shot_noise", severity, "photons")
    change = (corrupt(GREY, "shot_noise", severity).astype(float) + 0.5 - 128) / 255
    assert change.var() == pytest.approx(128 / 255 / photons, rel=0.02)
    assert not corrupt(np.zeros_like(GREY), "shot_noise", severity).any()


@pytest.mark.parametrize("severity", SEVERITIES)
def test_impulse_noise_changes_its_share_of_values_half_to_black_and_half_to_white(severity):
    noisy, amount = corrupt(GREY, "impulse_noise", severity), value("impulse_noise", severity, "amount")
    error = 5 * np.sqrt(amount / N)
    assert (noisy == 0).mean() == pytest.approx(amount / 2, abs=error)
    assert (noisy == 255).mean() == pytest.approx(amount / 2, abs=error)
    assert ((noisy == 128) | (noisy == 0) | (noisy == 255)).all()
    channels = noisy != 128
    both = (channels[..., 0] & channels[..., 1]).mean()
    assert both == pytest.approx(amount**2, abs=5 * amount / 224)  # every channel on its own


@pytest.mark.parametrize("severity", SEVERITIES)
def test_contrast_keeps_the_means_of_channels_and_scales_their_spread(severity):
    image = photograph()
    result = corrupt(image, "contrast", severity)
    np.testing.assert_allclose(result.mean(axis=(0, 1)) + 0.5, image.mean(axis=(0, 1)), atol=0.5)
    wanted = image.std(axis=(0, 1)) * value("contrast", severity, "factor")
    np.testing.assert_allclose(result.std(axis=(0, 1)), wanted, atol=0.4)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_brightness_of_grey_adds_the_offset_and_stays_grey(severity):
    wanted = min(255, int(128 + 255 * value("brightness", severity, "offset")))
    assert (corrupt(GREY, "brightness", severity) == wanted).all()
    assert (corrupt(GREY[..., 0], "brightness", severity) == wanted).all()


@pytest.mark.parametrize("severity", [1, 2, 3])
def test_weak_saturation_keeps_grey(severity):
    np.testing.assert_array_equal(corrupt(GREY, "saturate", severity), GREY)


@pytest.mark.parametrize(("severity", "rest"), [(4, 115), (5, 102)])
def test_strong_saturation_turns_grey_red_but_black_stays_black(severity, rest):
    assert (corrupt(GREY, "saturate", severity) == (128, rest, rest)).all()
    assert not corrupt(np.zeros_like(GREY), "saturate", severity).any()


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize(
    "name",
    [
        "pixelate",
        "jpeg_compression",
        "gaussian_blur",
        "glass_blur",
        "motion_blur",
        "zoom_blur",
        "elastic_transform",
        "contrast",
    ],
)
def test_a_constant_image_stays_constant(name, severity):
    np.testing.assert_array_equal(corrupt(GREY, name, severity), GREY)


@pytest.mark.parametrize(("severity", "level"), [(1, 128), (2, 128), (3, 128), (4, 129), (5, 129)])
def test_strong_defocus_brightens_slightly(severity, level):
    assert (corrupt(GREY, "defocus_blur", severity) == level).all()


def test_fog_leaves_black_black():
    for severity in SEVERITIES:
        assert not corrupt(np.zeros_like(GREY), "fog", severity).any()


def test_mud_is_brown_and_water_pale_blue():
    muddy = corrupt(GREY, "spatter", 5).astype(int)
    assert (muddy == (63, 42, 20)).all(axis=2).mean() > 0.001
    water = corrupt(GREY, "spatter", 2).astype(int) - 128
    assert (water >= 0).all()
    assert (water[..., 0] <= water[..., 1]).all()
    np.testing.assert_array_equal(water[..., 1], water[..., 2])


def test_spatter_without_any_drop_leaves_the_image_as_it_is():
    rng = np.random.default_rng(0)
    dry = {"loc": 0.0, "scale": 0.1, "sigma": 2, "threshold": 0.9, "strength": 0.6}
    for mud in (0, 1):
        np.testing.assert_array_equal(weather.spatter(photograph(), rng, **dry, mud=mud), photograph())


def test_snow_and_frost_whiten():
    for name in ("snow", "frost"):
        assert corrupt(photograph(), name, 5).mean() > photograph().mean()


@pytest.mark.parametrize(
    "name",
    [
        "gaussian_noise",
        "shot_noise",
        "impulse_noise",
        "speckle_noise",
        "gaussian_blur",
        "defocus_blur",
        "jpeg_compression",
        "pixelate",
        "contrast",
        "brightness",
    ],
)
def test_severities_are_in_order_of_their_squared_error(name):
    image = photograph().astype(float)
    errors = [((corrupt(photograph(), name, severity) - image) ** 2).mean() for severity in SEVERITIES]
    assert errors == sorted(errors)
    assert len(set(errors)) == 5


def test_grey_images_get_the_grey_values_of_what_is_coloured():
    grey = photograph()[..., 0]
    for name in ("frost", "spatter", "snow", "fog"):
        coloured = corrupt(np.repeat(grey[..., None], 3, axis=2), name, 4, key="same").astype(float)
        plain = corrupt(grey, name, 4, key="same")
        assert np.abs(coloured @ [0.299, 0.587, 0.114] - plain).mean() < 1  # some are clipped in one channel only
    np.testing.assert_array_equal(corrupt(grey, "saturate", 5), grey)
