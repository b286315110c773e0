"""The picture on top of README: a case, its memory and the answer, and a case that is unknown.

`python tools/front_picture.py docs/pictures/front.png` (needs the extras `report` and `vision`). The leaves are drawn
by memclf; everything shown is what the classifier said.
"""

import sys

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from memclf import MemoryClassifier
from memclf.similarity import RankSimilarity
from memclf.studies.generated import leaf_pictures, skin_photographs
from memclf.vision import ImageCollection
from memclf.vision.features import LeafColours
from memclf.vision.files import resize

TRAIN, SIZE = 200, (128, 256)
CLASSES = ("healthy", "mild", "severe")
INK, GOOD, WARN, FAINT = "#22262b", "#0b7a70", "#b3261e", "#6b7280"


def name_class(severity):
    return CLASSES[0] if severity == 0 else CLASSES[1] if severity == 1 else CLASSES[2]


def choose_case(clf, leaves, labels):
    """The first severe test leaf that is answered rightly in fog, with its explanation."""
    foggy = leaves.corrupted("fog", severity=3)
    right = np.flatnonzero((clf.predict(foggy) == labels) & (labels == "severe"))
    return clf.explain(foggy[right[:1]])[0]


def draw_row(axes, item, title):
    case, memory, words = axes
    show(case, item.case[0], f"{title}: {tell_share(item.case)}" if item.known else title)
    if item.known:
        picture = item.overlay(item.memory_case[0])
        without_legend = picture[: picture.shape[1] * SIZE[0] // SIZE[1]]
        show(memory, without_legend, f"the remembered leaf: {tell_share(item.memory_case)}")
        lines = f"similarity {item.similarity:.2f}, needed {item.threshold:.2f}", tell_cluster(item)
    else:
        memory.text(0.5, 0.5, "no memory is asked", fontsize=11, color=FAINT, ha="center", va="center")
        lines = "the expert's feature finds no leaf", "that it could measure"
    memory.set_axis_off()
    words.set_axis_off()
    answer = str(item.answer)
    words.text(0.06, 0.64, answer, fontsize=26, fontweight="bold", color=GOOD if item.known else WARN)
    for height, line in zip((0.42, 0.24), lines, strict=True):
        words.text(0.06, height, line, fontsize=11, color=INK)


def show(panel, picture, title):
    panel.imshow(picture)
    panel.set_title(title, fontsize=11, color=INK)
    panel.set_axis_off()


def tell_share(leaf):
    return f"{LeafColours().transform(leaf)[0, 0]:.0%} affected"


def tell_cluster(item):
    return f"{item.cluster_classes[item.answer]} of {item.cluster_size} leaves around it: {item.answer}"


def main(out):
    leaves = leaf_pictures(TRAIN + 100, height=SIZE[0], width=SIZE[1])
    labels = np.array([name_class(severity) for severity in leaves.labels])
    similarity = RankSimilarity(features=LeafColours())
    clf = MemoryClassifier(similarity, answer="labels", threshold=0.8, min_trust=0.5, random_state=0)
    clf.fit(leaves[:TRAIN], labels[:TRAIN])
    known = choose_case(clf, leaves[TRAIN:], labels[TRAIN:])
    photographs, _ = skin_photographs(1)
    strange = clf.explain(ImageCollection([resize(photographs[0], SIZE)]))[0]
    if strange.known:
        raise SystemExit("the strange case is known; choose another")
    figure = Figure(figsize=(9.2, 3.9), layout="constrained", facecolor="white")
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
    rows = figure.subplots(2, 3, width_ratios=(1, 1, 0.95))
    draw_row(rows[0], known, "a new leaf, in fog")
    draw_row(rows[1], strange, "no leaf at all")
    canvas = FigureCanvasAgg(figure)
    figure.set_dpi(110)
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
    picture.quantize(256, dither=Image.Dither.FLOYDSTEINBERG).save(out, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1])
