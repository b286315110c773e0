"""How alike two cases are: the part of a memory classifier that the expert gives."""

from collections.abc import Mapping
from types import MappingProxyType

from memclf.similarity.base import Similarity
from memclf.similarity.choices import Choices
from memclf.similarity.combine import CombinedSimilarity
from memclf.similarity.function import FunctionSimilarity, Precomputed
from memclf.similarity.judged import JudgedSimilarity
from memclf.similarity.judgements import append_judgements, read_judgements
from memclf.similarity.numeric import CosineSimilarity, RBFSimilarity
from memclf.similarity.random import RandomSimilarity
from memclf.similarity.rank import RankSimilarity
from memclf.similarity.table import GowerSimilarity
from memclf.similarity.tree import TreeSimilarity

#: The similarities of memclf by name. Model folders may name these and no others: loading one runs only code of
#: memclf. So the list is written here by hand and cannot be changed, and no class can add itself.
REGISTRY: Mapping[str, type[Similarity]] = MappingProxyType(
    {
        each.__name__: each
        for each in (
            RBFSimilarity,
            RankSimilarity,
            CosineSimilarity,
            GowerSimilarity,
            JudgedSimilarity,
            TreeSimilarity,
            FunctionSimilarity,
            Precomputed,
            CombinedSimilarity,
            RandomSimilarity,
        )
    }
)

__all__ = [
    "REGISTRY",
    "Choices",
    "CombinedSimilarity",
    "CosineSimilarity",
    "FunctionSimilarity",
    "GowerSimilarity",
    "JudgedSimilarity",
    "Precomputed",
    "RBFSimilarity",
    "RandomSimilarity",
    "RankSimilarity",
    "Similarity",
    "TreeSimilarity",
    "append_judgements",
    "read_judgements",
]
