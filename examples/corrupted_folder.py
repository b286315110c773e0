"""Corruptions on a folder of your own: which classifier survives noise, blur, fog and JPEG?

`python examples/corrupted_folder.py YOUR_FOLDER` takes pictures in one subfolder per class; without a folder, leaves
are drawn. `corrupt_folder` writes corrupted copies as files, for any classifier of yours. Here it is a forest on
colours, beside a memory classifier with the same forest, whose expert says what to look at: the reddish spots on the
thing in the picture. Stage 1 of it alone is there too. You learn to compare models condition by condition, without
torch.
"""

import argparse
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from PIL import Image
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from memclf import MemoryClassifier
from memclf.evaluate import StageOne, evaluate
from memclf.similarity import TreeSimilarity
from memclf.studies.generated import leaf_pictures
from memclf.vision import ImageCollection
from memclf.vision.corruptions import corrupt_folder
from memclf.vision.features import CountOf

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("folder", nargs="?", type=Path, help="pictures, one subfolder per class; without it they are drawn")
parser.add_argument("--picture", help="write the picture to this file")
options = parser.parse_args()


def count_colours(images):
    """How often each of 64 colours occurs in a picture."""
    return np.array([np.histogramdd(image.reshape(-1, 3), [range(0, 257, 64)] * 3)[0].ravel() for image in images])


def write_leaves(folder):
    """Drawn leaves as files, in one subfolder per class."""
    leaves = leaf_pictures(220, height=96, width=192)
    for number, (leaf, severity) in enumerate(zip(leaves, leaves.labels, strict=True)):
        place = folder / ("sick" if severity >= 2 else "healthy") / f"{number:03}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(leaf).save(place)
    return folder


work = tempfile.TemporaryDirectory()
folder = options.folder or write_leaves(Path(work.name) / "leaves")
names = ["gaussian_noise", "defocus_blur", "fog", "contrast", "jpeg_compression"]
copies = corrupt_folder(folder, Path(work.name) / "copies", corruptions=names, severities=[3])
print(f"{copies.written:,} corrupted pictures written")

images = ImageCollection.from_folder(folder)
train, test = train_test_split(np.arange(len(images)), test_size=0.4, random_state=0, stratify=images.labels)
forest = make_pipeline(FunctionTransformer(count_colours), RandomForestClassifier(random_state=0))
clf = MemoryClassifier(TreeSimilarity(features=CountOf("foreground", kind="red")), forest, random_state=0)
clf.fit(images[train], images.labels[train])
models = {
    "plain forest": forest.fit(images[train], images.labels[train]),
    "stage 1 alone": StageOne(clf),
    "memory classifier": clf,
}

conditions = {(name, 3): ImageCollection.from_folder(Path(work.name) / "copies" / name / "3")[test] for name in names}
rows = pd.DataFrame(evaluate(models, images[test], images.labels[test], conditions))
table = rows.pivot_table("balanced_accuracy", "corruption", "model").loc[["clean", *names], list(models)]
print("\nbalanced accuracy in %, severity 3")
print((100 * table).round(1).to_string())

if options.picture:
    figure = plt.figure(figsize=(9, 4.2))
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1.9])
    for panel, name in zip(above.subplots(1, 6), ["clean", *names], strict=True):
        panel.imshow(images[test[0]] if name == "clean" else conditions[name, 3][0])
        panel.set_axis_off()
        panel.set_title(name.replace("_", " "), loc="center", fontsize=9)
    panel = below.subplots()
    (100 * table).rename(lambda name: name.replace("_", " ")).plot.bar(ax=panel, rot=0, width=0.75, xlabel="")
    panel.set_ylabel("balanced accuracy, %")
    panel.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
    figure.savefig(options.picture)
