"""Questions about likeness, prepared before they are asked, and what the answers teach."""

from __future__ import annotations

import hashlib
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memclf._numbers import Array
from memclf._progress import say
from memclf.exceptions import DataError, JudgementsWarning
from memclf.similarity import JudgedSimilarity
from memclf.similarity.judgements import Consistency, Share
from memclf.studio.background import Background
from memclf.studio.description import make_features
from memclf.studio.judging import SKIP, Triplet, list_triplets
from memclf.studio.painting import digest_paintings
from memclf.studio.project import Project

SAMPLE = 400  # cases that questions are about
BATCH = 12  # questions that are prepared together
ENOUGH = 50  # answers; from 20 to 50 the weights gain most (benchmarks/JUDGED.md), then less and less
DESCRIBED = "described.npz"


@dataclass(frozen=True)
class Described:
    """Cases that questions are about, and a row of numbers of each."""

    keys: list[str]
    names: list[str]
    values: Array


@dataclass(frozen=True)
class Learned:
    """What the answers taught so far."""

    answers: int
    consistency: Consistency
    sentence: str
    weights: list[tuple[str, float]]  # the most important first
    problem: str = ""

    @property
    def enough(self) -> bool:
        """Whether more answers would hardly change much."""
        return self.answers >= ENOUGH and self.consistency.held_out.interval[0] > 0.5

    @property
    def progress(self) -> float:
        """From 0 to 1: how far it is to enough."""
        return 1.0 if self.enough else min(0.95, self.answers / ENOUGH)

    @property
    def advice(self) -> str:
        """Whether to go on, and why."""
        held = self.consistency.held_out
        if self.enough:
            return (
                f"This is enough: you gave {self.answers} answers, and the weights predict answers that they have not "
                f"seen, {held}, surely more often than a coin. More answers refine them a little."
            )
        if self.answers < ENOUGH:
            left = ENOUGH - self.answers
            return (
                f"{left} more answer{'s' if left > 1 else ''}, please: weights learn most from the first {ENOUGH}. "
                "Then they must predict answers that they have not seen surely more often than a coin would."
            )
        return (
            f"You gave {self.answers} answers, but the weights predict unseen ones no better than a coin ({held}). "
            "Perhaps you go by something that is not measured: add it on the page Teach. Or look at the "
            "contradictions below."
        )


def describe_cases(folder: Path) -> int:
    """Measure the cases that questions are about, and keep the numbers. It runs as a job."""
    project = Project(folder)
    data, digest = project.data, digest_description(project)
    if data is None:
        raise DataError("there are no cases yet: choose a folder or a table first")
    rows = _draw(project)
    if data.kind == "images":
        from memclf.own.defaults import make_measurements

        features = make_features(project) or make_measurements()
        say(f"measuring {len(rows)} pictures", None)
        values = features.fit(data.cases[rows]).transform(data.cases[rows])
    else:
        from memclf.own.defaults import make_encoder

        features = make_encoder()
        values = features.fit_transform(data.cases.iloc[rows])
    names = [str(name) for name in features.get_feature_names_out()]
    part = folder / f"part-{DESCRIBED}"
    keys = [data.keys[row] for row in rows.tolist()]
    np.savez(part, digest=digest, keys=np.array(keys), names=np.array(names), values=np.asarray(values, dtype=float))
    part.replace(folder / DESCRIBED)
    project.close()
    return len(rows)


def read_described(project: Project) -> Described | None:
    """The numbers of the last `describe_cases`; None if the description is another by now."""
    try:
        with np.load(project.folder / DESCRIBED, allow_pickle=False) as file:
            if str(file["digest"]) != digest_description(project):
                return None
            return Described(file["keys"].tolist(), file["names"].tolist(), file["values"])
    except (OSError, ValueError, KeyError):
        return None


def digest_description(project: Project) -> str:
    """A name for the data and all that decides what is measured of it."""
    spec = project.spec.read_bytes() if project.spec.exists() else b""
    return hashlib.sha256(digest_paintings(project).encode() + spec).hexdigest()[:16]


