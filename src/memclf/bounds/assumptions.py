"""What bounds assume, and whether a fitted classifier meets it: one function per assumption."""

from __future__ import annotations

from memclf.bounds.evidence import answers_alone, has_common_threshold
from memclf.bounds.function_classes import EXACT, UPPER
from memclf.bounds.function_classes import GIVEN as AS_GIVEN
from memclf.bounds.inputs import Inputs
from memclf.bounds.local_cost import Cost
from memclf.bounds.result import Assumption

AS_YOU_SAY = "as you say"


def of_training_cases(
    inputs: Inputs,
    costs: list[Cost],
    *,
    from_training: bool = False,
    counted: bool = True,
    ties_counted: bool = False,
) -> tuple[Assumption, ...]:
    """What bounds from training cases assume.

    `counted`: the bound includes a learned similarity and fitted thresholds. `ties_counted`: it includes the order
    of the memories.
    """
    return (
        same_distribution(),
        nothing_tuned(),
        local_answers(inputs),
        memories(inputs, from_training=from_training),
        similarity(inputs, counted=counted),
        thresholds(inputs, counted=counted),
        complexities(inputs, costs),
        *([no_ties(inputs, counted=ties_counted)] if inputs.q > 1 else []),
    )


def same_distribution(like: str = "the training cases") -> Assumption:
    text = f"new cases are drawn like {like}, independently; corrupted or shifted ones are not"
    return Assumption("same distribution", text, None)


def nothing_tuned() -> Assumption:
    text = "settings (threshold, kinds of classifier, their parameters) were not chosen by looking at these cases"
    return Assumption("nothing tuned", text, None)


def local_answers(inputs: Inputs) -> Assumption:
    text = "the memory's local classifier answers alone"
    if answers_alone(inputs.clf):
        return Assumption("local answers", text, True)
    why = "the answer rule also decides; the bound is about the answers, but counts the local classifiers only"
    return Assumption("local answers", text, False, why)


def memories(inputs: Inputs, *, from_training: bool) -> Assumption:
    """`from_training`: the bound holds for memories that are training cases."""
    text = "the memories come from a pool, not larger than these cases, that is independent of them"
    if "memories" in inputs.given:
        among = inputs.evidence.among
        why = f"{among} of the {inputs.q} memories are among these cases" if among else AS_YOU_SAY
        return Assumption("memories", text, not among, why)
    if from_training:
        return Assumption("memories", "memories are training cases", True)
    return Assumption("memories", text, False, "fit chooses them among the training cases")


def similarity(inputs: Inputs, *, counted: bool) -> Assumption:
    """`counted`: the bound includes what the similarity learned."""
    text = "the similarity was fixed beforehand, or what it learned is counted"
    if "similarity" in inputs.given:
        return Assumption("similarity", text, True, AS_YOU_SAY)
    if inputs.choices.log_count and not counted:
        return Assumption("similarity", text, False, "it was learned, and the paper does not count that")
    return Assumption("similarity", text, inputs.choices.complete, "; ".join(inputs.choices.reasons))


def thresholds(inputs: Inputs, *, counted: bool) -> Assumption:
    """`counted`: the bound includes fitted thresholds (not with every rule and fallback)."""
    text = "thresholds were fixed beforehand, or fitting them is counted"
    if "thresholds" in inputs.given:
        return Assumption("thresholds", text, True, AS_YOU_SAY)
    if not inputs.thresholds_fitted:
        if not has_common_threshold(inputs.clf):
            return Assumption("thresholds", text, None, "there is one for each memory; you know where they come from")
        return Assumption("thresholds", text, True, "one threshold for all, set beforehand")
    if not counted:
        return Assumption("thresholds", text, False, "they were fitted, and the paper does not count that")
    if inputs.clf.rule != "argmax_then_check" or inputs.clf.fallback_ is not None:
        why = "they were fitted, and with this rule or fallback that is not counted"
        return Assumption("thresholds", text, False, why)
    return Assumption("thresholds", text, True, "fitted, and counted")


def complexities(inputs: Inputs, costs: list[Cost]) -> Assumption:
    text = "the complexities of the local classifiers are upper bounds"
    doubtful = sorted({cost.flag for cost in costs} - {EXACT, UPPER, AS_GIVEN})
    if doubtful:
        return Assumption("complexities", text, False, f"some are flagged {', '.join(doubtful)}")
    learned = sorted({cost.given for cost in costs if cost.given})
    if learned and "inputs" not in inputs.given:
        only_steps = all(each.startswith("the steps") for each in learned)  # steps may have nothing to learn
        doubt = ", if anything," if only_steps else ""
        why = f"what {'; '.join(learned)} learned from these cases{doubt} is not counted"
        return Assumption("complexities", text, None if only_steps else False, why)
    if any(cost.flag == AS_GIVEN for cost in costs):
        return Assumption("complexities", text, None, "you have given them")
    return Assumption("complexities", text, True)


def no_ties(inputs: Inputs, *, counted: bool) -> Assumption:
    """`counted`: the bound includes the order of the memories where there are ties."""
    text = "no case is equally similar to two memories, or the order of the memories is counted"
    ties = inputs.evidence.ties
    why = "there are such cases; it is counted" if ties else "there is none here"
    return Assumption("no ties", text, True if ties and counted else None, why)


def two_classes(inputs: Inputs) -> Assumption:
    k = len(inputs.clf.classes_)
    return Assumption("two classes", "there are two classes", k == 2, "" if k == 2 else f"there are {k}")


def small_delta(inputs: Inputs) -> Assumption:
    met = inputs.delta <= 1 / inputs.q
    why = "" if met else f"{inputs.delta:g} is more than 1 / {inputs.q}"
    return Assumption("small delta", "delta is at most 1 / q, as the paper asks", met, why)


def held_out(inputs: Inputs) -> Assumption:
    among = inputs.evidence.among
    why = f"{among} of the {inputs.q} memories, which are training cases, are among them" if among else ""
    text = "nothing was learned or chosen by looking at these cases"
    return Assumption("held out", text, False if among else None, why)
