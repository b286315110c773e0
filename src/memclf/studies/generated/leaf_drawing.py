"""Drawing a leaf: outline, veins, symptoms, light.

All lengths are in pixels of a picture 512 wide.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from memclf._numbers import Array
from memclf.studies.generated._common import field, opencv, planes, strips

LENGTH = 512
REACH = 3.0  # how far a halo is followed, in its widths
FAR = -80.0  # deeper outside of any symptom than any halo reaches


class Kind(NamedTuple):
    """How the spots of one stress look."""

    radius: tuple[float, float]
    ragged: float  # how far the outline strays, as a share of the radius
    edge: float  # over how many pixels a symptom passes into the leaf
    halo: tuple[float, float]  # width, and strength from 0 to 1
    rim: tuple[int, int, int]
    core: tuple[int, int, int]
    stretch: float  # longest over shortest diameter, at most
    at_margin: bool = False


KINDS = {
    "miner": Kind((11, 26), 0.4, 1.6, (1.8, 0.5), (98, 64, 32), (138, 104, 66), 2.2),
    "rust": Kind((3.5, 9), 0.3, 3.0, (2.2, 0.5), (184, 152, 56), (168, 108, 46), 1.3),
    "phoma": Kind((9, 22), 0.4, 1.4, (1.6, 0.35), (58, 40, 24), (84, 58, 40), 1.9, at_margin=True),
    "cercospora": Kind((5, 10), 0.2, 1.6, (2.2, 0.55), (92, 52, 24), (134, 98, 72), 1.3),
}
YELLOW = (172, 160, 52)
PALER = np.array([0.38, 0.34, 0.28])  # what a rib has more of than the blade, as a share of the blade's green
MOST_SPOTS = 45  # beyond, spots become larger instead


class Shape(NamedTuple):
    """A leaf along the picture: per column the row of the midrib and the reach of the blade."""

    along: Array  # 0 at the tip, 1 at the end of the stalk
    midrib: Array
    up: Array
    down: Array
    alpha: Array  # how much of each pixel the leaf covers, 0 to 255
    leaf: Array  # the pixels that are at least half covered


class Symptoms(NamedTuple):
    """Where a leaf is affected, and which spot every pixel near one belongs to."""

    mask: Array
    depth: Array  # distance to the outline, positive inside
    owner: Array
    kinds: list[Kind]
    radii: list[float]


def draw_shape(rng: np.random.Generator, height: int, width: int) -> Shape:
    """Draw an elliptic blade with narrow tip, wavy margins and stalk across the whole picture."""
    cv2 = opencv()
    first, last = rng.uniform(-0.01, 0.04, 2) * width
    along = ((np.arange(width) - first) / (width - first - last)).astype(np.float32)
    blade = np.clip(along / rng.uniform(0.88, 0.96), 0, 1)
    slope, bend = rng.uniform(-0.12, 0.12), rng.uniform(-0.14, 0.14)
    midrib = height * (0.5 + slope * (along - 0.5) + bend * (4 * along * (1 - along) - 0.6))
    outline = np.sin(np.pi * blade ** rng.uniform(0.8, 1.15)).clip(0) ** rng.uniform(0.65, 0.95)
    outline *= 1 - 0.6 * np.exp(-blade / rng.uniform(0.03, 0.08))
    stalk = np.where((along > 0.3) & (along <= 1), rng.uniform(2.0, 3.8) * width / LENGTH, 0)
    waviness, waves = rng.choice([0.02, 0.05, 0.1]), rng.uniform(4, 8)
    sides = []
    for _ in range(2):
        reach = height * rng.uniform(0.36, 0.46)
        phase, second = rng.uniform(0, 2 * np.pi, 2)
        wave = np.sin(2 * np.pi * waves * blade + phase) + 0.5 * np.sin(3.3 * np.pi * waves * blade + second)
        sides.append(np.maximum(reach * outline * (1 + waviness * wave), stalk).astype(np.float32))
    up, down = sides
    columns = np.flatnonzero((along >= 0) & (along <= 1))
    x = np.concatenate([columns, columns[::-1]])
    y = np.concatenate([(midrib - up)[columns], (midrib + down)[columns[::-1]]])
    points = np.rint(np.stack([x, y], axis=1) * 16).astype(np.int32)
    alpha = np.zeros((height, width), dtype=np.uint8)
    cv2.fillPoly(alpha, [points], (255,), lineType=cv2.LINE_AA, shift=4)
    return Shape(along, midrib.astype(np.float32), up, down, alpha, alpha >= 128)


class Canvas(NamedTuple):
    """Where spots lie: depth inside a spot and its number per pixel, and noise for outlines."""

    depth: Array
    owner: Array
    ragged: Array


def draw_symptoms(rng: np.random.Generator, shape: Shape, share: float, stresses: tuple[str, ...]) -> Symptoms:
    """Spots whose pixels are the given share of the leaf's, to the pixel.

    Spots of about the wanted area are laid down first; then all of them grow or shrink alike until it is met.
    """
    height, width = shape.leaf.shape
    size, scale = int(np.count_nonzero(shape.leaf)), width / LENGTH
    wanted = round(share * size)
    ragged = field(rng, height, width, 11 * scale)
    ragged += np.float32(0.35) * field(rng, height, width, 4 * scale)
    canvas = Canvas(np.float32(FAR * scale) + ragged, np.zeros((height, width), dtype=np.uint8), ragged)
    kinds: list[Kind] = []
    radii: list[float] = []
    covered = 0.0
    swelling = max(1.0, np.sqrt(wanted / (MOST_SPOTS * 110.0 * scale**2)))
    inside = np.flatnonzero((shape.along > 0.02) & (shape.along < 0.9))
    nests = np.stack([rng.choice(inside, 3), rng.uniform(-0.8, 0.8, 3)], axis=1)
    while covered < wanted and len(radii) < 255:
        kind = KINDS[stresses[0] if len(stresses) == 1 or rng.random() < 0.7 else stresses[1]]
        radius = min(rng.uniform(*kind.radius) * scale * swelling, np.sqrt((wanted - covered) / np.pi) + 0.7 * scale)
        x, across = rng.choice(inside), rng.uniform(-0.92, 0.92)
        if kind.at_margin:
            across = np.sign(across) * rng.uniform(0.7, 1.05)
        elif rng.random() < 0.6:  # spots keep together
            x, across = nests[rng.integers(3)] + rng.normal(0, (0.09 * width, 0.25))
            x, across = int(np.clip(x, inside[0], inside[-1])), np.clip(across, -0.92, 0.92)
        y = shape.midrib[x] + across * (shape.up[x] if across < 0 else shape.down[x])
        _lay(rng, canvas, len(radii), kind, float(radius), (float(x), float(y)))
        kinds.append(kind)
        radii.append(float(radius))
        covered += 0.8 * np.pi * radius**2
    depth = canvas.depth
    depth -= np.partition(depth[shape.leaf], size - wanted - 1)[size - wanted - 1]  # the deepest that stays outside
    return Symptoms((depth > 0) & shape.leaf, depth, canvas.owner, kinds, radii)


def _lay(
    rng: np.random.Generator, canvas: Canvas, number: int, kind: Kind, radius: float, middle: tuple[float, float]
) -> None:
    """One spot, where it is deeper than those before it."""
    height, width = canvas.depth.shape
    scale, (x, y) = width / LENGTH, middle
    stretch, angle = rng.uniform(1, kind.stretch) ** 0.5, rng.uniform(0, np.pi)
    far = radius * (stretch + 2 * kind.ragged) + (REACH * kind.halo[0] + 6) * scale
    x0, x1 = max(0, int(x - far)), min(width, int(x + far) + 1)
    y0, y1 = max(0, int(y - far)), min(height, int(y + far) + 1)
    if x0 >= x1 or y0 >= y1:
        return
    across = np.arange(x0, x1, dtype=np.float32) - np.float32(x)
    down = (np.arange(y0, y1, dtype=np.float32) - np.float32(y))[:, None]
    cos, sin = np.float32(np.cos(angle)), np.float32(np.sin(angle))
    long, short = np.float32(1 / stretch), np.float32(stretch)
    distance = np.sqrt(((cos * across + sin * down) * long) ** 2 + ((cos * down - sin * across) * short) ** 2)
    place = (slice(y0, y1), slice(x0, x1))
    own = np.float32(min(kind.ragged * radius, 7 * scale)) * canvas.ragged[place]
    own += np.float32(radius) - distance
    deeper = own > canvas.depth[place]
    np.copyto(canvas.depth[place], own, where=deeper)
    np.copyto(canvas.owner[place], np.uint8(number), where=deeper)


def draw_picture(rng: np.random.Generator, shape: Shape, symptoms: Symptoms) -> Array:
    """The leaf with its symptoms on a light ground, as a camera sees it."""
    cv2 = opencv()
    height, width = shape.leaf.shape
    picture = _blade(rng, shape)  # colours are planes until the end: numpy is slow along an axis of three
    _stain(rng, picture, shape, symptoms)
    alpha = shape.alpha.astype(np.float32) * np.float32(1 / 255)
    paper = rng.uniform(182, 236) * (1 + np.array([rng.uniform(-0.01, 0.035), 0, rng.uniform(-0.05, 0.02)]))
    shadow = _shadow(rng, alpha)
    down, across = (np.linspace(-0.5, 0.5, length, dtype=np.float32) for length in (height, width))
    (tilt, lean), round_off = rng.uniform(-0.12, 0.12, 2), rng.uniform(0, 0.35)
    light = np.float32(0.015) * field(rng, height, width, width / 5)
    light += (1 + tilt * down - round_off * down**2).astype(np.float32)[:, None]
    light += (lean * across - round_off * across**2).astype(np.float32)
    grain = rng.standard_normal((height, width), dtype=np.float32)
    grain *= np.float32(rng.uniform(1.0, 2.6))
    seen = np.empty((height, width, 3), dtype=np.uint8)
    for rows in strips(height):
        part = picture[:, rows]
        ground = planes(paper) * shadow[rows]
        part -= ground
        part *= alpha[rows]
        part += ground
        part *= light[rows]
        part += grain[rows]
        np.clip(part, 0, 255, out=part)
        seen[rows] = cv2.merge(list(part.astype(np.uint8)))
    return seen


def _shadow(rng: np.random.Generator, alpha: Array) -> Array:
    """How much of its light the ground keeps beside the leaf."""
    cv2 = opencv()
    height, width = alpha.shape
    small = cv2.resize(alpha, (width // 4, height // 4), interpolation=cv2.INTER_AREA)
    x, y = rng.uniform(-3.5, 3.5, 2) * width / LENGTH
    moved = cv2.warpAffine(small, np.array([[1, 0, x], [0, 1, y]]), (width // 4, height // 4))
    moved = cv2.GaussianBlur(moved, (0, 0), rng.uniform(1.2, 4.0) * width / LENGTH)
    moved *= np.float32(-rng.uniform(0.12, 0.5))
    moved += 1
    return cv2.resize(moved, (width, height), interpolation=cv2.INTER_LINEAR)


class Blade(NamedTuple):
    """What differs from one green blade to the next."""

    colour: Array
    veins: float
    rise: float  # of the veins towards the tip, and how much of it comes further out
    curve: float
    offsets: Array  # of the veins above and below the midrib, as parts of their distance
    lit: Array  # light above and below the midrib
    relief: float
    patchy: float
    rib: float
    vein: float
    shine: float


def _blade(rng: np.random.Generator, shape: Shape) -> Array:
    """A green blade: veins lie in valleys, what is between them bulges, some of it shines."""
    height, width = shape.leaf.shape
    green = rng.uniform(78, 148)
    blade = Blade(
        colour=green * np.array([rng.uniform(0.62, 0.92), 1.0, rng.uniform(0.12, 0.5)]),
        veins=rng.uniform(7, 11),
        rise=rng.uniform(0.4, 0.8),
        curve=rng.uniform(1.8, 3.0),
        offsets=rng.uniform(0, 1, 2),
        lit=rng.uniform(0.93, 1.07, 2),
        relief=rng.uniform(0.25, 0.9) * rng.choice([-1, 1]),
        patchy=rng.uniform(0.02, 0.07),
        rib=rng.uniform(0.7, 1.1),
        vein=rng.uniform(0.1, 0.4),
        shine=rng.uniform(0, 0.3) * green,
    )
    coarse, middle = (field(rng, height, width, cell * width / LENGTH) for cell in (45, 7))
    picture = np.empty((3, height, width), dtype=np.float32)
    for rows in strips(height):
        _draw_blade(blade, shape, rows, coarse[rows], middle[rows], picture[:, rows])
    return picture


def _draw_blade(blade: Blade, shape: Shape, rows: slice, coarse: Array, middle: Array, picture: Array) -> None:
    width = len(shape.along)
    scale = width / LENGTH
    away = np.arange(rows.start, rows.stop, dtype=np.float32)[:, None] - shape.midrib
    below = (away > 0).astype(np.float32)
    np.abs(away, out=away)
    margin = away / (np.maximum(shape.up, 1) + below * (np.maximum(shape.down, 1) - np.maximum(shape.up, 1)))
    np.minimum(margin, 1, out=margin)

    outward = away * np.float32(1 / width)
    turns = (outward * np.float32(blade.curve) + np.float32(blade.rise)) * outward
    turns += shape.along
    turns *= np.float32(blade.veins)
    turns += _either(below, blade.offsets)
    turns -= np.floor(turns)  # 0 to 1 from one vein to the next
    turns -= np.float32(0.5)
    to_vein = (np.float32(0.5) - np.abs(turns)) * np.float32(0.8 * LENGTH / blade.veins)
    vein = np.clip(1 - to_vein * np.float32(0.75), 0, 1) * (1 - np.float32(0.7) * margin)
    thick = np.clip(1 + 2.6 * shape.along, 0.5, 3.6) * np.float32(scale)
    rib = np.clip(np.float32(1.5) - away / thick, 0, 1)

    bulge = margin * (np.float32(1.2) - margin) * turns
    bulge *= np.minimum(to_vein * np.float32(0.2), 1)
    tone = bulge * np.float32(blade.relief)
    tone += coarse * np.float32(blade.patchy)
    tone += middle * np.float32(0.02)
    tone += _either(below, blade.lit)
    tone -= np.float32(0.3) * np.maximum(margin - np.float32(0.7), 0)
    np.multiply(planes(blade.colour), tone, out=picture)

    ribbed = np.maximum(rib * np.float32(blade.rib), vein * np.float32(blade.vein))
    picture += planes(PALER * blade.colour[1]) * ribbed
    shine = coarse * np.float32(0.6) + bulge * np.float32(4 * np.sign(blade.relief)) - np.float32(0.25)
    np.clip(shine, 0, 1.2, out=shine)
    shine *= (1 + np.float32(0.3) * middle) * np.float32(blade.shine)
    picture += shine


def _stain(rng: np.random.Generator, picture: Array, shape: Shape, symptoms: Symptoms) -> None:
    """Give spots their colours, from a pale halo over the rim to the core."""
    kinds = symptoms.kinds
    if not kinds:
        return
    height, width = shape.leaf.shape
    scale = width / LENGTH
    widest = max(kind.halo[0] for kind in kinds)
    near = np.flatnonzero((symptoms.depth > -REACH * widest * scale) & (shape.alpha > 0))
    depth, owner = symptoms.depth.ravel()[near] * np.float32(1 / scale), symptoms.owner.ravel()[near]

    def each(values: Any) -> Array:
        return np.asarray(values, dtype=np.float32)[..., owner]

    # A spot has the light of its leaf, and a tint of its own.
    tint = rng.uniform(0.85, 1.1) * (1 + rng.normal(0, 0.04, (3, len(kinds))) + rng.normal(0, 0.08, len(kinds)))
    rim, core, yellow = (
        np.array(colours, dtype=np.float64).T * tint
        for colours in ([kind.rim for kind in kinds], [kind.core for kind in kinds], [YELLOW for _ in kinds])
    )
    texture = 1 + np.float32(0.13) * field(rng, height, width, 3 * scale).ravel()[near]
    own = picture.reshape(3, -1)[:, near]
    halo = np.exp(np.minimum(depth, 0) / each([kind.halo[0] for kind in kinds]))
    own += halo * each([kind.halo[1] for kind in kinds]) * (each(yellow) - own)
    deep = np.clip(depth / each([max(2.0, 0.7 * radius / scale) for radius in symptoms.radii]), 0, 1)
    spot = each(rim) + deep * each(core - rim)
    spot *= texture
    inside = np.clip(depth / each([kind.edge for kind in kinds]) + np.float32(0.5), 0, 1)
    own += inside * (spot - own)
    picture.reshape(3, -1)[:, near] = own


def _either(below: Array, values: Array) -> Array:
    """The first value above the midrib, the second below it."""
    return below * np.float32(values[1] - values[0]) + np.float32(values[0])
