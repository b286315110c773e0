"""Drawing skin with lesions. All lengths are in pixels of a photograph 512 wide."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memclf._numbers import Array
from memclf.studies.generated._common import field, opencv, planes, strips

LENGTH = 512
NARROWEST, WIDEST = 0.45, 1.7  # how near an outline may come to the middle, and how far it may go, in radii
TONES = np.array(
    [(240, 204, 184), (232, 184, 156), (216, 164, 132), (190, 136, 104), (158, 108, 80), (128, 85, 63), (102, 68, 52)]
)  # from light to dark
HARMONICS = np.array([2, 3, 5])


class Kind(NamedTuple):
    """How the lesions of one class look; they overlap with those of the next."""

    radius: float  # median
    spread: float  # of the radius's logarithm
    red: tuple[float, float]  # how far the skin turns red, mean and deviation
    dusk: tuple[float, float]  # light that is lost, mean and deviation
    height: float  # how much of a dome it is
    soft: float  # width of the edge, as a share of the radius
    glare: float  # how often a lesion shines
    centre: tuple[str, ...]  # what is in its middle, one of these


KINDS = {
    "comedone": Kind(6.6, 0.28, (0.25, 0.16), (0.02, 0.05), 0.5, 0.3, 0.12, ("black", "black", "white")),
    "papule_pustule": Kind(9.8, 0.30, (0.62, 0.2), (-0.01, 0.05), 0.9, 0.35, 0.5, ("", "", "pus")),
    "nodule": Kind(15.5, 0.28, (0.66, 0.2), (0.1, 0.06), 0.7, 0.5, 0.3, ("", "", "", "pus")),
}


class Lesion(NamedTuple):
    """One lesion: where it is, its outline, and how it looks."""

    label: str
    x: float
    y: float
    radius: float
    waves: Array  # strength and phase of the outline's waves
    red: float
    dusk: float
    centre: str
    glare: float  # size of the highlight as a share of the radius; 0 for none


def draw_lesion(rng: np.random.Generator, label: str, size: int) -> Lesion:
    """A lesion of a class, somewhere on the photograph."""
    kind = KINDS[label]
    x, y = rng.uniform(0.07, 0.93, 2) * size
    waves = np.stack([rng.normal(0, 0.25, len(HARMONICS)) / HARMONICS**1.4, rng.uniform(0, 2 * np.pi, len(HARMONICS))])
    radius = kind.radius * np.exp(rng.normal(0, kind.spread)) * size / LENGTH
    return Lesion(
        label,
        float(x),
        float(y),
        radius=max(2.0, float(radius)),  # so that every outline holds a pixel
        waves=waves,
        red=float(np.clip(rng.normal(*kind.red), 0.02, 1)),
        dusk=float(rng.normal(*kind.dusk)),
        centre=str(rng.choice(kind.centre)),
        glare=float(rng.uniform(0.12, 0.26)) if rng.random() < kind.glare else 0.0,
    )


class Window(NamedTuple):
    """The pixels around a lesion, seen from its middle."""

    place: tuple[slice, slice]
    across: Array  # from the middle, in radii
    down: Array
    outward: Array  # distance from the middle, 1 on the outline


def window(lesion: Lesion, size: int, reach: float) -> Window:
    """The pixels up to so many radii away from a lesion's middle."""
    far = reach * lesion.radius + 1
    x0, x1 = max(0, int(lesion.x - far)), min(size, int(lesion.x + far) + 2)
    y0, y1 = max(0, int(lesion.y - far)), min(size, int(lesion.y + far) + 2)
    across = ((np.arange(x0, x1) - lesion.x) / lesion.radius).astype(np.float32)
    down = ((np.arange(y0, y1) - lesion.y) / lesion.radius).astype(np.float32)[:, None]
    angle = np.arctan2(down, across)
    outline = np.ones_like(angle)
    for harmonic, strength, phase in zip(HARMONICS, *lesion.waves, strict=True):
        outline += np.float32(strength) * np.cos(np.float32(harmonic) * angle + np.float32(phase))
    outward = np.sqrt(across**2 + down**2) / np.clip(outline, NARROWEST, WIDEST)
    return Window((slice(y0, y1), slice(x0, x1)), across, down, outward)


