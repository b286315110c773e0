"""The memory classifier: the one place where the parts are put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from memclf import _cases, _inputs, _settings, answer, fitted, fitting, heldout, unknown
from memclf._numbers import Array
from memclf._settings import BOUND
from memclf.folds import Folds
from memclf.local.competence import detector_for
from memclf.routing import CONFORMAL, Routes, similarities
from memclf.similarity.base import positive_weights

if TYPE_CHECKING:
    from memclf.bounds import Bound
    from memclf.explain import Explanations
    from memclf.local.pool import Pool
    from memclf.memory.result import MemorySearchResult


class MemoryClassifier(ClassifierMixin, BaseEstimator):
    """A case goes to its most similar memory, and the classifier trained in that memory's cluster answers.

    Parameters
    ----------
    similarity : Similarity, function or None
        What makes two cases alike; see `memclf.similarity`. A function of two cases is wrapped. None:
        ``RBFSimilarity()``.
    estimator : classifier, list or mapping, or None
        The local classifier, cloned for each memory. A list gives one per memory; a mapping from the
        memory's number to an estimator may name some and a ``"default"``. None: ``LogisticRegression``.
    threshold : float in (0, 1] or "conformal"
        b_t: every training case is at least this similar to a memory. "conformal": the search covers to 0.7, and
        `thresholds` are conformal.
    n_memories : int, "bound" or None
        Fix the number of memories. None: as many as covering all training cases takes. "bound": as many as the
        compression bound prefers, but enough to cover all training cases; it fits several times, and keeps the
        bound as `bound_`. See `memclf.bounds`.
    thresholds : "common", "tight", "conformal", number, sequence or mapping
        b_k, from which similarity on a memory answers a case: the same `threshold` for all; the least that
        still covers the memory's own cluster; as high as `unknown_rate` allows; one number; one per memory; or a
        mapping from the memory's row in the training data.
    slack : float
        By how much "tight" thresholds are loosened.
    unknown_rate : float
        For conformal thresholds: of cases like the training cases at most this share comes out unknown, on average
        over training sets (simulations in docs/competence.md); with groups, of cases of new groups. Cases that
        `min_trust` sends away count; of what they leave, `competence` takes half for cases that are strange to their
        classifier. All cases count alike here, whatever their `sample_weight`, except those without any.
    rule : {"argmax_then_check", "check_then_argmax"}
        The paper's equation (1), or its prose; see `memclf.routing.route`.
    fallback : "unknown", "nearest", "global" or classifier
        Who answers when no threshold is met: nobody; the nearest memory's classifier all the same; the
        estimator trained on everything; another classifier, trained on everything.
    unknown_label : label
        The answer when nobody answers. "auto": -1 for numbers, "unknown" for strings.
    min_cluster_size : int
        Clusters with fewer cases get no classifier of their own.
    small_clusters : {"merge", "global"}
        They join the cluster of the next most similar memory, or are left to the global classifier.
    start : {"fresh", "global"}
        "global": fit the estimator on everything first; local classifiers go on from there if they can
        (``warm_start`` or ``partial_fit``, also as the last step of a pipeline).
    competence : None, "mahalanobis", "residual", "neighbours", "energy", "agreement" or Detector
        How to find out whether a local classifier may be trusted on a case; see `memclf.local.competence`. The
        less it may, the more the memory's own labels answer. None: it always may, as in the paper.
    combine : {"local", "product", "stacked"}
        Who answers: the local classifier, as in the paper; the product of its probabilities, softened by a fitted
        temperature, and the memory's label distribution; or a product whose weights are learned.
    balance : float
        From 0, the most probable class is answered, to 1, the class that is most probable in relation to how common it
        is: 0 is for accuracy, 1 for balanced accuracy. `predict_proba` is weighed in the same way, so that the answer
        is always its largest.
    guard : {"soft", "hard"}
        For ``combine="local"`` with `competence`: the memory's labels take over step by step from the median
        strangeness of held-out cases on, or at once where competence is below 0.05. Without meaning otherwise.
    crossfit : bool
        Clusters are formed by similarities that have not learned from the case, so that they look like those of
        new cases. For similarities that learn from labels, as the tree.
    min_trust : float
        Where the features themselves trust a description less than this (from 0 to 1; see
        `memclf.vision.features.ImageFeatures.trust`), the case goes to no memory but to the `fallback`. 0: they are
        not asked.
    views : int
        Mild views of each case that are routed beside it; the case belongs to memories by their share. 0: to one.
    perturb : "auto", None or function of cases and a number
        How cases are changed a little, to learn weights on and for `views`: returns all cases, changed differently for
        every number. Let the change depend on the number and the case alone, not on the others in the batch, or
        answers will depend on them. "auto": images as `memclf.vision.perturbations` does, other cases not at all.
    cv : int, splitter or list of (rows to fit on, rows held out)
        Folds of training cases, held out in turn, from which competence and weights are learned; each costs a fit of
        the whole. Conformal thresholds are learned on folds in which memories alone are chosen anew, so that a number
        means at least ten there. Where several cases are of one object (repeated measurements, lesions of one face),
        give ``fit(X, y, groups=...)``: otherwise a case is judged by what was fitted to its twins, and of new objects,
        measured three times each, half and more may come out unknown at ``unknown_rate=0.05`` (docs/competence.md).
    mode, cover, coverage, n_restarts, max_swaps
        The search for memories; see `memclf.select_memories`.
    random_state : int, RandomState or None
        Seeds the search and every part (similarity, estimators) whose own ``random_state`` is None.
    n_jobs : int or None
        Workers for describing cases and fitting local classifiers. The result does not depend on it.
    verbose : int
        Show progress.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    memory_indices_ : ndarray
        Rows of the memories in the training data, those that stand for most cases first.
    memories_ : same kind as X
        The memories.
    descriptions_ : ndarray
        Their descriptions.
    thresholds_ : ndarray
        b_k of each memory.
    estimators_ : list
        The classifier that answers for each memory; memories may share one.
    labels_ : ndarray
        Number of the memory that each training case belongs to.
    cluster_counts_ : ndarray of shape (n_memories, n_classes)
        Training cases of each class in each cluster.
    label_distributions_ : ndarray of shape (n_memories, n_classes)
        What the memories themselves say: the counts as probabilities.
    frequencies_ : ndarray
        How common each class is.
    pool_ : Pool
        How the local classifiers came about.
    detectors_ : list
        The detector beside each memory's classifier, or None.
    calibration_ : Calibration or None
        What the detectors' strangeness means.
    combination_ : Combination or None
        The weights that were learned.
    strange_rate_ : float
        Competence up to which a case is unknown: what conformal thresholds leave of `unknown_rate` for strange cases.
    global_ : classifier or None
        The estimator trained on everything, where something asked for it.
    fallback_ : classifier or None
        Who answers when no threshold is met; None for nobody (or the nearest memory's classifier).
    unknown_label_ : label
        The answer for unknown.
    similarity_ : Similarity
        The fitted similarity.
    search_result_ : MemorySearchResult
        What the search did.
    bound_ : Bound or None
        What theory promises, if it was asked: by ``n_memories="bound"``, or later by `bound`.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn, for tables and arrays.

    Examples
    --------
    >>> from memclf import MemoryClassifier
    >>> from memclf.similarity import RBFSimilarity
    >>> X = [[0.0], [0.2], [0.4], [0.5], [5.0], [5.2], [5.4]]
    >>> y = ["low", "low", "high", "high", "low", "high", "high"]
    >>> clf = MemoryClassifier(RBFSimilarity(gamma=1.0), threshold=0.8, random_state=0).fit(X, y)
    >>> clf.predict([[0.1], [5.3], [99.0]])
    array(['low', 'high', 'unknown'], dtype='<U7')
    >>> clf.route([[5.3]]).memory
    array([1])
    """

    classes_: Array
    memory_indices_: Array
    memories_: Any
    descriptions_: Any
    thresholds_: Array
    estimators_: list[Any]
    labels_: Array
    cluster_counts_: Array
    label_distributions_: Array
    frequencies_: Array
    pool_: Pool
    detectors_: list[Any]
    global_: Any
    fallback_: Any
    unknown_label_: Any
    similarity_: Any
    search_result_: MemorySearchResult

    def __init__(
        self,
        similarity: Any = None,
        estimator: Any = None,
        threshold: float | str = 0.7,
        *,
        n_memories: int | str | None = None,
        thresholds: Any = "common",
        slack: float = 0.0,
        rule: str = "argmax_then_check",
        fallback: Any = "unknown",
        unknown_label: Any = unknown.AUTO,
        min_cluster_size: int = 1,
        small_clusters: str = "merge",
        start: str = "fresh",
        competence: Any = None,
        combine: str = "local",
        balance: float = 0.0,
        guard: str = "soft",
        crossfit: bool = False,
        min_trust: float = 0.0,
        views: int = 0,
        perturb: Any = "auto",
        cv: Any = 3,
        unknown_rate: float = 0.05,
        mode: str = "corrected",
        cover: str = "auto",
        coverage: str = "auto",
        n_restarts: int | None = None,
        max_swaps: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.similarity = similarity
        self.estimator = estimator
        self.threshold = threshold
        self.n_memories = n_memories
        self.thresholds = thresholds
        self.slack = slack
        self.rule = rule
        self.fallback = fallback
        self.unknown_label = unknown_label
        self.min_cluster_size = min_cluster_size
        self.small_clusters = small_clusters
        self.start = start
        self.competence = competence
        self.combine = combine
        self.balance = balance
        self.guard = guard
        self.crossfit = crossfit
        self.min_trust = min_trust
        self.views = views
        self.perturb = perturb
        self.cv = cv
        self.unknown_rate = unknown_rate
        self.mode = mode
        self.cover = cover
        self.coverage = coverage
        self.n_restarts = n_restarts
        self.max_swaps = max_swaps
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ------------------------------------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **params: Any) -> Self:
        """Describe the cases, choose memories among them, and fit a classifier in each memory's cluster.

        Parameters
        ----------
        X : array, table, list or anything the similarity can describe and the estimator can learn from
        y : array of labels
        sample_weight : array or None
            Goes to the similarity (if it takes weights), the search, the estimators and the weights of `combine`.
            Competence and conformal thresholds count held-out cases alike, except that those of no weight are absent.
        groups : array or None
            What each case belongs to: a patient, a face, an object that was measured several times. Cases of one group
            are never on both sides of a fold of `cv`. Without effect where nothing is learned on folds; not passed
            on to the estimators.
        **params
            Go to the estimators' ``fit``; what has one entry per case is cut to the cluster.
        """
        if isinstance(self.cv, Iterator):  # it can be gone through only once, and clones and later fits need it too
            self.cv = list(self.cv)
        _settings.check(self)
        X = _cases.read_once(_cases.as_cases(X))
        if self.views or getattr(detector_for(self.competence), "looks_at", "") == "views":
            answer.check_can_perturb(self, X)
        _inputs.prepared(self.similarity, self.n_jobs, self.verbose)  # complains if it is none
        y = fitting.checked_target(X, y)
        if sample_weight is not None:
            sample_weight = positive_weights(sample_weight, len(y))
        folds = Folds.of(self.cv, groups, len(y))
        if self._learns() or self._conformal() or self.n_memories == BOUND:  # folds or trials look at the same cases
            X = _cases.remembering(X)
        self.bound_: Bound | None = None
        number = self.n_memories
        if self.n_memories == BOUND:
            from memclf.bounds.curve import preferred

            number = preferred(self, X, y, sample_weight, params, folds)
        seed = fitting.stages(self, X, y, sample_weight, params, folds, local=True, n_memories=number)
        self.calibration_ = self.combination_ = None
        self.strange_rate_ = 0.0
        if self._learns() or self._conformal():
            counted = fitting.counted_rows(y, sample_weight)
            what = (self, X, y, counted, sample_weight, params, folds, seed)
            if self._learns():
                self.calibration_, self.combination_ = heldout.learn(*what)
            if self._conformal():
                self.thresholds_, self.strange_rate_ = heldout.conformal(self, heldout.distances(*what))
        fitted.seal(self)
        if self.n_memories == BOUND:
            self.bound(X, y)
        return self

    def _learns(self) -> bool:
        """Whether something is learned from what held-out cases are answered."""
        return self.competence is not None or self.combine != "local"

    def _conformal(self) -> bool:
        return any(isinstance(each, str) and each == CONFORMAL for each in (self.threshold, self.thresholds))

    # ---------------------------------------------------------------------------------------------- answering

    def route(self, X: Any) -> Routes:
        """Where each case goes: memory, similarity, threshold, runner-up, margin, known or not.

        A case is known if somebody answers for its memory: the threshold is met, the features trust their description
        (`min_trust`), and the case is not too strange to the memory's classifier (`competence` with conformal
        thresholds). With ``fallback="unknown"`` those that are not known are answered unknown.
        """
        X = _cases.read_once(_cases.as_cases(X))
        return answer.recognising(self, X, self._sent(X))

    def _sent(self, X: Any) -> Routes:
        """`route` by similarity and trust alone: whoever answers looks at how strange the cases are anyway."""
        return answer.trusting(self, X, answer.routed(self, self._describe(X)))

    def similarities(self, X: Any) -> Array:
        """Similarity of every case (row) to every memory (column)."""
        Z = self._describe(X)
        return similarities(self.similarity_, self.descriptions_, self.memory_indices_, Z).T

    def _describe(self, X: Any) -> Any:
        check_is_fitted(self)
        X = _cases.as_cases(X)
        _cases.match(self, X)
        return self.similarity_.describe(X)

    def predict(self, X: Any) -> Array:
        """The answer of each case's local classifier, or what `fallback` says where no threshold is met."""
        X = _cases.read_once(_cases.as_cases(X))
        return self.predict_routed(X, self._sent(X))

    def predict_routed(self, X: Any, routes: Routes) -> Array:
        """`predict` for cases whose routes are known already, so that they are not described again."""
        out = unknown.answers(self.classes_, len(routes), self.unknown_label_)
        if self.answers_locally:
            return answer.asked(self, X, routes, "predict", out)
        P = answer.combined(self, X, routes)
        known = P.any(axis=1)
        out[known] = self.classes_[P[known].argmax(axis=1)]
        return out if self.fallback == "unknown" else out.astype(self.classes_.dtype)

    @available_if(answer.gives_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Probabilities, one column per entry of `classes_`; all zero for unknown."""
        X = _cases.read_once(_cases.as_cases(X))
        return self.predict_proba_routed(X, self._sent(X))

    def predict_proba_routed(self, X: Any, routes: Routes) -> Array:
        """`predict_proba` for cases whose routes are known already."""
        if self.answers_locally:
            empty = unknown.probabilities(len(routes), len(self.classes_))
            return answer.asked(self, X, routes, "predict_proba", empty)
        return answer.combined(self, X, routes)

    def strangeness(self, X: Any) -> Array:
        """How strange each case is to the classifier of its nearest memory; needs `competence`. Higher is stranger."""
        X = _cases.read_once(_cases.as_cases(X))
        return self.strangeness_routed(X, answer.routed(self, self._describe(X)))

    def strangeness_routed(self, X: Any, routes: Routes) -> Array:
        """`strangeness` for cases whose routes are known already."""
        if self.competence is None:
            raise ValueError("nobody looks at how strange cases are: give competence='mahalanobis', for example")
        if routes.strangeness is not None:
            return routes.strangeness
        return answer.strangeness(self, X, routes.nearest)

    def membership(self, X: Any) -> Array:
        """How much each case (row) belongs to each memory (column): the share of it and its mild `views` sent there.

        A case whose views go different ways is not described surely.
        """
        X = _cases.read_once(_cases.as_cases(X))
        return answer.membership(self, X, answer.routed(self, self._describe(X)))

    def steadiness(self, X: Any, views: int | None = None) -> Array:
        """How similar each case stays to itself when it is changed mildly, from 0 to 1: how sure its description is.

        Averages over `views` changes; None: as many as the classifier routes by, at least 3. Images know how to be
        changed, for other cases there is `perturb`.
        """
        X = _cases.read_once(_cases.as_cases(X))
        Z = self._describe(X)
        return answer.steadiness(self, X, Z, max(3, self.views) if views is None else int(views))

    def competences(self, X: Any) -> Array:
        """The competence for each case, from 0 to 1; needs `competence`. Many low ones mean drift."""
        X = _cases.read_once(_cases.as_cases(X))
        strange = self.strangeness(X)
        return np.ones(len(strange)) if self.calibration_ is None else self.calibration_.competence(strange)

    @property
    def answers_locally(self) -> bool:
        """Whether the local classifiers alone answer, as in the paper."""
        return not self._learns() and not self.views and not self.balance

    @property
    def declines_strange(self) -> bool:
        """Whether cases can be too strange to their classifier to be answered: with conformal thresholds."""
        return self.competence is not None and self._conformal()

    def too_strange(self, competence: Any) -> Any:
        """Whether cases of this competence come out unknown: with conformal thresholds, the strangest do."""
        if competence is None or not self.declines_strange:
            return False
        return competence <= getattr(self, "strange_rate_", self.unknown_rate / 2)  # older model folders lack it

    def bound(self, X: Any, y: Any, **options: Any) -> Bound:
        """What theory promises about this classifier; X and y are the cases that it was fitted on.

        The options are those of `memclf.bounds.generalization_bound`. The result is kept as `bound_`: explanations
        show it, and `memclf.save` keeps it.
        """
        from memclf.bounds import generalization_bound

        check_is_fitted(self)
        found = generalization_bound(self, X, y, **options)
        self.bound_ = found
        return found

    def explain(self, X: Any) -> Explanations:
        """For each case the memory behind the answer, in words and as a table; see `memclf.explain`."""
        from memclf.explain import explain

        return explain(self, X)

    # ------------------------------------------------------------------------------- scikit-learn's house rules

    def get_metadata_routing(self) -> MetadataRouter:
        """What `fit` passes on to the estimator."""
        template = LogisticRegression() if self.estimator is None else self.estimator
        if isinstance(template, Mapping):
            template = next(iter(template.values()))
        elif isinstance(template, Sequence):
            template = template[0]
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=template, method_mapping=MethodMapping().add(caller="fit", callee="fit"))

    def __sklearn_tags__(self) -> Any:
        return _inputs.tags(super().__sklearn_tags__(), self.similarity)
