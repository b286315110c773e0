"""The memory classifiers of the studies: the paper's, the sturdy one, and its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memclf.answers import AutoAnswer, ProductAnswer
from memclf.classifier import MemoryClassifier
from memclf.studies.settings import Settings
from memclf.studies.study import WORKERS, Study


@dataclass(frozen=True)
class Variant:
    """A memory classifier that differs from the paper's.

    Attributes
    ----------
    name : str
        The model's name in rows and tables.
    text : str
        What is different, in words.
    graded : bool
        Memories all along the expert's numbers, by rank, instead of one for each label of the paper's tree.
    parameters : dict
        Of `MemoryClassifier`.
    """

    name: str
    text: str
    graded: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)


def _product(competence: str | None = "mahalanobis", balance: float = 0.5) -> dict[str, Any]:
    """Parameters for the product of the local classifier and the labels of the memory's cluster."""
    return {"answer": ProductAnswer(competence=competence, balance=balance)}


_TRUST = {"min_trust": 0.5, "fallback": "global"}

#: What won on training folds of the three studies together; see docs/competence.md.
STURDY = Variant("sturdy", "graded memories, product, competence, balance 0.5", True, _product())

#: Whom to believe is learned, on held-out and shifted training images.
AUTO = Variant("auto", "graded memories; whom to believe is learned", True, {"answer": AutoAnswer()})

#: The same as sturdy, but a case that is unlike the training data is unknown.
CAREFUL = Variant(
    "careful",
    "sturdy; unknown where description, similarity or network say so (5 % of cases like the training data)",
    True,
    {**_product(), "unknown_rate": 0.05, "min_trust": 0.5},
)

#: Each part by itself on top of the paper's memory classifier, then the sturdy one with one part less or more.
ABLATION = (
    Variant("+product", "product with the memory's labels", parameters=_product(competence=None, balance=0.0)),
    Variant("+trust", "untrusted descriptions go to the network", parameters=_TRUST),
    Variant("+graded", "graded memories", True),
    Variant("sturdy-graded", "sturdy with the paper's tree", parameters=_product()),
    Variant("sturdy-competence", "sturdy without competence", True, _product(competence=None)),
    Variant("sturdy-balance", "sturdy without balance", True, _product(balance=0.0)),
    Variant("sturdy+trust", "sturdy with trust", True, {**_product(), **_TRUST}),
)


def asked_variants(settings: Settings) -> list[Variant]:
    """The variants that the settings ask for."""
    auto = replace(AUTO, parameters={"answer": AutoAnswer(metric=settings.metric)})
    return [
        *([STURDY, auto] if settings.sturdy else []),
        *([CAREFUL] if settings.careful else []),
        *(ABLATION if settings.ablate else []),
    ]


def make_memory_classifier(
    similarity: Any, network: Any, settings: Settings, seed: int, verbose: int = 0, **parameters: Any
) -> MemoryClassifier:
    """The paper's memory classifier, not fitted; `parameters` replace the paper's."""
    if "n_jobs" in similarity.get_params(deep=False):
        similarity.set_params(n_jobs=WORKERS)
    return MemoryClassifier(
        similarity,
        network,
        start="global",
        min_cluster_size=settings.min_cluster_size,
        random_state=seed,
        verbose=verbose,
    ).set_params(**parameters)


def make_variant(
    variant: Variant, study: Study, network: Any, settings: Settings, seed: int, n_train: int, verbose: int = 0
) -> MemoryClassifier:
    """A memory classifier beyond the paper's, not fitted, for `n_train` training images."""
    feature = settings.features[0]
    similarity: Any = study.similarity(feature, settings.literal)
    graded: dict[str, Any] = {}
    if variant.graded and study.graded is not None:
        similarity, graded = study.graded(feature, n_train, settings.literal)
    parameters = {"cv": settings.folds, **graded, **variant.parameters}
    return make_memory_classifier(similarity, network, settings, seed, verbose, **parameters)
