"""Cases that the expert adds to a project's data, such as from the inbox."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from memclf.cases.join import join_cases
from memclf.exceptions import DataError
from memclf.studio.log import Event, Log

ADDED = "case"  # kind of event: {key, label, file} of a picture, {key, label, values} of a row
FOLDER = "added"  # of pictures, in the project


def add_case(log: Log, folder: Path, case: Any, name: str, label: str) -> Event:
    """Add one case, as the model takes it, to the data of the project in a folder.

    A picture is copied into the project; the values of a row are kept in the log.
    """
    number = len(log.all()) + 1
    about: dict[str, Any] = {"key": f"{FOLDER}/{number}-{Path(name).name}", "label": label}
    if isinstance(case, np.ndarray):
        from memclf.vision.files import encode_png

        (folder / FOLDER).mkdir(exist_ok=True)
        about["file"] = f"{number}.png"
        (folder / FOLDER / about["file"]).write_bytes(encode_png(case))
    else:
        about["values"] = json.loads(case.to_json(orient="records", date_format="iso"))[0]
    return log.append(ADDED, about)


def join_added(found: Any, events: Sequence[Event], folder: Path) -> Any:
    """The `ProjectCases` of a project and those that were added to them, at the end."""
    kind = "file" if found.kind == "images" else "values"
    about = [each.about for each in events if kind in each.about]
    if not about or found.target is None:
        return found
    if found.kind == "images":
        from memclf.vision import ImageCollection

        keys = [each["key"] for each in about]
        more: Any = ImageCollection([folder / FOLDER / each["file"] for each in about], keys=keys)
        cases = found.cases.joined(more)
    else:
        import pandas as pd

        frame = pd.DataFrame([each["values"] for each in about])
        if missing := [str(name) for name in found.cases.columns if name not in frame]:
            raise DataError(f"a row that was added lacks the columns {', '.join(missing)}; undo it, or choose its data")
        cases = join_cases(found.cases, frame[list(found.cases.columns)]).reset_index(drop=True)
    target = np.concatenate([found.target, np.array([each["label"] for each in about], dtype=str)])
    return replace(found, cases=cases, target=target, keys=[*found.keys, *(each["key"] for each in about)])
