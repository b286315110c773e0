"""Regions taught by painting, beside scikit-image's trainable segmentation and ilastik's features with a forest.

    python benchmarks/taught_regions.py outlines               # taught by all outlines of two thirds of the leaves
    python benchmarks/taught_regions.py strokes                # taught by strokes on ten leaves
    python benchmarks/taught_regions.py peers --every 4        # both, clean and at severity 3, all contenders
    python benchmarks/taught_regions.py strokes --folds 1 --conditions severity --corrupted 4
    python benchmarks/taught_regions.py grades                 # grades of leaves by strokes on ten of them
    python benchmarks/taught_regions.py trust                  # whether trust ranks the errors of the affected share

Coffee leaves with an expert's outlines (Esgario, Krohling and Ventura, MIT) are looked for beside the repository, in
../shared/data/leaf_masks; --data names another place. Three folds over leaves, the same as in leaf_features.py. Strokes
are drawn from the outlines: on ten leaves of the training folds that are affected (at least 0.5 % of the picture),
three strokes per region, 60 pixels long and 5 wide, cut off where the region ends. All contenders get the same ones,
and are judged on the same images. Each of 18 corruptions is shown on other leaves of the fold.

scikit-image: `multiscale_basic_features(intensity=True, edges=False, texture=True, sigma_min=1, sigma_max=16)` and a
forest of 50 trees of depth 10 with max_samples=0.05, as in the documentation of trainable segmentation. ilastik: all
features its dialog offers (Gaussian, Laplacian of Gaussian, gradient magnitude, difference of Gaussians, eigenvalues of
structure tensor and Hessian matrix at sigma 0.7, 1, 1.6, 3.5, 5 and 10; at 0.3 Gaussian alone) of each colour channel,
and a forest of 100 trees, its default. ilastik itself is not run: its features are computed here with OpenCV, and the
forest is scikit-learn's. All outlined pixels do not fit into memory, so both forests get 500 pixels of each image,
drawn at random.

grades: severity 0 to 4 of the 201 test leaves, cropped (../shared/data/leaf). Ten of the 1,397 training leaves are
painted by strokes: two of each disease that are clearly ill (severity 2 and more), and two sound ones. "and grades":
taught once more, together with 300 training leaves that were not painted, whose severity tells the range of the
affected share. Stage 1 alone, along the affected share; and a forest on all numbers of the description, as
`answer="auto"` has it. Test leaves clean, and at severities 1, 3 and 5 of five corruptions.

TAUGHT_REGIONS.md holds what these commands gave.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import cv2
import numpy as np
from scipy.stats import spearmanr
from skimage.feature import multiscale_basic_features
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from memclf import MemoryClassifier
from memclf.similarity import RankSimilarity
from memclf.studies.leaf import graded_memories, load_leaves
from memclf.vision import ImageClassifier, ImageCollection, corrupt
from memclf.vision.corruptions.apply import SETS
from memclf.vision.features import ImageFeatures, LeafColours, TaughtRegions, read_paintings

ROOT = Path(__file__).resolve().parents[1]
REGIONS = ["background", "leaf", "symptom"]
NESTED = {"background": None, "leaf": None, "symptom": "leaf"}
FOLDS = 3
TEN = 10
STROKES, LENGTH, WIDTH = 3, 60, 5
AFFECTED = 0.005  # share of the picture
PER_IMAGE = 500  # pixels of an outlined image that a forest gets
TRUSTED = ("gaussian_noise", "defocus_blur", "fog", "contrast", "jpeg_compression")
GRADED = 300  # training leaves that are not painted, whose grade tells their affected share
SHARES = {0: (0, 0.001), 1: (0.001, 0.05), 2: (0.05, 0.1), 3: (0.1, 0.15), 4: (0.15, 0.6)}  # by severity
SIGMAS = (0.7, 1.0, 1.6, 3.5, 5.0, 10.0)
REACH = 3.5  # half of a filter, in sigmas
PEERS = ("TaughtRegions", "scikit-image", "ilastik's features")

See = Callable[[np.ndarray], np.ndarray]  # from an image to the number of the region of each pixel


def folds_of(n: int) -> np.ndarray:
    """The fold of each leaf, as in leaf_features.py."""
    return np.random.default_rng(1).permutation(n) % FOLDS


def draw_strokes(outlines: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    painting = np.zeros(outlines.shape, dtype=np.uint8)
    for k in np.unique(outlines):
        places = np.argwhere(outlines == k)
        for row, column in places[rng.integers(0, len(places), STROKES)]:
            turn = rng.uniform(0, np.pi)
            reach = np.array([np.cos(turn), np.sin(turn)]) * LENGTH / 2
            ends = [tuple(int(v) for v in (column, row) + way * reach) for way in (-1, 1)]
            brush = cv2.line(np.zeros_like(painting), *ends, 1, WIDTH)
            painting[(brush > 0) & (outlines == k)] = k
    return painting


# ----------------------------------------------------------------------------------------------------- contenders


def taught(images: list, paintings: list, **options: int) -> See:
    model = TaughtRegions(NESTED, **options).fit(images, paintings)

    def see(image: np.ndarray) -> np.ndarray:
        masks = model.masks(image)
        return 1 + masks["leaf"].astype(np.uint8) + masks["symptom"]

    return see


def basic_features(image: np.ndarray) -> np.ndarray:
    """scikit-image's features: pixels x features."""
    found = multiscale_basic_features(
        image, intensity=True, edges=False, texture=True, sigma_min=1, sigma_max=16, channel_axis=-1
    )
    return found.reshape(-1, found.shape[2])


