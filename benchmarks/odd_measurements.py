"""What it brings that measurements count for less where they are odd (`answer="auto"`).

A network is trained on two thirds of the training images. Auto learns whom to believe on the other third, as they are
and shifted (in three parts that stand for folds), and answers the test images under the 18 corruptions: once as it
does, and once with measurements that fade with the distance to the memory instead, as they did before. The parts alone
stand beside it, with and without rare classes weighed up. Intervals are 95 %, by bootstrap over test images.

    python benchmarks/odd_measurements.py leaf --data FOLDER --recipe augmix --keep runs/augmix.pickle

What the parts say is kept in the file, and read again if it is there (a file of your own: a pickle runs code).
"""

from __future__ import annotations

import argparse
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from memclf.answers import AutoAnswer
from memclf.answers.base import HeldOut, balance_probabilities
from memclf.answers.belief import PARTS
from memclf.classifier import estimator
from memclf.local.competence import Mahalanobis
from memclf.similarity.base import inspect
from memclf.studies import settings_for
from memclf.studies.registry import STUDIES
from memclf.studies.study import groups_of, make_corrupted
from memclf.studies.training import CellTrainer
from memclf.studies.variants import AUTO, make_variant

SHIFTS = (1000, 1001)  # seeds of the shifted versions, as in a fit
BALANCES = (0.0, 0.5)  # of the parts alone
DRAWS = 2000


