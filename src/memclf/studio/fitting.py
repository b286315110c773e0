"""Fitting a model from what the expert gave. It runs as a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memclf._progress import say
from memclf.exceptions import DataError
from memclf.own import fit_cases
from memclf.own.page import write_page
from memclf.studio.project import MODEL, Project, write_json

FEWEST = 20  # labelled cases; of fewer nothing can be held out


def fit_model(folder: Path, estimator: str | None, unknown_rate: float | None) -> dict[str, Any]:
    """Fit on the training cases, compare on folds, and write model, figures and report.

    Returns what the log notes about the model, once it is whole.
    """
    from memclf.studio.description import make_description

    project = Project(folder)
    data = project.training()
    if len(data.target) < FEWEST:
        raise DataError(f"{len(data.target)} labelled cases are too few to fit and to compare; {FEWEST} are the least")
    say("reading the description", None)
    features, similarity = make_description(project)
    out = project.new_model()
    found = fit_cases(
        data, out, features=features, similarity=similarity, estimator=estimator, unknown_rate=unknown_rate
    )
    project_data = project.data
    rows, _ = project.split()
    keys = [project_data.keys[row] for row in rows.tolist()] if project_data is not None else []
    about = found.as_dict()
    about["labels"] = dict(zip(keys, data.target.tolist(), strict=True))
    about["estimator"], about["unknown_rate"] = estimator, unknown_rate
    say("writing the report", None)
    write_page(found, out.with_suffix(".html"), command="memclf studio")
    write_json(out.with_suffix(".json"), about)
    project.close()
    return {"model": out.name}


def use_model(project: Project, about: dict[str, Any]) -> None:
    """Note that a model was fitted: from now on it is the one in use."""
    project.log.append(MODEL, about)