def gaussians(sigma: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A Gaussian and its first and second derivative, exact for a constant, a ramp and a parabola."""
    x = np.arange(-np.ceil(REACH * sigma), np.ceil(REACH * sigma) + 1)
    smooth = np.exp(-(x**2) / (2 * sigma**2))
    smooth /= smooth.sum()
    slope = x * smooth / (x**2 @ smooth)
    bend = (x**2 / sigma**2 - 1) * smooth
    bend -= bend.mean()
    bend *= 2 / (x**2 @ bend)
    return smooth.astype(np.float32), slope.astype(np.float32), bend.astype(np.float32)


def convolve(plane: np.ndarray, across: np.ndarray, down: np.ndarray) -> np.ndarray:
    return cv2.sepFilter2D(plane, cv2.CV_32F, across, down, borderType=cv2.BORDER_REFLECT)


def blur(plane: np.ndarray, sigma: float) -> np.ndarray:
    smooth, _, _ = gaussians(sigma)
    return convolve(plane, smooth, smooth)


def eigenvalues(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the matrices ((a, b), (b, c)), the larger ones first."""
    half = np.float32(0.5)
    mean, apart = (a + c) * half, cv2.magnitude((a - c) * half, b)
    return mean + apart, mean - apart


def ilastik_planes(plane: np.ndarray, sigma: float) -> Iterator[np.ndarray]:
    """ilastik's features of one colour channel at one scale."""
    g, slope, bend = gaussians(sigma)
    smooth, x, y = convolve(plane, g, g), convolve(plane, slope, g), convolve(plane, g, slope)
    xx, xy, yy = convolve(plane, bend, g), convolve(plane, slope, slope), convolve(plane, g, bend)
    yield smooth
    yield xx + yy
    yield cv2.magnitude(x, y)
    yield smooth - blur(plane, 0.66 * sigma)
    yield from eigenvalues(*(blur(product, 0.5 * sigma) for product in (x * x, x * y, y * y)))
    yield from eigenvalues(xx, xy, yy)


def ilastik_features(image: np.ndarray) -> np.ndarray:
    """ilastik's features: pixels x features, in an order in memory that is the faster one for a forest."""
    found = np.empty((3 * (1 + 8 * len(SIGMAS)), image.shape[0] * image.shape[1]), dtype=np.float32)
    rows = iter(found)
    for channel in np.moveaxis(image.astype(np.float32), 2, 0):
        plane = np.ascontiguousarray(channel)
        next(rows)[:] = blur(plane, 0.3).ravel()
        for sigma in SIGMAS:
            for feature in ilastik_planes(plane, sigma):
                next(rows)[:] = feature.ravel()
    return found.T


def forest_on(features: Callable[[np.ndarray], np.ndarray], forest: RandomForestClassifier) -> Callable:
    def teach(images: list, paintings: list) -> See:
        rng, model = np.random.default_rng(0), clone(forest)
        rows, kinds = [], []
        for image, painting in zip(images, paintings, strict=True):
            places = np.flatnonzero(painting)
            if (painting > 0).all():
                places = rng.choice(places, PER_IMAGE, replace=False)
                model.set_params(max_samples=None)  # there are few of them already
            rows.append(features(image)[places])
            kinds.append(painting.ravel()[places])
        model.fit(np.concatenate(rows), np.concatenate(kinds))

        def see(image: np.ndarray) -> np.ndarray:
            return model.predict(features(image)).reshape(image.shape[:2])

        return see

    return teach


CONTENDERS = {
    "TaughtRegions": taught,
    "TaughtRegions, 20 showings": partial(taught, showings=20),
    "scikit-image": forest_on(
        basic_features, RandomForestClassifier(50, n_jobs=1, max_depth=10, max_samples=0.05, random_state=0)
    ),
    "ilastik's features": forest_on(ilastik_features, RandomForestClassifier(100, n_jobs=1, random_state=0)),
}


# -------------------------------------------------------------------------------------------------------- measures


class Agreement:
    """Pooled overlap of leaf (with symptom) and symptom, and the rank correlation of the affected share."""

    def __init__(self) -> None:
        self.both = np.zeros((2, 2))
        self.shares: list[tuple[float, float]] = []

    def add(self, found: np.ndarray, outlines: np.ndarray) -> None:
        for k, least in enumerate((2, 3)):
            a, b = found >= least, outlines >= least
            self.both[k] += np.count_nonzero(a & b), np.count_nonzero(a | b)
        self.shares.append(tuple(np.mean(x == 3) / max(1e-9, np.mean(x > 1)) for x in (found, outlines)))

    def __str__(self) -> str:
        given, truth = np.array(self.shares).T
        leaf, symptom = self.both[:, 0] / self.both[:, 1]
        rank = spearmanr(given, truth)[0] if np.ptp(given) else 0.0
        away = 100 * np.abs(given - truth).mean()
        return f"leaf IoU {leaf:.3f}, symptom IoU {symptom:.3f}, Spearman {rank:.3f}, share off by {away:.2f} points"


class Record:
    """What one contender did in one regime, over all folds."""

    def __init__(self) -> None:
        self.clean, self.hurt = Agreement(), Agreement()
        self.seconds: list[float] = []  # to teach
        self.cpu: list[float] = []
        self.looked: list[float] = []  # seconds of one core for a clean image

    def __str__(self) -> str:
        lines = [f"taught in {np.median(self.seconds):.0f} s ({np.median(self.cpu):.0f} s of one core)"]
        if self.clean.shares:
            speed = 1 / np.mean(self.looked)
            lines += [
                f"clean: {self.clean}, {len(self.clean.shares)} images, {speed:.1f} images per second of one core"
            ]
        if self.hurt.shares:
            lines += [f"severity 3: {self.hurt}, {len(self.hurt.shares)} images"]
        return "\n  ".join(lines)


def paint_as(regime: str, outlines: list, train: np.ndarray, key: list[int]) -> tuple[np.ndarray, list]:
    """Which leaves teach, and their paintings."""
    if regime == "outlines":
        return train, [outlines[i] for i in train]
    rng = np.random.default_rng(key)
    affected = [i for i in train if np.mean(outlines[i] == 3) > AFFECTED]
    chosen = rng.choice(affected, TEN, replace=False)
    return chosen, [draw_strokes(outlines[i], rng) for i in chosen]


def corrupted(images: list, test: np.ndarray, each: int) -> Iterator[tuple[int, np.ndarray]]:
    """Number and look of leaves at severity 3: `each` of them in each of 18 ways, the next ones for the next way."""
    order = np.resize(test, each * len(SETS["paper18"])).reshape(-1, each)
    for corruption, some in zip(SETS["paper18"], order, strict=True):
        for i in some:
            yield i, corrupt(images[i], corruption, 3, key=str(i))


def compare(args: argparse.Namespace) -> None:
    peers = args.command == "peers"
    contenders = args.only or (PEERS if peers else CONTENDERS)
    for regime in ("strokes", "outlines") if peers else (args.command,):
        for name, record in compare_in(regime, contenders, args).items():
            print(f"{regime}, {name}: {record}", flush=True)


def compare_in(regime: str, contenders: Iterable[str], args: argparse.Namespace) -> dict[str, Record]:
    images, outlines = read_paintings(args.data / "leaf_masks", REGIONS)
    images = list(images)
    fold, records = folds_of(len(images)), {name: Record() for name in contenders}
    for k in range(args.folds):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)[:: args.every]
        hurt = list(corrupted(images, test, args.corrupted)) if args.conditions != "clean" else []
        for draw in range(args.draws if regime == "strokes" else 1):
            chosen, paintings = paint_as(regime, outlines, train, [k, draw])
            for name, record in records.items():
                start, busy = time.perf_counter(), time.process_time()
                see = CONTENDERS[name]([images[i] for i in chosen], paintings)
                record.seconds.append(time.perf_counter() - start)
                record.cpu.append(time.process_time() - busy)
                for i in test if args.conditions != "severity" else []:
                    busy = time.process_time()
                    found = see(images[i])
                    record.looked.append(time.process_time() - busy)
                    record.clean.add(found, outlines[i])
                for i, seen in hurt:
                    record.hurt.add(see(seen), outlines[i])
                print(f"{regime}, {name}, {k + 1} of {args.folds} folds: {record}", file=sys.stderr, flush=True)
    return records