def draw_photograph(rng: np.random.Generator, size: int, lesions: list[Lesion]) -> Array:
    """Skin from near by, with its lesions, as a camera sees it."""
    cv2 = opencv()
    place = rng.uniform(0, len(TONES) - 1)
    light, dark = TONES[int(place)], TONES[min(int(place) + 1, len(TONES) - 1)]
    tone = (light + (place % 1) * (dark - light)) * (1 + rng.normal(0, 0.015, 3))
    toward = rng.uniform(0, 2 * np.pi)  # where the light comes from
    sun = np.array([np.cos(toward), np.sin(toward)], dtype=np.float32)
    picture = _skin(rng, size, tone)
    for lesion in lesions:
        _redden(rng, picture, lesion, size)
    for lesion in lesions:
        _raise(rng, picture, lesion, size, sun)

    across = np.linspace(-0.5, 0.5, size, dtype=np.float32)
    strength, bent = rng.uniform(0.05, 0.4), rng.uniform(0.0, 0.55)  # light falls off, and the cheek turns away
    shade = 1 + np.float32(strength) * (across * sun[0] + (across * sun[1])[:, None])
    off = rng.uniform(-0.15, 0.15, 2).astype(np.float32)
    shade -= np.float32(bent) * ((across - off[0]) ** 2 + ((across - off[1]) ** 2)[:, None])
    shade *= np.float32(rng.uniform(0.9, 1.08))
    balance = planes(1 + rng.normal(0, 0.012, 3))
    grain = rng.standard_normal((size, size), dtype=np.float32) * np.float32(rng.uniform(1.0, 2.8))
    for lesion in lesions:  # a highlight is the lamp's, however dark the skin is
        _shine(rng, picture, shade, lesion, size, sun)
    seen = np.empty((size, size, 3), dtype=np.uint8)
    for rows in strips(size):
        part = picture[:, rows]
        part *= shade[rows]
        part *= balance
        part += grain[rows]
        np.clip(part, 0, 255, out=part)
        seen[rows] = cv2.merge(list(part.astype(np.uint8)))
    return seen


def _skin(rng: np.random.Generator, size: int, tone: Array) -> Array:
    """Skin without lesions: blotches, fine lines, pores, a little shine, sometimes moles."""
    scale = size / LENGTH
    blotchy = field(rng, size, size, 60 * scale) + np.float32(0.7) * field(rng, size, size, 14 * scale)
    blotchy *= np.float32(rng.uniform(0.01, 0.035))
    lines, pores = _texture(rng, size, scale)
    uneven = field(rng, size, size, 110 * scale)
    oil = np.clip(uneven + np.float32(0.2), 0, 1.5) * np.float32(rng.uniform(0, 11))
    plain = 1 + uneven * np.float32(rng.uniform(0.005, 0.025))
    plain += lines * np.float32(rng.uniform(0.012, 0.035))
    plain -= pores * np.float32(rng.uniform(0.05, 0.16))
    picture = planes(tone) * plain
    picture += planes(np.array([0.2, -0.7, -0.7]) * tone) * blotchy
    picture += oil * (1 + np.float32(0.4) * lines)
    for _ in range(rng.poisson(rng.choice([0, 0, 2, 8]))):
        x, y = rng.uniform(0, size, 2)
        radius, depth = rng.uniform(1.0, 2.6) * scale, rng.uniform(0.15, 0.5)
        mole = Lesion("", float(x), float(y), float(radius), np.zeros((2, len(HARMONICS))), 0, 0, "", 0)
        near = window(mole, size, 2)
        brown = np.clip(np.float32(1.5) - near.outward, 0, 1) * np.float32(depth)
        picture[(slice(None), *near.place)] *= 1 - planes(np.array([0.8, 1, 1])) * brown
    return picture


