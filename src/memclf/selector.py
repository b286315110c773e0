"""The search as a scikit-learn clusterer and transformer."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from memclf import _cases, _inputs, fitted
from memclf._numbers import Array, first_best
from memclf._seeds import seeded
from memclf.memory.search import search_memories
from memclf.routing.route import similarities
from memclf.similarity.base import fit_describe


class MemorySelector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Choose memories among the cases; cluster and transform by similarity to them.

    Parameters
    ----------
    similarity : Similarity or None
        What makes two cases alike. None: ``RBFSimilarity()``.
    threshold : float in (0, 1]
        Every case should be at least this similar to a memory.
    n_memories : int or None
        Fix the number of memories instead.
    n_restarts, max_swaps, mode, cover, coverage, stop, prefer, random_state, verbose
        See `memclf.select_memories`.
    n_jobs : int or None
        Workers for describing the cases.

    Attributes
    ----------
    memory_indices_ : ndarray
        Rows of the memories in X, those that stand for most cases first.
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
        stop: str = "fixed",
        prefer: str = "fewest",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.similarity = similarity
        self.threshold = threshold
        self.n_memories = n_memories
        self.n_restarts = n_restarts
        self.max_swaps = max_swaps
        self.mode = mode
        self.cover = cover
        self.coverage = coverage
        self.stop = stop
        self.prefer = prefer
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the memories among the rows of X. `y` is used only by similarities that learn from labels."""
        X = _cases.as_cases(X)
        _cases.match(self, X, reset=True)
        self.similarity_ = _inputs.prepared(self.similarity, self.n_jobs, self.verbose)
        seed = None if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        Z = fit_describe(seeded(self.similarity_, seed), X, y, sample_weight)
        self.search_result_ = search_memories(
            Z,
            self.similarity_,
            self.threshold,
            n_memories=self.n_memories,
            n_restarts=self.n_restarts,
            max_swaps=self.max_swaps,
            mode=self.mode,
            cover=self.cover,
            coverage=self.coverage,
            stop=self.stop,
            prefer=self.prefer,
            sample_weight=sample_weight,
            random_state=seed,
            verbose=self.verbose,
        )
        self.memory_indices_ = self.search_result_.indices
        self.memories_ = _cases.keep(X, self.memory_indices_)
        self.descriptions_ = _cases.take(Z, self.memory_indices_)
        self.labels_ = self.search_result_.labels
        fitted.seal(self)
        return self

    def transform(self, X: Any) -> Array:
        """Similarity of every case to every memory, one column per memory."""
        return self._similarities(X).T

    def predict(self, X: Any) -> Array:
        """Number of the most similar memory, whether or not the threshold is reached."""
        return first_best(self._similarities(X))

    def _similarities(self, X: Any) -> Array:
        check_is_fitted(self)
        X = _cases.as_cases(X)
        _cases.match(self, X)
        return similarities(self.similarity_, self.descriptions_, self.memory_indices_, self.similarity_.describe(X))

    @property
    def _n_features_out(self) -> int:
        return len(self.memory_indices_)

    def __sklearn_tags__(self) -> Any:
        return _inputs.tags(super().__sklearn_tags__(), self.similarity)
