"""The plain model with memories: the global classifier answers, and no local one is fitted."""

from __future__ import annotations

from typing import Any

from memclf.answers.base import Parts
from memclf.answers.local import LocalAnswer, list_classes


class GlobalAnswer(LocalAnswer):
    """The classifier that was trained on everything answers. No local classifier is fitted.

    For data on which the plain model is the best: the memories still show a remembered case for every answer, and what
    is like none of them is unknown.
    """

    alone = False
    needs_global = True
    fits_local = False

    def list_asked(self, parts: Parts) -> list[Any]:
        """The global classifier."""
        return [parts.global_classifier]

    def say_who(self) -> str:
        """Who answers, in words."""
        return "one classifier, trained on all cases"

    def say(self, item: Any) -> str:
        """What the global classifier says, for the sentence of an `Explanation`."""
        chance = "" if item.probabilities is None else f" with probability {item.probabilities[item.answer]:.2f}"
        return f"the global {item.classifier} says so{chance}; its cluster holds {list_classes(item)}"
