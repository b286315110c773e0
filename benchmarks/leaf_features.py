"""How well LeafColours measures what an expert outlined, and how well a tree on the affected share grades leaves.

    python benchmarks/leaf_features.py teach         # the coefficients that ship with the package
    python benchmarks/leaf_features.py validate      # outlines, cross-validated over leaves
    python benchmarks/leaf_features.py sturdy        # four ways to teach, on training leaves held out
    python benchmarks/leaf_features.py designs       # the same for other designs
    python benchmarks/leaf_features.py tree          # a tree on the share: severity of the test leaves
    python benchmarks/leaf_features.py corruptions   # the same tree, and the ranks of the share, under 19 corruptions
    python benchmarks/leaf_features.py speed         # milliseconds of one core per image

The images (Esgario, Krohling and Ventura: coffee leaves, their severity, and outlines of some; MIT) are looked for
beside the repository, in ../shared/data; --data names another place. LEAF_FEATURES.md holds what these commands gave.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import cv2
import numpy as np
from joblib import Parallel, delayed
from scipy.stats import spearmanr
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from memclf.vision import CORRUPTIONS, ImageCollection
from memclf.vision.corruptions import PAPER
from memclf.vision.features import LeafColours, leaf_augment

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "src/memclf/vision/features/data/leaf_colours.npz"
FOLDS = 3
SEVERITIES = (1, 3, 5)
WAYS = ("outlines", "outlines and changes", "outlines and grades", "outlines, grades and changes")
FIRST = 1200  # steps of the first teaching, from which further leaves are outlined
SHARES = {0: (0, 0.001), 1: (0.001, 0.05), 2: (0.05, 0.1), 3: (0.1, 0.15), 4: (0.15, 1)}  # affected, by severity


class Outlined(NamedTuple):
    """Outlined leaves in both views: the whole scene, and cropped to the leaf as the graded photographs are."""

    ids: np.ndarray
    views: dict[str, tuple[list[np.ndarray], list[np.ndarray]]]

    def some(self, rows: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Images and labels of these leaves, all views."""
        images = [view[0][i] for view in self.views.values() for i in rows]
        return images, [view[1][i] for view in self.views.values() for i in rows]


def outlined_leaves(data: Path) -> Outlined:
    folder = data / "leaf_masks"
    ids = np.array(sorted(int(path.stem) for path in (folder / "images").glob("*.jpg")))
    scenes = list(ImageCollection([folder / f"images/{i}.jpg" for i in ids]))
    crops = list(ImageCollection([data / f"leaf/leaf/{i}.jpg" for i in ids]))
    labels = [cv2.imread(str(folder / f"masks/{i}.png"), cv2.IMREAD_GRAYSCALE) for i in ids]
    found = Parallel(n_jobs=-1, prefer="threads")(
        delayed(labels_of_crop)(*one) for one in zip(scenes, labels, crops, strict=True)
    )
    return Outlined(ids, {"scene": (scenes, labels), "crop": (crops, found)})


def labels_of_crop(scene: np.ndarray, labels: np.ndarray, crop: np.ndarray) -> np.ndarray:
    """The outlines of a scene carried over to the cropped photograph of the same leaf, by aligning the two.

    The crop is the leaf's bounding box, stretched to 512 x 256; the alignment starts there and is then refined.
    All 300 pairs correlate above 0.99 afterwards.
    """
    pieces = cv2.connectedComponentsWithStats((labels > 0).astype(np.uint8))[2]
    left, top, width, height = pieces[1 + np.argmax(pieces[1:, cv2.CC_STAT_AREA]), :4]
    h, w = crop.shape[:2]
    onto = np.array([[width / w, 0, left], [0, height / h, top]], dtype=np.float32)
    grey = [cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) for image in (crop, scene)]
    stop = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 100, 1e-5)
    _, onto = cv2.findTransformECC(*grey, onto, cv2.MOTION_AFFINE, stop, None, 5)
    return cv2.warpAffine(labels, onto, (w, h), flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP)