def rank_errors(args: argparse.Namespace) -> None:
    """How `trust` goes with the error of the affected share on held-out leaves, clean and corrupted."""
    images, outlines = read_paintings(args.data / "leaf_masks", REGIONS)
    fold, rows = folds_of(len(images)), []
    for k in range(min(args.folds, 2)):
        rng = np.random.default_rng([k, k])
        affected = [i for i in np.flatnonzero(fold != k) if np.mean(outlines[i] == 3) > AFFECTED]
        chosen = rng.choice(affected, TEN, replace=False)
        model = TaughtRegions(NESTED).fit([images[i] for i in chosen], [draw_strokes(outlines[i], rng) for i in chosen])
        for i in np.flatnonzero(fold == k)[:: args.every]:
            truth = np.mean(outlines[i] == 3) / np.mean(outlines[i] > 1)
            versions = [(0, images[i])]
            versions += [(s, corrupt(images[i], name, s, key=str(i))) for name in TRUSTED for s in (1, 3, 5)]
            seen = ImageCollection([version for _, version in versions]).remembered()
            errors = np.abs(model.transform(seen)[:, 2] - truth)
            rows += zip([s for s, _ in versions], model.trust(seen), errors, strict=True)
    severity, trust, error = np.array(rows).T
    clean = severity == 0
    ranks = [spearmanr(trust[some], error[some])[0] for some in (clean, slice(None))]
    print(f"rank correlation of trust and error: {ranks[0]:.2f} of {clean.sum()} clean, {ranks[1]:.2f} of {len(rows)}")
    print("mean trust, and mean error in points, by severity:")
    for s in (0, 1, 3, 5):
        print(f"  {s}: {trust[severity == s].mean():.2f}, {100 * error[severity == s].mean():.1f}")


