"""Why this answer: the remembered case behind it, how similar it is, and what its cluster holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from memclf import _cases
from memclf._numbers import Array
from memclf.answer import opinions_about, trusting
from memclf.explain.evidence import Evidence, evidence_for
from memclf.routing import route

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier


@dataclass(frozen=True)
class Explanation:
    """Why one case got its answer.

    Attributes
    ----------
    answer : label
        The class, or the unknown label.
    known : bool
        Whether the memory's threshold is met.
    answered_by : {"memory", "nearest", "fallback", "nobody"}
        Whose classifier answered.
    memory, memory_row, memory_case
        Number of the memory, its row in the training data, and the memory itself.
    similarity, threshold : float
    runner_up, runner_up_row, runner_up_similarity, margin
        The next most similar memory (None if there is only one) and by how much it is less similar.
    cluster_size, cluster_classes
        What the memory's cluster holds: training cases, and how many of each class.
    classifier, origin : str
        Kind of the classifier that answered and how it came about (see `Pool`).
    probabilities : dict or None
        Its probability for each class.
    evidence : tuple of Evidence
        Features that weighed most, if the classifier tells.
    similarities : ndarray
        Similarity of the case to every memory.
    case
        The case itself.
    measured : tuple of (name, number of the case, number of the memory)
        For images described by an expert feature: what it measured.
    overlay : function or None
        For images described by an expert feature: draws into an image what the feature saw there.
    trusted : bool
        Whether the expert feature trusts its own description of the case.
    local, labels : dict or None
        Where the classifier does not answer alone: what it says by itself, and what the labels of the memories say.
    competence : float or None
        Share of held-out training cases that are at least as strange to the classifier, the case itself counted.
    as_strange, held_out : int or None
        How many held-out training cases are at least as strange, of how many.
    balance : float
        How much rare classes were favoured.
    views : int
        Mild views of the case that were routed beside it.
    bound : Bound or None
        What theory promises about the classifier, if it was asked; see `MemoryClassifier.bound`.
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
    overlay: Any = field(default=None, repr=False)
    trusted: bool = True
    local: dict[Any, float] | None = None
    labels: dict[Any, float] | None = None
    competence: float | None = None
    as_strange: int | None = None
    held_out: int | None = None
    balance: float = 0.0
    views: int = 0
    bound: Any = field(default=None, repr=False)

    @property
    def promise(self) -> str:
        """What theory promises, for all cases and for those of this memory; empty if it was not asked."""
        if self.bound is None:
            return ""
        own = self.bound.promise_for(self.memory) if self.answered_by in ("memory", "nearest") else None
        if own is None:
            return str(self.bound.sentence)
        for_these = f"at most {100 * own:.1f} %" if own < 1 else "nothing is promised"
        return f"{self.bound.sentence} For the cases of this memory: {for_these}."

    @property
    def sentence(self) -> str:
        """Why this answer, or why unknown, in one sentence."""
        name = self.memory_case.key(0) if hasattr(self.memory_case, "key") else None
        who = f"memory {self.memory} (training case {self.memory_row}{f', {name}' if name else ''})"
        near = f"similarity {self.similarity:.3f}, threshold {self.threshold:.3f}"
        holds = ", ".join(f"{n} of {label!r}" for label, n in self.cluster_classes.items() if n)
        if self.answered_by in ("nobody", "fallback"):
            if not self.trusted:
                why = "the features do not trust their own description of the case, so it is sent to no memory"
            elif not self.known:
                why = f"the most similar memory is {who}, and it is not similar enough ({near})"
            else:
                why = f"the most similar memory is {who} ({near}), but the case is strange to its classifier"
                why += f" ({self._strange()})"
            if self.answered_by == "nobody":
                return f"Unknown: {why}."
            return f"Answer {self.answer!r} by the fallback, {self.classifier}: {why}."
        although = "" if self.known else ", which is not enough"
        if self.local is not None and self.labels is not None:
            why = self._weighed(holds)
        elif self.origin == "constant":
            why = f"all {self.cluster_size} cases of its cluster are {self.answer!r}"
            if self.cluster_size == 1:
                why = f"it is alone in its cluster and is {self.answer!r}"
        else:
            chance = ""
            if self.probabilities is not None and self.answer in self.probabilities:
                chance = f" with probability {self.probabilities[self.answer]:.2f}"
            why = f"its {self.classifier} says so{chance}; its cluster holds {holds}"
            why += {
                "merged": " and shares a classifier with the cluster of another memory",
                "handed to global": " and is too small for a classifier of its own, so the global one answers",
            }.get(self.origin, "")
        most = "most like" if self.margin is None or self.margin >= 0 else "most like, of those whose threshold is met,"
        return f"Answer {self.answer!r}: {most} {who}, {near}{although}; {why}."

    def _weighed(self, holds: str) -> str:
        """Who said what, where the local classifier does not answer alone."""
        local, labels = self.local or {}, self.labels or {}
        said, labelled = (max(each, key=each.__getitem__) for each in (local, labels))
        whose = f"the labels of the memories that it and {self.views} views of it go to" if self.views else ""
        theirs = f"{whose or f'the labels of its cluster ({holds})'} say {labelled!r} ({labels[labelled]:.2f})"
        joined = "and" if said == labelled else "but"
        who = "constant classifier" if self.origin == "constant" else self.classifier
        why = f"its {who} says {said!r} ({local[said]:.2f}) {joined} {theirs}"
        if self.probabilities is not None and self.answer in self.probabilities:
            favoured = f", rare classes favoured (balance {self.balance:g})" if self.balance else ""
            why += f", together {self.answer!r} ({self.probabilities[self.answer]:.2f}{favoured})"
        if self.competence is not None and self.competence < STRANGE:
            why += f"; the classifier counts for less, since the case is strange to it ({self._strange()})"
        return why

    def _strange(self) -> str:
        share = f"{self.as_strange} of {self.held_out} held-out training cases are as strange"
        return f"competence {self.competence:.3f}: {share}"

    def beside(self) -> list[tuple[str, str, str]]:
        """The case beside its memory: name of a column, the case's value, the memory's value.

        Cases that are no rows (texts, records, images) are one entry without a name.
        """
        if _cases.is_table(self.case):
            names = [str(name) for name in self.case.columns]
            here = [self.case[name].to_list()[0] for name in self.case.columns]
            there = [self.memory_case[name].to_list()[0] for name in self.memory_case.columns]
        elif getattr(self.case, "ndim", 0) == 2 and isinstance(self.case, np.ndarray):
            names = [f"feature {j}" for j in range(self.case.shape[1])]
            here, there = self.case[0].tolist(), self.memory_case[0].tolist()
        elif hasattr(self.case, "shape"):  # images and sparse rows do not fit into words
            return [(name, _short(here), _short(there)) for name, here, there in self.measured]
        else:
            names, here, there = [""], [self.case[0]], [self.memory_case[0]]
        return [(name, _short(a), _short(b)) for name, a, b in zip(names, here, there, strict=True)]

    def __str__(self) -> str:
        lines = [self.sentence]
        shown = [f"{name} {there} (here {here})".strip() for name, here, there in self.beside()[:COLUMNS]]
        if shown:
            lines.append(f"  remembered: {', '.join(shown)}{', ...' if len(self.beside()) > COLUMNS else ''}")
        if self.runner_up is not None:
            lines.append(
                f"  runner-up: memory {self.runner_up} (training case {self.runner_up_row}), similarity "
                f"{self.runner_up_similarity:.3f}, margin {self.margin:.3f}"
            )
        lines += [f"  {each}" for each in self.evidence]
        lines += [f"  promise: {self.promise}"] if self.promise else []
        return "\n".join(lines)

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
    """Explanations of several cases: a list that prints as a table and shows as one in a notebook."""

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

        return pd.DataFrame(self.rows(), index=[item.position for item in self.items])

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
        return _STYLE + "".join(_card(item) for item in self.items)