def _draw(project: Project) -> Array:
    """Rows of training cases, at most `SAMPLE`; without labels, of all."""
    data = project.data
    assert data is not None
    if data.target is not None:
        rows = project.split()[0]
    else:
        rows = np.array([row for row in range(len(data)) if row not in project.broken])
    if len(rows) < 3:
        raise DataError(f"a question is about three cases, and there are {len(rows)}")
    if len(rows) > SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(rows, SAMPLE, replace=False))
    return rows


class Comparer:
    """Prepares questions and learns from answers, in the background."""

    def __init__(self, project: Project):
        self.project = project
        self.learned: Learned | None = None
        self.work = Background(self._learn)
        self._lock = threading.Lock()
        self._questions: list[Triplet] = []
        self._again: list[tuple[Triplet, tuple[int, ...]]] = []
        self._described: tuple[str, Described] | None = None

    @property
    def described(self) -> Described | None:
        """The numbers of the cases, None before they were measured."""
        with self._lock:
            digest = digest_description(self.project)
            if self._described is None or self._described[0] != digest:
                self._questions = []
                found = read_described(self.project)
                self._described = None if found is None else (digest, found)
            return None if self._described is None else self._described[1]

    def ask(self) -> list[tuple[Triplet, tuple[int, ...]]]:
        """The question to answer now and the one after it.

        Each comes with the numbers of answers that a new one replaces. There are fewer while questions are prepared.
        """
        with self._lock:
            return [*self._again, *((each, ()) for each in self._questions)][:2]

    def ask_again(self, question: Triplet, replaces: tuple[int, ...] = ()) -> None:
        """Put a question before all others."""
        with self._lock:
            self._again.insert(0, (question, replaces))

    def answered(self, question: Triplet) -> None:
        """Go on to the next question, and learn."""
        with self._lock:
            again = [_key(each) for each, _ in self._again]
            if _key(question) in again:
                del self._again[again.index(_key(question))]
            else:
                self._questions = [each for each in self._questions if _key(each) != _key(question)]
        self.work.wake()

    def _learn(self) -> None:
        described = self.described
        if described is None:
            return
        import pandas as pd

        place = {key: number for number, key in enumerate(described.keys)}
        told = list_triplets(self.project)
        triplets = [tuple(place[key] for key in each) for each in told if all(key in place for key in each)]
        frame = pd.DataFrame(described.values, columns=described.names)
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always", JudgementsWarning)
            similarity = JudgedSimilarity().fit(frame).judge(frame, triplets=triplets)
        with self._lock:
            few = len(self._questions) < BATCH // 2
        if few:
            self._prepare(similarity, frame, described)
        order = np.argsort(-similarity.weights_, kind="stable")
        weights = [(described.names[m], float(similarity.weights_[m])) for m in order if similarity.weights_[m] > 0]
        consistency = similarity.consistency_ if triplets else Consistency(Share(0, 0), Share(0, 0))
        problem = " ".join(str(each.message) for each in raised if issubclass(each.category, JudgementsWarning))
        self.learned = Learned(len(triplets), consistency, similarity.sentence, weights, problem)

    def _prepare(self, similarity: Any, frame: Any, described: Described) -> None:
        skips = [each.about for each in self.project.log.events(SKIP)]
        skipped = {_key((about["a"], about["one"], about["other"])) for about in skips}
        keys, asked = described.keys, similarity.questions(frame, BATCH + len(skipped))
        found = [(keys[a], keys[one], keys[other]) for a, one, other in asked]
        with self._lock:
            waiting = {_key(each) for each in self._questions}
            self._questions += [each for each in found if _key(each) not in skipped | waiting]


def _key(question: Triplet) -> tuple[str, frozenset[str]]:
    """The same for both orders of the two cases that are compared."""
    return question[0], frozenset(question[1:])
