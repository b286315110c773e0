"""Fast code beside slow, straightforward definitions that share nothing with it."""

import colorsys
import io

import cv2
import numpy as np
import pytest
from PIL import Image
from scipy import ndimage, stats

from memclf.vision import draws
from memclf.vision.corruptions import corrupt, noise
from memclf.vision.corruptions.blur import _draw_sources, disk
from memclf.vision.corruptions.digital import _smooth
from memclf.vision.corruptions.motion import motion, steps
from memclf.vision.corruptions.plasma import START, plasma
from memclf.vision.corruptions.table import parameters

SEVERITIES = (1, 2, 3, 4, 5)


def photograph():
    """Edges, gradients, flat regions and texture, without a file."""
    height, width = 61, 90
    y, x = np.mgrid[:height, :width]
    image = np.stack([x * 255 / width, y * 255 / height, 127 + 120 * np.sin(x / 5) * np.cos(y / 7)], axis=2)
    image[10:30, 20:50] = (250, 20, 90)
    image[35:50, 5:25] = 128
    image[40:60, 60:80] += np.random.default_rng(0).normal(0, 40, (20, 20, 1))
    return np.clip(image, 0, 255).astype(np.uint8)


# OpenCV 4 turns and zooms by steps of 1/32 pixel, which moves the edges of things.
COARSE = int(cv2.__version__.split(".")[0]) < 5


def close(image, exact, share=0.999, mean=0.2):
    """Within one grey level almost everywhere, after clipping and truncating as the reference does."""
    wanted = np.clip(exact, 0, 255).astype(np.uint8).astype(int)
    away = np.abs(image.astype(int) - wanted)
    return (away <= 1).mean() >= share and away.mean() < mean


@pytest.mark.parametrize("severity", SEVERITIES)
def test_gaussian_blur_is_that_of_scipy(severity):
    image, sigma = photograph(), parameters("imagenet-c", "gaussian_blur", severity)["sigma"]
    exact = ndimage.gaussian_filter(image.astype(float), (sigma, sigma, 0), mode="nearest", truncate=4)
    assert close(corrupt(image, "gaussian_blur", severity), exact, share=1)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_defocus_is_a_correlation_with_the_disk(severity):
    image, row = photograph(), parameters("imagenet-c", "defocus_blur", severity)
    kernel = disk(row["radius"], row["alias_sigma"])
    exact = ndimage.correlate(image.astype(float), kernel[..., None].astype(float), mode="mirror")
    assert close(corrupt(image, "defocus_blur", severity), exact, share=1)


@pytest.mark.parametrize(
    ("radius", "alias_sigma", "total"),
    [(3, 0.1, 1), (6, 0.5, 1), (7, 0.5, 1.003), (8, 0.5, 1.013), (10, 0.5, 1.011), (12, 0.5, 1.008)],
)
def test_the_disk_is_not_renormalised_after_its_smoothing(radius, alias_sigma, total):
    assert disk(radius, alias_sigma).sum() == pytest.approx(total, abs=6e-4)


@pytest.mark.parametrize("angle", [-45, -33.3, 0, 10, 45, -90, -135, -60])
@pytest.mark.parametrize(("radius", "sigma"), [(10, 3), (20, 15)])
def test_motion_is_a_weighted_sum_of_shifted_images(angle, radius, sigma):
    image = photograph()[:, :, 1].astype(np.float32)
    height, width = image.shape
    weights = np.exp(-(np.arange(2 * radius + 1) ** 2) / (2 * sigma**2))
    weights /= weights.sum()
    exact = np.zeros(image.shape)
    for i, weight in enumerate(weights):
        down = int(np.ceil(i * np.sin(np.deg2rad(angle)) - 0.5))
        right = int(np.ceil(i * np.cos(np.deg2rad(angle)) - 0.5))
        rows = np.clip(np.arange(height) + down, 0, height - 1)
        columns = np.clip(np.arange(width) + right, 0, width - 1)
        exact += weight * image[np.ix_(rows, columns)]
    np.testing.assert_allclose(motion(image, radius, sigma, angle), exact, atol=2e-3)


