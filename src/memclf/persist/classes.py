"""The classes of memclf that a manifest may name.

Similarities, detectors and answer rules come from the registries beside them, so a new one needs no line here. A class
that is not memclf's own never gets onto these lists: a folder holds it in the file of estimators, where the caller of
`load` has to allow it by name.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from memclf.answers import RULES
from memclf.answers.belief import Belief
from memclf.answers.measured import TreesAndCurves
from memclf.bounds.result import Assumption, Bound, MemoryTerm, Term
from memclf.classifier import CurvePoint, Edits, MemoryClassifier, SearchCurve, Training
from memclf.classifier.held_out import Distances
from memclf.exceptions import MissingExtraError
from memclf.local.competence import DETECTORS, Calibration
from memclf.local.pool import Pool
from memclf.memory import MemorySelector
from memclf.memory.result import MemorySearchResult, Round
from memclf.similarity import REGISTRY as SIMILARITIES
from memclf.similarity import Similarity
from memclf.vision.features import FEATURES

MODELS = (MemoryClassifier, MemorySelector)
NETWORK = "ImageClassifier"  # can be saved by itself as well
# Estimators whose modules need an extra. They are imported when a model holds one.
VISION = {NETWORK: "memclf.vision.nets", **FEATURES}


def _is_own(kind: type) -> bool:
    return kind.__module__.startswith("memclf.")


ESTIMATORS: dict[str, type] = {
    kind.__name__: kind
    for kind in (*MODELS, TreesAndCurves, *SIMILARITIES.values(), *DETECTORS.values(), *RULES.values())
    if _is_own(kind)  # users may add to the registries
}
# Frozen dataclasses, made from their fields.
RECORDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(Assumption, Belief, Bound, Calibration, CurvePoint, Distances, Edits, MemorySearchResult),
        *(MemoryTerm, Pool, Round, SearchCurve, Term, Training),
    )
}


def find_estimator_class(name: str) -> Any:
    """The estimator of memclf with this name, None if there is none."""
    if name not in VISION:
        return ESTIMATORS.get(name)
    try:
        return getattr(import_module(VISION[name]), name)
    except ModuleNotFoundError as error:
        raise MissingExtraError('this model takes images: pip install "memclf[vision]"') from error


def is_own_estimator(value: Any) -> bool:
    """Whether this is one of memclf's estimators; a user's subclass is not."""
    kind = type(value)
    return _is_own(kind) and find_estimator_class(kind.__name__) is kind


def is_feature(value: Any) -> bool:
    """Whether this is one of memclf's expert features, which can be saved by itself as well."""
    return type(value).__name__ in FEATURES and is_own_estimator(value)


def is_similarity(value: Any) -> bool:
    """Whether this is one of memclf's similarities, which can be saved by itself as well."""
    return isinstance(value, Similarity) and is_own_estimator(value)


def is_network(value: Any) -> bool:
    """Whether this is an image classifier."""
    return type(value).__name__ == NETWORK and is_own_estimator(value)
