"""What corruptions do to answers: to one picture at once, to all held-out cases as a job."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memclf._progress import relay, tell
from memclf.cases.shifts import can_shift_rows, list_kinds, shift_rows
from memclf.classifier import MemoryClassifier
from memclf.evaluate import Condition, ModelId, Results, Row, StageOne, Store, evaluate
from memclf.exceptions import DataError, MemclfError
from memclf.studio.project import Project, write_json
from memclf.studio.session import Session, as_classes
from memclf.vision.corruptions import CORRUPTIONS, REGISTRY, SEVERITIES

SAME, OTHER_MEMORY, OTHER_ANSWER, UNKNOWN, IMPOSSIBLE = "same", "memory", "answer", "unknown", "impossible"
HOLDS = (SAME, OTHER_MEMORY)  # the answer is the same
KEPT = 30  # pictures whose grids are remembered
MEMORY, STAGE_ONE, GLOBAL = "memory", "stage1", "global"
NAMES = {MEMORY: "memory classifier", STAGE_ONE: "stage 1 alone", GLOBAL: "global classifier"}
ABOUT = ("coverage", "selective_accuracy", "routing_stability")  # of the memory classifier, for the table
CLEAN = "clean"
#: What `shift_rows` does to a third of the columns, in words.
SHIFTS = {"noise": "noise", "scale": "another unit", "another": "values of other cases", "gap": "gaps"}


@dataclass(frozen=True)
class Outcome:
    """What a model answers about one picture under one condition."""

    state: str
    answer: str = ""
    memory: int = -1
    similarity: float = 0.0
    threshold: float = 0.0
    known: bool = False
    why: str = ""


def ask(session: Session, row: int, corruption: str = "", severity: int = 0) -> Outcome:
    """Ask the model about a picture as it is, or under a condition."""
    clf, images = session.classifier, session.case(row)
    try:
        found = clf.answers(images.corrupted(corruption, severity) if corruption else images)
    except (MemclfError, OSError) as error:
        return Outcome(IMPOSSIBLE, why=str(error))
    route = found.routes[0]
    unknown = found.labels[0] == clf.unknown_label_
    state = UNKNOWN if unknown else SAME
    return Outcome(state, str(found.labels[0]), route.nearest, route.similarity, route.threshold, route.known)


def compare(clean: Outcome, other: Outcome) -> str:
    """Whether a route holds: the same memory and answer, only the answer, neither, or unknown."""
    if other.state in (IMPOSSIBLE, UNKNOWN):
        return other.state
    if other.answer != clean.answer:
        return OTHER_ANSWER
    return SAME if other.memory == clean.memory else OTHER_MEMORY


class Grid:
    """All corruptions and severities for one picture; rows appear as they are finished."""

    def __init__(self, clean: Outcome):
        self.clean = clean
        self.rows: dict[str, list[Outcome]] = {}

    @property
    def done(self) -> bool:
        """Whether all rows are there."""
        return len(self.rows) == len(CORRUPTIONS)

    def breaks_at(self, corruption: str) -> int | None:
        """The first severity at which the answer is another, or unknown."""
        outcomes = zip(SEVERITIES, self.rows.get(corruption, []), strict=False)
        return next((level for level, each in outcomes if compare(self.clean, each) not in (*HOLDS, IMPOSSIBLE)), None)

    def summary(self) -> dict[str, Any]:
        """In how many conditions the answer holds, and what breaks it first."""
        states = [compare(self.clean, each) for row in self.rows.values() for each in row]
        possible = [state for state in states if state != IMPOSSIBLE]
        first = {name: level for name in self.rows if (level := self.breaks_at(name)) is not None}
        weakest = [name for name, level in first.items() if level == min(first.values())]
        return {
            "holds": sum(state in HOLDS for state in possible),
            "total": len(possible),
            "weakest": [REGISTRY[name].label for name in weakest],
            "severity": min(first.values(), default=None),
        }


class Grids:
    """Grids of pictures, worked out one at a time: the one that was asked for last."""

    def __init__(self, session: Session):
        self._session = session
        self._known: dict[tuple[int, int], tuple[MemoryClassifier, Grid]] = {}
        self._lock = threading.Lock()
        self._wanted: tuple[int, int] | None = None

    def get(self, row: int) -> Grid | None:
        """The grid of a picture as far as it is known; None if it was not asked for."""
        found = self._known.get(self._key(row))
        return None if found is None else found[1]

    def is_running(self, row: int) -> bool:
        """Whether a grid is being worked out."""
        return self._wanted == self._key(row)

    def start(self, row: int) -> Grid:
        """Work out the grid of a picture, going on where it stopped."""
        key, clf = self._key(row), self._session.classifier
        grid = self.get(row)
        if grid is None:
            grid = Grid(ask(self._session, row))
            with self._lock:
                kept = list(self._known.items())[-KEPT:]
                self._known = dict([*(each for each in kept if each[1][0] is clf), (key, (clf, grid))])
        if not grid.done and self._wanted != key:
            self._wanted = key
            threading.Thread(target=self._work, args=(key, row, grid), daemon=True).start()
        return grid

    def _key(self, row: int) -> tuple[int, int]:
        return id(self._session.classifier), row

    def _work(self, key: tuple[int, int], row: int, grid: Grid) -> None:
        for name in CORRUPTIONS:
            if name not in grid.rows:
                found = [ask(self._session, row, name, severity) for severity in SEVERITIES]
                if self._wanted != key or key != self._key(row):  # another picture, or an edited model
                    return
                grid.rows[name] = found
        self._wanted = None


# ------------------------------------------------------------------------------------------------------ all held out


def results_file(session: Session) -> Path:
    """Where results are kept: by the state of the model, the held-out cases and their labels."""
    held = session.project.take(session.held_rows())
    keys = [session.data.keys[row] for row in session.held_rows().tolist()]
    digest = hashlib.sha256(json.dumps([keys, held.target.tolist()]).encode()).hexdigest()[:8]
    return session.project.folder / "stress" / f"{session.project.state}-{digest}.json"


def read_results(session: Session) -> dict[str, Any] | None:
    """What `stress_all` found for the model as it is now; None before."""
    try:
        found = json.loads(results_file(session).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def stress_all(folder: Path, trusted: tuple[str, ...]) -> dict[str, Any]:
    """Measure all held-out cases under all conditions, going on where a stopped job was."""
    project = Project(folder)
    session = Session(project, trusted)
    clf, rows = session.classifier, session.held_rows()
    if not len(rows):
        raise DataError("there are no held-out cases: the model has learned from all that have a class")
    held = project.take(rows)
    target = results_file(session)
    contenders: dict[str, Any] = {MEMORY: clf, STAGE_ONE: StageOne(clf)}
    contenders |= {} if clf.global_ is None else {GLOBAL: clf.global_}
    conditions = _conditions(held.cases, held.kind)
    watch = _Watch()
    target.parent.mkdir(exist_ok=True)
    store = Store(target.with_suffix(".sqlite"))
    with relay(watch.relay):
        evaluate(
            contenders, held.cases, as_classes(clf, held.target), conditions, store=store, watcher=watch, verbose=0
        )
    found = summarise(Results(store), list(contenders), held.kind, len(rows))
    write_json(target, found)
    project.close()
    return {"conditions": len(found["by"])}


def summarise(results: Results, models: list[str], kind: str, cases: int) -> dict[str, Any]:
    """Means by severity, and by corruption; of tables by kind of change."""
    conditions = results.conditions
    levels: dict[str, list[Condition]] = {CLEAN: [Condition()]}
    by: dict[str, list[Condition]] = {}
    for each in conditions:
        name = REGISTRY[each.corruption].label if kind == "images" else SHIFTS[each.corruption]
        levels.setdefault(str(each.severity) if kind == "images" else name, []).append(each)
        by.setdefault(name, []).append(each)
    levels = {name: levels[name] for name in sorted(levels, key=lambda each: (each != CLEAN, each))}
    return {
        "kind": kind,
        "cases": cases,
        "levels": list(levels),
        "models": [
            {"id": name, "name": NAMES[name], "values": [_mean(results, name, some) for some in levels.values()]}
            for name in models
        ],
        "about": [[results.measure(ModelId(MEMORY), each, some) for each in ABOUT] for some in levels.values()],
        "by": [{"name": name, "values": [_mean(results, each, some) for each in models]} for name, some in by.items()],
    }


def _mean(results: Results, model: str, conditions: list[Condition]) -> dict[str, float] | None:
    found = results.mean(ModelId(model), conditions)
    return None if found is None else dict(found._asdict())


def _conditions(cases: Any, kind: str) -> Any:
    """All conditions that can be made: corruptions of pictures, or changed columns of a table."""
    if kind == "images":
        return [(name, severity) for name in _possible(cases) for severity in SEVERITIES]
    if not can_shift_rows(cases):
        raise DataError("the columns of this table cannot be changed by chance")
    return {(each, 1): shift_rows(cases, 0, [each]) for each in list_kinds(cases)}


def _possible(images: Any) -> Iterator[str]:
    """Corruptions that this installation can make: frost needs photographs that an extra brings."""
    problem: Exception | None = None
    some = False
    for name in CORRUPTIONS:
        try:
            images.corrupted(name, 1)[0]
        except (MemclfError, OSError) as error:
            problem = error
            continue
        some = True
        yield name
    if not some and problem is not None:
        raise problem


class _Watch:
    """Says which condition is measured, whatever the work inside it says."""

    def __init__(self) -> None:
        self._now = ("loading the model", 0, 0)

    def begins(self, condition: Condition, done: int, total: int) -> None:
        known = REGISTRY.get(condition.corruption)
        label = SHIFTS.get(condition.corruption, condition.corruption) if known is None else known.label.lower()
        self._now = (f"{label} {condition.severity}" if known else label, done, total)
        tell(*self._now)

    def finished(self, row: Row) -> None:
        """Nothing to say."""

    def relay(self, what: str, done: int, total: int) -> tuple[str, int, int]:
        return self._now