def test_motion_stops_at_the_border_of_a_small_image():
    assert len(steps(20, 15, 0.0, (32, 32))) == 32
    assert sum(weight for _, _, weight in steps(20, 15, 0.0, (32, 32))) < 1
    assert len(steps(20, 15, 0.0, (64, 64))) == 41


@pytest.mark.parametrize("severity", SEVERITIES)
def test_zoom_blur_is_the_mean_of_scipys_zooms(severity):
    image = photograph()
    values, total = image.astype(np.float64), image.astype(np.float64)
    factors = parameters("imagenet-c", "zoom_blur", severity)["factors"]
    height, width = image.shape[:2]
    for factor in factors:
        tall, wide = int(np.ceil(height / factor)), int(np.ceil(width / factor))
        top, left = (height - tall) // 2, (width - wide) // 2
        middle = values[top : top + tall, left : left + wide]
        total = total + ndimage.zoom(middle, (factor, factor, 1), order=1)[:height, :width]
    # OpenCV before 5 places samples on a grid of 1/32 pixel, which shows at the sharpest edges
    assert close(corrupt(image, "zoom_blur", severity), total / (len(factors) + 1), share=0.98)


def test_zoom_factors_keep_the_extra_value_of_the_float_range():
    counts = [len(parameters("imagenet-c", "zoom_blur", severity)["factors"]) for severity in SEVERITIES]
    assert counts == [12, 16, 11, 13, 11]


def slow_plasma(side, decay, noise_of):
    """Point by point, on a torus."""
    grid = np.zeros((side, side))
    step, rough = side, START
    while step >= 2:
        half, n = step // 2, side // step
        middle, top, left = noise_of(n)
        for i in range(n):
            for j in range(n):
                y, x = i * step, j * step
                corners = [grid[(y + a) % side, (x + b) % side] for a in (0, step) for b in (0, step)]
                grid[y + half, x + half] = np.mean(corners) + rough * rough * middle[i, j]
        for i in range(n):
            for j in range(n):
                y, x = i * step, j * step
                for (a, b), extra in (((y, x + half), top), ((y + half, x), left)):
                    around = [
                        grid[(a + dy) % side, (b + dx) % side]
                        for dy, dx in ((half, 0), (-half, 0), (0, half), (0, -half))
                    ]
                    grid[a, b] = np.mean(around) + rough * rough * extra[i, j]
        step, rough = half, rough / decay
    return (grid - grid.min()) / (grid.max() - grid.min())


@pytest.mark.parametrize("decay", [1.4, 2, 3])
def test_plasma_is_diamond_square_on_a_torus(decay):
    rng = draws.generator(0, "plasma", "fog", 1, np.zeros(1))
    fast = plasma(50, 64, decay, draws.generator(0, "plasma", "fog", 1, np.zeros(1)))
    exact = slow_plasma(64, decay, lambda n: [draws.signed_unit(rng, (n, n)) for _ in range(3)])
    np.testing.assert_allclose(fast, exact[:50], atol=1e-4)


def slow_glass(image, max_delta, down, right):
    """The reference, word for word in spirit: its pixels are views, so that its swap copies."""
    image, (height, width) = image.copy(), image.shape[:2]
    for i, h in enumerate(range(height - max_delta, max_delta, -1)):
        for j, w in enumerate(range(width - max_delta, max_delta, -1)):
            other = image[h + down[i, j], w + right[i, j]]
            mine = image[h, w]
            mine[:] = other
            other[:] = mine
    return image


