"""Fitting a model from what the expert gave. It runs as a job."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from memclf._progress import relay, say
from memclf.evaluate.describe import describe_model
from memclf.exceptions import DataError
from memclf.own import fit_cases
from memclf.own.page import write_page
from memclf.studio.project import MODEL, Project, write_json

FEWEST = 20  # labelled cases; of fewer nothing can be held out
FOLDS = "held-out folds"  # what `evaluate_held_out` calls its progress


def fit_model(folder: Path, estimator: str | None, unknown_rate: float | None) -> dict[str, Any]:
    """Fit on the training cases, compare on folds, and write model, figures and report.

    Returns what the log notes about the model, once it is whole.
    """
    from memclf.studio.description import make_description

    project = Project(folder)
    data = project.training()
    if len(data.target) < FEWEST:
        raise DataError(f"{len(data.target)} labelled cases are too few to fit and to compare; {FEWEST} are the least")
    say("reading what you taught", None)
    features, similarity = make_description(project)
    out = project.new_model()
    with relay(Steps(len(data.target))):
        found = fit_cases(
            data, out, features=features, similarity=similarity, estimator=estimator, unknown_rate=unknown_rate
        )
    project_data = project.data
    rows, _ = project.split()
    keys = [project_data.keys[row] for row in rows.tolist()] if project_data is not None else []
    about = found.as_dict()
    about["labels"] = dict(zip(keys, data.target.tolist(), strict=True))
    about["estimator"], about["unknown_rate"] = estimator, unknown_rate
    about["description"] = say_description(data.kind, features is not None, similarity is not None)
    about["kinds"] = describe_model(found.classifier)
    say("step 3 of 3: writing the report", None)
    write_page(found, out.with_suffix(".html"), command="memclf studio")
    if features is not None and project.spec.exists():
        shutil.copyfile(project.spec, out.with_suffix(".yaml"))  # as it was for this fit
    write_json(out.with_suffix(".json"), about)
    project.close()
    return {"model": out.name}


class Steps:
    """What a fit says about its progress, in words for the person who waits."""

    def __init__(self, cases: int):
        self._cases = cases
        self._part = (0, 0)

    def __call__(self, what: str, done: int, total: int) -> tuple[str, int, int]:
        """The message with the step that it belongs to; parts of the comparison keep their bar."""
        if what == FOLDS:
            self._part = (done, total)
        part, parts = self._part
        if parts:
            inner = "" if what == FOLDS else f" ({what})"
            return f"step 2 of 3: comparing with a plain model, part {part + 1} of {parts}{inner}", part, parts
        inner = "" if what.startswith("fitting on all") else f": {what}"
        return f"step 1 of 3: learning from {self._cases:,} cases{inner}", done, total


def say_description(kind: str, taught: bool, judged: bool) -> str:
    """Which description a model was fitted with, in words."""
    if kind == "images":
        what = "the measurements that you chose" if taught else "memclf's own measurements of what stands out"
    else:
        what = "all columns"
    how = "weighed as you judged on Compare" if judged else "all of the same weight"
    return f"{what}, {how}"


def use_model(project: Project, about: dict[str, Any]) -> None:
    """Note that a model is the one in use from now on: it was fitted, or chosen again."""
    project.log.append(MODEL, about)


def list_models(project: Project) -> list[dict[str, Any]]:
    """All models of the project, the newest first, with their accuracy where it was measured."""
    found = []
    for folder in sorted(project.models.iterdir(), reverse=True):
        if not folder.is_dir() or not (folder / "manifest.json").exists():
            continue
        about = project.about_model(folder)
        measured = {row["contender"]: row for row in about.get("contenders", [])}
        events = [each for each in project.log.all() if each.kind == MODEL and each.about["model"] == folder.name]
        if events:  # others were not finished
            found.append(
                {
                    "name": folder.name,
                    "time": events[0].time,
                    "from": events[0].about.get("from", ""),
                    "cases": about.get("cases"),
                    "memories": about.get("memories"),
                    "accuracy": (measured.get("memory") or {}).get("accuracy"),
                    "used": project.model == folder,
                }
            )
    return found
