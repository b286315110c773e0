"""Learn regions from paintings: outlines and strokes alike.

Every picture is shown several times: turned, mirrored, and lit otherwise (gamma, white balance, hue). None of the 19
corruptions is among these. Strokes say little about how common a region is, and nothing about its edges. So how common
each region is, is estimated from pixels that were not painted (Saerens, Latinne and Decaestecker, 2002), and edges are
made of mixtures of painted pixels. Outlines show both, and enough for a second perceptron, which looks around.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from memclf._numbers import Array
from memclf._progress import track
from memclf.vision.features.light import remove_impulses, remove_noise, without_noise, work_size
from memclf.vision.features.perceptron import Layers, evaluate, join, teach
from memclf.vision.features.region_masks import leeway, share_range
from memclf.vision.features.region_pixels import (
    DETAIL,
    PLANES,
    SCALES,
    SPREAD,
    certainty,
    chances,
    first_look,
    look,
    name_layers,
    strange_share,
    surroundings,
)
from memclf.vision.features.taught import Coefficients
from memclf.vision.features.views import cast_shadow, change_light, draw_place
from memclf.vision.files import Pixels

OFTEN = 800  # showings of all pictures together, at least, where much was painted
USUAL = 160  # showings for which the steps are meant, where much was painted
PIXELS = 500  # of each region, that one showing teaches
UNPAINTED = 300  # pixels of one showing that tell how common regions are
EDGES = 0.2  # what mixtures of painted pixels count, beside the painted ones together
PAINTED = 0.9  # share of a pixel from which it counts as painted
THERE = 0.03  # share of nine pictures in ten that a region takes at least to give the measure of colour
COARSER = 4  # how much smaller than pixels are judged a glance sees the picture
LEAST = 10  # pixels of a region that a glance must see
LITTLE = 200_000  # painted pixels at work size: six outlines
# How many perceptrons learn, and how, where little and where much was painted.
FEW: dict[str, Any] = {"hidden": (16, 8), "steps": 400, "batch": 512, "decay": 0.6, "several": 5}
MANY: dict[str, Any] = {"hidden": (64, 24), "steps": 2000, "batch": 2048, "decay": 1e-3, "several": 2}
WITHHELD = 0.3  # share of showings without brightness, where much was painted: shadow and fog change it most
SHADOWS = 2  # at most, each in half of the showings, where little was painted; outlines show real ones
FIRST_LOOK: dict[str, Any] = {"hidden": (16, 8), "steps": 400, "batch": 512, "decay": 1e-3}
COLOURLESS = 2  # mean difference of red, green and blue, of 255, below which a picture is grey
GREY = 0.1  # by how much brightness must help the first look to be used there
RARE = 0.85  # power of how common a region is; below 1, rare regions count more
ROUNDS = 30  # of estimating how common regions are
OUTSIDE = 0.995  # quantile of painted colours beyond which a colour is strange
LEAST_FREE = 0.002  # share of a region; where pictures are drawn, next to no pixel is in doubt
KNOWN = 60  # pictures that show what doubt is usual


class Painted(NamedTuple):
    """A picture and its painting, at up to twice the size at which pixels are judged."""

    image: Pixels
    painting: NDArray[np.uint8]
    size: tuple[int, int]
    grey: bool


class Sample(NamedTuple):
    """Pixels that teach: their numbers, the share of each region, and how much each counts."""

    rows: Array
    shares: Array
    weights: Array
    cases: Array  # the picture of each pixel

    @classmethod
    def join(cls, samples: list[Sample]) -> Sample:
        return cls(*(np.concatenate(parts) for parts in zip(*samples, strict=True)))

    def weighed(self, common: Array) -> Array:
        """Weights with which regions count about as much as they are common.

        Rare ones count a little more: overlap matters, and not how many pixels of the picture are right.
        """
        totals = np.maximum(self.weights @ self.shares, 1e-9)
        return np.asarray(self.weights * (self.shares @ (common**RARE / totals)))


def prepare(image: Pixels, painting: Array) -> Painted:
    """Prepare a picture and its painting for teaching."""
    size = work_size(*image.shape[:2])
    largest = 2 * size[0], 2 * size[1]
    image, painting = remove_impulses(image), painting.astype(np.uint8)
    if image.shape[1] > largest[0] or image.shape[0] > largest[1]:
        image = np.asarray(cv2.resize(image, largest, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        painting = np.asarray(cv2.resize(painting, largest, interpolation=cv2.INTER_NEAREST), dtype=np.uint8)
    return Painted(image, painting, size, grey=bool(np.ptp(image[::4, ::4], axis=2).mean() < COLOURLESS))


def teach_regions(
    cases: list[Painted],
    parents: Mapping[str, str | None],
    *,
    showings: int,
    seed: int,
    verbose: int | None = None,
) -> Coefficients:
    """Coefficients for `region_pixels.judge`, learned from painted pictures.

    `parents` says which region each lies in; it matters for what doubt is usual only.
    """
    n_regions = len(parents)
    rng = np.random.default_rng(seed)
    cases = _widen_thin(cases, n_regions)
    little = sum(_painted_pixels(case) for case in cases) < LITTLE
    times = -(-showings * (1 if little else OFTEN // USUAL) // len(cases))
    order = np.concatenate([rng.permutation(len(cases)) for _ in range(times)]).tolist()
    options, shadows, withheld = (FEW, SHADOWS, 0.0) if little else (MANY, 0, WITHHELD)
    if not little:
        options = {**options, "steps": min(options["steps"], -(-options["steps"] * showings // USUAL))}
    known = _teach_first_look([draw_view(cases[k], n_regions, shadows, rng) for k in order[:showings]], rng)

    def show(stage: int) -> Iterator[tuple[int, Array, Array]]:
        for k in track(order, total=len(order), what=f"teaching, part {stage}", verbose=verbose):
            x, shares = draw_view(cases[k], n_regions, shadows, rng)
            yield k, look(x, known, dim=rng.random() < withheld), shares

    painted, elsewhere, edges, counts = [], [], [], np.zeros(n_regions + 1)
    for k, seen, shares in show(1):
        by_hand = shares.sum(axis=2) > PAINTED
        painted.append(_sample(k, seen, shares, rng))
        if little:
            edges.append(_mix_edges(painted[-1], rng))
        some = rng.integers(0, by_hand.size, UNPAINTED)
        counts[:-1] += shares[by_hand].sum(axis=0)
        counts[-1] += np.count_nonzero(~by_hand)
        elsewhere.append(seen.reshape(by_hand.size, -1)[some[~by_hand.ravel()[some]]])
    sample = Sample.join(painted)
    common = counts[:-1] / counts[:-1].sum()
    if any((case.painting == 0).any() for case in cases):
        even = np.ones(n_regions)
        first = _teach_several(sample, sample.weighed(even), rng, **{**options, "several": 1})
        common = _how_common(evaluate(first, np.concatenate(elsewhere)), counts)
    weights = sample.weighed(common)
    if edges:
        mixed = Sample.join(edges)
        weights = np.append(weights / weights.sum(), EDGES * mixed.weighed(common) / mixed.weighed(common).sum())
        sample = Sample.join([sample, mixed])
    first = _teach_several(sample, weights, rng, **options)
    known |= name_layers(first, "first") | _painted_colours(sample)

    if not little:
        judged = []
        for k, seen, shares in show(2):
            found = evaluate(first, seen.reshape(-1, seen.shape[2])).reshape(shares.shape)
            judged.append(_sample(k, np.concatenate([seen, surroundings(found)], axis=2), shares, rng))
        sample = Sample.join(judged)
        second = _teach_several(sample, sample.weighed(common), rng, **options)
        known |= name_layers(second, "second")
    return known | _usual_doubt(cases, known, parents)


def _widen_thin(cases: list[Painted], n_regions: int) -> list[Painted]:
    """The same paintings; strokes of a region that are too thin to see at a glance are widened."""
    widened = list(cases)
    for region in range(1, n_regions + 1):
        seen = 0
        for case in cases:
            marked = (case.painting == region).astype(np.float32)
            glance = max(1, case.size[0] // COARSER), max(1, case.size[1] // COARSER)
            seen += int(np.count_nonzero(cv2.resize(marked, glance, interpolation=cv2.INTER_AREA) > 0.5))
        if seen < LEAST:
            widened = [_widen(case, region) for case in widened]
    return widened


def _widen(case: Painted, region: int) -> Painted:
    """The strokes of a region as wide as a glance can see, but not over others."""
    side = 2 * -(-COARSER * case.image.shape[1] // case.size[0]) + 1
    wide = cv2.dilate((case.painting == region).astype(np.uint8), np.ones((side, side), dtype=np.uint8))
    painting = np.where((wide > 0) & (case.painting == 0), region, case.painting).astype(np.uint8)
    return case._replace(painting=painting)


def _painted_pixels(case: Painted) -> float:
    return float(np.mean(case.painting > 0)) * case.size[0] * case.size[1]


def draw_view(case: Painted, n_regions: int, shadows: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw one showing: the image as float32, and how much of each pixel is painted as what."""
    height, width = case.image.shape[:2]
    place = draw_place((0, 0, width, height), case.size, rng)
    image = cv2.warpAffine(case.image, place, case.size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    shares = np.zeros((case.size[1], case.size[0], n_regions), dtype=np.float32)
    for k in range(n_regions):
        marked = (case.painting == k + 1).astype(np.float32)
        if marked.any():
            shares[:, :, k] = cv2.warpAffine(marked, place, case.size, flags=cv2.INTER_LINEAR)
    x = change_light(image.astype(np.float32) * np.float32(1 / 255), rng)
    for _ in range(shadows):
        if rng.random() < 0.5:
            x = cast_shadow(x, rng)
    return remove_noise(np.repeat(x[:, :, :1], 3, axis=2) if case.grey else x), shares


def _sample(case: int, seen: Array, shares: Array, rng: np.random.Generator) -> Sample:
    """Some painted pixels of each region."""
    kinds = np.where(shares.sum(axis=2) > PAINTED, shares.argmax(axis=2), -1).ravel()
    chosen, counts = [], []
    for k in range(shares.shape[2]):
        places = np.flatnonzero(kinds == k)
        few = rng.choice(places, min(PIXELS, len(places)), replace=False)
        chosen.append(few)
        counts.append(np.full(len(few), len(places) / max(1, len(few))))
    some = np.concatenate(chosen)
    part = shares.reshape(-1, shares.shape[2])[some]
    part = part / part.sum(axis=1, keepdims=True)
    rows = seen.reshape(-1, seen.shape[2])[some]
    return Sample(rows, part, np.concatenate(counts), np.full(len(some), case))


def _teach_several(sample: Sample, weights: Array, rng: np.random.Generator, *, several: int, **options: Any) -> Layers:
    """The mean of several perceptrons: for each, pictures drawn with replacement count more.

    Which pictures and which start a single one happened to have would matter too much.
    """
    n = int(sample.cases.max()) + 1
    taught = []
    for _ in range(several):
        times = 1 + rng.multinomial(n, np.full(n, 1 / n))
        taught.append(teach(sample.rows, sample.shares, weights * times[sample.cases], rng, **options))
    return join(taught)


def _mix_edges(sample: Sample, rng: np.random.Generator) -> Sample:
    """Pixels as they look at the edge of two regions: mixtures of two painted ones.

    A pixel at an edge is mostly the one or the other, and coarse scales show about as much of both.
    """
    one, two = rng.integers(0, len(sample.rows), (2, PIXELS)) if len(sample.rows) else np.zeros((2, 0), dtype=int)
    apart = sample.shares[one].argmax(axis=1) != sample.shares[two].argmax(axis=1)
    one, two = one[apart], two[apart]
    a, b = (sample.rows[some].reshape(len(some), sample.rows.shape[1] // PLANES, PLANES) for some in (one, two))
    part = rng.uniform(0.5, 1, len(one)).astype(np.float32)
    fade = rng.uniform(0.3, 1, len(one)).astype(np.float32)
    scales = np.arange(SCALES + 1)
    parts = (0.5 + (part - 0.5)[:, None] * fade[:, None] ** scales)[:, :, None]
    mixed = parts * a[:, :-2] + (1 - parts) * b[:, :-2]
    here = parts[:, SPREAD]
    spread = here * a[:, -2] ** 2 + (1 - here) * b[:, -2] ** 2 + here * (1 - here) * (a[:, SPREAD] - b[:, SPREAD]) ** 2
    here = parts[:, DETAIL]
    # A step differs from its smoothed self by half at the edge, and by little a few pixels away.
    detail = here * a[:, -1] + (1 - here) * b[:, -1] + 0.6 * here * (1 - here) * np.abs(a[:, DETAIL] - b[:, DETAIL])
    rows = np.concatenate([mixed, np.sqrt(spread)[:, None], detail[:, None]], axis=1).reshape(
        len(one), sample.rows.shape[1]
    )
    shares = part[:, None] * sample.shares[one] + (1 - part)[:, None] * sample.shares[two]
    return Sample(rows.astype(np.float32), shares, np.ones(len(one)), sample.cases[one])


def _teach_first_look(views: list[tuple[Array, Array]], rng: np.random.Generator) -> Coefficients:
    """The perceptron of the first look, and the regions that give the measure of colour."""
    best, helped = None, 0.0
    for grey in (False, True):
        seen = [first_look(x, grey)[0] for x, _ in views]
        small = [
            cv2.resize(shares, one.shape[1::-1], interpolation=cv2.INTER_AREA)
            for (_, shares), one in zip(views, seen, strict=True)
        ]
        rows, shares = (np.concatenate([part.reshape(-1, part.shape[2]) for part in parts]) for parts in (seen, small))
        marked = shares.sum(axis=1) > 0.5
        sample = Sample(
            rows[marked], shares[marked] / shares[marked].sum(axis=1, keepdims=True), np.ones(marked.sum()), marked
        )
        weights = sample.weighed(np.ones(shares.shape[1]))
        layers = teach(sample.rows, sample.shares, weights, rng, **FIRST_LOOK)
        right = evaluate(layers, sample.rows).argmax(axis=1) == sample.shares.argmax(axis=1)
        score = float(np.average(right, weights=weights))
        if best is None or score > helped + GREY:
            best, helped = (layers, seen, shares, marked), score
        if helped > 1 - GREY:
            break
    assert best is not None
    layers, seen, shares, marked = best
    found = [evaluate(layers, one.reshape(-1, one.shape[2])) for one in seen]
    counts = np.append(shares[marked].sum(axis=0), np.count_nonzero(~marked))
    common = _how_common(np.concatenate(found)[~marked], counts)
    each = [(one * common / (one @ common)[:, None]).mean(axis=0) for one in found]
    there = np.quantile(each, 0.1, axis=0) >= THERE
    there[common.argmax()] = True
    anchors = [k for k in np.argsort(-common) if there[k]][:2]
    return {**name_layers(layers, "look"), "anchors": np.array(anchors)}


def _how_common(found: Array, counts: Array) -> Array:
    """The share of each region in painted and unpainted pixels together.

    `found` are chances of unpainted pixels, from painted ones of which each region had as many; `counts` says how many
    pixels were painted as each region, and how many were not.
    """
    common = np.full(found.shape[1], 1 / found.shape[1])
    if not len(found):
        return counts[:-1] / counts[:-1].sum()
    for _ in range(ROUNDS):
        likely = found * common
        likely /= likely.sum(axis=1, keepdims=True)
        common = (counts[:-1] + counts[-1] * likely.mean(axis=0)) / counts.sum()
    return common


def _painted_colours(sample: Sample) -> Coefficients:
    """Mean and spread of the colours painted as each region.

    Strange ones have a distance above 1.
    """
    colours, kinds = sample.rows[:, PLANES : 2 * PLANES], sample.shares.argmax(axis=1)
    means, roots = [], []
    for k in range(sample.shares.shape[1]):
        some = colours[kinds == k]
        mean = some.mean(axis=0)
        values, vectors = np.linalg.eigh(np.cov((some - mean).T) + 1e-3 * np.eye(PLANES))
        root = vectors / np.sqrt(values)
        limit = np.quantile(np.square((some - mean) @ root).sum(axis=1), OUTSIDE)
        means.append(mean)
        roots.append(root / np.sqrt(limit))
    return {"painted.mean": np.array(means, np.float32), "painted.root": np.array(roots, np.float32)}


def _usual_doubt(cases: list[Painted], known: Coefficients, parents: Mapping[str, str | None]) -> Coefficients:
    """How certain, strange and near a limit painted pixels are: the limits of `trust`."""
    rows = []
    for case in cases[:: -(-len(cases) // KNOWN)]:
        seen = look(without_noise(case.image), known)
        found = chances(seen, known)
        rows.append((certainty(found), strange_share(seen, known), leeway(share_range(found, parents), parents)))
    sure, strange, free = np.array(rows).T
    return {"usual": np.array([np.quantile(sure, 0.1), np.quantile(strange, 0.9), max(np.median(free), LEAST_FREE)])}
