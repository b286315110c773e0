"""What the bounds assume, and whether a fitted classifier meets it."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any

from memclf.bounds import formulas
from memclf.bounds.classes import EXACT, UPPER
from memclf.bounds.classes import GIVEN as AS_GIVEN
from memclf.bounds.local import Cost
from memclf.bounds.result import Assumption
from memclf.similarity import (
    CombinedSimilarity,
    CosineSimilarity,
    FunctionSimilarity,
    Precomputed,
    RBFSimilarity,
    TreeSimilarity,
)
from memclf.similarity.rank import RankSimilarity

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier

GIVEN = ("similarity", "thresholds", "memories", "inputs")


def learned_similarity(similarity: Any, n: int) -> tuple[float, bool | None, str]:
    """ln of the number of similarities that learning could have led to; whether that counts everything; and why."""
    found: tuple[float, bool | None, str]
    if isinstance(similarity, CombinedSimilarity):
        parts = [learned_similarity(part, n) for part in similarity.similarities_]
        states = [state for _, state, _ in parts]
        whole = False if False in states else None if None in states else True
        found = sum(count for count, _, _ in parts), whole, "; ".join(dict.fromkeys(why for _, _, why in parts if why))
    elif isinstance(similarity, TreeSimilarity):
        found = _learned_tree(similarity, n)
    elif isinstance(similarity, (FunctionSimilarity, Precomputed, CosineSimilarity)):
        found = 0.0, True, ""
    elif isinstance(similarity, RBFSimilarity) and not isinstance(similarity, RankSimilarity):
        scale = "its scale, gamma, was taken from the cases (not from their labels), and that is not counted"
        found = (0.0, True, "") if similarity.gamma is not None else (0.0, False, f"{scale}; give gamma")
    else:
        name = type(similarity).__name__
        found = 0.0, None, f"what {name} has learned from the cases, if anything, is not counted"
    features = getattr(similarity, "features_", None)
    if features is not None and hasattr(features, "transform"):
        said = f"what the features, {type(features).__name__}, have learned from the cases, if anything, is not counted"
        count, state, why = found
        return count, state and None, "; ".join(each for each in (why, said) if each)
    return found


def _learned_tree(similarity: TreeSimilarity, n: int) -> tuple[float, bool | None, str]:
    tree = similarity.tree_
    labels = 1 if similarity.graded else len(tree.classes_)  # graded: leaves matter, not what they predict
    width = int(tree.n_features_in_)
    if tree.max_depth is None:
        cuts = int(tree.tree_.n_leaves) - 1
        count = formulas.log_trees(n, width, labels, cuts=cuts)
        return count, False, "the tree's size was not fixed beforehand: give it a max_depth"
    count = formulas.log_trees(n, width, labels, depth=int(tree.max_depth))
    return count, None, "its trees are counted, as if the n + 1 places to cut a feature had been fixed beforehand"


def premises(
    clf: MemoryClassifier,
    kind: str,
    *,
    delta: float,
    given: Iterable[str],
    similarity: tuple[float, bool | None, str],
    thresholds_fitted: bool,
    costs: list[Cost],
    ties: bool,
    among: int,
) -> tuple[Assumption, ...]:
    """Everything that must hold for a bound of this kind."""
    q, given = len(clf.memory_indices_), set(given)
    found = [
        Assumption(
            "same distribution",
            "new cases are drawn like the training cases, independently; corrupted or shifted ones are not",
            None,
        ),
        Assumption(
            "nothing tuned",
            "settings (threshold, kinds of classifier, their parameters) were not chosen by looking at these cases",
            None,
        ),
        _alone(clf),
    ]
    found.append(_memories(kind, given, among, q))
    found.append(_similarity(kind, given, similarity))
    found.append(_thresholds(clf, kind, given, thresholds_fitted))
    found.append(_classes_of_functions(given, costs))
    if q > 1:
        text = "no case is equally similar to two memories, or the order of the memories is counted"
        why = "there are such cases; it is counted" if ties else "there is none here"
        found.append(Assumption("no ties", text, True if ties and kind == "compression" else None, why))
    if kind in ("paper", "paper-min", "cascade"):
        k = len(clf.classes_)
        found.append(Assumption("two classes", "there are two classes", k == 2, "" if k == 2 else f"there are {k}"))
    if kind in ("paper", "paper-min"):
        ok = delta <= 1 / q
        why = "" if ok else f"{delta:g} is more than 1 / {q}"
        found.append(Assumption("small delta", "delta is at most 1 / q, as the paper asks", ok, why))
        found.append(Assumption("proof", "the printed derivation is right", False, "docs/theory.md lists its errors"))
    if kind == "cascade":
        found.append(
            Assumption("proof", "the theorem on cascades holds with rho for delta", None, "repaired, not proved here")
        )
    return tuple(found)


def _memories(kind: str, given: set[str], among: int, q: int) -> Assumption:
    text = "the memories come from a pool, not larger than these cases, that is independent of them"
    if "memories" in given:
        why = f"{among} of the {q} memories are among these cases" if among else "as you say"
        return Assumption("memories", text, not among, why)
    if kind == "compression":
        return Assumption("memories", "memories are training cases", True)
    return Assumption("memories", text, False, "fit chooses them among the training cases")


def _alone(clf: MemoryClassifier) -> Assumption:
    text = "the memory's local classifier answers alone"
    if clf.answers_locally:
        return Assumption("local answers", text, True)
    beyond = [name for name in ("competence", "views", "balance") if getattr(clf, name)]
    beyond += [] if clf.combine == "local" else ["combine"]
    why = f"so do {', '.join(beyond)}; the bound is about the answers, but counts the local classifiers only"
    return Assumption("local answers", text, False, why)


def _similarity(kind: str, given: set[str], similarity: tuple[float, bool | None, str]) -> Assumption:
    text = "the similarity was fixed beforehand, or what it learned is counted"
    if "similarity" in given:
        return Assumption("similarity", text, True, "as you say")
    count, whole, why = similarity
    if kind in ("paper", "paper-min") and count:
        return Assumption("similarity", text, False, "it was learned, and the paper does not count that")
    return Assumption("similarity", text, whole, why)


def _thresholds(clf: MemoryClassifier, kind: str, given: set[str], fitted: bool) -> Assumption:
    text = "thresholds were fixed beforehand, or fitting them is counted"
    if "thresholds" in given:
        return Assumption("thresholds", text, True, "as you say")
    if not fitted:
        if not isinstance(clf.thresholds, (str, Real)):
            return Assumption("thresholds", text, None, "there is one for each memory; you know where they come from")
        return Assumption("thresholds", text, True, "one threshold for all, set beforehand")
    if kind in ("paper", "paper-min"):
        return Assumption("thresholds", text, False, "they were fitted, and the paper does not count that")
    if clf.rule != "argmax_then_check" or clf.fallback_ is not None:
        why = "they were fitted, and with this rule or fallback that is not counted"
        return Assumption("thresholds", text, False, why)
    return Assumption("thresholds", text, True, "fitted, and counted")


def _classes_of_functions(given: set[str], costs: list[Cost]) -> Assumption:
    text = "the complexities of the local classifiers are upper bounds"
    doubtful = sorted({cost.flag for cost in costs} - {EXACT, UPPER, AS_GIVEN})
    if doubtful:
        return Assumption("complexities", text, False, f"some are flagged {', '.join(doubtful)}")
    learned = sorted({cost.given for cost in costs if cost.given})
    if learned and "inputs" not in given:
        sure = all(each.startswith("the steps") for each in learned)  # steps may have nothing to learn
        why = f"what {'; '.join(learned)} learned from these cases{', if anything,' if sure else ''} is not counted"
        return Assumption("complexities", text, None if sure else False, why)
    if any(cost.flag == AS_GIVEN for cost in costs):
        return Assumption("complexities", text, None, "you have given them")
    return Assumption("complexities", text, True)