def graded_leaves(data: Path, split: str) -> ImageCollection:
    """The cropped photographs of a split with their severity."""
    with (data / "leaf/dataset-full.csv").open() as file:
        severity = {row["id"]: int(row["severity"]) for row in csv.DictReader(file)}
    with (data / "leaf/split.csv").open() as file:
        ids = [row["id"] for row in csv.DictReader(file) if row["split"] == split]
    paths = [data / f"leaf/leaf/{i}.jpg" for i in ids]
    return ImageCollection(paths, [severity[i] for i in ids], keys=[f"{i}.jpg" for i in ids])


# ------------------------------------------------------------------------------------------------------- outlines


def folds_of(n: int) -> np.ndarray:
    """The fold of each leaf; both views of a leaf are in the same."""
    return np.random.default_rng(1).permutation(n) % FOLDS


def teach(args: argparse.Namespace) -> None:
    leaves = outlined_leaves(args.data)
    start = time.perf_counter()
    model = teach_twice(leaves, np.arange(len(leaves.ids)), graded_leaves(args.data, "train"), verbose=1)
    # Half precision is a hundredth of the noise of a photograph, and half the size.
    np.savez_compressed(SHIPPED, **{name: part.astype(np.float16) for name, part in model.coefficients_.items()})
    size, count = SHIPPED.stat().st_size, sum(part.size for part in model.coefficients_.values())
    print(f"{len(leaves.ids)} leaves, {time.perf_counter() - start:.0f} s, {count} coefficients in {size} bytes")


@contextmanager
def showing_disturbed(share: float) -> Iterator[None]:
    """Teach with another share of strong changes for once."""
    usual, leaf_augment.DISTURBED = leaf_augment.DISTURBED, share
    try:
        yield
    finally:
        leaf_augment.DISTURBED = usual


def teach_twice(leaves: Outlined, rows: np.ndarray, graded: ImageCollection, verbose: int = 0) -> LeafColours:
    """Taught by outlines of some leaves as they are, and then once more, with the graded ones that have no outlines."""
    images, outlines = leaves.some(rows)
    free = [k for k, path in enumerate(graded.paths) if int(path.stem) not in leaves.ids]
    further = list(graded[free])
    shares = [SHARES[int(graded.labels[k])] for k in free]
    with showing_disturbed(0.0):
        model = LeafColours(steps=FIRST, verbose=verbose).fit(images, outlines)
    painted = model.paint(further, shares)
    return LeafColours(verbose=verbose).fit(images + further, outlines + painted)


def sturdy(args: argparse.Namespace) -> None:
    """A third of the training leaves is held out from teaching and from the forest that grades by the measurements.

    In brackets with rare classes weighed up by half.
    """
    leaves, train = outlined_leaves(args.data), graded_leaves(args.data, "train")
    ids, y = np.array([int(path.stem) for path in train.paths]), np.asarray(train.labels)
    held = np.random.default_rng(1).permutation(len(ids)) % FOLDS == 0
    rows, rest = np.flatnonzero(~np.isin(leaves.ids, ids[held])), train[~held]
    seen = np.flatnonzero(held)[::2]  # all of them under so many conditions would not fit into memory
    out, truth = train[seen], y[seen]
    sets = {"clean": [out], "shifted": [out.shifted(seed=seed) for seed in (0, 1)]}
    for severity in SEVERITIES[1:]:
        sets[f"severity {severity}"] = [out.corrupted(name, severity, seed=0) for name in PAPER]
    sets = {name: [each.loaded() for each in several] for name, several in sets.items()}
    images, outlines = leaves.some(rows)
    for way in args.way:
        start = time.perf_counter()
        with showing_disturbed(leaf_augment.DISTURBED if "changes" in way else 0.0):
            if "grades" in way:
                model = teach_twice(leaves, rows, rest)
            else:
                model = LeafColours(steps=FIRST).fit(images, outlines)
        forest = RandomForestClassifier(200, min_samples_leaf=5, random_state=0).fit(model.inspect(rest), y[~held])
        found = []
        for name, several in sets.items():
            common = np.bincount(y[~held]) / np.count_nonzero(~held)
            scores = [scores_of(forest.predict_proba(model.inspect(each)), common, truth) for each in several]
            found.append("{} {:.1f} / {:.1f} ({:.1f} / {:.1f})".format(name, *np.mean(scores, axis=0)))
        print(f"{way}: {', '.join(found)}; {len(out)} leaves, {time.perf_counter() - start:.0f} s", flush=True)


