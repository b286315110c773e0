"""Loading the model that a command is about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memclf.cli.output import fail
from memclf.exceptions import UntrustedTypeError

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier

Model = Annotated[Path, typer.Argument(help="A model folder, written by memclf fit or memclf.save.")]
Target = Annotated[
    str | None, typer.Option(help="Column with the classes. Default: the first of label, class, target, y.")
]
Trusted = Annotated[
    list[str] | None, typer.Option(help="A type or function that loading may use, as mylab.alike; repeat it.")
]
Regions = Annotated[
    Path | None, typer.Option(help="A folder with taught regions, written by memclf.save, that the SPEC measures.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document; tables go to standard error.")]


def load_classifier(folder: Path, trusted: list[str] | None = None, subject: str = "this is about") -> MemoryClassifier:
    """The memory classifier in a folder; an error says how to allow what the folder needs."""
    from memclf.classifier import MemoryClassifier
    from memclf.persist import load

    try:
        clf = load(folder, trusted=trusted or ())
    except UntrustedTypeError as error:
        fail(f"{error}; here: {' '.join(f'--trusted {name}' for name in error.names)}")
    if not isinstance(clf, MemoryClassifier):
        raise ValueError(f"{subject} a memory classifier; {folder} holds a {type(clf).__name__}")
    return clf


def load_regions(folder: Path | None) -> Any:
    """Taught regions from a model folder, None if none is given."""
    if folder is None:
        return None
    from memclf.persist import load
    from memclf.vision.features import ImageFeatures

    found = load(folder)
    if not isinstance(found, ImageFeatures):
        raise ValueError(f"{folder} holds a {type(found).__name__}; --regions takes taught regions")
    return found
