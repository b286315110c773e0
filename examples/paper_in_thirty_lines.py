"""The paper in thirty lines: a network, and a memory classifier built on it, in bad weather.

A patch is red, green or blue. The expert says that two pictures are alike if their patches have the same colour. A
network learns the colours from clean pictures, and corruptions that it has not seen mislead it. The memory classifier
sends each picture to the remembered patch of its colour, whose own network answers. Read stage 1 as well: here the
expert's likeness does all of it, and the networks behind the memories add nothing.
"""

import argparse

import matplotlib.pyplot as plt
import pandas as pd

from memclf import MemoryClassifier
from memclf.evaluate import StageOne, evaluate
from memclf.similarity import FunctionSimilarity
from memclf.studies.generated import colour_patches
from memclf.vision import ImageClassifier
from memclf.vision.features import PatchColour, same_colour

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", help="write the picture to this file")
picture = parser.parse_args().picture

train, test = colour_patches(150, size=250), colour_patches(60, size=250, seed=1)
clf = MemoryClassifier(
    FunctionSimilarity(same_colour, batched=True, features=PatchColour()),  # the expert: 1 for the same colour, else 0
    ImageClassifier(image_size=96, train="head", epochs=30),  # the network, trained once on everything, ...
    start="global",  # ... and then once more for each memory, from where it was
    random_state=0,
).fit(train, train.labels)
models = {"network": clf.global_, "stage 1 alone": StageOne(clf), "memory classifier": clf}

weather = ["gaussian_noise", "defocus_blur", "snow", "fog", "contrast", "spatter"]
rows = pd.DataFrame(
    evaluate(models, test, test.labels, [(name, severity) for name in weather for severity in (1, 3, 5)])
)
means = 100 * rows.pivot_table("accuracy", "model", "severity").loc[list(models)]
print(clf.search_result_, "\n")
print("accuracy in %, mean of six corruptions, by severity (0: clean)")
print(means.round(1).to_string())

if picture:
    figure = plt.figure()
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1.5])
    for panel, name in zip(above.subplots(1, 7), ["clean", *weather], strict=True):
        panel.imshow(test[0] if name == "clean" else test.corrupted(name, 5)[0])
        panel.set_title(name.replace("_", " "), fontsize=9, loc="center")
        panel.set_axis_off()
    panel = below.subplots()
    worst = rows[rows["severity"].isin([0, 5])].pivot_table("accuracy", "corruption", "model").loc[["clean", *weather]]
    (100 * worst[list(models)]).rename(lambda name: name.replace("_", " ")).plot.bar(
        ax=panel, rot=0, width=0.75, xlabel="", ylabel="% right, severity 5"
    )
    panel.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
    figure.savefig(picture)
