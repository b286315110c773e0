"""Does a memory classifier earn its place? All contenders on all data sets, as they are and shifted.

    python benchmarks/earn.py --out runs/earn               measure (goes on where it stopped)
    python benchmarks/earn.py --out runs/earn --page docs   write the page from what was measured

With `--fresh` in both commands (and `--out runs/fresh`): other tables, collected after auto was finished.

Photographs are in no package. `--leaves` and `--acne` name folders as `memclf study` reads them; without a folder the
data set is left out. Every contender gets the same training cases. Test cases are answered once, to be counted.
Nothing is chosen by them.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from earn_data import DATASETS
from earn_fresh import DATASETS as FRESH
from earn_mapie import find_levels
from memclf import MemoryClassifier
from memclf.answers import AutoAnswer
from memclf.answers.base import balance_probabilities
from memclf.routing.thresholds import distance

SEEDS = (0, 1, 2)
BALANCES = (0.5, 1.0)  # controls: the plain model with rare classes weighed up, as auto may do it
METRICS = {"accuracy": "auto for accuracy", "balanced_accuracy": "auto for balanced"}


class EveryMetric(AutoAnswer):
    """Auto that keeps what it learns from, so that choosing by another metric needs no other fit."""

    def learn(self, *told: Any) -> EveryMetric:
        self.before_, self.told_ = copy.copy(self), told
        return super().learn(*told)

    def choose_by(self, metric: str) -> EveryMetric:
        """What a fit with this metric had learned."""
        other = copy.copy(self.before_)
        other.metric = metric
        return other.learn(*self.told_)


def contenders(data: Any, n: int, seed: int) -> dict[str, Callable[[], Any]]:
    """Name -> a function that makes the contender, not fitted."""
    plain = {
        "logistic": LogisticRegression(max_iter=1000),
        "boosting": HistGradientBoostingClassifier(random_state=seed),
        "neighbours": KNeighborsClassifier(15),
    }
    rules = {"stage 1": "labels", "paper": "local", "product": "product", "auto": EveryMetric()}
    made: dict[str, Callable[[], Any]] = {}
    for name, estimator in plain.items():
        made[name] = lambda estimator=estimator: make_pipeline(data.preprocess(), estimator)
    made["tree"] = lambda: make_pipeline(data.measure(), DecisionTreeClassifier(max_depth=3, random_state=seed))
    made["plain"] = lambda: data.plain(seed)
    for name, rule in rules.items():
        made[name] = lambda rule=rule: data.memory_classifier(n, seed, rule)
    return made


def strangeness(model: Any, X: Any, P: np.ndarray) -> np.ndarray:
    """How unlike the training cases: for memory classifiers by similarity, for others by doubt."""
    if isinstance(model, MemoryClassifier):
        return np.asarray(distance(model.route(X).similarity))
    return 1 - P.max(axis=1)


def measure(data: Any, seed: int) -> Iterator[dict[str, Any]]:
    """One row per contender: for each test part the answers' correctness, confidence and strangeness."""
    split = data.load(seed)
    parts = {
        "test": (split.X_test, np.asarray(split.y_test), split.test_units),
        "shifted": (split.X_shifted, np.asarray(split.y_shifted), split.shifted_units),
    }

    def count_parts(classes: np.ndarray, chances: dict[str, np.ndarray]) -> dict[str, Any]:
        return {part: count(classes, P, *parts[part][1:]) for part, P in chances.items()}

    for contender, make in contenders(data, len(split.y_train), seed).items():
        model = make()
        groups = {"groups": split.groups} if isinstance(model, MemoryClassifier) and split.groups is not None else {}
        began = time.perf_counter()
        model.fit(split.X_train, split.y_train, **groups)
        row: dict[str, Any] = {"data": data.name, "seed": seed, "contender": contender}
        row["fit"] = time.perf_counter() - began
        chances = {part: model.predict_proba(X) for part, (X, *_) in parts.items()}
        if contender == "plain":
            common = np.unique(split.y_train, return_counts=True)[1] / len(split.y_train)
            for balance in BALANCES:
                weighed = {part: balance_probabilities(P, common, balance) for part, P in chances.items()}
                yield {**row, "contender": f"plain, balance {balance:g}"} | count_parts(model.classes_, weighed)
        row |= count_parts(model.classes_, chances)
        if contender == "plain":
            for part, levels in find_levels(make(), split, seed, chances).items():
                row[part]["level"] = levels.tolist()
        if split.X_unseen is not None:
            row["strangeness"], row["doubt"] = {}, {}
            for part, X in {"test": split.X_test, "unseen": split.X_unseen}.items():
                P = model.predict_proba(X)
                row["strangeness"][part] = np.round(strangeness(model, X, P), 5).tolist()
                row["doubt"][part] = np.round(1 - P.max(axis=1), 5).tolist()
        if contender != "auto":
            yield row
            continue
        yield row | tell_belief(model)
        for metric, name in METRICS.items():
            model.answer_ = model.answer_.choose_by(metric)
            chosen = {part: model.predict_proba(X) for part, (X, *_) in parts.items()}
            yield row | {"contender": name} | count_parts(model.classes_, chosen) | tell_belief(model)