def gather(asked: argparse.Namespace) -> dict[str, Any]:
    """What the parts say of held-out training images and of test images."""
    study = STUDIES[asked.study]
    given = {"recipes": (asked.recipe,), "features": ("robust",), "epochs": asked.epochs}
    settings = settings_for(asked.study, "full", data=asked.data, local_epochs=max(1, asked.epochs // 2), **given)
    data = study.load(settings)
    y, groups = np.asarray(data.train.labels), groups_of(data.train)
    folds = (StratifiedKFold if groups is None else StratifiedGroupKFold)(3, shuffle=True, random_state=0)
    rest, held = next(folds.split(y, y, groups))
    trainer = CellTrainer(study, data.train, settings, asked.keep.parent, asked.recipe, settings.backbones[0], 0)
    clf = make_variant(AUTO, study, trainer.make_network(), settings, 0, len(y), verbose=1)
    estimator.learn_answer = lambda fit: None  # type: ignore[assignment]  # one network is enough here
    images = data.train[rest].remembered()
    clf.fit(images, y[rest])
    parts, sets = clf._parts, {}

    def look(key: tuple[str, str, int], seen: Any) -> None:
        cases = clf._cases(seen.remembered())
        opinions, strange = parts.answer.observe(parts, cases, parts.route(cases))
        sets[key] = (opinions, strange, inspect(parts.similarity, cases))
        print(*key, flush=True)

    out = data.train[held]
    look(("held", "clean", 0), out)
    for seed in SHIFTS:
        look(("held", "shift", seed), out.shifted(seed=seed))
    look(("test", "clean", 0), data.test)
    make = make_corrupted(data.test, settings)
    for severity in asked.severity:
        for corruption in settings.corruptions:
            look(("test", corruption, severity), make(corruption, severity))
    said = {"train_numbers": inspect(parts.similarity, images), "train_y": y[rest], "classes": clf.classes_}
    return {**said, "held_y": y[held], "test_y": np.asarray(data.test.labels), "sets": sets}


def tell_errors(found: dict[str, Any]) -> float:
    """How well oddness tells errors of the measurements on shifted held-out images: an AUROC."""
    odd = Mahalanobis(scaled=True).learn(found["train_numbers"], found["train_y"])
    sets = [found["sets"]["held", "shift", seed] for seed in SHIFTS]
    wrong = [found["classes"][opinions.measured.argmax(axis=1)] != found["held_y"] for opinions, _, _ in sets]
    return float(roc_auc_score(np.concatenate(wrong), np.concatenate([odd.judge(numbers) for _, _, numbers in sets])))


def learn(found: dict[str, Any], by_oddness: bool) -> tuple[AutoAnswer, dict[Any, Any]]:
    """Auto as it learns from the held-out images, and the opinions as it compares them with the usual."""
    odd = Mahalanobis(scaled=True).learn(found["train_numbers"], found["train_y"])
    told = {
        key: (replace(opinions, oddness=odd.judge(numbers) if by_oddness else None), strange)
        for key, (opinions, strange, numbers) in found["sets"].items()
    }
    answer, codes = AutoAnswer(), np.searchsorted(found["classes"], found["held_y"])
    answer.measured_ = answer.odd_ = None  # they are not asked again
    versions = [told["held", "clean", 0], *(told["held", "shift", seed] for seed in SHIFTS)]
    folds = [np.flatnonzero(np.arange(len(codes)) % 3 == fold) for fold in range(3)]
    held = [HeldOut(rows, [o.take(rows) for o, _ in versions], [s[rows] for _, s in versions]) for rows in folds]
    answer.learn(held, codes, None, None)
    return answer, {key: answer.compare_with_usual(*each) for key, each in told.items() if key[0] == "test"}


def count_right(found: dict[str, Any], belief: Any, balance: float, told: dict[Any, Any]) -> tuple[Any, Any]:
    """Whether each test image is answered right: as it is, and under each condition."""
    truth = np.searchsorted(found["classes"], found["test_y"])
    right = {}
    for key, opinions in told.items():
        said = balance_probabilities(belief.combine(opinions), opinions.prior, balance)
        right[key] = (said.argmax(axis=1) == truth).astype(float)
    return right.pop(("test", "clean", 0)), np.array(list(right.values()))


def both_accuracies(right: Any, y: Any) -> Any:
    """Accuracy and balanced accuracy in per cent; the mean over conditions comes first."""
    right = np.atleast_2d(right).mean(axis=0)
    return 100 * np.array([right.mean(), np.mean([right[y == label].mean() for label in np.unique(y)])])


def interval(first: Any, second: Any, y: Any) -> str:
    """By how much the first is ahead under corruption, with its interval."""
    rng, ahead = np.random.default_rng(0), (first - second).mean(axis=0)
    drawn = []
    while len(drawn) < DRAWS:
        rows = rng.integers(len(y), size=len(y))
        drawn.append(both_accuracies(ahead[rows], y[rows]))
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    each = zip(both_accuracies(ahead, y), low, high, strict=True)
    return " / ".join(f"{mean:+.1f} ({least:+.1f} to {most:+.1f})" for mean, least, most in each)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=("leaf", "acne"))
    parser.add_argument("--data", required=True, help="folder of the images")
    parser.add_argument("--recipe", default="vanilla")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--severity", type=int, nargs="+", default=[1, 3, 5])
    parser.add_argument("--keep", type=Path, required=True, help="file of what the parts say")
    asked = parser.parse_args()
    if not asked.keep.exists():
        asked.keep.parent.mkdir(parents=True, exist_ok=True)
        asked.keep.write_bytes(pickle.dumps(gather(asked)))
    found = pickle.loads(asked.keep.read_bytes())
    print(f"oddness tells errors of the measurements on shifted held-out images: AUROC {tell_errors(found):.3f}")
    y, rows = found["test_y"], {}
    for name, by_oddness in (("auto", True), ("auto, fading with distance", False)):
        answer, told = learn(found, by_oddness)
        print(f"{name}: believes {answer.believed_}, balance {answer.balance_:g}, {answer.belief_}")
        rows[name] = count_right(found, answer.belief_, answer.balance_, told)
    for name, part in PARTS.items():
        for balance in BALANCES:
            rows[f"{name}, balance {balance:g}"] = count_right(found, part, balance, told)
    print(f"\n{'':30s}{'clean':>14s}{'corrupted':>14s}   auto is ahead by")
    for name, (clean, corrupted) in rows.items():
        shown = ["{:.1f} / {:.1f}".format(*both_accuracies(each, y)) for each in (clean, corrupted)]
        ahead = "" if name == "auto" else interval(rows["auto"][1], corrupted, y)
        print(f"{name:30s}{shown[0]:>14s}{shown[1]:>14s}   {ahead}")


if __name__ == "__main__":
    main()
