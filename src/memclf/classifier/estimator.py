"""The estimator: its parameters, its fitted attributes, and scikit-learn's methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from memclf import integrity, unknown
from memclf._numbers import Array
from memclf.answers import Answers, LocalAnswer
from memclf.cases import Cases, containers
from memclf.cases.chunks import Chunks, compute_if_chunked, is_chunked, open_cases
from memclf.cases.lazy import compute_later
from memclf.cases.steps import share_first_step
from memclf.classifier.advice import warn_of_idle_trust, warn_of_useless_memories
from memclf.classifier.chunked import check_chunked
from memclf.classifier.constraints import AUTO, CONSTRAINTS, check_settings
from memclf.classifier.curve import SearchCurve, try_numbers
from memclf.classifier.edit import Editable
from memclf.classifier.fit import FitSettings, FittedParts, Seeds, TrainingData, fit_once, give_probabilities
from memclf.classifier.folds import FoldPlan
from memclf.classifier.former import Former
from memclf.classifier.held_out import Distances, FoldedFit, find_conformal_thresholds, learn_answer, measure_distances
from memclf.classifier.lead import measure_lead
from memclf.classifier.training import Edits, Training
from memclf.explain import Explanations, explain_answers
from memclf.local import pool
from memclf.memory.result import MemorySearchResult
from memclf.memory.selector import MemorySelector
from memclf.memory.wishes import Wishes
from memclf.routing import Routes
from memclf.similarity.base import compare_memories, describe, list_first_steps, positive_weights
from memclf.similarity.resolve import add_tags

# Fitted parts whose attribute is called otherwise than the part with an underscore.
RENAMED = {"global_classifier": "global_", "fallback_classifier": "fallback_"}
PARAMETERS = ("rule", "min_trust", "fallback")  # parts that are parameters
PARTS = {field.name: RENAMED.get(field.name, f"{field.name}_") for field in fields(FittedParts)}
PARTS.update({name: name for name in PARAMETERS})


def _gives_probabilities(clf: MemoryClassifier) -> bool:
    if "pool_" in vars(clf):
        return give_probabilities(clf.estimators_, clf.fallback_)
    template = pool.default_estimator() if clf.estimator is None else clf.estimator
    return give_probabilities(template.values() if isinstance(template, Mapping) else [template], clf.fallback)


class MemoryClassifier(Editable, ClassifierMixin, BaseEstimator):
    """Sends a case to its most similar memory; the classifier of that memory's cluster answers.

    Parameters
    ----------
    similarity : Similarity, function or None
        What makes two cases alike; see `memclf.similarity`. A function of two cases is wrapped. None:
        ``RBFSimilarity()``.
    estimator : classifier, mapping or None
        The local classifier, cloned for each memory. A mapping from the memory's number to an estimator may name some
        and a ``"default"``. None: ``LogisticRegression(max_iter=1000)``.
    threshold : float in (0, 1]
        b_t: every training case is at least this similar to a memory.
    n_memories : int, "auto" or None
        Fix the number of memories. "auto": the fewest that do as well as the best number on held-out cases, within
        one standard error (`search_curve`); costs a fit of all folds for each number that is tried. None: as many as
        covering all training cases takes.
    search : MemorySelector or None
        How memories are searched: ``MemorySelector(cover="random", n_restarts=10)``. None: ``MemorySelector()``.
    thresholds : "common", "tight", number, sequence or mapping
        b_k, from which similarity on a memory answers a case: the same `threshold` for all; the least that
        still covers the memory's own cluster; one number; one per memory; or a mapping from the memory's row in the
        training data.
    unknown_rate : float or None
        Asks for conformal thresholds: of cases like the training cases at most this share is answered unknown, on
        average over training sets (simulations in docs/competence.md); with groups, of cases of new groups. Cases that
        `min_trust` sends away count; of the rest, an answer rule with competence takes half for cases that are strange
        to their classifier. All cases count alike here, whatever their `sample_weight`, except those without any.
    rule : {"argmax_then_check", "check_then_argmax"}
        The paper's equation (1), or its prose; see `memclf.routing.route`.
    fallback : "unknown", "nearest", "global" or classifier
        What answers when no threshold is met: nothing, the case is unknown; the nearest memory's classifier all the
        same; the estimator trained on everything; another classifier, trained on everything. An answer rule that
        weighs rare classes up does so with the fallback's probabilities, too.
    unknown_label : label
        The answer for unknown. "auto": "unknown" for strings; for numbers -1, or 0 where -1 is a class, or the whole
        number below all classes where both are.
    min_cluster_size : int
        Clusters with fewer cases share a classifier with the cluster of the next most similar memory.
    start : {"fresh", "global"}
        "global": fit the estimator on everything first; local classifiers go on from there if they can
        (``warm_start`` or ``partial_fit``, also as the last step of a pipeline).
    answer : "local", "global", "labels", "product", "auto" or an answer rule
        What makes the answer: the local classifier, as in the paper; the one that is fitted on everything (the plain
        model) or the label distribution of the memory (stage 1 alone), ``LabelsAnswer(balance=0.0)``, for which no
        local classifier is fitted; local classifier and labels multiplied,
        ``ProductAnswer(competence="mahalanobis", balance=0.5)``; or whoever is believed, as held-out and shifted
        training cases teach, ``AutoAnswer(metric="both", competence="mahalanobis")``; see `memclf.answers`.
    min_trust : float
        Where the trust of the features in a description is less than this (from 0 to 1; see
        `memclf.vision.features.ImageFeatures.trust`), the case goes to no memory but to the `fallback`. 0: they are
        not called.
    cv : int, splitter or list of (rows to fit on, rows held out)
        Folds of training cases, held out in turn, from which an answer rule learns; each costs a fit of the whole.
        Conformal thresholds are learned on folds in which only memories are chosen anew, so that a number means at
        least ten there. Where several cases are of one object (repeated measurements, lesions of one face), give
        ``fit(X, y, groups=...)``: otherwise a case is held out from fits that include its twins, and of new objects,
        measured three times each, half and more may be answered unknown at ``unknown_rate=0.05``
        (docs/competence.md).
    random_state : int, RandomState or None
        Seeds the search and every part (similarity, estimators) whose own ``random_state`` is None.
    n_jobs : int or None
        Workers for describing cases and fitting local classifiers. The result does not depend on it.
    verbose : int or None
        Show progress. None: on a terminal, where the work takes longer than a second.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    memory_indices_ : ndarray
        Rows of the memories in the training data, pinned ones first, then those that stand for most cases.
    memories_ : same kind as X
        The memories.
    descriptions_ : ndarray
        Their descriptions.
    measurements_ : ndarray or None
        The numbers that an expert feature measured on the memories.
    thresholds_ : ndarray
        b_k of each memory.
    estimators_ : list
        The classifier that answers for each memory; memories may share one.
    labels_ : ndarray
        Number of the memory that each training case belongs to.
    cluster_counts_ : ndarray of shape (n_memories, n_classes)
        Training cases of each class in each cluster.
    label_distributions_ : ndarray of shape (n_memories, n_classes)
        The counts as probabilities, which the rule "labels" answers and "product" combines with the classifiers'.
    frequencies_ : ndarray
        How common each class is.
    pool_ : Pool
        The local classifiers and how each came about.
    answer_ : answer rule
        The fitted rule.
    global_ : classifier or None
        The estimator trained on everything, where something needs it.
    fallback_ : classifier or None
        The classifier for cases that meet no threshold, if there is one.
    unknown_label_ : label
        The answer for unknown.
    similarity_ : Similarity
        The fitted similarity.
    search_result_ : MemorySearchResult
        What the search did.
    bound_ : Bound or None
        Set it to ``generalization_bound(clf, X, y)``: explanations show it, and `memclf.save` keeps it.
    distances_ : Distances or None
        With `unknown_rate`: how far held-out training cases are from the memories, which `measure_drift` compares new
        cases with.
    search_curve_ : SearchCurve or None
        With ``n_memories="auto"``: what each number of memories gave on held-out cases.
    training_ : Training or None
        The training cases, which edits need (`drop`, `add`, `update`): references to what `fit` was given. They are
        neither pickled nor saved (unless with ``save(..., training=True)``); None lets them go.
    edits_ : Edits
        What was decided by hand: pinned and dropped cases, and thresholds.
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

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    classes_: Array
    memory_indices_: Array
    memories_: Any
    descriptions_: Any
    measurements_: Array | None
    thresholds_: Array
    labels_: Array
    cluster_counts_: Array
    label_distributions_: Array
    frequencies_: Array
    pool_: pool.Pool
    answer_: LocalAnswer
    global_: Any
    fallback_: Any
    unknown_label_: Any
    similarity_: Any
    search_result_: MemorySearchResult
    bound_: Any
    distances_: Distances | None
    search_curve_: SearchCurve | None

    def __init__(
        self,
        similarity: Any = None,
        estimator: Any = None,
        threshold: float = 0.7,
        *,
        n_memories: int | str | None = None,
        search: MemorySelector | None = None,
        thresholds: Any = "common",
        unknown_rate: float | None = None,
        rule: str = "argmax_then_check",
        fallback: Any = "unknown",
        unknown_label: Any = unknown.AUTO,
        min_cluster_size: int = 1,
        start: str = "fresh",
        answer: Any = "local",
        min_trust: float = 0.0,
        cv: Any = 3,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ):
        self.similarity = similarity
        self.estimator = estimator
        self.threshold = threshold
        self.n_memories = n_memories
        self.search = search
        self.thresholds = thresholds
        self.unknown_rate = unknown_rate
        self.rule = rule
        self.fallback = fallback
        self.unknown_label = unknown_label
        self.min_cluster_size = min_cluster_size
        self.start = start
        self.answer = answer
        self.min_trust = min_trust
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        pinned: Any = None,
        forbidden: Any = None,
        **params: Any,
    ) -> Self:
        """Describe the cases, choose memories, and fit a classifier in each memory's cluster.

        Parameters
        ----------
        X : array, table, list, images or anything the similarity can describe and the estimator can learn from
            Dask arrays, data frames and bags stay in their chunks (docs/scale.md).
        y : array of labels
        sample_weight : array or None
            Goes to the similarity (if it takes weights), the search, the estimators and the answer rule.
            Competence and conformal thresholds count held-out cases alike, except that those of no weight are absent.
        groups : array or None
            What each case belongs to: a patient, a face, an object that was measured several times. Cases of one group
            are never on both sides of a fold of `cv`. Without effect where nothing is learned on folds; not passed
            on to the estimators.
        pinned, forbidden : rows or None
            Cases that must be memories (they get the first numbers, in this order), and cases that must not.
        **params
            Go to the estimators' ``fit``; what has one entry per case is cut to the cluster.
        """
        self._validate_params()
        settings = check_settings(self.get_params(deep=False))
        cases = open_cases(X)
        if is_chunked(X):
            folded = settings.answer.learns or self.unknown_rate is not None
            check_chunked(folded and get_tags(self).input_tags.pairwise)
        training = self._read_training(X, y, sample_weight, groups, params, cases)
        wishes = Wishes.of(pinned, forbidden, n=len(training.y))
        self._fit_training(training, wishes, cases=cases)
        self.edits_ = Edits(tuple(wishes.pinned.tolist()), tuple(wishes.forbidden.tolist()))
        if is_chunked(X):
            self.training_ = None  # what is on other machines cannot be edited here
        return self

    def _read_training(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, params: dict[str, Any], cases: Cases | Chunks
    ) -> Training:
        y, sample_weight = compute_if_chunked(y), compute_if_chunked(sample_weight)
        y = _check_target(cases, y)
        weight = None if sample_weight is None else positive_weights(sample_weight, len(y))
        return Training(X, y, weight, self._route_params(weight, params), groups)

    def _fit_training(
        self, training: Training, wishes: Wishes, *, cases: Any, former: Former | None = None, **changed: Any
    ) -> None:
        """Fit everything; `changed` are settings that differ from the parameters."""
        settings, y = replace(check_settings(self.get_params(deep=False)), **changed), training.y
        plan = FoldPlan.create(self.cv, training.groups, len(y))
        containers.check_columns(self, cases.data, reset=True)
        data = TrainingData(cases, y, training.weight, training.params, wishes)
        seeds = Seeds.draw(self.random_state)
        self.search_curve_ = None
        if settings.n_memories == AUTO:
            if len(wishes.pinned):
                raise ValueError("n_memories='auto' tries few memories as well, so none can be pinned; give a number")
            self.search_curve_ = self._curve(settings, data, plan, None, seeds)
            settings = replace(settings, n_memories=self.search_curve_.best.n_memories)
        parts = fit_once(settings, data, seeds, former=former)
        warn_of_useless_memories(parts, settings.n_memories, self.unknown_rate)
        warn_of_idle_trust(parts, cases)
        square = bool(get_tags(self).input_tags.pairwise)
        fit = FoldedFit(settings, data, plan, parts, seeds.folds, square)
        if settings.answer.learns:
            learn_answer(fit)
        self.distances_ = None
        if self.unknown_rate is not None:
            self.distances_ = distances = measure_distances(fit)
            share = parts.answer.strange_share
            found = find_conformal_thresholds(distances, float(self.unknown_rate), share, float(self.min_trust))
            parts = replace(parts, thresholds=found[0])
            parts.answer.strange_rate_ = found[1]
        self.bound_ = None
        self.training_ = training
        self._take_parts(parts)

    def _take_parts(self, parts: FittedParts) -> None:
        """Copy fitted parts to the attributes."""
        for name, attribute in PARTS.items():
            if name not in PARAMETERS:
                setattr(self, attribute, getattr(parts, name))
        integrity.seal(self)

    def _curve(
        self, settings: FitSettings, data: TrainingData, plan: FoldPlan, numbers: Any, seeds: Seeds
    ) -> SearchCurve:
        if get_tags(self).input_tags.pairwise:
            raise ValueError("the number of memories cannot be chosen for a matrix of similarities; give n_memories")
        may_decline = settings.fallback == "unknown" and self.unknown_rate is None
        return try_numbers(settings, data, plan, numbers, seeds.folds, may_decline=may_decline)

    def _try_numbers(self, X: Any, y: Any, numbers: Any, groups: Any, sample_weight: Any) -> SearchCurve:
        """What `search_curve` gives for this classifier's parameters."""
        self._validate_params()
        settings, cases = check_settings(self.get_params(deep=False)), open_cases(X)
        training = self._read_training(X, y, sample_weight, groups, {}, cases)
        plan = FoldPlan.create(self.cv, groups, len(training.y))
        data = TrainingData(cases, training.y, training.weight, training.params)
        return self._curve(settings, data, plan, numbers, Seeds.draw(self.random_state))

    def _route_params(self, weight: Array | None, params: dict[str, Any]) -> dict[str, Any]:
        """Parameters for the estimators' fit, by scikit-learn's metadata routing if it is on."""
        if weight is not None:
            params = {"sample_weight": weight, **params}
        if not routing_enabled() or not params:
            return params
        return dict(process_routing(self, "fit", **params).estimator.fit)

    @property
    def estimators_(self) -> list[Any]:
        """The classifier that answers for each memory; memories may share one."""
        return self.pool_.estimators

    @property
    def _parts(self) -> FittedParts:
        return FittedParts(**{name: getattr(self, attribute) for name, attribute in PARTS.items()})

    def _cases(self, X: Any) -> Cases:
        if "pool_" not in vars(self):  # scikit-learn's check looks at the tags, which takes longer than all else here
            check_is_fitted(self)
        if is_chunked(X):
            raise TypeError(
                "this takes cases in memory, but X is a Dask collection; give some of its rows with .compute(). "
                "predict, predict_proba, answers, route and similarities take Dask collections"
            )
        cases = Cases.of(X)
        containers.check_columns(self, cases.data)
        answering = (*self.estimators_, self.global_, self.fallback_)
        shared = share_first_step(answering, list_first_steps(self.similarity_))
        return cases.remembering() if shared or self.answer_.describes else cases

    def _later(self, method: str, X: Any) -> Any:
        check_is_fitted(self)
        return compute_later(self, method, X)

    def route(self, X: Any) -> Routes:
        """Where each case goes: memory, similarity, threshold, runner-up, margin, known or not.

        A case is known if its memory answers: the threshold is met, the features trust their description
        (`min_trust`), and the case is not too strange to the memory's classifier (competence with `unknown_rate`).
        With ``fallback="unknown"`` cases that are not known are answered unknown.
        """
        if is_chunked(X):
            return self._later("route", X)
        cases, parts = self._cases(X), self._parts
        return parts.answer.drop_strange(parts, cases, parts.route(cases))

    def similarities(self, X: Any) -> Array:
        """Similarity of every case (row) to every memory (column)."""
        if is_chunked(X):
            return self._later("similarities", X)
        cases = self._cases(X)
        Z = describe(self.similarity_, cases)
        return compare_memories(self.similarity_, self.descriptions_, self.memory_indices_, Z).T

    def answers(self, X: Any, routes: Routes | None = None) -> Answers:
        """Labels, probabilities, routes and the parts of the answers, in one pass over the cases.

        Parameters
        ----------
        X : cases
        routes : Routes or None
            Where to send the cases. None: where `route` does.
        """
        if is_chunked(X) and routes is None:
            return self._later("answers", X)
        return self._answer(X, routes)

    def _answer(self, X: Any, routes: Routes | None = None, **wanted: bool) -> Answers:
        cases, parts = self._cases(X), self._parts
        if routes is None:
            with pool.embed_ahead(parts.answer.list_asked(parts), cases):
                routes = parts.route(cases)
        return parts.answer.answer(parts, cases, routes, **wanted)

    def predict(self, X: Any) -> Array:
        """The answer for each case, that of `fallback` where no threshold is met."""
        if is_chunked(X):
            return self._later("predict", X)
        return self._answer(X, probabilities=False).labels

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Probabilities, one column per entry of `classes_`; all zero for unknown."""
        if is_chunked(X):
            return self._later("predict_proba", X)
        return np.asarray(self._answer(X, labels=False).probabilities)

    def decision_function(self, X: Any) -> Array:
        """The paper's F(x) for two classes, whose sign decides; one column per class for more.

        With two classes a positive number means ``classes_[1]``, a negative one ``classes_[0]``, and 0 means unknown,
        in agreement with `predict`. The size is the difference of the two probabilities of `predict_proba`, or 1 where
        some classifier gives none. With more classes a column holds the probability of its class less the largest of
        the others: it is positive for the answer alone, and a row of zeros means unknown.
        """
        lead = measure_lead(self._answer(X), self.classes_)
        return lead[:, 1] if len(self.classes_) == 2 else lead

    def explain(self, X: Any) -> Explanations:
        """For each case the memory behind the answer, in words and as a table; see `memclf.explain`."""
        cases, parts = self._cases(X), self._parts
        integrity.check(self)
        return explain_answers(parts, cases, self.bound_)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        return state | {"training_": None} if "training_" in state else state  # large, and not for other eyes

    def get_metadata_routing(self) -> MetadataRouter:
        """What `fit` passes on to the estimator."""
        template = pool.default_estimator() if self.estimator is None else self.estimator
        template = next(iter(template.values())) if isinstance(template, Mapping) else template
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=template, method_mapping=MethodMapping().add(caller="fit", callee="fit"))

    def __sklearn_tags__(self) -> Any:
        return add_tags(super().__sklearn_tags__(), self.similarity)


def _check_target(cases: Any, y: Any) -> Array:
    if y is None:
        raise ValueError("MemoryClassifier requires y to be passed, but the target y is None")
    y = np.asarray(column_or_1d(y, warn=True))
    if y.dtype == object:
        kinds = sorted({type(label).__name__ for label in y})
        if len(kinds) > 1:
            raise ValueError(f"labels in y must be of one kind, got a mixture of {', '.join(kinds)}")
    check_classification_targets(y)
    check_consistent_length(cases, y)
    return y
