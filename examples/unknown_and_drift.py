"""Unknown and drift: a press that wears out, and a fault that was never seen before.

Three kinds of parts leave a press, and the classifier is told to call about 5 % of parts like these unknown. Week by
week the tool wears, and from week 8 on there is a new kind of fault. The parts of these weeks have no labels. You learn
what `unknown_rate` promises, when `measure_drift` raises the alarm without any label, and what it costs: the plain
model answers every part and gives each cracked one a wrong name, the memory classifier leaves more and more to the
inspector.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from memclf import MemoryClassifier
from memclf.evaluate import StageOne, accuracy, coverage, measure_drift, selective_accuracy
from memclf.similarity import RBFSimilarity

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", help="write the picture to this file")
picture = parser.parse_args().picture

KINDS = np.array(["good", "bent", "burred", "cracked"])
CENTRES = np.array([[2.0, 2.0], [5.0, 4.5], [7.5, 1.5], [1.8, 6.5]])


def press(n, seed, wear=0.0, cracked=0.0):
    """Two measurements of n parts, and what each part is."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(4, n, p=[0.6 - cracked, 0.25, 0.15, cracked])
    return CENTRES[kind] + rng.normal(0, 0.6, (n, 2)) + [wear, 0.6 * wear], KINDS[kind]


X, y = press(500, seed=0)
clf = MemoryClassifier(RBFSimilarity(gamma=0.3), threshold=0.3, unknown_rate=0.05, random_state=0).fit(X, y)
models = {"plain model": LogisticRegression().fit(X, y), "stage 1 alone": StageOne(clf), "memory classifier": clf}

print("week  drift?  p-value  unknown  right: plain  stage 1  memory  memory, if answered")
weeks = []
for week in range(1, 13):
    new, truth = press(200, seed=week, wear=max(0.0, 0.1 * (week - 4)), cracked=0.12 if week >= 8 else 0.0)
    found = measure_drift(clf, new)
    answers = {name: model.predict(new) for name, model in models.items()}
    right = [accuracy(truth, each) for each in answers.values()]
    known, careful = (score(truth, answers["memory classifier"]) for score in (coverage, selective_accuracy))
    p = min(part.adjusted for part in found.parts if part.adjusted is not None)
    weeks.append((week, found.moved, 1 - known, right[0], careful, p))
    print(
        f"{week:4}  {'MOVED' if found.moved else '-':6}{p:9.4f}{1 - known:9.1%}"
        f"{right[0]:14.1%}{right[1]:9.1%}{right[2]:8.1%}{careful:21.1%}"
    )
print(f"\nWeek 12: {found.sentence}")
print(f"Look first at: {[case.row for case in found.cases[:5]]} ({found.cases[0].why})")

if picture:
    figure, (left, right) = plt.subplots(1, 2)
    grid = np.stack(np.meshgrid(np.linspace(-0.5, 10, 210), np.linspace(-0.5, 8.8, 186)), axis=-1)
    known = clf.route(grid.reshape(-1, 2)).known.reshape(grid.shape[:2])
    left.contourf(*grid.transpose(2, 0, 1), known, levels=[0.5, 1.5], colors=["#dceeeb"])
    for kind, colour in zip(KINDS, ["#0b7a70", "#d9822b", "#5b6fb5", "#b3261e"], strict=True):
        left.scatter(*new[truth == kind].T, s=12, color=colour, label=kind)
    left.scatter(*X[clf.memory_indices_].T, s=150, marker="*", color="#22262b", edgecolor="white", label="memory")
    left.set(title="Parts of week 12; shaded: known", xlabel="length", ylabel="runout")
    left.legend(fontsize=9)
    number, moved, unknown, plain, careful, _ = map(np.array, zip(*weeks, strict=True))
    right.plot(number, 100 * plain, marker="o", label="plain model: right")
    right.plot(number, 100 * careful, marker="o", color="#0b7a70", label="memory classifier: right, of those answered")
    right.bar(number, 100 * unknown, color=np.where(moved, "#b3261e", "#c8cdd4"), label="unknown")
    right.set(title="Red: drift was found, without labels", xlabel="week", ylabel="%", xticks=number)
    right.legend(fontsize=9, loc="center left")
    figure.savefig(picture)