def explain(clf: MemoryClassifier, X: Any) -> Explanations:
    """Explain the answers of a fitted classifier, from its fitted attributes only."""
    X = _cases.read_once(_cases.as_cases(X))
    block = clf.similarities(X).T
    routes = trusting(clf, X, route(block, clf.thresholds_, clf.rule))
    opinions, competence, stranger, held_out = None, None, None, None
    if not clf.answers_locally:
        X = _cases.remembering(X)
        opinions, strange = opinions_about(clf, X, routes)
        if clf.calibration_ is not None:
            competence, stranger = clf.calibration_.competence(strange), clf.calibration_.as_strange(strange)
            held_out = len(clf.calibration_.held)
    answers = clf.predict_routed(X, routes)
    chances = clf.predict_proba_routed(X, routes) if hasattr(clf, "predict_proba") else None
    feature: Any = getattr(clf.similarity_, "features_", None)
    overlay = getattr(feature, "overlay", None)
    measured = None if overlay is None else (feature.transform(X), feature.transform(clf.memories_))
    items = []
    for i, way in enumerate(routes):
        k = way.nearest
        if way.known and not clf.too_strange(None if competence is None else competence[i]):
            by, estimator = "memory", clf.estimators_[k]
        elif clf.fallback == "nearest":
            by, estimator = "nearest", clf.estimators_[k]
        elif clf.fallback_ is not None:
            by, estimator = "fallback", clf.fallback_
        else:
            by, estimator = "nobody", None
        origin = clf.pool_.origins[k] if by in ("memory", "nearest") else by
        answer = answers[i].item() if isinstance(answers[i], np.generic) else answers[i]
        case, memory = _cases.take(X, np.array([i])), _cases.take(clf.memories_, np.array([k]))
        several = way.runner_up >= 0
        has_chances = chances is not None and by != "nobody"
        items.append(
            Explanation(
                position=i,
                answer=answer,
                known=way.known,
                answered_by=by,
                memory=k,
                memory_row=int(clf.memory_indices_[k]),
                similarity=way.similarity,
                threshold=way.threshold,
                runner_up=way.runner_up if several else None,
                runner_up_row=int(clf.memory_indices_[way.runner_up]) if several else None,
                runner_up_similarity=way.runner_up_similarity if several else None,
                margin=way.margin if several else None,
                cluster_size=int(clf.cluster_counts_[k].sum()),
                cluster_classes=dict(zip(clf.classes_.tolist(), clf.cluster_counts_[k].tolist(), strict=True)),
                classifier="nobody" if estimator is None else _name(estimator),
                origin=origin,
                probabilities=_named(clf, chances[i]) if has_chances and chances is not None else None,
                evidence=() if estimator is None else evidence_for(estimator, case, memory, answer),
                memory_case=memory,
                case=case,
                similarities=block[:, i],
                thresholds=clf.thresholds_,
                measured=() if measured is None else _measured(feature, measured[0][i], measured[1][k]),
                overlay=overlay,
                trusted=way.trusted,
                local=None if opinions is None else _named(clf, opinions.local[i]),
                labels=None if opinions is None else _named(clf, opinions.memory[i]),
                competence=None if competence is None else float(competence[i]),
                as_strange=None if stranger is None else int(stranger[i]),
                held_out=held_out,
                balance=float(clf.balance),
                views=int(clf.views),
                bound=getattr(clf, "bound_", None),
            )
        )
    return Explanations(items)


