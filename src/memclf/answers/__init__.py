"""Answer rules: local classifiers (the paper), the global one, labels, both, or as learned."""

from typing import Any

from memclf.answers.auto import AutoAnswer
from memclf.answers.base import Answers
from memclf.answers.labels import LabelsAnswer
from memclf.answers.local import LocalAnswer
from memclf.answers.product import ProductAnswer
from memclf.answers.whole import GlobalAnswer

__all__ = [
    "RULES",
    "Answers",
    "AutoAnswer",
    "GlobalAnswer",
    "LabelsAnswer",
    "LocalAnswer",
    "ProductAnswer",
    "answer_rule_for",
]

RULES: dict[str, type] = {
    "local": LocalAnswer,
    "global": GlobalAnswer,
    "labels": LabelsAnswer,
    "product": ProductAnswer,
    "auto": AutoAnswer,
}


def answer_rule_for(wanted: Any) -> Any:
    """An answer rule by name, or the given one."""
    if isinstance(wanted, str) and wanted in RULES:
        return RULES[wanted]()
    if isinstance(wanted, LocalAnswer):
        return wanted
    known = ", ".join(map(repr, RULES))
    raise ValueError(f"answer must be {known}, or an object as ProductAnswer(competence=None); got {wanted!r}")
