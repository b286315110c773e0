"""Coffee leaves, graded by regions that an expert painted: a few strokes on ten leaves.

How severe is the disease of a leaf, 0 to 4? The expert says that what counts is how much of the leaf is affected. She
paints three strokes on the background, three on the leaf and three on its spots, on ten training leaves, and
`TaughtRegions` finds these regions in all others. Two leaves are alike if their affected shares have close ranks. The
local classifiers are heads on one network, and the labels of the memories count beside them (`answer="product"`).

Without options the leaves are generated, so that the example runs anywhere, and strokes are drawn from the known truth.
With `--data` they are photographs in the layout of their public repository (esgario/lara2018), and `--outlines` names
the folder whose outlines the strokes are drawn from (images/ID.jpg, masks/ID.png). Beside the memory classifier: the
majority class, the plain network, and stage 1 alone (labels of the memories, no network).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import cv2
import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from memclf import MemoryClassifier
from memclf.answers import ProductAnswer
from memclf.evaluate import accuracy, balanced_accuracy
from memclf.similarity import RankSimilarity
from memclf.studies.generated import leaf_paintings, leaf_pictures
from memclf.studies.leaf import graded_memories, load_leaves
from memclf.vision import ImageClassifier, ImageCollection
from memclf.vision.corruptions.apply import SETS
from memclf.vision.features import LeafColours, TaughtRegions, read_paintings

REGIONS = {"background": None, "leaf": None, "symptom": "leaf"}
SOME = ("gaussian_noise", "defocus_blur", "frost", "contrast", "saturate", "jpeg_compression")
STROKES, LENGTH, WIDTH = 3, 60, 5
HEIGHT, LONG = 128, 256  # of a generated picture


def generated(n: int, seed: int) -> tuple[ImageCollection, list[np.ndarray]]:
    """Pictures of leaves, and which region each pixel shows: 1 background, 2 leaf, 3 symptom."""
    size = {"height": HEIGHT, "width": LONG, "seed": seed}
    return leaf_pictures(n, **size).loaded(), leaf_paintings(n, **size)


def paint(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A few strokes on each region, as an expert would paint them; 0 is not painted."""
    painting = np.zeros(truth.shape, dtype=np.uint8)
    for region in np.unique(truth):
        places = np.argwhere(truth == region)
        for row, column in places[rng.integers(0, len(places), STROKES)]:
            turn = rng.uniform(0, np.pi)
            reach = np.array([np.cos(turn), np.sin(turn)]) * LENGTH / 2
            ends = [tuple(int(v) for v in (column, row) + way * reach) for way in (-1, 1)]
            brush = cv2.line(np.zeros_like(painting), *ends, 1, WIDTH)
            painting[(brush > 0) & (truth == region)] = region
    return painting


def teach(images: list[np.ndarray], truth: list[np.ndarray], leaves: int, seed: int) -> TaughtRegions:
    """Regions from strokes on some of the affected leaves."""
    rng = np.random.default_rng(seed)
    affected = [i for i, each in enumerate(truth) if np.mean(each == 3) > 0.005]
    chosen = rng.choice(affected, leaves, replace=False)
    return TaughtRegions(REGIONS).fit([images[i] for i in chosen], [paint(truth[i], rng) for i in chosen])


def last_number(rows: np.ndarray) -> np.ndarray:
    """The share of the leaf that is affected."""
    return rows[:, -1:]


def fit_models(features: dict[str, object], X: ImageCollection, y: np.ndarray, seed: int) -> dict[str, object]:
    """The contenders: two that need no description, and two for each description."""
    size = (128, 256)
    network = ImageClassifier(image_size=size, train="head", epochs=40, share_backbone=True, random_state=seed)
    models: dict[str, object] = {"majority class": DummyClassifier(), "plain network": network}
    for name, feature in features.items():
        likeness = RankSimilarity(features=make_pipeline(feature, FunctionTransformer(last_number)))
        common = {"n_memories": graded_memories(len(y)), "fallback": "nearest", "random_state": seed}
        models[f"stage 1 alone, {name}"] = MemoryClassifier(likeness, answer="labels", **common)
        models[f"memory classifier, {name}"] = MemoryClassifier(
            likeness, network, start="global", min_cluster_size=20, answer=ProductAnswer(), **common
        )
    for name, model in models.items():
        began = time.perf_counter()
        model.fit(X, y)
        print(f"  {name}: fitted in {time.perf_counter() - began:.0f} s", flush=True)
    return models


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of photographs; without it, leaves are generated")
    parser.add_argument("--outlines", type=Path, help="folder of outlines that the strokes are drawn from")
    parser.add_argument("--painted", type=int, default=10, help="leaves that are painted (default 10)")
    parser.add_argument("--train", type=int, default=240, help="generated training leaves (default 240)")
    parser.add_argument("--test", type=int, default=120, help="generated test leaves (default 120)")
    parser.add_argument("--all", action="store_true", help="all 18 corruptions of the paper instead of six")
    parser.add_argument("--severity", type=int, nargs="*", default=[1, 3, 5], help="default 1 3 5")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.data is None:
        train, truth = generated(options.train, seed=0)
        test, _ = generated(options.test, seed=1)
        painted = list(train)
    else:
        if options.outlines is None:
            parser.error("--data needs --outlines, the folder that the strokes are drawn from")
        train, test, _ = load_leaves(options.data)
        outlined, truth = read_paintings(options.outlines, list(REGIONS))
        painted = list(outlined)
    y, y_test = np.asarray(train.labels), np.asarray(test.labels)
    began = time.perf_counter()
    taught = teach(painted, truth, options.painted, options.seed)
    print(f"taught by {STROKES} strokes per region on {options.painted} leaves in {time.perf_counter() - began:.0f} s")
    features: dict[str, object] = {"strokes": taught, "300 outlines": LeafColours()}
    models = fit_models(features, train, y, options.seed)
    conditions = {"clean": [test]}
    for severity in options.severity:
        names = SETS["paper18"] if options.all else SOME
        conditions[f"severity {severity}"] = [test.corrupted(name, severity, seed=options.seed) for name in names]
    print("\nWhy this grade?")
    print(models["memory classifier, strokes"].explain(test[:1])[0].sentence)
    print(f"\nPercent, {len(test)} test leaves (accuracy / balanced accuracy)")
    print(f"{'':34}" + "".join(f"{name:>15}" for name in conditions))
    for name, model in models.items():
        cells = []
        for versions in conditions.values():
            answers = [model.predict(each) for each in versions]
            means = [100 * np.mean([score(y_test, a) for a in answers]) for score in (accuracy, balanced_accuracy)]
            cells.append(f"{means[0]:.1f} / {means[1]:.1f}")
        print(f"{name:34}" + "".join(f"{cell:>15}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
