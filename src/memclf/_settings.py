"""Whether the parameters of a memory classifier make sense."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from memclf.folds import is_cut
from memclf.local import pool
from memclf.local.combine import COMBINE, GUARDS
from memclf.local.competence import detector_for
from memclf.routing import CONFORMAL, route

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier

FALLBACKS = ("unknown", "nearest", "global")
CHOICES = {"start": pool.STARTS, "small_clusters": pool.SMALL, "combine": COMBINE, "guard": GUARDS}
BOUND = "bound"  # in place of a number of memories
NEED_PROBABILITIES = "competence, combine, balance and views need classifiers that give probabilities (predict_proba)"
PROBABILITIES_HELP = "Give another classifier, or wrap it: CalibratedClassifierCV(...)"


def check(clf: MemoryClassifier) -> None:
    """Complain about parameters that mean nothing or contradict each other, before any work is done."""
    for name, allowed in CHOICES.items():
        if getattr(clf, name) not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {getattr(clf, name)!r}")
    size = clf.min_cluster_size
    if isinstance(size, bool) or not isinstance(size, Integral) or size < 1:
        raise ValueError(f"min_cluster_size must be a whole number of at least 1, got {size!r}")
    if isinstance(clf.fallback, str):
        if clf.fallback not in FALLBACKS:
            raise ValueError(
                f"fallback must be one of {', '.join(map(repr, FALLBACKS))} or a classifier; got {clf.fallback!r}"
            )
    else:
        pool.check_classifier(clf.fallback, "fallback")
    route(np.ones((1, 1)), np.ones(1), clf.rule)
    detector_for(clf.competence)
    if clf._learns() and isinstance(clf.estimator, (Mapping, list, tuple)):
        raise ValueError(
            "competence and combine fit everything once more without each fold, where memories have other numbers: "
            "give one estimator for all memories"
        )
    if isinstance(clf.n_memories, str):
        if clf.n_memories != BOUND:
            raise ValueError(f"n_memories must be a whole number, {BOUND!r} or None; got {clf.n_memories!r}")
        if clf.mode == "paper" or clf.coverage == "report" or isinstance(clf.estimator, (list, tuple)):
            raise ValueError(
                "n_memories='bound' tries several numbers of memories that cover all cases: mode='paper', "
                "coverage='report' and one estimator per memory do not go with it"
            )
    own = not (isinstance(clf.thresholds, str) and clf.thresholds in ("common", CONFORMAL))
    if clf.threshold == CONFORMAL and own:
        raise ValueError(
            f"threshold='conformal' makes conformal thresholds, and thresholds={clf.thresholds!r} asks for "
            "others; give one of the two"
        )
    for name, least in (("views", 0), ("cv", 2)):
        value = getattr(clf, name)
        if name == "cv" and is_cut(value):
            continue
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    if not (callable(clf.perturb) or clf.perturb is None or clf.perturb == "auto"):
        raise ValueError(f"perturb must be 'auto', None or a function of cases and a number, got {clf.perturb!r}")
    for name in ("min_trust", "balance"):
        if not 0 <= getattr(clf, name) <= 1:
            raise ValueError(f"{name} must be from 0 to 1, got {getattr(clf, name)!r}")
    if not 0 < clf.unknown_rate < 1:
        raise ValueError(f"unknown_rate must be between 0 and 1, got {clf.unknown_rate!r}")
    if not clf.answers_locally:
        _check_probabilities(clf)
    _warn_of_idle(clf)


def _check_probabilities(clf: MemoryClassifier) -> None:
    """Complain about classifiers that are certain to give no probabilities where these are needed."""
    given = clf.estimator
    given = list(given.values()) if isinstance(given, Mapping) else given
    given = list(given) if isinstance(given, Sequence) else [given]
    for name, parts in (("estimator", given), ("fallback", [clf.fallback])):
        for each in parts:
            if hasattr(each, "fit") and pool.never_gives_probabilities(each):
                shown = " ".join(repr(each).split())
                raise TypeError(f"{NEED_PROBABILITIES}; the {name} {shown} has none. {PROBABILITIES_HELP}")


def _warn_of_idle(clf: MemoryClassifier) -> None:
    """Say so when the user has set what is not asked for."""
    tight = isinstance(clf.thresholds, str) and clf.thresholds == "tight"
    idle = {
        "slack": (not tight, "it is for thresholds='tight'"),
        "unknown_rate": (not clf._conformal(), "it is for threshold='conformal' or thresholds='conformal'"),
        "guard": (clf.competence is None or clf.combine != "local", "it is for combine='local' with competence"),
    }
    defaults = inspect.signature(type(clf)).parameters
    for name, (unused, what_for) in idle.items():
        value = getattr(clf, name)
        if unused and value != defaults[name].default:
            warnings.warn(f"{name}={value!r} has no effect: {what_for}", stacklevel=4)
