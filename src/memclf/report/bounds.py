"""What theory promises: the bounds of a run as a table, as charts and in sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memclf.bounds import HELD_OUT, KINDS, Bound, picture
from memclf.bounds.terms import CHOICE_LOOK, look_of
from memclf.report import captions, formats
from memclf.report.charts import INK, NARROW, PAPER, figure, save_chart
from memclf.report.run import Run, RunBounds
from memclf.report.section import Block, Chart, Folded, Section, Terms, Text
from memclf.report.tables import EMPTY, Cell, Column, Number, Table

DIGITS = 3


def section(run: Run, folder: Path) -> Section | None:
    """The bounds of the memory classifiers, where the run has any."""
    shown = table(run)
    if shown is None:
        return None
    unmet, unchecked = (_list_assumptions(run, met) for met in (False, None))
    blocks: list[Block] = [Text(captions.TERMS["bound"]), Text(lines=remarks(run)), shown]
    if unmet:
        blocks.append(Text("Assumptions that are not met:", lines=unmet, style="small"))
    for number, chart in enumerate(charts(run, folder)):
        blocks.append(Folded(chart.title, [chart]) if number else chart)
    blocks.append(
        Folded(
            "The kinds of bounds, and what is left for you to judge",
            [
                Terms([(name, f"{kind.label}.") for name, kind in KINDS.items()]),
                Text(
                    "Every bound also rests on assumptions that no classifier can check for itself:",
                    lines=unchecked,
                    style="small",
                ),
            ],
        )
    )
    return Section("promises", "What theory promises", blocks)


def _list_assumptions(run: Run, met: bool | None) -> list[str]:
    return [f"{name}: {text}; {formats.join_words(kinds)}." for name, text, kinds in assumptions(run, met)]


def table(run: Run) -> Table | None:
    """One row for each bound: value, promise, terms, and assumptions that are not met."""
    if not run.bounds:
        return None
    several = len(run.bounds) > 1
    parts = dict.fromkeys(_part(term.name) for each in run.bounds for bound in each.bounds for term in bound.terms)
    ordered = sorted(parts, key=lambda part: part == CHOICE_LOOK.label)  # last, as in the bars
    columns = [
        Column("Bound"),
        *([Column("Model")] if several else []),
        Column("Value"),
        Column("So it promises"),
        *(Column(part.capitalize(), "Terms") for part in ordered),
        Column("Not met"),
    ]
    rows: list[list[Cell]] = []
    for each in run.bounds:
        called: list[Cell] = [name_of(run, each, short=True)] if several else []
        for bound in each.bounds:
            terms = {_part(term.name): Number(term.value, digits=DIGITS, plain=True) for term in bound.terms}
            value = Number(bound.value, digits=DIGITS, plain=True)
            line: list[Cell] = [bound.kind, *called, value, promise(bound)]
            rows.append([*line, *(terms.get(part, EMPTY) for part in ordered), unmet(bound)])
        for kind, why in each.missing.items():
            rows.append([kind, *called, EMPTY, f"not defined: {why}", *([EMPTY] * len(ordered)), ""])
    title = f"Bounds, {_sure(run)} % sure, and the terms that add up to them; as shares, so 1 is everything"
    return Table("bounds", title, columns, rows)


def _part(name: str) -> str:
    """The column of a term, shared by terms that play the same part in other kinds of bounds.

    They share a colour too.
    """
    return look_of(name).label


def _sure(run: Run) -> str:
    deltas = {bound.delta for each in run.bounds for bound in each.bounds}
    return formats.join_words(f"{100 * (1 - delta):g}" for delta in sorted(deltas))


def name_of(run: Run, each: RunBounds, *, short: bool = False) -> str:
    model = run.labels.model(each.name.model, short=short)
    several = len({other.name.training for other in run.bounds}) > 1
    training = run.name_training(each.name.training) if several else ""
    return " · ".join(part for part in (model, training) if part)


def promise(bound: Bound) -> str:
    if bound.vacuous:
        return "nothing: vacuous"
    said = f"at most {formats.percent(bound.value)} % wrong"
    return said if bound.valid else f"{said}, were its assumptions met"


def unmet(bound: Bound) -> str:
    return ", ".join(each.name for each in bound.assumptions if each.met is False) or "none"


def remarks(run: Run) -> list[str]:
    """One sentence for each memory classifier: what was measured, and what is promised."""
    return [f"{name_of(run, each)}: {_remark(each)}." for each in run.bounds]


def _remark(each: RunBounds) -> str:
    trained = [bound for bound in each.bounds if bound.kind != HELD_OUT]
    said = [_of_training(trained)] if trained else []
    for bound in (bound for bound in each.bounds if bound.kind == HELD_OUT):
        measured = f"of the {bound.n:,} clean test cases {formats.percent(bound.terms[0].value)} % are answered wrongly"
        said.append(f"{measured}, which for new ones like them promises {promise(bound)}")
    return "; ".join(said)


def _of_training(bounds: list[Bound]) -> str:
    telling = sorted((bound for bound in bounds if not bound.vacuous), key=lambda bound: bound.value)
    if not telling:
        return "every bound from the training cases is vacuous"
    sound = [bound for bound in telling if bound.valid]
    if not sound:
        kinds = formats.join_words(bound.kind for bound in telling)
        return f"no bound from the training cases promises anything: those below 1 ({kinds}) rest on unmet assumptions"
    return f"the best bound from the training cases ({sound[0].kind}) promises {promise(sound[0])}"


def assumptions(run: Run, met: bool | None) -> list[tuple[str, str, list[str]]]:
    """Assumptions that are not met (False), or that no classifier can judge for itself (None).

    Each with its name, what it says and why it is in doubt, and the kinds of bounds that rest on it.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for bound in (bound for each in run.bounds for bound in each.bounds):
        for each in bound.assumptions:
            if each.met is met:
                kinds = found.setdefault((each.name, each.text + (f" ({each.why})" if each.why else "")), [])
                kinds += [] if bound.kind in kinds else [bound.kind]
    return [(name, text, kinds) for (name, text), kinds in found.items()]