def _named(clf: MemoryClassifier, row: Array) -> dict[Any, float]:
    return dict(zip(clf.classes_.tolist(), row.tolist(), strict=True))


def _measured(feature: Any, here: Array, there: Array) -> tuple[tuple[str, float, float], ...]:
    names = map(str, feature.get_feature_names_out())
    return tuple(zip(names, here.tolist(), there.tolist(), strict=True))


def _name(estimator: Any) -> str:
    """Kind of a classifier; of a pipeline, its last step."""
    steps = getattr(estimator, "steps", None)
    return type(steps[-1][1] if steps else estimator).__name__


def _short(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


STRANGE = 0.05  # competence from which on downwards an explanation mentions it
COLUMNS = 6  # of a case beside its memory
LETTERS = 60  # of a value


_STYLE = """<style>
.memclf{font:14px/1.45 system-ui,sans-serif;border:1px solid #8886;border-radius:8px;padding:10px 14px;margin:8px 0;
max-width:46rem}
.memclf b{font-size:1.1em}.memclf .no{color:#b3261e}.memclf .yes{color:#1b7a3d}
.memclf .bar{position:relative;height:12px;background:#8882;border-radius:6px;margin:6px 0 2px}
.memclf .bar i{position:absolute;left:0;top:0;bottom:0;border-radius:6px;background:#3b6fb5}
.memclf .bar u{position:absolute;top:-3px;bottom:-3px;width:2px;background:#b3261e}
.memclf small{opacity:.75}
.memclf table{font:inherit;border-collapse:collapse;margin:6px 0}.memclf td{padding:1px 12px 1px 0}
</style>"""


def _card(item: Explanation) -> str:
    why = "below threshold" if item.trusted else "description not trusted"
    state = "<span class='yes'>known</span>" if item.known else f"<span class='no'>{why}</span>"
    label = "unknown" if item.answered_by == "nobody" else escape(str(item.answer))
    lines = [
        f"<div class='memclf'><b>case {item.position}: {label}</b> &nbsp;{state}<br>{escape(item.sentence)}",
        f"<div class='bar'><i style='width:{100 * item.similarity:.1f}%'></i>"
        f"<u style='left:{100 * item.threshold:.1f}%'></u></div>",
        f"<small>similarity {item.similarity:.3f} to memory {item.memory}; the red mark is its threshold</small>",
    ]
    if item.runner_up is not None:
        lines.append(
            f"<br><small>runner-up: memory {item.runner_up} (training case {item.runner_up_row}), similarity "
            f"{item.runner_up_similarity:.3f}, margin {item.margin:.3f}</small>"
        )
    if beside := item.beside()[:COLUMNS]:
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in beside)
        lines.append(
            f"<table><tr><td></td><td><small>case</small></td><td><small>memory</small></td></tr>{rows}</table>"
        )
    cells = "".join(
        f"<tr><td>{escape(str(label))}</td><td>{count} in the cluster</td><td>"
        + ("" if item.probabilities is None else f"probability {item.probabilities[label]:.2f}")
        + "</td></tr>"
        for label, count in item.cluster_classes.items()
        if count or (item.probabilities or {}).get(label, 0) >= 0.005
    )
    lines.append(f"<table>{cells}</table>")
    lines += [f"<small>{escape(str(each))}</small><br>" for each in item.evidence]
    lines += [f"<small>{escape(item.promise)}</small>"] if item.promise else []
    return "".join(lines) + "</div>"
