"""What makes two cases alike: the expert's part of a memory classifier."""

from memclf.similarity.base import Similarity
from memclf.similarity.combine import CombinedSimilarity
from memclf.similarity.function import FunctionSimilarity, Precomputed
from memclf.similarity.numeric import CosineSimilarity, RBFSimilarity
from memclf.similarity.random import RandomSimilarity
from memclf.similarity.rank import RankSimilarity
from memclf.similarity.table import GowerSimilarity
from memclf.similarity.tree import TreeSimilarity

__all__ = [
    "CombinedSimilarity",
    "CosineSimilarity",
    "FunctionSimilarity",
    "GowerSimilarity",
    "Precomputed",
    "RBFSimilarity",
    "RandomSimilarity",
    "RankSimilarity",
    "Similarity",
    "TreeSimilarity",
]