def scores_of(chances: np.ndarray, common: np.ndarray, y: np.ndarray) -> list[float]:
    """Accuracy and balanced accuracy in per cent: as it is, and with rare classes weighed up by half."""
    answers = [(chances / common**balance).argmax(axis=1) for balance in (0, 0.5)]
    return [100 * score(y, each) for each in answers for score in (accuracy_score, balanced_accuracy_score)]


def validate(args: argparse.Namespace) -> None:
    leaves = outlined_leaves(args.data)
    fold, graded = folds_of(len(leaves.ids)), graded_leaves(args.data, "train")
    masks: dict[str, dict[int, tuple[np.ndarray, np.ndarray]]] = {view: {} for view in leaves.views}
    shares: dict[str, dict[int, np.ndarray]] = {view: {} for view in leaves.views}
    for k in range(args.folds):
        start = time.perf_counter()
        model = teach_twice(leaves, np.flatnonzero(fold != k), graded)
        print(f"fold {k + 1} of {FOLDS} taught in {time.perf_counter() - start:.0f} s", flush=True)
        for view, (images, _) in leaves.views.items():
            for i in np.flatnonzero(fold == k):
                found = model.masks(images[i])
                masks[view][i] = found["leaf"], found["affected"]
                shares[view][i] = model.transform([images[i]])[0]
    for view, (_, labels) in leaves.views.items():
        print(view, agreement(labels, masks[view], shares[view]))


def agreement(labels: list[np.ndarray], masks: dict, shares: dict[int, np.ndarray] | None = None) -> str:
    """Leaf and symptom IoU (pooled over all pixels, and the mean of the images), rank correlation of the shares."""
    counts, truth, given = [], [], []
    for i, (leaf, affected) in sorted(masks.items()):
        pairs = ((leaf, labels[i] > 0), (affected, labels[i] == 2))
        counts.append([[np.count_nonzero(a & b), np.count_nonzero(a | b)] for a, b in pairs])
        truth.append(np.count_nonzero(labels[i] == 2) / np.count_nonzero(labels[i]))
        given.append(np.count_nonzero(affected) / max(1, np.count_nonzero(leaf)) if shares is None else shares[i][0])
    table = np.array(counts, dtype=float)
    pooled = table.sum(axis=0)
    each = np.divide(table[:, :, 0], table[:, :, 1], out=np.ones(table.shape[:2]), where=table[:, :, 1] > 0)
    away = 100 * np.abs(np.array(given) - truth).mean()
    return (
        f"leaf IoU {pooled[0, 0] / pooled[0, 1]:.3f} (mean {each[:, 0].mean():.3f}), "
        f"symptom IoU {pooled[1, 0] / pooled[1, 1]:.3f} (mean {each[:, 1].mean():.3f}), "
        f"Spearman {spearmanr(given, truth)[0]:.3f}, share off by {away:.2f} points, {len(truth)} leaves"
    )


def designs(args: argparse.Namespace) -> None:
    from leaf_designs import DESIGNS

    leaves = outlined_leaves(args.data)
    fold = folds_of(len(leaves.ids))
    for name, make in DESIGNS.items():
        start = time.perf_counter()
        masks: dict[str, dict[int, tuple[np.ndarray, np.ndarray]]] = {view: {} for view in leaves.views}
        for k in range(FOLDS):
            see = make(*leaves.some(np.flatnonzero(fold != k)))
            for view, (images, _) in leaves.views.items():
                masks[view] |= {i: see(images[i]) for i in np.flatnonzero(fold == k)}
        for view, (_, labels) in leaves.views.items():
            print(f"{name}, {view}: {agreement(labels, masks[view])}, {time.perf_counter() - start:.0f} s", flush=True)


