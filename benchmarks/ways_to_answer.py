"""What a sturdy memory classifier would answer in other ways: other balances, its local classifiers alone.

The fitted model of a leaf study answers the test leaves under the 18 corruptions as it is, with other balances, and
without its memories' labels, beside its own network. To look at, not to choose by: these are test images.

    python benchmarks/ways_to_answer.py runs/leaf_augmix/models/augmix-efficientnet_lite0-seed0/sturdy --leaf DATA
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.metrics import balanced_accuracy_score

import memclf
from memclf.studies import load_study, settings_for

BALANCES = (0.0, 0.5, 1.0)


def ways(clf, images):
    """Name of a way to answer -> answers."""
    images = images.remembered()
    routes, found = clf.route(images), {"network": clf.global_.predict(images)}
    for balance in BALANCES:
        clf.answer_.set_params(balance=balance)
        found[f"balance {balance:g}"] = clf.answers(images, routes).labels
    found["local classifiers alone"] = clf.classes_[clf.answers(images, routes).local.argmax(axis=1)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="folder of the sturdy memory classifier in a run's models")
    parser.add_argument("--leaf", required=True, help="folder of the coffee leaves")
    parser.add_argument("--severity", type=int, default=3)
    asked = parser.parse_args()
    settings = settings_for("leaf", "full", data=asked.leaf)
    study, clf = load_study(settings), memclf.load(asked.model)
    y, scores = np.asarray(study.test.labels), {}
    for corruption in settings.corruptions:
        for name, said in ways(clf, study.make(corruption, asked.severity)).items():
            scores.setdefault(name, []).append([np.mean(said == y), balanced_accuracy_score(y, said)])
        print(f"{corruption} done", flush=True)
    for name, values in scores.items():
        accuracy, balanced = 100 * np.mean(values, axis=0)
        print(f"{name:40s}{accuracy:6.1f} / {balanced:4.1f}")


if __name__ == "__main__":
    main()
