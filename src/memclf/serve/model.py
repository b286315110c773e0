"""A fitted classifier as the service uses it: from what a client sent to what it gets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from memclf.cases import Collection, containers
from memclf.data.records import Records
from memclf.exceptions import DataError
from memclf.explain import Explanation, list_rows
from memclf.persist.summary import describe_training
from memclf.serve.limits import Limits
from memclf.serve.metrics import Metrics
from memclf.serve.problems import Problem

Join = Callable[[list[Any]], list[dict[str, Any]]]


class Model:
    """A classifier that answers and explains cases of clients.

    Parameters
    ----------
    clf : MemoryClassifier
        Fitted on a table, an array of numbers, texts or images.
    limits : Limits
    metrics : Metrics
        Where answers are counted.
    """

    def __init__(self, clf: Any, limits: Limits, metrics: Metrics):
        self.clf, self._metrics = clf, metrics
        self.takes_images = isinstance(clf.memories_, Collection) or _is_pixels(clf.memories_)
        if self.takes_images:
            from memclf.serve.images import Images  # needs the extra `vision`

            self.reader: Any = Images(clf, limits)
        else:
            self.reader = Records(clf)

    def read(self, case: Any) -> tuple[Any, int]:
        """Check one case as it was sent, without decoding it: what `predict` takes, and its weight."""
        if self.takes_images:
            found: tuple[Any, int] = self.reader.check(*case)
            return found
        try:
            return self.reader.check(case), 0
        except DataError as error:
            raise Problem("bad-case", str(error)) from None

    def predict(self, cases: list[Any]) -> list[Any]:
        """The answer to each case as a dictionary, or the exception that it raised."""
        return self._each(cases, self._answer)

    def explain(self, cases: list[Any]) -> list[Any]:
        """The explanation of each case as a dictionary, or the exception that it raised."""
        return self._each(cases, lambda X: [show_explanation(each) for each in self.clf.explain(X)])

    def _answer(self, X: Any) -> list[dict[str, Any]]:
        found = self.clf.answers(X)
        rows = list_rows(self.clf, found)
        self._metrics.count_answers(rows, found.competence)
        return [row.as_dict() for row in rows]

    def _each(self, cases: list[Any], work: Callable[[Any], list[dict[str, Any]]]) -> list[Any]:
        results: list[Any] = [None] * len(cases)
        kinds: dict[Any, list[int]] = defaultdict(list)
        loaded = [self._load(case) for case in cases]
        for position, case in enumerate(loaded):
            if isinstance(case, Exception):
                results[position] = case
            else:
                kinds[case.kind].append(position)
        for positions in kinds.values():
            rows = attempt(lambda some: work(self.reader.take(some)), [loaded[p] for p in positions])
            for position, row in zip(positions, rows, strict=True):
                results[position] = row
        return results

    def _load(self, case: Any) -> Any:
        try:
            return self.reader.load(case) if self.takes_images else case
        except Exception as error:
            return error

    def memories(self) -> list[dict[str, Any]]:
        """What each memory stands for; its own values where it is a row or a text."""
        shown = describe_training(self.clf)["by_memory"]
        cases = [None] * len(shown) if self.takes_images else show_cases(self.clf.memories_)
        return [{"memory": k, **each, "case": cases[k]} for k, each in enumerate(shown)]

    def picture(self, memory: int) -> bytes:
        """A memory as the content of a PNG file."""
        if not self.takes_images:
            raise Problem("not-found", "the memories of this model are no images; /v1/memories shows their values")
        if not 0 <= memory < len(self.clf.memory_indices_):
            raise Problem("not-found", f"there is no memory {memory}; there are {len(self.clf.memory_indices_)}")
        found: bytes = self.reader.show(self.clf.memories_[memory])
        return found


def attempt(work: Join, cases: list[Any]) -> list[Any]:
    """``work(cases)``; where it fails, each half by itself, so that a bad case fails alone."""
    try:
        return work(cases)
    except Exception as error:
        if len(cases) == 1:
            return [error]
    half = len(cases) // 2
    return attempt(work, cases[:half]) + attempt(work, cases[half:])


def as_problem(error: Exception) -> Problem:
    """What a client learns of an exception: the text of its own mistakes, not of failures."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, (ValueError, TypeError)):
        return Problem("bad-case", f"the model cannot answer this case: {error}")
    return Problem("failed", f"the model failed on this case ({type(error).__name__})")


def show_explanation(found: Explanation) -> dict[str, Any]:
    """An explanation as JSON: names for everything, and no number that JSON does not have."""
    chances = found.probabilities or {}
    runner_up = {
        "memory": found.runner_up,
        "row": found.runner_up_row,
        "similarity": found.runner_up_similarity,
        "margin": found.margin,
    }
    return {
        "answer": found.answer,
        "probability": chances.get(found.answer),
        "known": found.known,
        "sentence": found.sentence,
        "answered_by": found.answered_by,
        "classifier": found.classifier,
        "memory": found.memory,
        "row": found.memory_row,
        "similarity": found.similarity,
        "threshold": found.threshold,
        "runner_up": None if found.runner_up is None else runner_up,
        "classes": [
            {"label": label, "cases": n, "probability": chances.get(label)}
            for label, n in found.cluster_classes.items()
        ],
        "values": [{"name": name, "case": here, "memory": there} for name, here, there in found.compare_with_memory()],
        "evidence": [
            {
                "feature": each.feature,
                "value": finite(each.value),
                "memory": finite(each.memory_value),
                "weight": finite(each.weight),
                "kind": each.kind,
            }
            for each in found.evidence
        ],
        "likeness": [{"name": name, "adds": finite(number)} for name, number in found.likeness],
        "competence": None if found.competence is None else finite(found.competence),
        "promise": found.promise or None,
    }


def show_cases(memories: Any) -> list[Any]:
    """Rows of a table as dictionaries, other rows as lists, texts as they are."""
    if containers.is_table(memories):
        return [{str(name): plain(value) for name, value in row.items()} for row in containers.as_sequence(memories)]
    rows = memories.toarray() if not isinstance(memories, (np.ndarray, list)) else memories
    return [plain(row) for row in rows]


def plain(value: Any) -> Any:
    """A value as JSON has it; gaps are null, and what JSON does not know is text."""
    if isinstance(value, np.ndarray):
        return [plain(each) for each in value.tolist()]
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return finite(value)
    return value if value is None or isinstance(value, (str, int, bool, list)) else str(value)


def finite(number: float) -> float | None:
    """The number, None for what JSON does not have."""
    return float(number) if np.isfinite(number) else None


def _is_pixels(memories: Any) -> bool:
    return isinstance(memories, np.ndarray) and memories.dtype == np.uint8 and memories.shape[3:] == (3,)
