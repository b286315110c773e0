"""Leaves by strokes: an expert paints a few strokes on eight leaves, and all others are measured.

How severe is the disease of a leaf, 0 to 4? The expert says that what counts is how much of the leaf is affected, and
shows it: three strokes on the background, three on the leaf, three on its spots. `TaughtRegions` finds these regions in
other pictures, and two leaves are alike if their affected shares have close ranks. You learn how far this description
carries in fog, in noise and with little contrast, beside one plain network, and what each stage adds.

The leaves are drawn by memclf, and the strokes are taken from what was drawn.
"""

import argparse

import cv2
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from memclf import MemoryClassifier
from memclf.evaluate import StageOne, evaluate
from memclf.similarity import RankSimilarity
from memclf.studies.generated import leaf_paintings, leaf_pictures
from memclf.vision import ImageClassifier
from memclf.vision.features import TaughtRegions

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--train", type=int, default=120, help="training leaves (default 120)")
parser.add_argument("--test", type=int, default=50, help="test leaves (default 50)")
parser.add_argument("--picture", help="write the picture to this file")
options = parser.parse_args()


def paint_strokes(outlines, rng):
    """Three short strokes on each region; 0 is not painted."""
    painting = np.zeros_like(outlines)
    for region in (1, 2, 3):
        places = np.argwhere(outlines == region)
        for row, column in places[rng.integers(0, len(places), 3)].tolist():
            stroke = cv2.line(np.zeros_like(outlines), (column - 20, row - 8), (column + 20, row + 8), 1, 4)
            painting[(stroke == 1) & (outlines == region)] = region
    return painting


def take_affected(shares):
    """The last of three shares: how much of the leaf is affected."""
    return shares[:, -1:]


size = {"height": 128, "width": 256}
train, test = leaf_pictures(options.train, **size).loaded(), leaf_pictures(options.test, **size, seed=1).loaded()
outlines = leaf_paintings(options.train, **size)
rng = np.random.default_rng(0)
painted = [i for i, each in enumerate(outlines) if np.mean(each == 3) > 0.01][:8]
strokes = [paint_strokes(outlines[i], rng) for i in painted]
regions = TaughtRegions({"background": None, "leaf": None, "symptom": "leaf"}).fit([train[i] for i in painted], strokes)

clf = MemoryClassifier(
    RankSimilarity(features=make_pipeline(regions, FunctionTransformer(take_affected))),
    ImageClassifier(image_size=(64, 128), train="head", epochs=40, share_backbone=True),
    n_memories=20,
    min_cluster_size=20,
    start="global",
    answer="product",  # the labels around a memory count beside its network
    random_state=0,
).fit(train, train.labels)
models = {"plain network": clf.global_, "stage 1 alone": StageOne(clf), "memory classifier": clf}
rows = evaluate(models, test, test.labels, [(name, 3) for name in ("fog", "contrast", "gaussian_noise")])
table = 100 * pd.DataFrame(rows).pivot_table("accuracy", "model", "corruption", sort=False)
print(f"accuracy in %, {len(test)} test leaves, corruptions at severity 3; {len(painted)} leaves were painted")
print(table.round(1).to_string())
print(f"\n{clf.explain(test[:1])[0].sentence}")

if options.picture:
    figure = plt.figure(figsize=(9, 4.4))
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1.5])
    colours = np.array([(0, 0, 0), (40, 90, 220), (250, 230, 60), (220, 30, 30)], dtype=np.uint8)
    stroked = np.where(strokes[0][..., None] > 0, colours[strokes[0]], train[painted[0]])
    new = next(i for i, each in enumerate(test.info) if 0.08 < each["share"] < 0.2)
    pale = test.corrupted("contrast", 3)[new]
    found = regions.masks(pale)
    tinted = np.where(found["symptom"][..., None], colours[3], np.where(found["leaf"][..., None], pale, colours[1]))
    shown = {"a painted leaf": stroked, "another, with little contrast": pale, "what is found in it": tinted}
    for panel, (title, pixels) in zip(above.subplots(1, 3), shown.items(), strict=True):
        panel.imshow(pixels)
        panel.set_title(title, loc="center")
        panel.set_axis_off()
    panel = below.subplots()
    table.T.rename(lambda name: name.replace("_", " ")).plot.bar(
        ax=panel, rot=0, xlabel="", ylabel="% right", width=0.7
    )
    panel.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
    figure.savefig(options.picture)
