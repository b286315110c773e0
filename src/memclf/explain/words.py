"""Why this answer, in one sentence: who was asked, who counted, and for how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memclf._numbers import reaches

if TYPE_CHECKING:
    from memclf.explain.explanation import Explanation

ALONE = 0.005  # who counts for less is not heard
COMMON = "in view of how common the classes are"
STRANGE = 0.05  # competence below which a case is called strange, and not just stranger than usual

UNMET = {
    "": "known",
    "trust": "description not trusted",
    "similarity": "below threshold",
    "strangeness": "too strange to its classifier",
}


def unmet(item: Explanation) -> str:
    """What keeps the memory from answering, a key of `UNMET`: "" where nothing does."""
    if item.known:
        return ""
    if not item.trusted:
        return "trust"
    return "strangeness" if reaches(item.similarity, item.threshold) else "similarity"  # type: ignore[arg-type]


def sentence(item: Explanation) -> str:
    """Why this answer, or why unknown."""
    name = item.memory_case.key(0) if hasattr(item.memory_case, "key") else None
    who = f"memory {item.memory} (training case {item.memory_row}{f', {name}' if name else ''})"
    near = f"similarity {item.similarity:.3f}, threshold {item.threshold:.3f}"
    if item.answered_by in ("nobody", "fallback"):
        if unmet(item) == "trust":
            why = "the features do not trust their own description of the case, so it is sent to no memory"
        elif unmet(item) == "similarity":
            why = f"the most similar memory is {who}, and it is not similar enough ({near})"
        else:
            why = f"the most similar memory is {who} ({near}), but the case is strange to its classifier"
            why += f" ({_held_out(item)})"
        if item.answered_by == "nobody":
            return f"Unknown: {why}."
        return f"Answer {item.answer!r} by the fallback, {item.classifier}: {why}."
    although = {
        "": "",
        "trust": ", though the features do not trust their description",
        "similarity": ", which is not enough",
        "strangeness": ", though the case is too strange to its classifier",
    }[unmet(item)]
    most = "most like" if item.margin is None or item.margin >= 0 else "most like, of those whose threshold is met,"
    return f"Answer {item.answer!r}: {most} {who}, {near}{although}; {_said(item)}{_balanced(item)}."


def _said(item: Explanation) -> str:
    if item.answered_by == "labels" and not (item.origin == "constant" and not item.views):
        return _labels_alone(item)
    return _classifier_alone(item) if item.labels_share < ALONE else _together(item)


def _classifier_alone(item: Explanation) -> str:
    chances = (item.probabilities if item.local is None else item.local) or {}
    said = item.answer if item.local is None else _most(chances)
    if item.origin == "constant" and not item.views and said == item.outcome:
        if item.cluster_size == 1:
            return f"it is alone in its cluster and is {said!r}"
        return f"all {item.cluster_size} cases of its cluster are {said!r}"
    chance = f" with probability {chances[said]:.2f}" if said in chances else ""
    why = f"{_classifier(item)} {'so' if said == item.answer else repr(said)}{chance}"
    if said != item.outcome:
        why += f", {COMMON} {_outcome(item)}"
    if item.views:
        return why
    shared = {
        "merged": " and shares a classifier with the cluster of another memory",
        "handed to global": " and is too small for a classifier of its own, so the global one answers",
    }.get(item.origin, "")
    return f"{why}; its cluster holds {_holds(item)}{shared}"


def _labels_alone(item: Explanation) -> str:
    local, labels = item.local or {}, item.labels or {}
    said, labelled = _most(local), _most(labels)
    if labelled == item.outcome:
        why = f"{_labels(item)} answer alone, {_outcome(item)}"
    else:
        why = f"{_labels(item)} say {labelled!r} ({labels[labelled]:.2f}), {COMMON} {_outcome(item)}"
    which = f"which would say {said!r} ({local[said]:.2f})"
    whose = f"the classifiers there, {which}, do" if item.views else f"its {_kind(item)}, {which}, does"
    strange = item.competence is not None and item.competence <= 0.5  # up to the median nothing is faded
    reason = f"the case is {_strange(item)}" if strange else "on held-out cases it did not help"
    return f"{why}; {whose} not count, since {reason}"


def _together(item: Explanation) -> str:
    local, labels = item.local or {}, item.labels or {}
    said, labelled = _most(local), _most(labels)
    joined = "and" if said == labelled else "but"
    theirs = "the labels there" if item.views else _labels(item)
    why = (
        f"{_classifier(item)} {said!r} ({local[said]:.2f}) {joined} {theirs} say {labelled!r} ({labels[labelled]:.2f})"
    )
    why += f", together {_outcome(item)}"
    if item.combine == "local":
        return f"{why}; the classifier counts for {100 * item.share:.0f} %, since the case is {_strange(item)}"
    if item.share < 0.5 or (item.share <= 1 - ALONE and said != item.outcome):
        return f"{why}; the classifier counts for less, since the case is {_strange(item)}"
    return why


def _balanced(item: Explanation) -> str:
    if not item.balance or item.probabilities is None or item.answer not in item.probabilities:
        return ""
    still = "still " if item.answer == item.outcome else ""
    chance = f"({item.probabilities[item.answer]:.2f})"
    return f"; rare classes weighed up, balance {item.balance:g}: {still}{item.answer!r} {chance}"


def _outcome(item: Explanation) -> str:
    chances = item.unbalanced or {}
    return f"{item.outcome!r} ({chances[item.outcome]:.2f})"


def _classifier(item: Explanation) -> str:
    if item.views:
        return f"the classifiers of the memories that it and {_views(item)} go to say"
    return f"its {_kind(item)} says"


def _views(item: Explanation) -> str:
    steady = "" if item.steadiness is None else f" (similarity {item.steadiness:.2f} to it)"
    return f"{item.views} mild view{'s' * (item.views != 1)} of it{steady}"


def _kind(item: Explanation) -> str:
    return "constant classifier" if item.origin == "constant" else item.local_classifier


def _labels(item: Explanation) -> str:
    if item.views:
        return f"the labels of the memories that it and {_views(item)} go to"
    return f"the labels of its cluster ({_holds(item)})"


def _holds(item: Explanation) -> str:
    return ", ".join(f"{n} of {label!r}" for label, n in item.cluster_classes.items() if n)


def _strange(item: Explanation) -> str:
    usual = item.competence is not None and item.competence >= STRANGE
    to = "" if item.views else " to it"
    return f"{f'stranger{to} than usual' if usual else f'strange{to}'} ({_held_out(item)})"


def _held_out(item: Explanation) -> str:
    share = f"{item.as_strange} of {item.held_out} held-out training cases are as strange"
    return f"competence {item.competence:.3f}: {share}"


def _most(chances: dict[Any, float]) -> Any:
    return max(chances, key=chances.__getitem__)