# ------------------------------------------------------------------------------------------------------- severity


def best_tree(rows: np.ndarray, labels: np.ndarray) -> GridSearchCV:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    return GridSearchCV(tree, {"max_depth": [2, 3, 4, 5]}, cv=folds).fit(rows, labels)


def report(name: str, tree: GridSearchCV, rows: np.ndarray, labels: np.ndarray) -> None:
    answers = tree.predict(rows)
    right, balanced = 100 * accuracy_score(labels, answers), 100 * balanced_accuracy_score(labels, answers)
    print(
        f"{name}: depth {tree.best_params_['max_depth']}, 5-fold on training leaves {100 * tree.best_score_:.1f}; "
        f"test {right:.1f} / balanced {balanced:.1f}"
    )


def tree(args: argparse.Namespace) -> None:
    train, test = graded_leaves(args.data, "train"), graded_leaves(args.data, "test")
    most = np.bincount(train.labels).argmax()
    print(f"majority class {most}: {100 * np.mean(test.labels == most):.1f} / balanced 20.0; {len(test)} test leaves")
    for options in ({}, {"method": "paper"}, {"method": "paper", "literal": True}):
        model = LeafColours(n_jobs=-1, **options)
        A, B = model.transform(train), model.transform(test)
        kind = ", ".join([model.method, *(name for name, chosen in options.items() if chosen is True)])
        report(kind, best_tree(A, train.labels), B, test.labels)


def corruptions(args: argparse.Namespace) -> None:
    model = LeafColours(n_jobs=-1)
    train, test = graded_leaves(args.data, "train"), graded_leaves(args.data, "test").loaded()
    grades = best_tree(model.transform(train)[:, :1], train.labels)
    clean = model.transform(test)[:, :1]
    labels, totals = test.labels, {severity: [] for severity in SEVERITIES}
    print(f"clean: {100 * grades.score(clean, labels):.0f}")
    print("accuracy / balanced accuracy / rank correlation with the clean share, at severities", *SEVERITIES)
    for name in CORRUPTIONS:
        cells = []
        for severity in SEVERITIES:
            share = model.transform(test.corrupted(name, severity))[:, :1]
            answers = grades.predict(share)
            row = (
                100 * accuracy_score(labels, answers),
                100 * balanced_accuracy_score(labels, answers),
                spearmanr(share[:, 0], clean[:, 0])[0],
            )
            totals[severity].append(row)
            cells.append("{:.0f} / {:.0f} / {:.2f}".format(*row))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    means = ["{:.0f} / {:.0f} / {:.2f}".format(*np.nanmean(rows, axis=0)) for rows in totals.values()]
    print(f"| mean | {' | '.join(means)} |")


def speed(args: argparse.Namespace) -> None:
    cv2.setNumThreads(1)
    images = graded_leaves(args.data, "test")[:20].loaded()
    noisy = images.corrupted("gaussian_noise", 3).loaded()
    for name, model, some in (
        ("taught", LeafColours(), images),
        ("taught, noisy images", LeafColours(), noisy),
        ("paper", LeafColours("paper"), images),
    ):
        best = []
        for image in some:
            times = []
            for _ in range(15):
                start = time.process_time()  # of this process alone: other work does not count
                model.measure(image, {})
                times.append(time.process_time() - start)
            best.append(min(times))
        print(f"{name}: {1e3 * np.median(best):.1f} ms of one core per image of 512 x 256, without reading the file")


COMMANDS = (teach, sturdy, validate, designs, tree, corruptions, speed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=[command.__name__ for command in COMMANDS])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--folds", type=int, default=FOLDS, help="of three, for validate")
    parser.add_argument("--way", nargs="+", default=WAYS, choices=WAYS, help="of teaching, for sturdy")
    args = parser.parse_args()
    next(command for command in COMMANDS if command.__name__ == args.command)(args)


if __name__ == "__main__":
    main()