def _texture(rng: np.random.Generator, size: int, scale: float) -> tuple[Array, Array]:
    """Fine lines about 0, and pores from 0 to 1, the same in all directions."""
    cv2 = opencv()
    noise = rng.standard_normal((size, size), dtype=np.float32)
    sigmas = np.array([1.1, 2.0, 3.4]) * scale
    blurred = [cv2.GaussianBlur(noise, (0, 0), sigma) for sigma in sigmas]
    lines, dots = blurred[0] - blurred[1], blurred[1] - blurred[2]
    lines /= lines.std()
    dots /= dots.std()
    return np.abs(dots) * np.float32(0.8) + lines * np.float32(0.5) - np.float32(0.64), np.clip(dots - 2, 0, 1)


def _redden(rng: np.random.Generator, picture: Array, lesion: Lesion, size: int) -> None:
    """The skin of a lesion, and around it, is redder and darker or lighter."""
    near = window(lesion, size, 2.6)
    soft = np.float32(KINDS[lesion.label].soft)
    inside = np.clip((1 + soft - near.outward) / (2 * soft), 0, 1)
    around = np.exp(-np.maximum(near.outward - 1, 0) * np.float32(2.2)) * np.clip(2.6 - near.outward, 0, 1)
    red = np.float32(lesion.red) * (np.float32(0.75) * inside + np.float32(0.25) * around)
    part = picture[(slice(None), *near.place)]
    red *= 1 + np.float32(0.12) * field(rng, len(red), red.shape[1], 4 * size / LENGTH)
    part *= 1 + planes(np.array([0.1, -0.42, -0.36])) * red
    part *= 1 - np.float32(lesion.dusk) * inside


def _raise(rng: np.random.Generator, picture: Array, lesion: Lesion, size: int, sun: Array) -> None:
    """A lesion is a dome, lit from one side, and something may be in its middle."""
    near = window(lesion, size, 1.6)
    part = picture[(slice(None), *near.place)]
    dome = np.clip(np.float32(1.15) - near.outward, 0, 1)
    slope = (near.across * sun[0] + near.down * sun[1]) * dome
    part *= 1 + slope * np.float32(0.3 * KINDS[lesion.label].height)
    if lesion.centre == "":
        return
    filled = {"black": 0.55, "white": 0.75, "pus": rng.uniform(0.35, 0.55)}[lesion.centre]
    amount = np.clip((np.float32(filled) - near.outward) * np.float32(4) + np.float32(0.5), 0, 1)
    amount *= np.float32(rng.uniform(0.35, 0.75))
    own = part.reshape(3, -1).mean(axis=1)
    colours = {
        "black": own * (0.42, 0.36, 0.34),
        "white": own * 0.5 + (122, 115, 104),
        "pus": own * 0.35 + (155, 142, 95),
    }
    part += amount * (planes(colours[lesion.centre]) - part)


def _shine(rng: np.random.Generator, picture: Array, shade: Array, lesion: Lesion, size: int, sun: Array) -> None:
    """Highlights on the side of the light, broader than high as seen from there."""
    if not lesion.glare:
        return
    near = window(lesion, size, 1.2)
    part = picture[(slice(None), *near.place)]
    for share in (1.0, *rng.uniform(0.3, 0.6, rng.integers(0, 3))):
        x, y = np.float32(0.32) * sun + rng.normal(0, 0.3 * (1 - share), 2).astype(np.float32)
        along = (near.across - x) * sun[0] + (near.down - y) * sun[1]
        aside = (near.down - y) * sun[0] - (near.across - x) * sun[1]
        distance = np.hypot(along * np.float32(1.3), aside * np.float32(0.75))
        amount = np.clip(np.float32(1.6) - distance * np.float32(1.1 / (lesion.glare * share)), 0, 1)
        part += amount * (np.float32(272) / shade[near.place] - part)
