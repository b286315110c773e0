"""Editing a memory: an expert drops a bad one, teaches a new digit, and picks its prototypes.

The classifier learned handwritten digits without a single 9. The expert looks at what it remembers, drops the memory
that stands for the most different digits, gives it thirty nines, and makes two typical nines memories by hand. Every
edit returns a new classifier and fits only what it touches. You learn what `drop`, `update` and `add` do to the
answers, for the old digits and for the new one. Read the plain model too: on digits like those of the training it is
more accurate. Editing is for those who must be able to see what a classifier goes by, and to change it.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from memclf import MemoryClassifier
from memclf.evaluate import StageOne, accuracy, coverage
from memclf.similarity import RBFSimilarity

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", help="write the picture to this file")
picture = parser.parse_args().picture

pixels, digit = load_digits(return_X_y=True)
X, y, X_test, y_test = pixels[:1000] / 16, digit[:1000].astype(str), pixels[1000:] / 16, digit[1000:].astype(str)
nines, known = X[y == "9"][:30], y != "9"
plain = LogisticRegression(max_iter=500)


def measure(name, model):
    """Print the share of answers that are right, and of nines that are called unknown."""
    found, old, new = model.predict(X_test), y_test != "9", y_test == "9"
    right = [f"{accuracy(y_test[rows], found[rows]):10.1%}" for rows in (old, new)]
    print(f"{name:40}{right[0]}{right[1]}{1 - coverage(y_test[new], found[new]):15.1%}")


print(f"{'accuracy':40}{'0 to 8':>10}{'9':>10}{'9 is unknown':>15}")
clf = MemoryClassifier(RBFSimilarity(gamma=0.1), plain, threshold=0.55, random_state=0).fit(X[known], y[known])
measure("memory classifier, no 9", clf)
measure("stage 1 alone, no 9", StageOne(clf))
measure("plain model, no 9", plain.fit(X[known], y[known]))

before = clf
worst = int((clf.cluster_counts_.max(axis=1) / clf.cluster_counts_.sum(axis=1)).argmin())
clf = clf.drop(worst)
measure(f"memory classifier, memory {worst} dropped", clf)
clf = clf.update(nines, np.repeat("9", 30))
measure("memory classifier, 30 nines given", clf)
typical = clf.similarity_.compare(nines, nines).mean(axis=1).argsort()[::-1] + known.sum()  # new rows come last
for row in [row for row in typical if row not in clf.memory_indices_][:2]:
    clf = clf.add(row)
measure("memory classifier, 2 nines made memories", clf)
measure("stage 1 alone, the same", StageOne(clf))
measure("plain model, with 30 nines", plain.fit(np.vstack([X[known], nines]), [*y[known], *["9"] * 30]))
print(f"\n{clf.explain(X_test[y_test == '9'][:1])[0].sentence}")

if picture:
    figure, rows = plt.subplots(2, len(clf.memory_indices_), figsize=(9, 2.2))
    for panels, version in zip(rows, (before, clf), strict=True):
        for k, panel in enumerate(panels):
            panel.set_axis_off()
            if k < len(version.memory_indices_):
                panel.imshow(version.memories_[k].reshape(8, 8), cmap="gray_r")
                answer = version.classes_[version.cluster_counts_[k].argmax()]
                colour = "#b3261e" if version is before and k == worst else "#0b7a70" if answer == "9" else "#7a818c"
                panel.set_title(answer, loc="center", color=colour, fontweight="bold")
    figure.suptitle("What it remembers: before (red: dropped), and after the edits (green: nines)", x=0.01, ha="left")
    figure.savefig(picture)