# ---------------------------------------------------------------------------------------------------------- grades


def crop(outlines: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Outlines of a whole scene as those of the leaf that was cut out of it and stretched to the same size."""
    rows, columns = (np.flatnonzero((outlines > 1).any(axis=way)) for way in (1, 0))
    part = outlines[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return cv2.resize(part.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)


def choose_ten(train: ImageCollection, stress: dict[str, int], outlined: dict, rng: np.random.Generator) -> list[int]:
    """Positions of two leaves of each disease and two sound ones, among those that have outlines."""
    chosen = []
    for kind in range(5):
        among = [
            i
            for i, path in enumerate(train.paths)
            if path.stem in outlined and stress[path.stem] == kind and (kind == 0 or train.labels[i] >= 2)
        ]
        chosen += rng.choice(among, 2, replace=False).tolist()
    return chosen


def describe_leaves(args: argparse.Namespace, train: ImageCollection) -> dict[str, ImageFeatures]:
    with open(args.data / "leaf" / "dataset-full.csv", newline="") as file:
        kinds = {row["id"]: int(row["predominant_stress"]) for row in csv.DictReader(file)}
    scenes, outlines = read_paintings(args.data / "leaf_masks", REGIONS)
    outlined = {path.stem: k for k, path in enumerate(scenes.paths)}
    rng = np.random.default_rng(args.seed)
    chosen = choose_ten(train, kinds, outlined, rng)
    images = [train[i] for i in chosen]
    paintings = [
        draw_strokes(crop(outlines[outlined[train.paths[i].stem]], image.shape[1::-1]), rng)
        for i, image in zip(chosen, images, strict=True)
    ]
    strokes = TaughtRegions(NESTED).fit(images, paintings)
    others, _ = train_test_split(np.setdiff1d(np.arange(len(train)), chosen), train_size=GRADED, random_state=args.seed)
    graded = [train[i] for i in others]
    painted = strokes.paint(graded, "symptom", [SHARES[int(train.labels[i])] for i in others])
    both = TaughtRegions(NESTED).fit(images + graded, paintings + painted)
    return {"strokes": strokes, "strokes and grades": both, "LeafColours": LeafColours()}


def last_number(rows: np.ndarray) -> np.ndarray:
    """The share of the leaf that is affected."""
    return rows[:, -1:]


def grade(args: argparse.Namespace) -> None:
    train, test, _ = load_leaves(args.data / "leaf")
    train, y, truth = train.remembered(), np.asarray(train.labels), np.asarray(test.labels)
    conditions = [("clean", test.remembered())]
    conditions += [
        (f"severity {s}", test.corrupted(name, s, seed=0).remembered()) for s in (1, 3, 5) for name in TRUSTED
    ]
    network = ImageClassifier(
        image_size=(128, 256), train="head", epochs=40, share_backbone=True, random_state=args.seed
    )
    show("plain network", network.fit(train, y), conditions, truth)
    for name, features in describe_leaves(args, train).items():
        alike = RankSimilarity(features=make_pipeline(features, FunctionTransformer(last_number)))
        common = {"n_memories": graded_memories(len(y)), "fallback": "nearest", "random_state": args.seed}
        forest = RandomForestClassifier(200, min_samples_leaf=5, random_state=args.seed)
        show(
            f"{name}, stage 1 alone",
            MemoryClassifier(alike, answer="labels", **common).fit(train, y),
            conditions,
            truth,
        )
        numbers = make_pipeline(FunctionTransformer(features.inspect), forest)
        show(f"{name}, forest on all numbers", numbers.fit(train, y), conditions, truth)
        product = MemoryClassifier(alike, network, start="global", min_cluster_size=20, answer="product", **common)
        show(f"{name}, product answer", product.fit(train, y), conditions, truth)


def show(name: str, model: object, conditions: list, truth: np.ndarray) -> None:
    """Print a row: accuracy / balanced accuracy, clean and as means over corruptions of a severity."""
    marks: dict[str, list] = {}
    for condition, images in conditions:
        said = model.predict(images)
        marks.setdefault(condition, []).append((accuracy_score(truth, said), balanced_accuracy_score(truth, said)))
    cells = ["{:.1f} / {:.1f}".format(*(100 * np.mean(rows, axis=0))) for rows in marks.values()]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["outlines", "strokes", "peers", "trust", "grades"])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--only", nargs="*", choices=list(CONTENDERS))
    parser.add_argument("--folds", type=int, default=FOLDS)
    parser.add_argument("--draws", type=int, default=1, help="of ten leaves and their strokes, in each fold")
    parser.add_argument("--every", type=int, default=1, help="judge every so many of the leaves of a fold")
    parser.add_argument("--conditions", choices=["clean", "severity", "both"], help="both for peers, else clean")
    parser.add_argument("--corrupted", type=int, default=4, help="leaves of a fold that are corrupted, in 18 ways each")
    parser.add_argument("--seed", type=int, default=0, help="of the leaves that are painted, for grades")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    args.conditions = args.conditions or ("both" if args.command == "peers" else "clean")
    {"trust": rank_errors, "grades": grade}.get(args.command, compare)(args)


if __name__ == "__main__":
    main()
