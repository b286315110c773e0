"""Memory classifiers beyond the paper's: the one that won on training folds, and what each of its parts brings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def graded_memories(n: int) -> int:
    """How many memories lie along the expert's numbers: about as many as a histogram of n cases has bars.

    On training folds of the leaves (n = 1,117) 30 to 50 did about equally well, 20 and fewer worse.

    >>> graded_memories(1400), graded_memories(120)
    (45, 13)
    """
    return max(2, round(1.2 * n**0.5))


@dataclass(frozen=True)
class Variant:
    """A memory classifier, told from the paper's by its settings.

    Attributes
    ----------
    name : str
        The model's name in rows and tables.
    words : str
        What is different, for people.
    graded : bool
        Memories all along the expert's numbers, by rank, instead of one for each label of the paper's tree.
    settings : dict
        Of `MemoryClassifier`.
    """

    name: str
    words: str
    graded: bool = False
    settings: dict[str, Any] = field(default_factory=dict)


_PRODUCT = {"combine": "product"}
_BEST: dict[str, Any] = {**_PRODUCT, "balance": 0.5, "competence": "mahalanobis"}


def _best_but(**changes: Any) -> dict[str, Any]:
    return {**_BEST, **changes}


#: What won on training folds of the three studies together; see docs/competence.md.
STURDY = Variant("sturdy", "graded memories, product, competence, balance 0.5", True, _BEST)

#: The same, but a case that is unlike the training data is unknown.
CAREFUL = Variant(
    "careful",
    "sturdy; unknown where description, similarity or network say so (5 % of cases like the training data)",
    True,
    _best_but(threshold="conformal", unknown_rate=0.05, min_trust=0.5),
)

#: Each part by itself on top of the paper's memory classifier, then what wins, with one part less or more.
ABLATION = (
    Variant("+competence", "competence (Mahalanobis), soft", settings={"competence": "mahalanobis"}),
    Variant("+competence hard", "competence, hard", settings={"competence": "mahalanobis", "guard": "hard"}),
    Variant("+residual", "competence by the residual", settings={"competence": "residual"}),
    Variant("+neighbours", "competence by neighbours", settings={"competence": "neighbours"}),
    Variant("+energy", "competence by the network's energy", settings={"competence": "energy"}),
    Variant("+agreement", "competence by agreement of mild views", settings={"competence": "agreement"}),
    Variant("+product", "product with the memory's labels", settings=_PRODUCT),
    Variant("+stacked", "learned weights", settings={"combine": "stacked"}),
    Variant("+crossfit", "clusters from out-of-fold descriptions", settings={"crossfit": True}),
    Variant("+views", "routing averaged over two mild views", settings={"views": 2}),
    Variant("+trust", "untrusted descriptions go to the network", settings={"min_trust": 0.5, "fallback": "global"}),
    Variant("+balance", "balance 0.5", settings={"balance": 0.5}),
    Variant("+graded", "graded memories", True),
    Variant("sturdy-graded", "sturdy with the paper's tree", settings=_BEST),
    Variant("sturdy-product", "sturdy, a soft guard instead of the product", True, _best_but(combine="local")),
    Variant("sturdy-competence", "sturdy without competence", True, _best_but(competence=None)),
    Variant("sturdy-balance", "sturdy without balance", True, _best_but(balance=0.0)),
    Variant("sturdy, stacked", "sturdy with learned weights", True, _best_but(combine="stacked")),
    Variant("sturdy, neighbours", "sturdy, competence by neighbours", True, _best_but(competence="neighbours")),
    Variant("sturdy, energy", "sturdy, competence by energy", True, _best_but(competence="energy")),
    Variant("sturdy+crossfit", "sturdy with crossfit clusters", True, _best_but(crossfit=True)),
    Variant("sturdy+views", "sturdy with two mild views", True, _best_but(views=2)),
    Variant("sturdy+trust", "sturdy with trust", True, _best_but(min_trust=0.5, fallback="global")),
)