def tell_belief(model: Any) -> dict[str, Any]:
    """Whom auto believes, and what it found."""
    answer = model.answer_
    told = {"balance": answer.balance_, "believed": answer.believed_, "scores": answer.scores_}
    return {**told, "belief": str(answer.belief_)}


def count(classes: np.ndarray, P: np.ndarray, y: np.ndarray, units: np.ndarray | None) -> dict[str, Any]:
    """For each case of a test part its class, whether the answer is right, and how sure it is."""
    right = classes[P.argmax(axis=1)] == y
    confidence = np.round(P.max(axis=1), 4)
    found = {"truth": y.astype(str).tolist(), "right": right.astype(int).tolist(), "confidence": confidence.tolist()}
    return found if units is None else {**found, "unit": np.unique(units, return_inverse=True)[1].tolist()}


def run(out: Path, chosen: list[Any], seeds: list[int]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        for data in chosen:
            file = out / f"{data.name}-{seed}.json"
            if file.is_file():
                continue
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows = list(measure(data, seed))
            part = file.with_suffix(".part")
            part.write_text(json.dumps(rows))
            part.replace(file)
            print(f"{data.name} seed {seed}: {time.perf_counter() - began:.0f} s", flush=True)
            for row in rows:
                shown = "  ".join(f"{part} {show(row[part])}" for part in ("test", "shifted"))
                print(f"   {row['contender']:12} {shown}  {row.get('believed', '')}", flush=True)


def show(part: dict[str, Any]) -> str:
    right, truth = np.array(part["right"]), np.array(part["truth"])
    return f"{100 * right.mean():5.1f} / {100 * balanced(right, truth):5.1f}"


def balanced(right: np.ndarray, truth: np.ndarray) -> float:
    """The mean over classes of the share of right answers."""
    return float(np.mean([right[truth == label].mean() for label in np.unique(truth)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/earn"), help="folder of what was measured")
    parser.add_argument("--fresh", action="store_true", help="tables that were collected after auto was finished")
    parser.add_argument("--only", nargs="*", help="names of data sets; default: all")
    parser.add_argument("--seeds", nargs="*", type=int, default=list(SEEDS))
    parser.add_argument("--page", type=Path, help="write earn.md and its pictures into this folder of docs")
    parser.add_argument("--leaves", type=Path, help="folder of coffee leaves: dataset-full.csv, leaf/ID.jpg, split.csv")
    parser.add_argument("--acne", type=Path, help="folder of acne lesions: lesions.csv and its images")
    parser.add_argument("--networks", type=Path, help="train leaf networks as a whole; they are kept in this folder")
    options = parser.parse_args()
    if options.page is None:
        run(options.out, choose(options), options.seeds)
    else:
        import earn_fresh.page
        import earn_page

        (earn_fresh.page if options.fresh else earn_page).write_page(options.out, options.page)


def choose(options: argparse.Namespace) -> list[Any]:
    """The data sets that were asked for and can be loaded; a line is printed about each other one."""
    known = FRESH if options.fresh else DATASETS
    names = list(known) if options.only is None else options.only
    given = {"leaves": {"folder": options.leaves, "networks": options.networks}, "acne": {"folder": options.acne}}
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"there is no data set {unknown[0]!r}; the data sets are {', '.join(known)}")
    asked = [replace(known[name], **given.get(name, {})) for name in names]
    for data in asked:
        if missing := data.find_missing():
            print(f"{data.name} is left out: {missing}", flush=True)
    return [data for data in asked if not data.find_missing()]


if __name__ == "__main__":
    main()
