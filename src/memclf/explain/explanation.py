"""Explanations of answers: the memory, its similarity, and the classes of its cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

from memclf._numbers import Array, format_number
from memclf.answers.base import ALONE, Answers
from memclf.cases import Cases, Collection, containers
from memclf.exceptions import MissingExtraError
from memclf.explain import sentences
from memclf.explain.card import COLUMNS, STYLE, card
from memclf.explain.evidence import TOP, Evidence, evidence_for
from memclf.explain.pair import show_pair
from memclf.routing import route
from memclf.similarity.base import compare_memories, describe, explain_likeness, find_measurements


@dataclass(frozen=True)
class Explanation:
    """Why one case got its answer.

    Attributes
    ----------
    answer : label
        The class, or the unknown label.
    known : bool
        Whether the memory answers: its threshold is met, the description is trusted, and the case is not too strange
        to its classifier.
    answered_by : {"memory", "labels", "measurements", "nearest", "global", "fallback", "none"}
        What answered: the classifier of the memory, alone or together with the labels of its cluster; those labels
        alone; the expert's measurements alone; the same as "memory", though the memory's threshold is not
        met; the global classifier, alone or together with labels or measurements; the fallback's classifier; none, the
        case is unknown.
    memory, memory_row, memory_case
        Number of the memory, its row in the training data, and the memory itself.
    similarity, threshold : float
    runner_up, runner_up_row, runner_up_similarity, margin
        The next most similar memory (None if there is only one) and by how much it is less similar.
    cluster_size, cluster_classes
        What the memory's cluster holds: training cases, and how many of each class.
    classifier, origin : str
        Kind of the classifier that answered ("labels" if none did) and how it came about (see `Pool`).
    local_classifier : str
        Kind of the memory's own classifier, whether it counted or not.
    probabilities : dict or None
        The answer's probability for each class.
    evidence : tuple of Evidence
        Features of largest weight, if the classifier has weights.
    similarities : ndarray
        Similarity of the case to every memory.
    case
        The case itself.
    measured : tuple of (name, number of the case, number of the memory)
        For images described by an expert feature: what it measured.
    likeness : tuple of (name, number)
        Where the similarity can tell: the similarity of two usual cases, and what each measurement adds to it or takes
        from it, the largest first. They add up to `similarity`.
    overlay : function or None
        For images described by an expert feature: draws into an image what the feature measured.
    trusted : bool
        Whether the expert feature trusts its own description of the case.
    local, labels : dict or None
        Where the classifier does not answer alone: its own probabilities, and those of the memory's labels or, where
        `answer="auto"` believes them, of the expert's measurements.
    share, labels_share : float
        How much each of them counts in the answer; 0: not at all. The first is how much of its usual power the
        classifier has, the second the power of the labels.
    competence : float or None
        Share of held-out training cases that are at least as strange to the classifier, the case itself counted.
    as_strange, held_out : int or None
        How many held-out training cases are at least as strange, of how many.
    unbalanced : dict or None
        The probabilities before rare classes were weighed up.
    rule : answer rule
        What made the answer; see `memclf.answers`.
    bound : Bound or None
        The generalization bound of the classifier, if it was computed; see `MemoryClassifier`.
    """

    position: int
    answer: Any
    known: bool
    answered_by: str
    memory: int
    memory_row: int
    similarity: float
    threshold: float
    runner_up: int | None
    runner_up_row: int | None
    runner_up_similarity: float | None
    margin: float | None
    cluster_size: int
    cluster_classes: dict[Any, int]
    classifier: str
    origin: str
    probabilities: dict[Any, float] | None
    evidence: tuple[Evidence, ...]
    memory_case: Any = field(repr=False)
    case: Any = field(repr=False)
    similarities: Array = field(repr=False)
    thresholds: Array = field(repr=False)
    measured: tuple[tuple[str, float, float], ...] = ()
    likeness: tuple[tuple[str, float], ...] = ()
    overlay: Any = field(default=None, repr=False)
    trusted: bool = True
    local_classifier: str = ""
    local: dict[Any, float] | None = None
    labels: dict[Any, float] | None = None
    share: float = 1.0
    labels_share: float = 0.0
    competence: float | None = None
    as_strange: int | None = None
    held_out: int | None = None
    unbalanced: dict[Any, float] | None = None
    rule: Any = field(default=None, repr=False)
    bound: Any = field(default=None, repr=False)

    @property
    def promise(self) -> str:
        """What `bound` guarantees for all cases and those of this memory; "" without a bound."""
        if self.bound is None:
            return ""
        own = None if self.answered_by in ("fallback", "none") else self.bound.promise_for(self.memory)
        if own is None:
            return str(self.bound.sentence)
        for_these = f"at most {100 * own:.1f} %" if own < 1 else "nothing is promised"
        return f"{self.bound.sentence} For the cases of this memory: {for_these}."

    @property
    def contradiction(self) -> str:
        """A sentence where the answer is not the commonest class of the memory's cluster, else ""."""
        held = self.cluster_classes
        most = max(held, key=held.__getitem__)
        if self.answered_by in ("none", "fallback") or held.get(self.answer) in (None, held[most]):
            return ""
        return (
            f"The answer differs from what the cluster of memory {self.memory} says: {held[most]} of its "
            f"{self.cluster_size} training cases are {most!r}, and {held[self.answer]} {self.answer!r}."
        )

    @property
    def outcome(self) -> Any:
        """What would have been answered without weighing up rare classes."""
        return self.answer if self.unbalanced is None else max(self.unbalanced, key=self.unbalanced.__getitem__)

    @property
    def sentence(self) -> str:
        """Why this answer, or why unknown, in one sentence."""
        return sentences.explain_in_a_sentence(self)

    @property
    def against_cluster(self) -> bool:
        """Whether the answer is known and is not the commonest class of the memory's cluster."""
        counts = self.cluster_classes
        return self.known and counts.get(self.answer, 0) < max(counts.values())

    def compare_with_memory(self) -> list[tuple[str, str, str]]:
        """The case beside its memory: name of a column, the case's value, the memory's value.

        Cases that are no rows (texts, records, images) are one entry without a name.
        """
        if containers.is_table(self.case):
            names = [str(name) for name in self.case.columns]
            here = [self.case[name].to_list()[0] for name in self.case.columns]
            there = [self.memory_case[name].to_list()[0] for name in self.memory_case.columns]
        elif isinstance(self.case, np.ndarray) and self.case.ndim == 2:
            names = [f"feature {j}" for j in range(self.case.shape[1])]
            here, there = self.case[0].tolist(), self.memory_case[0].tolist()
        elif isinstance(self.case, (Collection, np.ndarray)) or sp.issparse(self.case):  # they do not fit into words
            return [(name, _short(here), _short(there)) for name, here, there in self.measured]
        else:
            names, (here, there) = [""], ([next(iter(case))] for case in (self.case, self.memory_case))
        return [(name, _short(a), _short(b)) for name, a, b in zip(names, here, there, strict=True)]

    def __str__(self) -> str:
        lines = [self.sentence]
        lines += [f"  {self.contradiction}"] if self.contradiction else []
        shown = [f"{name} {there} (here {here})".strip() for name, here, there in self.compare_with_memory()[:COLUMNS]]
        if shown:
            lines.append(
                f"  remembered: {', '.join(shown)}{', ...' if len(self.compare_with_memory()) > COLUMNS else ''}"
            )
        if self.runner_up is not None:
            lines.append(
                f"  runner-up: memory {self.runner_up} (training case {self.runner_up_row}), similarity "
                f"{self.runner_up_similarity:.3f}, margin {self.margin:.3f}"
            )
        lines += [f"  alike: {self.say_likeness()}"] if self.likeness else []
        lines += [f"  {each}" for each in self.evidence]
        lines += [f"  promise: {self.promise}"] if self.promise else []
        return "\n".join(lines)

    def say_likeness(self) -> str:
        """Which measurements made the case and its memory alike or unlike, the largest first."""
        (start, usual), *added = self.likeness
        shown = [f"{name} {value:+.2f}" for name, value in added[:TOP]]
        rest = sum(value for _, value in added[TOP:])
        shown += [f"{len(added) - TOP} more {rest:+.2f}"] if len(added) > TOP else []
        return f"{start} {usual:.2f}, {', '.join(shown)}"

    def row(self) -> dict[str, Any]:
        """The explanation as one row of a table."""
        names = ("answer", "known", "memory", "memory_row", "similarity", "threshold", "runner_up", "margin")
        probability = None if self.probabilities is None else self.probabilities.get(self.answer)
        return {
            **{name: getattr(self, name) for name in names},
            "answered_by": self.answered_by,
            "cluster_size": self.cluster_size,
            "classifier": self.classifier,
            "probability": probability,
            **({} if self.competence is None else {"competence": self.competence}),
        }

    def plot(self, figure: Any = None) -> Any:
        """A picture of the explanation (needs matplotlib); returns the figure."""
        from memclf.explain.picture import draw

        return draw(self, figure)

    def _repr_html_(self) -> str:
        return Explanations([self])._repr_html_()


