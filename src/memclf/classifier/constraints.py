"""What the parameters of a memory classifier may be: alone, as data, and together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from memclf.answers import RULES, LocalAnswer, answer_rule_for
from memclf.classifier.fit import NEED_PROBABILITIES, PROBABILITIES_HELP, FitSettings
from memclf.local import pool
from memclf.memory import MemorySelector
from memclf.protocols import Fits
from memclf.routing.route import RULES as ROUTING_RULES
from memclf.routing.thresholds import check_thresholds
from memclf.similarity.resolve import resolve_similarity

AUTO = "auto"  # as many memories as do best on held-out cases
FALLBACKS = ("unknown", "nearest", "global")

CONSTRAINTS: dict[str, Any] = {
    "similarity": "no_validation",  # resolve_similarity
    "estimator": "no_validation",  # pool.check_estimators
    "threshold": [Interval(Real, 0, 1, closed="right")],
    "n_memories": [Interval(Integral, 1, None, closed="left"), StrOptions({AUTO}), None],
    "search": [MemorySelector, None],
    "thresholds": "no_validation",  # check_thresholds
    "unknown_rate": [Interval(Real, 0, 1, closed="neither"), None],
    "rule": [StrOptions(set(ROUTING_RULES))],
    "fallback": [StrOptions(set(FALLBACKS)), HasMethods(["fit", "predict"])],
    "unknown_label": "no_validation",  # any label will do
    "min_cluster_size": [Interval(Integral, 1, None, closed="left")],
    "start": [StrOptions(set(pool.STARTS))],
    "answer": [StrOptions(set(RULES)), LocalAnswer],
    "min_trust": [Interval(Real, 0, 1, closed="both")],
    "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split"]), Iterable],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose", None],
}


def check_settings(params: Mapping[str, Any]) -> FitSettings:
    """The parameters as a fit needs them; an error if some contradict each other."""
    given = dict(params)
    resolve_similarity(given["similarity"])
    if given["estimator"] is not None:
        pool.check_estimators(given["estimator"])
    if not isinstance(given["fallback"], str):
        pool.check_classifier(given["fallback"], "fallback")
    check_thresholds(given["thresholds"])
    _check_cv(given.pop("cv"))
    answer = given["answer"] = answer_rule_for(given["answer"])
    answer.check()
    if answer.learns and isinstance(given["estimator"], Mapping):
        raise ValueError(
            f"answer={type(answer).__name__} fits everything once more without each fold, where memories have other "
            "numbers: give one estimator for all memories"
        )
    if answer.needs_probabilities:
        _check_probabilities(given["estimator"], given["fallback"])
    if given.pop("unknown_rate") is not None and not (
        isinstance(given["thresholds"], str) and given["thresholds"] == "common"
    ):
        raise ValueError(
            f"unknown_rate asks for conformal thresholds, and thresholds={given['thresholds']!r} for others; give one "
            "of the two"
        )
    given["search"] = _check_search(given["search"])
    return FitSettings(**given)


def _check_cv(cv: Any) -> None:
    if isinstance(cv, Iterator):
        raise ValueError("cv is an iterator, which can be gone through only once; give a list: cv=list(...)")
    if isinstance(cv, (str, bytes)):  # they have `split`, too
        raise ValueError(f"cv must be a whole number of at least 2, a splitter, or a list of pairs of rows; got {cv!r}")


def _check_search(selector: MemorySelector | None) -> Any:
    selector = MemorySelector() if selector is None else selector
    plain, given = MemorySelector().get_params(deep=False), selector.get_params(deep=False)
    for name in ("similarity", "threshold", "n_memories", "random_state", "n_jobs", "verbose"):
        value = given[name]
        if value is not plain[name] and value != plain[name]:
            raise ValueError(
                f"search=MemorySelector({name}={value!r}) has no effect: {name} is a parameter of the classifier "
                f"itself; give MemoryClassifier({name}=...)"
            )
    return selector.options


def _check_probabilities(estimator: Any, fallback: Any) -> None:
    """Refuse classifiers that are certain to give no probabilities where these are needed."""
    given = list(estimator.values()) if isinstance(estimator, Mapping) else [estimator]
    for name, parts in (("estimator", given), ("fallback", [fallback])):
        for each in parts:
            if isinstance(each, Fits) and pool.never_gives_probabilities(each):
                shown = " ".join(repr(each).split())
                raise TypeError(f"{NEED_PROBABILITIES}; the {name} {shown} has none. {PROBABILITIES_HELP}")
