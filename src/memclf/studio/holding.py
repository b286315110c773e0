"""Answers to the held-out cases: at once for a few, as a job for many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memclf._numbers import Array
from memclf._progress import say
from memclf.data import TrainingCases
from memclf.studio.jobs import Job
from memclf.studio.project import Project
from memclf.studio.session import Session
from memclf.studio.studio import Studio

FEW = 64  # cases that are answered while a page waits


def find_held_out(studio: Studio) -> tuple[TrainingCases, Any] | Job | None:
    """Held-out cases with answers, or the job that finds them; None if nothing is held out."""
    session = studio.session
    if studio.project.labels is None or not len(session.held_rows()):
        return None
    if session.has_held_out() or len(session.held_rows()) <= FEW:
        return session.held_out()
    last = studio.jobs.last("held out")
    if last is not None and last.state in ("failed", "stopped"):
        return last
    return start_again(studio)


def start_again(studio: Studio) -> Job:
    """Answer the held-out cases in a process of their own."""
    return studio.jobs.start(
        "held out",
        "Answering the held-out cases",
        answer_held_out,
        studio.project.folder,
        studio.session.trusted,
        then=lambda found: studio.session.keep_held_out(*found),
    )


def answer_held_out(folder: Path, trusted: tuple[str, ...]) -> tuple[str, Array, Any]:
    """What the job does: the state of the model, the rows, and the answers."""
    project = Project(folder)
    session = Session(project, trusted)
    state = project.state
    say("loading the model", None)
    rows = session.held_rows()
    _, answers = session.held_out()
    project.close()
    return state, rows, answers
