"""What the expert judged: which of two cases is more like a third, as events of the log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memclf.exceptions import DataError
from memclf.studio.log import Event
from memclf.studio.project import Project

JUDGEMENT, SKIP = "judgement", "skip"  # kinds of events

Triplet = tuple[str, str, str]  # keys of cases: the first is more like the second than like the third


@dataclass(frozen=True)
class Contradiction:
    """A question that was answered both ways; `events` are the numbers of the answers."""

    case: str
    one: str
    other: str
    for_one: int
    for_other: int
    events: tuple[int, ...]


def add_judgement(project: Project, a: str, more_like: str, than: str, replaces: Iterable[int] = ()) -> Event:
    """Note an answer; answers that it replaces, after a second look, are taken back."""
    _check(project, a, more_like, than)
    standing = {each.number for each in project.log.events(JUDGEMENT)}
    for number in replaces:
        if number in standing:
            project.log.undo(number, "looked again")
    return project.log.append(JUDGEMENT, {"a": a, "more_like": more_like, "than": than})


def add_skip(project: Project, a: str, one: str, other: str) -> Event:
    """Note that the expert cannot say."""
    _check(project, a, one, other)
    return project.log.append(SKIP, {"a": a, "one": one, "other": other})


def undo_answer(project: Project) -> Triplet | None:
    """Take the last answer back; the question that it was about, None if there is none."""
    events = project.log.events(JUDGEMENT, SKIP)
    if not events:
        return None
    about = events[-1].about
    project.log.undo(events[-1].number)
    if events[-1].kind == SKIP:
        return about["a"], about["one"], about["other"]
    return about["a"], about["more_like"], about["than"]


def list_triplets(project: Project) -> list[Triplet]:
    """All answers about cases that are there."""
    data = project.data
    found = [(e.about["a"], e.about["more_like"], e.about["than"]) for e in project.log.events(JUDGEMENT)]
    return [] if data is None else [each for each in found if all(key in data.rows for key in each)]


def find_contradictions(project: Project) -> list[Contradiction]:
    """Questions that were answered both ways, the latest first."""
    groups: dict[tuple[str, frozenset[str]], list[Event]] = {}
    for event in project.log.events(JUDGEMENT):
        about = event.about
        groups.setdefault((about["a"], frozenset((about["more_like"], about["than"]))), []).append(event)
    found = []
    for (case, _), events in groups.items():
        one, other = events[0].about["more_like"], events[0].about["than"]
        first = sum(each.about["more_like"] == one for each in events)
        if first < len(events):
            numbers = tuple(each.number for each in events)
            found.append(Contradiction(case, one, other, first, len(events) - first, numbers))
    return sorted(found, key=lambda each: -each.events[-1])


def _check(project: Project, *keys: str) -> None:
    data = project.data
    if data is None or any(key not in data.rows for key in keys):
        raise DataError("this question is about cases that are not there; reload the page")
    if len(set(keys)) < len(keys):
        raise DataError("a question is about three different cases")