@pytest.mark.parametrize("max_delta", [1, 2, 3, 4])
def test_glass_blur_finds_the_pixels_that_the_walk_would_copy(max_delta):
    image = photograph()[20:60, 10:47]
    height, width = image.shape[:2]
    size = (2, height - 2 * max_delta, width - 2 * max_delta)
    down, right = np.random.default_rng(3).integers(-max_delta, max_delta, size=size, dtype=np.int32)
    source = _draw_sources(height, width, max_delta, np.random.default_rng(3))
    fast = image.reshape(-1, 3)[source].reshape(image.shape)
    np.testing.assert_array_equal(fast, slow_glass(image, max_delta, down, right))


@pytest.mark.parametrize("severity", SEVERITIES)
def test_brightness_is_an_offset_of_v_in_hsv(severity):
    image, offset = photograph(), parameters("imagenet-c", "brightness", severity)["offset"]
    exact = in_hsv(image, lambda h, s, v: (h, s, min(v + offset, 1)))
    assert close(corrupt(image, "brightness", severity), exact, share=1)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_saturate_is_a_scale_and_an_offset_of_s_in_hsv(severity):
    image, row = photograph(), parameters("imagenet-c", "saturate", severity)
    exact = in_hsv(image, lambda h, s, v: (h, min(s * row["factor"] + row["offset"], 1), v))
    assert close(corrupt(image, "saturate", severity), exact, share=1)


def in_hsv(image, change):
    colours = image.reshape(-1, 3) / 255
    return 255 * np.array([colorsys.hsv_to_rgb(*change(*colorsys.rgb_to_hsv(*c))) for c in colours]).reshape(
        image.shape
    )


@pytest.mark.parametrize("severity", SEVERITIES)
def test_jpeg_compression_is_that_of_pillow(severity):
    image, quality = photograph(), parameters("imagenet-c", "jpeg_compression", severity)["quality"]
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "JPEG", quality=quality)
    assert close(corrupt(image, "jpeg_compression", severity), np.asarray(Image.open(stream)), share=0.99)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_pixelate_is_that_of_pillow(severity):
    image, scale = photograph(), parameters("imagenet-c", "pixelate", severity)["scale"]
    height, width = image.shape[:2]
    small = Image.fromarray(image).resize((int(width * scale), int(height * scale)), Image.Resampling.BOX)
    exact = np.asarray(small.resize((width, height), Image.Resampling.NEAREST))
    np.testing.assert_array_equal(corrupt(image, "pixelate", severity), exact)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_contrast_draws_channels_towards_their_means(severity):
    image, factor = photograph(), parameters("imagenet-c", "contrast", severity)["factor"]
    means = image.mean(axis=(0, 1))
    assert close(corrupt(image, "contrast", severity), (image - means) * factor + means, share=1)


@pytest.mark.parametrize("sigmas", [(2.24, 4.48), (14.0, 5.0), (60.0, 60.0)])
def test_elastic_smooth__kernel_longer_than_image__equals_scipy(sigmas):
    field = np.random.default_rng(1).uniform(-1, 1, (61, 90)).astype(np.float32)
    exact = ndimage.gaussian_filter(field.astype(float), sigmas, mode="reflect", truncate=3)
    np.testing.assert_allclose(_smooth(field, sigmas), exact, atol=1e-5)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_elastic_fetches_pixels_from_displaced_places(severity):
    image, row = photograph(), parameters("imagenet-c", "elastic_transform", severity)
    height, width = image.shape[:2]
    rng = draws.generator(0, "elastic", "elastic_transform", severity, image)
    fields = draws.signed_unit(rng, (2, height, width)) * row["noise_share"] * height
    sigmas = (row["sigma_share"] * height, row["sigma_share"] * width)
    right, down = (row["alpha"] * ndimage.gaussian_filter(f, sigmas, mode="reflect", truncate=3) for f in fields)
    y, x = np.mgrid[:height, :width]
    exact = [
        ndimage.map_coordinates(c, [y + down, x + right], order=1, mode="reflect") for c in image.T.swapaxes(1, 2) * 1.0
    ]
    assert close(corrupt(image, "elastic_transform", severity, key="elastic"), np.stack(exact, axis=2), share=0.98)


