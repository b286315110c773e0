"""Does a memory classifier earn its place? All contenders on all data sets, as they are and shifted.

    python benchmarks/earn.py --out runs/earn               measure (goes on where it stopped)
    python benchmarks/earn.py --out runs/earn --page docs   write the page from what was measured

Every contender gets the same training cases. Test cases are answered once, to be counted. Nothing is chosen by them.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from earn_data import DATASETS
from memclf import MemoryClassifier
from memclf.answers import AutoAnswer
from memclf.answers.base import balance_probabilities
from memclf.routing.thresholds import distance

SEEDS = (0, 1, 2)
LEAST = 50  # cases of a cluster with a classifier of its own
PARTS = ("plain", "stage 1", "paper")
BALANCES = (0.5, 1.0)  # controls: the plain model with rare classes weighed up, as auto may do it


def forest(seed: int) -> Any:
    return RandomForestClassifier(60, min_samples_leaf=2, random_state=seed, n_jobs=1)


def count_memories(n: int) -> int:
    """As many as a histogram of n cases has bars, the same for every memory classifier here."""
    return max(2, round(1.2 * n**0.5))


def memory_classifier(data: Any, n: int, seed: int, answer: Any) -> MemoryClassifier:
    return MemoryClassifier(
        data.similarity(),
        make_pipeline(data.preprocess(), forest(seed)),
        n_memories=min(count_memories(n), n // 4),
        min_cluster_size=LEAST,
        fallback="nearest",
        answer=answer,
        random_state=seed,
    )


def contenders(data: Any, n: int, seed: int) -> dict[str, Callable[[], Any]]:
    """Name -> a function that makes the contender, not fitted."""
    plain = {
        "logistic": LogisticRegression(max_iter=1000),
        "boosting": HistGradientBoostingClassifier(random_state=seed),
        "neighbours": KNeighborsClassifier(15),
        "plain": forest(seed),
    }
    rules = {"stage 1": "labels", "paper": "local", "product": "product", "auto": AutoAnswer()}
    made: dict[str, Callable[[], Any]] = {}
    for name, estimator in plain.items():
        made[name] = lambda estimator=estimator: make_pipeline(data.preprocess(), estimator)
    for name, rule in rules.items():
        made[name] = lambda rule=rule: memory_classifier(data, n, seed, rule)
    return made


def strangeness(model: Any, X: Any, P: np.ndarray) -> np.ndarray:
    """How unlike the training cases: for memory classifiers by similarity, for others by doubt."""
    if isinstance(model, MemoryClassifier):
        return np.asarray(distance(model.route(X).similarity))
    return 1 - P.max(axis=1)


def measure(name: str, seed: int) -> Iterator[dict[str, Any]]:
    """One row per contender: for each test part the answers' correctness, confidence and strangeness."""
    data = DATASETS[name]
    split = data.load(seed)
    parts = {
        "test": (split.X_test, np.asarray(split.y_test)),
        "shifted": (split.X_shifted, np.asarray(split.y_shifted)),
    }
    for contender, make in contenders(data, len(split.y_train), seed).items():
        model = make()
        groups = {"groups": split.groups} if isinstance(model, MemoryClassifier) and split.groups is not None else {}
        began = time.perf_counter()
        model.fit(split.X_train, split.y_train, **groups)
        row: dict[str, Any] = {"data": name, "seed": seed, "contender": contender, "fit": time.perf_counter() - began}
        chances = {part: model.predict_proba(X) for part, (X, _) in parts.items()}
        if contender == "plain":
            common = np.unique(split.y_train, return_counts=True)[1] / len(split.y_train)
            for balance in BALANCES:
                weighed = {part: balance_probabilities(P, common, balance) for part, P in chances.items()}
                control = {**row, "contender": f"plain, balance {balance:g}"}
                yield {**control, **{part: count(model.classes_, P, parts[part][1]) for part, P in weighed.items()}}
        row |= {part: count(model.classes_, P, parts[part][1]) for part, P in chances.items()}
        if split.X_unseen is not None:
            strange = {}
            for part, X in {"test": split.X_test, "unseen": split.X_unseen}.items():
                strange[part] = np.round(strangeness(model, X, model.predict_proba(X)), 5).tolist()
            row["strangeness"] = strange
        if contender.startswith("auto"):
            row["balance"] = model.answer_.balance_
            row["believed"], row["scores"] = model.answer_.believed_, model.answer_.scores_
            row["belief"] = str(model.answer_.belief_)
        yield row


def count(classes: np.ndarray, P: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """For each case of a test part its class, whether the answer is right, and how sure it is."""
    right = classes[P.argmax(axis=1)] == y
    confidence = np.round(P.max(axis=1), 4)
    return {"truth": y.astype(str).tolist(), "right": right.astype(int).tolist(), "confidence": confidence.tolist()}


def run(out: Path, names: list[str], seeds: list[int]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        for name in names:
            file = out / f"{name}-{seed}.json"
            if file.is_file():
                continue
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows = list(measure(name, seed))
            part = file.with_suffix(".part")
            part.write_text(json.dumps(rows))
            part.replace(file)
            print(f"{name} seed {seed}: {time.perf_counter() - began:.0f} s", flush=True)
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
    parser.add_argument("--only", nargs="*", default=list(DATASETS), help="names of data sets")
    parser.add_argument("--seeds", nargs="*", type=int, default=list(SEEDS))
    parser.add_argument("--page", type=Path, help="write earn.md and its pictures into this folder of docs")
    options = parser.parse_args()
    if options.page is None:
        run(options.out, options.only, options.seeds)
    else:
        from earn_page import write_page

        write_page(options.out, options.page)


if __name__ == "__main__":
    main()
