"""Editing a fitted classifier: methods return a new one and fit only what is touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from memclf import integrity
from memclf._numbers import Array
from memclf.cases import Cases, containers
from memclf.cases.join import wrap_case
from memclf.classifier import reassign
from memclf.classifier.constraints import AUTO, check_settings
from memclf.classifier.fit import FittedParts, Seeds, StageOne, TrainingData, fit_clusters, measure_memories
from memclf.classifier.former import Former
from memclf.classifier.training import WEIGHT, Edits, Training
from memclf.memory.wishes import Wishes
from memclf.similarity.base import describe


class Editable:
    """The methods of `MemoryClassifier` that edit what was fitted.

    None of them changes the classifier. Numbers of memories are those of `memory_indices_`; the other memories keep
    their order. What an answer rule learned on folds and the rate of `unknown_rate` are not learned again, except by
    `update`, which is a fit.
    """

    training_: Training | None = None  # also of models that were saved before there were edits
    edits_: Edits = Edits()

    def pin(self: Any, *memories: int, pinned: bool = True) -> Any:
        """Mark memories as ones that must stay: `drop` refuses them until ``pin(k, pinned=False)``.

        A new search takes them along: ``fit(X, y, pinned=clf.edits_.pinned)``.
        """
        rows = self.memory_indices_[_numbers(self, memories)].tolist()
        kept = [row for row in self.edits_.pinned if row not in rows]
        return _changed(self, edits_=replace(self.edits_, pinned=(*kept, *(rows if pinned else ()))))

    def set_threshold(self: Any, memory: int, value: float) -> Any:
        """Set from which similarity on a memory answers; nothing is fitted."""
        k = _numbers(self, [memory])[0]
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
            raise ValueError(f"a threshold must be a number in (0, 1], the least similarity that counts; got {value!r}")
        thresholds = self.thresholds_.copy()
        thresholds[k] = float(value)
        by_hand = {**self.edits_.thresholds, int(self.memory_indices_[k]): float(value)}
        return _changed(self, bound_=None, thresholds_=thresholds, edits_=replace(self.edits_, thresholds=by_hand))

    def drop(self: Any, *memories: int) -> Any:
        """Remove memories. Their cases go to the next most similar ones, which are fitted again.

        A dropped case does not become a memory again in an `update`. Cases that no other memory covers stay
        uncovered: `search_result_.uncovered` lists them.
        """
        gone = _numbers(self, memories)
        if stuck := [k for k in gone if self.memory_indices_[k] in self.edits_.pinned]:
            raise ValueError(f"memory {stuck[0]} is pinned; unpin it first: pin({stuck[0]}, pinned=False)")
        kept = np.setdiff1d(np.arange(len(self.memory_indices_)), gone)
        if not len(kept):
            raise ValueError("a classifier needs at least one memory; this would drop all of them")
        cases, Z = reassign.describe_training(self)
        twins = reassign.find_twins(Z, self.memory_indices_[gone])
        edits = Edits(
            self.edits_.pinned,
            tuple(dict.fromkeys((*self.edits_.forbidden, *twins.tolist()))),
            {row: each for row, each in self.edits_.thresholds.items() if row in self.memory_indices_[kept]},
        )
        return _refit(self, replace(self.training_, descriptions=Z), cases, edits, kept, None)

    def add(self: Any, case: Any, label: Any = None) -> Any:
        """Make a case a memory. Cases that are more similar to it than to theirs go to it.

        Parameters
        ----------
        case : int or case
            A row of the training data; or a case as `predict` takes it (a row of a table as a dictionary). One that is
            described like a training case is that training case.
        label : label or None
            The class of a case that is no training case: it becomes one. Without it the case is the memory of its
            cluster and nothing is learned from it.
        """
        cases, Z = reassign.describe_training(self)
        training = replace(self.training_, descriptions=Z)
        row: int | None
        if isinstance(case, Integral) and not isinstance(case, bool):
            row = _check_row(self, int(case), label)
        else:
            _refuse_matrix(self, "add takes a row of the training data")
            one = wrap_case(case, training.data)
            containers.check_columns(self, one)
            own = describe(self.similarity_, Cases.of(one))
            row = reassign.find_same(Z, own) if label is None else None
            if row is None:
                row, training = len(training.y), _append(self, training, one, own, label)
                cases = Cases.of(training.X).remembering()
        own = containers.take(training.descriptions, np.array([row]))
        if (twin := reassign.find_same(self.descriptions_, own)) is not None:
            same = row == self.memory_indices_[twin]
            raise ValueError(f"case {row} {'is' if same else 'has the description of'} memory {twin} already")
        forbidden = tuple(each for each in self.edits_.forbidden if each != row)
        kept = np.arange(len(self.memory_indices_))
        return _refit(self, training, cases, replace(self.edits_, forbidden=forbidden), kept, row)

    def relabel(self: Any, row: int, label: Any) -> Any:
        """Correct the label of a training case; the classifier that learned from it is fitted again.

        The memories stay. What was learned from all cases (the global classifier) is not learned again.

        Parameters
        ----------
        row : int
            A row of the training data.
        label : label
            One of `classes_`.
        """
        row = _check_row(self, row, None)
        _check_class(self, label)
        cases, Z = reassign.describe_training(self)
        y = self.training_.y.copy()
        y[row] = label
        if y[row] == self.training_.y[row]:
            raise ValueError(f"training case {row} has the label {label} already")
        if len(np.unique(y)) < len(self.classes_):
            raise ValueError(f"training case {row} is the last one of its class; fit again without the class")
        training = replace(self.training_, y=y, descriptions=Z)
        kept = np.arange(len(self.memory_indices_))
        return _refit(self, training, cases, self.edits_, kept, None, relabelled=row)

    def update(self: Any, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **params: Any) -> Any:
        """Learn from more cases: covered ones join their cluster, others may become memories.

        It is a fit on all cases, the new ones last, in which every memory is pinned and every dropped case is
        forbidden; thresholds that were set by hand stay. Classifiers whose cases are the same are not fitted again.
        With a fixed number of memories (``n_memories``, also "auto") there are no new ones.

        Parameters
        ----------
        X, y, sample_weight, groups, **params
            Of the new cases, as in `fit`.
        """
        _refuse_matrix(self, "update needs cases that can be compared; fit again on the whole matrix")
        former, new = _training_of(self), self._read_training(X, y, sample_weight, groups, params, Cases.of(X))
        containers.check_columns(self, new.data)
        training, q = former.join(new), len(self.memory_indices_)
        changed: dict[str, Any] = {"thresholds": _thresholds_by_row(self)}
        if self.n_memories is not None:
            changed["n_memories"] = q if self.n_memories == AUTO else max(q, int(self.n_memories))
        wishes = Wishes(self.memory_indices_, np.array(self.edits_.forbidden, dtype=np.intp), lenient=True)
        taken = Former(self.pool_, self.memory_indices_, reassign.list_members(self, former.weight))
        edited = _copied(self)
        cases = Cases.of(training.X).remembering()
        edited._fit_training(training, wishes, cases=cases, former=None if self.start == "global" else taken, **changed)
        for row, value in self.edits_.thresholds.items():
            edited.thresholds_[edited.memory_indices_ == row] = value
        return _changed(edited, edits_=self.edits_)

    def with_training(
        self: Any, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **params: Any
    ) -> Any:
        """The same classifier with its training cases, which a loaded one needs to be edited.

        They must be those of the fit, in their order: their similarities and labels are compared.
        """
        training = self._read_training(X, y, sample_weight, groups, params, Cases.of(X))
        new = _copied(self, training_=training)
        _, Z = reassign.describe_training(new)
        reassign.assign_cases(new, Z, np.arange(len(self.memory_indices_)), None, None)
        return _copied(new, training_=replace(training, descriptions=Z))


# ------------------------------------------------------------------------------------------------------------- helpers


def _copied(clf: Any, **attributes: Any) -> Any:
    """Another classifier with the same fitted parts, except these."""
    new = object.__new__(type(clf))
    vars(new).update(vars(clf) | attributes)
    return new


def _changed(clf: Any, **attributes: Any) -> Any:
    integrity.check(clf)
    new = _copied(clf, **attributes)
    integrity.seal(new)
    return new


def _numbers(clf: Any, memories: Iterable[Any]) -> Array:
    """Numbers of memories that exist."""
    found, q = list(memories), len(clf.memory_indices_)
    for each in found:
        if isinstance(each, bool) or not isinstance(each, Integral) or not 0 <= int(each) < q:
            raise ValueError(f"there is no memory {each!r}; the memories have the numbers 0 to {q - 1}")
    if not found:
        raise ValueError(f"name at least one memory, a number from 0 to {q - 1}")
    return np.array([int(each) for each in found], dtype=np.intp)


def _training_of(clf: Any) -> Training:
    return reassign.check_training(clf.training_)


def _refuse_matrix(clf: Any, instead: str) -> None:
    if reassign.takes_matrix(clf):
        raise ValueError(f"the classifier was fitted on a matrix of similarities of its cases: {instead}")


def _check_row(clf: Any, row: int, label: Any) -> int:
    n = len(clf.labels_)
    if not 0 <= row < n:
        raise ValueError(f"there is no training case {row}; the {n} cases have the rows 0 to {n - 1}")
    if label is not None:
        raise ValueError(f"training case {row} has a label; label= is for a case that is no training case")
    return row


def _check_class(clf: Any, label: Any) -> None:
    if label not in clf.classes_:
        raise ValueError(
            f"{label!r} is none of the classes {clf.classes_.tolist()}; new classes come with update(X, y)"
        )


def _append(clf: Any, training: Training, one: Any, own: Any, label: Any) -> Training:
    """The training cases and one more, without weight if it has no label."""
    if label is not None:
        _check_class(clf, label)
    weight = np.array([0.0 if label is None else 1.0])
    y = np.array([clf.classes_[0] if label is None else label], dtype=clf.classes_.dtype)
    groups = None if training.groups is None else _other_group(np.asarray(training.groups))
    given = {WEIGHT: weight} if WEIGHT in training.params else {}
    other = Training(one, y, None if training.weight is None and label is not None else weight, given, groups)
    joined = training.join(other)
    return replace(joined, descriptions=containers.stack([training.descriptions, own]))


def _other_group(groups: Array) -> Array:
    """A group of its own."""
    if groups.dtype.kind in "iuf":
        return np.array([groups.max() + 1], dtype=groups.dtype)
    return np.array([f"added to {len(groups)} cases"])


def _thresholds_by_row(clf: Any) -> Any:
    """The parameter `thresholds` for more memories: by rows, where it is for single ones."""
    wanted = clf.thresholds
    if isinstance(wanted, Mapping):
        return {row: value for row, value in wanted.items() if row in clf.memory_indices_}
    if isinstance(wanted, str) or np.ndim(wanted) == 0:
        return wanted
    return dict(zip(clf.memory_indices_.tolist(), clf.thresholds_.tolist(), strict=True))


def _refit(
    clf: Any,
    training: Training,
    cases: Cases,
    edits: Edits,
    kept: Array,
    row: int | None,
    relabelled: int = -1,
) -> Any:
    """The classifier with the memories that are kept, and with the case of a row as another.

    What learned from a case that is `relabelled` is fitted again, as if it had not learned from it.
    """
    integrity.check(clf)
    Z = training.descriptions
    descriptions, added = containers.take(clf.descriptions_, kept), None
    if row is not None:
        added = containers.take(Z, np.array([row]))
        descriptions = containers.stack([descriptions, added])
    found = reassign.assign_cases(clf, Z, kept, added, row, training)
    thresholds = clf.thresholds_[kept]
    counted = np.arange(len(training.y)) if training.weight is None else np.flatnonzero(training.weight)
    if row is not None:
        if not (found.labels[counted] == len(kept)).any():
            raise ValueError(
                f"no training case is more similar to case {row} than to its own memory, so nothing can answer for it; "
                "give its label: add(case, label)"
            )
        thresholds = np.append(thresholds, reassign.threshold_for(clf, found, counted))
    stage_one = StageOne(
        similarity=clf.similarity_,
        search_result=found,
        memory_indices=found.indices,
        memories=cases.keep(found.indices),
        descriptions=descriptions,
        labels=found.labels,
        thresholds=thresholds,
        rule=clf.rule,
        min_trust=float(clf.min_trust),
    )
    measured = None if clf.measurements_ is None else clf.measurements_[kept]
    if row is not None and measured is not None:
        measured = measure_memories(stage_one, cases)
    members = [rows[rows != relabelled] for rows in reassign.list_members(clf, clf.training_.weight)]
    former = Former(
        clf.pool_,
        clf.memory_indices_,
        members,
        clf.global_,
        clf.fallback_,
        clf.answer_,
        measured,
        _seeds_for(clf, kept, row),
    )
    edited = _copied(clf, bound_=None, training_=training, edits_=edits)
    if isinstance(clf.estimator, Mapping):
        edited.estimator = {k: each for k, each in clf.estimator.items() if k == "default"}
        edited.estimator |= {new: clf.estimator[old] for new, old in enumerate(kept.tolist()) if old in clf.estimator}
    data = TrainingData(cases, training.y, training.weight, training.params)
    settings = check_settings(edited.get_params(deep=False))
    parts: FittedParts = fit_clusters(settings, data, Seeds.draw(None), stage_one, clf.global_, former)
    edited._take_parts(parts)
    return edited


def _seeds_for(clf: Any, kept: Array, row: int | None) -> Array | None:
    """Seeds of the local classifiers: a memory keeps its own, a new one gets one by its row."""
    seeds = clf.pool_.seeds
    if seeds is None:
        return None
    more = [] if row is None else [np.random.default_rng([int(seeds[0]), row]).integers(2**31 - 1)]
    return np.array([*seeds[kept], *more])