def charts(run: Run, folder: Path) -> list[Chart]:
    """The terms of the bounds as stacked bars, one chart for each memory classifier."""
    return [_chart(run, each, folder) for each in run.bounds]


def _chart(run: Run, each: RunBounds, folder: Path) -> Chart:
    def draw(width: float) -> Any:
        per_row = 3 if width > NARROW else 1
        parts = {_part(term.name) for bound in each.bounds for term in bound.terms}
        whole = figure(width, 0.42 * len(each.bounds) + 0.24 * -(-len(parts) // per_row) + 0.9)
        panel = whole.subplots()
        picture.draw(each.bounds, panel)
        marks, names = panel.get_legend_handles_labels()
        panel.get_legend().remove()  # it is made for another width
        whole.legend(marks, names, loc="outside lower left", ncols=per_row, frameon=False, labelcolor=INK)
        panel.tick_params(axis="y", length=0, labelcolor=INK)
        for text in panel.texts:  # some of them stand on bars or on the line
            text.set_color(INK)
            text.set_bbox({"boxstyle": "round,pad=0.15", "facecolor": PAPER, "alpha": 0.9, "edgecolor": "none"})
        return whole

    told = "; ".join(f"{bound.kind} {bound.value:.2f}, promises {promise(bound)}" for bound in each.bounds)
    several = len({other.name.training for other in run.bounds}) > 1
    parts = ("bounds", each.name.model, *(each.name.training if several else ()))
    file = "_".join(part for part in parts if part).replace("/", "_")
    title = f"Bounds, {name_of(run, each)}"
    caption = f"{title}. {captions.CAPTIONS['bounds']}"
    return save_chart(file, title, f"Stacked bars: {told}.", folder, draw, caption=caption)
