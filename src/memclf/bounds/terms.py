"""The terms that bounds are made of: their names, and how pictures and tables show them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """How a term is shown. Terms that play the same part in different bounds share a look."""

    label: str
    colour: str


TRAINING_ERRORS, HELD_OUT_ERRORS = "errors on the training cases", "errors on held-out cases"
GIVEN_UP, LOCAL, SELECTOR = "memories given up", "local classifiers", "selector"
THRESHOLDS, SIMILARITY = "fitted thresholds", "learned similarity"
CHOICE, CONFIDENCE = "choice of memories and confidence", "confidence"

ERROR_LOOK, CHOICE_LOOK = Look("errors", "#b3261e"), Look("choice of memories, confidence", "#c4c9d1")
LOOKS = {
    TRAINING_ERRORS: ERROR_LOOK,
    HELD_OUT_ERRORS: ERROR_LOOK,
    GIVEN_UP: Look(GIVEN_UP, "#e08a3c"),
    LOCAL: Look(LOCAL, "#3b6fb5"),
    SELECTOR: Look(SELECTOR, "#7b9fd0"),
    THRESHOLDS: Look(THRESHOLDS, "#6aa89a"),
    CHOICE: CHOICE_LOOK,
    CONFIDENCE: CHOICE_LOOK,
    SIMILARITY: Look(SIMILARITY, "#8f7fb8"),
}


def look_of(name: str) -> Look:
    """The look of a term; grey, with the term's own name, if it is not listed."""
    return LOOKS.get(name, Look(name, "#999999"))
