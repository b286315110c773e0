"""The contenders and controls in numbers: means, gains, ablations, severities."""

from __future__ import annotations

from pathlib import Path

from memclf.evaluate.store import CLEAN, ModelId
from memclf.report import about, captions, charts
from memclf.report.labels import CONTROLS
from memclf.report.run import Run
from memclf.report.section import Block, Heading, Section, Text
from memclf.report.tables import Cell, Column, Number, Table, difference, number

MEASURES = ("Accuracy", "Balanced")
# Random routing goes by the names of the cases, which no corruption changes.
MEANINGLESS = {("random", "routing_stability"), ("random", "oracle_accuracy")}


def section(run: Run, folder: Path) -> Section | None:
    """Everyone in one table, and who is who."""
    if not run.field:
        return None
    controls = any(name.model in CONTROLS for name in run.field)
    blocks: list[Block] = [
        Text(f"{captions.TERMS['control']} {captions.TERMS['balanced']}" if controls else captions.TERMS["balanced"]),
        contenders(run),
        Text("▲ surely better than its baseline, ▼ surely worse; △ ▽ may be chance.", style="small"),
        Heading("Who is who"),
        about.models(run),
        Heading("What the columns mean"),
        Text(
            " ".join(captions.TERMS[name] for name in ("coverage", "selective", "stability", "oracle")), style="small"
        ),
    ]
    title = "Contenders and controls" if controls else "Contenders"
    return Section("contenders", title, blocks)


def contenders(run: Run) -> Table:
    """All contenders, clean and under corruption, with the paired gain over the baseline."""
    groups = ("Clean test set", *(("Mean over corruptions",) if run.common else ()), "Gain over its baseline")
    columns = [
        Column("Model"),
        *(Column(measure, group) for group in groups for measure in MEASURES),
        Column("Coverage", "Answering"),
        Column("Selective", "Answering"),
        Column("Stability", "Routing"),
        Column("Oracle", "Routing"),
    ]
    plain = ("coverage", "selective_accuracy", "routing_stability", "oracle_accuracy")
    rows: list[list[Cell]] = []
    for name in run.field:
        shares = {each: run.measure(name, each, run.judged) for each in plain if (name.model, each) not in MEANINGLESS}
        rows.append(
            [
                run.name(name),
                *(number(run.mean(name, [CLEAN], balanced=balanced)) for balanced in (False, True)),
                *(number(run.mean(name, balanced=balanced)) for balanced in (False, True) if run.common),
                *(difference(run.own_gain(name, run.judged, balanced=balanced)) for balanced in (False, True)),
                *(Number(shares.get(each)) for each in plain),
            ]
        )
    who = "Contenders and controls" if any(name.model in CONTROLS for name in run.field) else "Contenders"
    under = "under corruption" if run.common else "on the clean test set"
    return Table(
        "contenders",
        f"{who} on {run.size}, in per cent, with 95 % intervals; answering and routing {under}",
        columns,
        rows,
        strong=frozenset(k for k, name in enumerate(run.field) if run.verdict and name == run.verdict.pick),
    )


# ------------------------------------------------------------------------------------------------- what a part brings


def ablation_section(run: Run, folder: Path) -> Section | None:
    """What each part of the sturdy memory classifier brings, where an ablation was run."""
    table = ablation(run)
    if table is None:
        return None
    return Section("ablation", "What each part brings", [Text(captions.CAPTIONS["ablation"]), table])


def ablation(run: Run) -> Table | None:
    """What each part brings by itself, and what the sturdy memory classifier loses without it."""
    trainings = list(dict.fromkeys(name.training for name in run.parts))
    if not trainings:
        return None
    columns = [
        Column("Memory classifier"),
        *(Column(measure, group) for group in ("Clean test set", "Mean over corruptions") for measure in MEASURES),
        *(Column(measure, "Gain over the paper’s way") for measure in MEASURES),
        *(Column(measure, "Gain over the network") for measure in MEASURES),
    ]
    rows: list[list[Cell]] = []
    strong = set()
    for training in trainings:
        parts = [part for part in run.parts if part.training == training]
        for name in [ModelId("memory", *training), ModelId("sturdy", *training), *parts]:
            if not all(run.has(name, each) for each in (CLEAN, *run.common)):
                continue
            if name.model == "sturdy":
                strong.add(len(rows))
            gains = [
                None if over == name.model else run.gain(name.model, over, trainings=[training], balanced=balanced)
                for over in ("memory", "baseline")
                for balanced in (False, True)
            ]
            rows.append(
                [
                    run.name(name),
                    *(number(run.mean(name, asked, balanced=b)) for asked in ([CLEAN], None) for b in (False, True)),
                    *map(difference, gains),
                ]
            )
    title = f"What each part brings on {run.size}, in per cent, with 95 % intervals of paired differences"
    return Table("ablation", title, columns, rows, strong=frozenset(strong))


# --------------------------------------------------------------------------------------------------- over severities


def severities_section(run: Run, folder: Path) -> Section | None:
    """Accuracy over the severities, where every corruption has every severity."""
    if not run.field or not run.common or not run.crossed:
        return None
    title = "Robust accuracy over the severities"
    chart = charts.severities(run, folder)
    blocks: list[Block] = [*([] if chart is None else [chart]), severities(run)]
    return Section("severities", title, blocks, "Over the severities")


def severities(run: Run) -> Table:
    """Mean accuracy over the corruptions, per severity."""
    steps = list(run.steps())
    rows: list[list[Cell]] = [
        [run.name(name), *(number(run.mean(name, asked)) for _, asked in steps)] for name in run.field
    ]
    heads = [Column("Clean" if not level else f"Severity {level}") for level, _ in steps]
    title = "Mean accuracy over the corruptions, in per cent, with 95 % intervals"
    return Table("severities", title, [Column("Model"), *heads], rows)
