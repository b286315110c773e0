"""Why this answer, in one sentence: which memory, how similar, and what answered."""

from __future__ import annotations

from typing import Any

from memclf._numbers import reaches
from memclf.answers.product import say_competence
from memclf.cases import Collection, containers

UNMET = {
    "": "known",
    "trust": "description not trusted",
    "similarity": "below threshold",
    "strangeness": "too strange to its classifier",
}


def find_unmet(item: Any) -> str:
    """Why the memory of an `Explanation` does not answer, a key of `UNMET`; "" if it does."""
    if item.known:
        return ""
    if not item.trusted:
        return "trust"
    return "strangeness" if reaches(item.similarity, item.threshold) else "similarity"


def explain_in_a_sentence(item: Any) -> str:
    """Why this answer, or why unknown, for an `Explanation`."""
    name = item.memory_case.key(0) if isinstance(item.memory_case, Collection) else None
    label = containers.row_label(item.memory_case)
    if label is not None and label != item.memory_row:  # rows of a table are known by their index
        name = f"index {label!r}"
    which = f"memory {item.memory} (training case {item.memory_row}{f', {name}' if name else ''})"
    near = f"similarity {item.similarity:.3f}, threshold {item.threshold:.3f}"
    unmet = find_unmet(item)
    if item.answered_by in ("none", "fallback"):
        if unmet == "trust":
            why = "the features do not trust their own description of the case, so it is sent to no memory"
        elif unmet == "similarity":
            why = f"the most similar memory is {which}, and it is not similar enough ({near})"
        else:
            why = f"the most similar memory is {which} ({near}), but the case is strange to its classifier"
            why += f" ({say_competence(item)})"
        if item.answered_by == "none":
            return f"Unknown: {why}."
        return f"Answer {item.answer!r} by the fallback, {item.classifier}: {why}{item.rule.say_fallback(item)}."
    although = {
        "": "",
        "trust": ", though the features do not trust their description",
        "similarity": ", which is not enough",
        "strangeness": ", though the case is too strange to its classifier",
    }[unmet]
    most = "most like" if item.margin is None or item.margin >= 0 else "most like, of those whose threshold is met,"
    return f"Answer {item.answer!r}: {most} {which}, {near}{although}; {item.rule.say(item)}."