class Explanations:
    """Explanations of several cases: a list that prints and shows as a table."""

    def __init__(self, items: list[Explanation]):
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.items)

    @overload
    def __getitem__(self, position: int) -> Explanation: ...
    @overload
    def __getitem__(self, position: slice) -> Explanations: ...
    def __getitem__(self, position: int | slice) -> Explanation | Explanations:
        return Explanations(self.items[position]) if isinstance(position, slice) else self.items[position]

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per case."""
        return [item.row() for item in self.items]

    def to_frame(self) -> Any:
        """A data frame with one row per case (needs pandas)."""
        import pandas as pd

        labels = [containers.row_label(item.case) for item in self.items]
        places = [item.position for item in self.items]
        return pd.DataFrame(self.rows(), index=places if None in labels else labels)

    def __str__(self) -> str:
        if not self.items:
            return "no cases to explain"
        rows = [{"case": item.position, **item.row()} for item in self.items]
        cells = [list(rows[0]), *[[_cell(value) for value in row.values()] for row in rows]]
        widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
        table = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
        ]
        words = [f"case {item.position}: {item}" for item in self.items]
        return "\n".join([*table, "", *words])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cards = [card(item, pictures=_find_pictures(item)) for item in self.items[:PICTURED]]
        rest = len(self.items) - PICTURED
        left = f"<p>The other {rest} cases are shown without pictures.</p>" if rest > 0 else ""
        return STYLE + "".join([*cards, left, *map(card, self.items[PICTURED:])])


def explain_answers(parts: Any, cases: Cases, bound: Any = None) -> Explanations:
    """Explain the answers of `classifier.fit.FittedParts` for some cases.

    Each case is described once, and each classifier that has cases is called once for labels and once for
    probabilities (an answer rule that needs only probabilities calls for these alone).
    """
    Z = describe(parts.similarity, cases)
    block = compare_memories(parts.similarity, parts.descriptions, parts.memory_indices, Z)
    found = parts.answer.answer(parts, cases, parts.drop_untrusted(cases, route(block, parts.thresholds, parts.rule)))
    feature, measured = find_measurements(parts.similarity, cases)
    memories = Cases.of(parts.memories).remembering()
    return Explanations(
        [
            _explain_one(parts, cases, memories, found, i, Z, block[:, i], feature, measured, bound)
            for i in range(len(found))
        ]
    )


def _explain_one(
    parts: Any,
    cases: Cases,
    memories: Cases,
    found: Answers,
    i: int,
    Z: Any,
    similarities: Array,
    feature: Any,
    measured: Any,
    bound: Any,
) -> Explanation:
    way = found.routes[i]
    k = way.nearest
    at_memory = way.known or (isinstance(parts.fallback, str) and parts.fallback == "nearest")
    share = 1.0 if found.share is None else float(found.share[i])
    if not at_memory:
        by, estimator = ("none", None) if parts.fallback_classifier is None else ("fallback", parts.fallback_classifier)
    elif share < ALONE:
        by, estimator = "measurements" if parts.answer.inspects else "labels", None
    else:
        by, estimator = "memory" if way.known else "nearest", parts.answer.classifier_for(parts, k)
        handed = parts.answer.fits_local and estimator is parts.pool.estimators[k]
        by = "global" if estimator is parts.global_classifier and not handed else by
    answer = found.labels[i].item() if isinstance(found.labels[i], np.generic) else found.labels[i]
    here, there = cases.take(np.array([i])), memories.take(np.array([k]))
    several = way.runner_up >= 0
    held_out, as_strange = parts.answer.count_as_strange(found.routes, i)

    def named(rows: Array | None) -> dict[Any, float] | None:
        return None if rows is None else dict(zip(parts.classes.tolist(), rows[i].tolist(), strict=True))

    return Explanation(
        position=i,
        answer=answer,
        known=way.known,
        answered_by=by,
        memory=k,
        memory_row=int(parts.memory_indices[k]),
        similarity=way.similarity,
        threshold=way.threshold,
        runner_up=way.runner_up if several else None,
        runner_up_row=int(parts.memory_indices[way.runner_up]) if several else None,
        runner_up_similarity=way.runner_up_similarity if several else None,
        margin=way.margin if several else None,
        cluster_size=int(parts.cluster_counts[k].sum()),
        cluster_classes=dict(zip(parts.classes.tolist(), parts.cluster_counts[k].tolist(), strict=True)),
        classifier=by if estimator is None else _name(estimator),
        origin=parts.pool.origins[k] if at_memory else by,
        probabilities=None if by == "none" else named(found.probabilities),
        evidence=() if estimator is None else evidence_for(estimator, here, there, answer),
        memory_case=there.data,
        case=here.data,
        similarities=similarities,
        thresholds=parts.thresholds,
        measured=() if measured is None else _measured(feature, measured[i], parts.measurements[k]),
        likeness=explain_likeness(parts.similarity, parts.descriptions, k, Z, i),
        overlay=None if feature is None else feature.overlay,
        trusted=way.trusted,
        local_classifier=_name(parts.pool.estimators[k]),
        local=named(found.local),
        labels=named(found.memory),
        share=share if at_memory else 0.0,
        labels_share=float(found.labels_share[i]) if at_memory and found.labels_share is not None else 0.0,
        competence=None if found.competence is None else float(found.competence[i]),
        as_strange=as_strange,
        held_out=held_out,
        unbalanced=None if by == "none" else named(found.unbalanced),
        rule=parts.answer,
        bound=bound,
    )


def _measured(feature: Any, here: Array, there: Array) -> tuple[tuple[str, float, float], ...]:
    names = map(str, feature.get_feature_names_out())
    return tuple(zip(names, here.tolist(), there.tolist(), strict=True))


def _name(estimator: Any) -> str:
    """Kind of a classifier; of a pipeline, its last step."""
    return type(estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator).__name__


def _short(value: Any) -> str:
    if isinstance(value, float):
        return "missing" if value != value else format_number(value)
    text = str(value)
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _find_pictures(item: Explanation) -> str:
    """The case beside its memory as images; "" where they are none, or without Pillow."""
    try:
        return show_pair(item)
    except MissingExtraError:  # a notebook shows the words at least
        return ""


LETTERS = 60  # of a value
PICTURED = 20  # cases of a notebook cell that are shown with pictures: a pair takes some 200 KB
