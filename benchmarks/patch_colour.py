"""The colour of a patch under corruption, both ways, and how many images per second.

Images as in the paper's colour study: a black square of `--size` pixels (500) with one patch of a tenth of its
side, pure red, green or blue in turn, its centre drawn uniformly. Corruptions are memclf's own, with the severities
of ImageNet-C, applied at full size; an image's number is its key. `--background r g b` replaces the black.

    python benchmarks/patch_colour.py accuracy          # every corruption at severities 1, 3 and 5, both ways
    python benchmarks/patch_colour.py speed             # beside the same feature on scikit-image's segmentation

Everything runs on one thread. The peer is PatchColour(method="paper") with `segment` replaced by
skimage.segmentation.felzenszwalb at the same scale, sigma and min_size; all else is the same code. Times are those
of the processor, the best of `--repeats` passes, the programs taking turns.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import cv2
import numpy as np

from memclf.studies.generated.patches import draw_patch
from memclf.vision import CORRUPTIONS, ImageCollection, corrupt
from memclf.vision.features import PatchColour

SEVERITIES = (1, 3, 5)
WAYS: dict[str, PatchColour] = {
    "paper": PatchColour("paper"),
    "standing out": PatchColour("paper", score="standing_out"),
    "robust": PatchColour("robust"),
}
TIMED = ("clean", "gaussian_noise 3", "snow 3", "fog 3", "jpeg_compression 3", "defocus_blur 3")


def colour_patch(rng: np.random.Generator, channel: int, size: int, background: tuple[int, int, int]) -> Any:
    """One image of the study, its centre drawn by the one generator that draws them all."""
    return draw_patch(rng.uniform(size / 20, size - size / 20, size=2), channel, size, background)


def study(n: int, size: int, background: tuple[int, int, int]) -> ImageCollection:
    rng = np.random.default_rng(0)
    channels = np.arange(n) % 3
    images = [colour_patch(rng, channel, size, background) for channel in channels]
    return ImageCollection(images, channels, keys=[str(number) for number in range(n)])


def accuracy(options: argparse.Namespace) -> None:
    images = study(options.images, options.size, tuple(options.background))
    ways = {name: WAYS[name] for name in options.ways}
    print(f"{options.images} images of {options.size} x {options.size}, background {tuple(options.background)}")
    print("right, in %, at severities " + ", ".join(map(str, SEVERITIES)))
    print(f"{'':18s}" + "".join(f"{name:>20s}" for name in ways))
    right: dict[str, list[float]] = {name: [] for name in ways}
    for corruption in ("clean", *CORRUPTIONS):
        cells = {name: [] for name in ways}
        for severity in SEVERITIES if corruption != "clean" else (0,):
            seen = images if not severity else images.corrupted(corruption, severity).loaded()
            for name, way in ways.items():
                cells[name].append(float(np.mean(way.transform(seen)[:, 0] == images.labels)))
        shown = [" ".join(f"{100 * value:5.1f}" for value in cells[name]) for name in ways]
        print(f"{corruption:18s}" + "".join(f"{cell:>20s}" for cell in shown), flush=True)
        for name in ways if corruption != "clean" else ():
            right[name] += cells[name]
    for name, values in right.items():
        n = len(values) * options.images
        print(f"{name}: right on {round(sum(values) * options.images)} of {n} corrupted images")


class OnScikitImage(PatchColour):
    """The paper's way on scikit-image's segmentation."""

    def _segments(self, image: Any) -> Any:
        from skimage.segmentation import felzenszwalb

        return felzenszwalb(image, scale=self.scale, sigma=self.sigma, min_size=self.min_size)


def best_of(repeats: int, *works: Callable[[], Any]) -> list[float]:
    best = [float("inf")] * len(works)
    for _ in range(repeats):
        for number, work in enumerate(works):
            start = time.process_time()
            work()
            best[number] = min(best[number], time.process_time() - start)
    return best


def speed(options: argparse.Namespace) -> None:
    images = study(options.images, options.size, tuple(options.background))
    programs = (PatchColour("paper"), OnScikitImage("paper"), PatchColour("robust"))
    print(f"milliseconds of processor time per image of {options.size} x {options.size}, best of {options.repeats}")
    print(f"{'':20s}{'paper':>8s}{'on scikit-image':>17s}{'ratio':>7s}{'robust':>8s}{'images/s':>10s}")
    totals = np.zeros(3)
    for condition in TIMED:
        name, _, severity = condition.partition(" ")
        seen = [image if name == "clean" else corrupt(image, name, int(severity)) for image in images]
        times = best_of(options.repeats, *(partial(program.transform, seen) for program in programs))
        totals += times
        report(condition, 1000 * np.array(times) / len(images))
    report("mean", 1000 * totals / len(images) / len(TIMED))


def report(what: str, milliseconds: Any) -> None:
    paper, peer, robust = milliseconds
    print(f"{what:20s}{paper:8.1f}{peer:17.1f}{peer / paper:7.1f}{robust:8.2f}{1000 / robust:10.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="The colour of a patch: accuracy under corruption, and speed.")
    parser.add_argument("what", choices=["accuracy", "speed"])
    parser.add_argument("--size", type=int, default=500, help="pixels of a side")
    parser.add_argument("--images", type=int, default=None, help="how many (default 30, for speed 6)")
    parser.add_argument("--background", type=int, nargs=3, default=(0, 0, 0), help="red, green and blue, 0 to 255")
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS), help="of finding the colour")
    parser.add_argument("--repeats", type=int, default=5, help="passes to take the best of")
    options = parser.parse_args()
    options.images = options.images or (30 if options.what == "accuracy" else 6)
    cv2.setNumThreads(1)
    {"accuracy": accuracy, "speed": speed}[options.what](options)


if __name__ == "__main__":
    main()