def test_spatter_of_water_follows_the_recipe():
    image, row = photograph(), parameters("imagenet-c", "spatter", 2)
    rng = draws.generator(0, "spatter", "spatter", 2, image)
    liquid = row["loc"] + row["scale"] * draws.normal(rng, image.shape[:2]).astype(float)
    liquid = ndimage.gaussian_filter(liquid, row["sigma"], mode="nearest", truncate=4)
    liquid = (np.where(liquid < row["threshold"], 0, liquid) * 255).astype(np.uint8)
    distance = np.minimum(cv2.distanceTransform(255 - cv2.Canny(liquid, 50, 150), cv2.DIST_L2, 5), 20)
    distance = cv2.equalizeHist(cv2.blur(distance, (3, 3)).astype(np.uint8)).astype(float)
    emboss = ndimage.correlate(distance, np.array([[-2.0, -1, 0], [-1, 1, 1], [0, 1, 2]]), mode="mirror")
    drops = liquid * cv2.blur(np.clip(emboss, 0, 255).astype(np.uint8), (3, 3)).astype(float)
    exact = image + row["strength"] * (drops / drops.max())[..., None] * np.array([175, 238, 238])
    assert close(corrupt(image, "spatter", 2, key="spatter"), exact, share=0.99)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_snow_whitens_and_adds_two_layers_of_flakes(severity):
    image, row = photograph(), parameters("imagenet-c", "snow", severity)
    height, width = image.shape[:2]
    rng = draws.generator(0, "snow", "snow", severity, image)
    shape = [int(np.ceil(side / row["zoom"])) for side in (height, width)]
    layer = ndimage.zoom(row["loc"] + row["scale"] * draws.normal(rng, shape).astype(float), row["zoom"], order=1)
    layer = np.clip(np.where(layer < row["threshold"], 0, layer), 0, 1).astype(np.float32)
    layer = np.round(255 * motion(layer, row["radius"], row["sigma"], rng.uniform(-135, -45)))[:height, :width, None]
    grey = (image @ [0.299, 0.587, 0.114])[..., None]
    white = np.maximum(image, 1.5 * grey + 127.5)
    exact = row["blend"] * image + (1 - row["blend"]) * white + layer + layer[::-1, ::-1]
    limits = {"share": 0.9, "mean": 0.6} if COARSE else {"share": 0.98}
    assert close(corrupt(image, "snow", severity, key="snow"), exact, **limits)


@pytest.mark.parametrize("photons", [3, 60, 500])
def test_chances_of_shot_noise_are_those_of_poisson(photons):
    chances, levels = noise.shot_chances(photons)
    counts = np.arange(20 * photons)
    outcome = (np.clip(counts / photons, 0, 1) * 255).astype(int)
    for grey in (0, 1, 77, 128, 255):
        exact = np.bincount(outcome, stats.poisson.pmf(counts, grey / 255 * photons), minlength=256)
        np.testing.assert_allclose(chances[grey], exact[levels], atol=1e-9)


@pytest.mark.parametrize("photons", [3, 12, 60, 250, 500])
def test_the_alias_table_draws_each_level_as_often_as_it_should(photons):
    alias = noise._poisson(photons)
    every = np.arange(65536, dtype=np.uint16)  # all that 16 bits can say, once each
    chances, levels = noise.shot_chances(photons)
    for grey in (0, 3, 128, 255):
        seen = np.bincount(alias.draw(np.full(65536, grey, dtype=np.uint8), every), minlength=256) / 65536
        exact = np.zeros(256)
        exact[levels] = chances[grey]
        assert np.abs(seen - exact).max() < 3 / 65536
        assert seen @ np.arange(256) == pytest.approx(exact @ np.arange(256), abs=0.02)
