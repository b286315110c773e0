"""Which parts of the sturdy memory classifier pay: judged on training images alone, all three studies together.

A third of the training images is held out (whole faces of the acne study), every variant is trained on the rest with
a frozen backbone, and answers the held-out images under the 18 corruptions. The test images are never looked at.

    python benchmarks/defaults.py --leaf ../shared/data/leaf --acne ../shared/data/acne
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedKFold, train_test_split

from memclf.evaluate import Condition, Store, evaluate, summarise
from memclf.studies import find_study, load_study, settings_for
from memclf.studies.study import groups_of, make_corrupted
from memclf.studies.training import train


def held_out(data, settings, fold, most):
    """The images with a third of the training images for testing, at most so many of them."""
    y, faces = np.asarray(data.train.labels), groups_of(data.train)
    cut = StratifiedKFold(3, shuffle=True, random_state=0) if faces is None else GroupKFold(3)
    rest, held = list(cut.split(np.zeros(len(y)), y, faces))[fold]
    if len(held) > most:
        held = np.sort(train_test_split(held, train_size=most, random_state=0, stratify=y[held])[0])
    test = data.train[held]
    return replace(data, train=data.train[rest], test=test, make=make_corrupted(test, settings))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leaf", help="folder of the coffee leaves; without it leaves are generated")
    parser.add_argument("--acne", help="folder of the lesions; without it skin is generated")
    parser.add_argument("--study", nargs="+", default=["color", "leaf", "acne"])
    parser.add_argument("--severity", type=int, nargs="+", default=[3])
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--most", type=int, default=10_000, help="of the held-out images, to be answered")
    asked = parser.parse_args()
    gains = {}
    for name in asked.study:
        options = {"leaf": {"data": asked.leaf}, "acne": {"data": asked.acne}, "color": {"features": ("robust",)}}[name]
        settings = settings_for(
            name, sturdy=True, ablate=True, augmented=False, severities=tuple(asked.severity), **options
        )
        data = held_out(load_study(settings), settings, asked.fold, asked.most)
        store = Store()
        with tempfile.TemporaryDirectory() as folder:
            found = list(train(find_study(name), data.train, settings, Path(folder)))
            conditions = [Condition(c, s) for c in settings.corruptions for s in settings.severities]
            evaluate(found, data.test, data.test.labels, conditions, make=data.make, store=store, verbose=1)
        print(f"\n{name}: {len(data.train)} for training, {len(data.test)} held out, {len(conditions)} conditions")
        print(f"{'':22s}{'clean':>14s}{'corrupted':>14s}")
        scores = {}
        for each in summarise(store)["models"]:
            scores[each["model"]] = [100 * each[at][m]["value"] for at in ("clean", "mean") for m in MEASURES]
            a, b, c, d = scores[each["model"]]
            print(f"{each['model']:22s}{a:8.1f} /{b:5.1f}{c:8.1f} /{d:5.1f}", flush=True)
        for model, values in scores.items():
            gains.setdefault(model, []).append(np.subtract(values, scores["memory"]))
    print("\nmean over the studies of the gain over the paper's way: clean and corrupted, accuracy / balanced accuracy")
    for model, values in sorted(gains.items(), key=lambda item: -np.mean(item[1], axis=0)[2:].sum()):
        if len(values) == len(asked.study):
            a, b, c, d = np.mean(values, axis=0)
            print(f"{model:22s}{a:+8.1f} /{b:+5.1f}{c:+8.1f} /{d:+5.1f}")


MEASURES = ("accuracy", "balanced_accuracy")

if __name__ == "__main__":
    main()
