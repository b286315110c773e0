"""The search for memories: as a function, and as a scikit-learn clusterer and transformer."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from memclf import integrity
from memclf._numbers import Array, first_best
from memclf._seeds import seeded
from memclf.cases import Cases, containers
from memclf.cases.chunks import Chunks, compute_if_chunked, is_chunked
from memclf.cases.lazy import compute_later
from memclf.cases.sliced import SlicedRows
from memclf.memory.blocks import Blocks
from memclf.memory.describing import fit_and_describe
from memclf.memory.result import MemorySearchResult
from memclf.memory.search import SearchOptions, search_memories
from memclf.memory.wishes import Wishes
from memclf.protocols import Compares
from memclf.similarity.base import compare_memories, describe, fit_describe
from memclf.similarity.resolve import add_tags, prepare_similarity

OPTIONS = tuple(field.name for field in fields(SearchOptions))


class MemorySelector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Choose memories among the cases; cluster and transform by similarity to them.

    The search maximises the sum over the cases of the similarity to the most similar memory, with as few memories as
    the cover finds. It never holds more than O(n q) numbers. Beyond 50,000 cases swaps are judged by batches, and rows
    of numbers (an array, a memory map, the path of a Parquet file, a dataset of h5py or zarr) are read a block at a
    time. Dask arrays, data frames and bags stay on the workers of the running client (docs/scale.md). As
    ``MemoryClassifier(search=...)`` it sets how memories are searched; the classifier sets similarity, threshold,
    number and seed.

    Parameters
    ----------
    similarity : Similarity or None
        What makes two cases alike. None: ``RBFSimilarity()``.
    threshold : float in (0, 1]
        b_t: the similarity from which on a case counts as covered by a memory.
    n_memories : int or None
        Fix the number of memories. None: as many as covering all cases takes.
    n_restarts : int or None
        Z_g: how often to start anew. None: 5 with a random cover, which may find another number of memories each
        time, and 1 otherwise. The restart with fewest memories wins, then the one with the largest objective.
    max_swaps : int or None
        Z_l: random candidates to try in each restart, each against all memories at once (the centres of
        clusters are tried besides). None: 2.5 % of the cases, at least 250 (more where that is cheap) and at
        most 1000, fewer beyond 250,000 cases. With the other modes a candidate is one random pair of a memory
        and a case. None: 10 in ``mode="paper"``; 1.25 % of the pairs and at least 250 in ``mode="clarans"``.
    mode : {"corrected", "clarans", "paper"}
        "clarans" is the paper's Algorithm 1 as it was meant: one random neighbour after the other, no case uncovered
        (unless ``coverage="report"``), and the restart with the largest objective wins. "paper" follows the printed
        pseudo-code, quirks included, and ignores `coverage`. Both find the number of memories themselves
        (`n_memories` must be None), ignore `cover`, and depend on the order of the rows.
    cover : {"auto", "random", "greedy"}
        How the first memories are found (among very many cases, greedily on samples). "random" is the paper's way.
        "greedy" compares all pairs and needs fewer memories; with ``random_state=None`` it leaves nothing to chance.
        "auto": greedy for up to 5,000 distinct cases and a built-in similarity (1,000 otherwise) when covering, else
        random.
    coverage : {"auto", "report", "enforce"}
        "enforce": no swap may uncover a case, and a result that leaves cases uncovered is an error.
        "report": only say how many are covered. "auto": enforce unless `n_memories` is fixed.
    max_memory : str, number or None
        Memory that the search may take besides the cases, such as "2GB", or a number of bytes. None: half of what is
        free. It decides how many cases are read at a time; a given one also whether swaps are judged by all cases or
        by batches, which for None depends on the number of cases alone, so that any machine finds the same memories.
        It is judged again when a cover has found how many memories there are.
    random_state : int, RandomState or None
        The same seed gives the same memories, whatever the order of the rows (for numeric descriptions).
    n_jobs : int or None
        Workers for describing the cases, and threads of a search in batches (None: as many as BLAS may use). The result
        does not depend on it.
    verbose : int
        Show progress.

    Attributes
    ----------
    memory_indices_ : ndarray
        Rows of the memories in X, pinned ones first, then those that stand for most cases.
    memories_ : same kind as X
        The memories themselves.
    descriptions_ : ndarray
        Their descriptions.
    labels_ : ndarray
        Cluster number (0..q-1) of every training case.
    search_result_ : MemorySearchResult
    similarity_ : Similarity
        The fitted similarity.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn, for tables and arrays.

    Examples
    --------
    >>> from memclf.similarity import RBFSimilarity
    >>> X = [[0.0], [0.1], [0.25], [0.3], [5.0], [5.1], [5.3]]
    >>> selector = MemorySelector(RBFSimilarity(gamma=1.0), threshold=0.9, random_state=0).fit(X)
    >>> selector.memory_indices_, selector.labels_
    (array([1, 5]), array([0, 0, 0, 0, 1, 1, 1]))
    >>> selector.predict([[4.9]])
    array([1])
    """

    def __init__(
        self,
        similarity: Any = None,
        threshold: float = 0.7,
        n_memories: int | None = None,
        *,
        n_restarts: int | None = None,
        max_swaps: int | None = None,
        mode: str = "corrected",
        cover: str = "auto",
        coverage: str = "auto",
        max_memory: str | float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ):
        self.similarity = similarity
        self.threshold = threshold
        self.n_memories = n_memories
        self.n_restarts = n_restarts
        self.max_swaps = max_swaps
        self.mode = mode
        self.cover = cover
        self.coverage = coverage
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def options(self) -> SearchOptions:
        """How memories are searched, checked."""
        return SearchOptions(**{name: value for name, value in self.get_params(deep=False).items() if name in OPTIONS})

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        pinned: Any = None,
        forbidden: Any = None,
        start: Any = None,
    ) -> Self:
        """Choose the memories among the rows of X; `y` is for similarities that learn from it.

        Parameters
        ----------
        X : cases
        y : array or None
        sample_weight : array or None
            Weight of each case in the objective; cases of weight 0 are left out of the search.
        pinned : rows or None
            Cases that must be memories. They come first in the result, in this order.
        forbidden : rows or None
            Cases that must not be memories. They are covered like all others.
        start : rows or None
            Memories to start from in place of a cover, such as those of a former search, than which the result is
            never worse. Where they leave cases uncovered, a cover adds to them.
        """
        cases = Chunks(X) if is_chunked(X) else Cases.of(SlicedRows.of(X))
        wishes = Wishes.of(pinned, forbidden, start, len(cases))
        y, sample_weight = compute_if_chunked(y), compute_if_chunked(sample_weight)
        containers.check_columns(self, cases.data, reset=True)
        self.similarity_ = prepare_similarity(self.similarity, self.n_jobs, self.verbose)
        seed = None if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        similarity = seeded(self.similarity_, seed)
        Z = fit_and_describe(similarity, cases, y, sample_weight, self.n_memories, self.options, self.n_jobs)
        self.search_result_ = search_memories(
            Z,
            self.similarity_,
            self.threshold,
            self.n_memories,
            self.options,
            wishes=wishes,
            sample_weight=sample_weight,
            random_state=seed,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        self.memory_indices_ = self.search_result_.indices
        self.memories_ = cases.keep(self.memory_indices_)
        self.descriptions_ = (
            Z.take(self.memory_indices_) if isinstance(Z, Blocks) else containers.take(Z, self.memory_indices_)
        )
        self.labels_ = self.search_result_.labels
        integrity.seal(self)
        return self

    def transform(self, X: Any) -> Array:
        """Similarity of every case to every memory, one column per memory."""
        if is_chunked(X):
            check_is_fitted(self)
            return compute_later(self, "transform", X)
        return self._similarities(X).T

    def predict(self, X: Any) -> Array:
        """Number of the most similar memory, whether or not the threshold is reached."""
        if is_chunked(X):
            check_is_fitted(self)
            return compute_later(self, "predict", X)
        return first_best(self._similarities(X))

    def _similarities(self, X: Any) -> Array:
        check_is_fitted(self)
        cases = Cases.of(X)
        containers.check_columns(self, cases.data)
        Z = describe(self.similarity_, cases)
        return compare_memories(self.similarity_, self.descriptions_, self.memory_indices_, Z)

    @property
    def _n_features_out(self) -> int:
        return len(self.memory_indices_)

    def __sklearn_tags__(self) -> Any:
        return add_tags(super().__sklearn_tags__(), self.similarity)


def select_memories(
    Z: Any,
    similarity: Any,
    threshold: float = 0.7,
    *,
    n_memories: int | None = None,
    pinned: Any = None,
    forbidden: Any = None,
    start: Any = None,
    sample_weight: Any = None,
    random_state: Any = None,
    verbose: int | None = None,
    **options: Any,
) -> MemorySearchResult:
    """Choose prototypical cases, the memories, so that every case is within `threshold` of one.

    Parameters
    ----------
    Z : descriptions
        What ``similarity.describe`` returned; or the cases themselves when the similarity is not fitted yet.
    similarity : Similarity
        Compares descriptions.
    pinned, forbidden, start : rows or None
        Cases that must be memories, must not be memories, and to start from; see `MemorySelector.fit`.
    sample_weight : array or None
        Weight of each case in the objective; cases of weight 0 are left out of the search.
    threshold, n_memories, random_state, verbose, **options
        As in `MemorySelector`: n_restarts, max_swaps, mode, cover, coverage, max_memory.

    Examples
    --------
    >>> import numpy as np
    >>> from memclf.similarity import RBFSimilarity
    >>> X = np.array([[0.0], [0.1], [0.25], [0.3], [5.0], [5.1], [5.3]])
    >>> result = select_memories(X, RBFSimilarity(gamma=1.0), threshold=0.9, random_state=0)
    >>> result.indices, result.labels, result.coverage
    (array([1, 5]), array([0, 0, 0, 0, 1, 1, 1]), 1.0)
    >>> select_memories(X, RBFSimilarity(gamma=1.0), threshold=0.9, pinned=[6], forbidden=[1]).indices
    array([6, 2])
    """
    if strange := sorted(set(options) - set(OPTIONS)):
        raise TypeError(f"select_memories has no options {', '.join(strange)}; it has {', '.join(OPTIONS)}")
    if isinstance(similarity, type) or not isinstance(similarity, Compares):
        raise TypeError(
            f"similarity must have compare(A, B), got {similarity!r}; wrap a function of two cases in "
            "memclf.similarity.FunctionSimilarity"
        )
    if isinstance(similarity, BaseEstimator):
        try:
            check_is_fitted(similarity)
        except NotFittedError:
            similarity = clone(similarity)
            Z = fit_describe(similarity, Z, sample_weight=sample_weight)
    how = SearchOptions(**options)
    wishes = Wishes.of(pinned, forbidden, start, Z.n if isinstance(Z, Blocks) else containers.count(Z))
    weights: dict[str, Any] = {
        "wishes": wishes,
        "sample_weight": sample_weight,
        "random_state": random_state,
        "verbose": verbose,
    }
    return search_memories(Z, similarity, threshold, n_memories, how, **weights)
