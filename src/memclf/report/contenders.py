"""The contenders and controls in numbers: means, gains, what each part brings, accuracy over the severities."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from memclf.evaluate.store import CLEAN, ModelId
from memclf.report import about, captions, charts
from memclf.report.labels import CONTROLS
from memclf.report.run import Run
from memclf.report.section import Block, Heading, Section, Text
from memclf.report.tables import Cell, Column, Number, Table, difference, number

MEASURES = ("Accuracy", "Balanced")
WIDE = ("Answering", "Routing")  # groups of columns that get a table of their own where there is no room
# Random routing goes by the names of the cases, which no corruption changes.
MEANINGLESS = {("random", "routing_stability"), ("random", "oracle_accuracy")}


def section(run: Run, folder: Path) -> Section | None:
    """Everyone in one table, and who is who."""
    if not run.field:
        return None
    controls = any(name.model in CONTROLS for name in run.field)
    whole = contenders(run)
    blocks: list[Block] = [
        Text(f"{captions.TERMS['control']} {captions.TERMS['balanced']}" if controls else captions.TERMS["balanced"]),
        *split(whole),
        Text("▲ surely better than its baseline, ▼ surely worse; △ ▽ may be chance.", style="small"),
        Heading("Who is who"),
        about.models(run),
        Heading("What the columns mean"),
        Text(
            " ".join(captions.TERMS[name] for name in ("coverage", "selective", "stability", "oracle")), style="small"
        ),
    ]
    title = "Contenders and controls" if controls else "Contenders"
    return Section("contenders", title, blocks, files=[whole])


def contenders(run: Run) -> Table:
    """Everyone who took part, clean and under corruption, with the paired gain over the baseline."""
    several = len({name.training for name in run.field if any(name.training)}) > 1
    groups = ("Clean test set", *(("Mean over corruptions",) if run.common else ()), "Gain over its baseline")
    columns = [
        Column("Model"),
        *([Column("Training")] if several else []),
        *(Column(measure, group) for group in groups for measure in MEASURES),
        Column("Coverage", WIDE[0]),
        Column("Selective", WIDE[0]),
        Column("Stability", WIDE[1]),
        Column("Oracle", WIDE[1]),
    ]
    plain = ("coverage", "selective_accuracy", "routing_stability", "oracle_accuracy")
    rows: list[list[Cell]] = []
    for name in run.field:
        shares = {each: run.measure(name, each, run.judged) for each in plain if (name.model, each) not in MEANINGLESS}
        rows.append(
            [
                run.labels.model(name.model),
                *([run.name_training(name.training) or "any"] if several else []),
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


def split(table: Table) -> list[Table]:
    """The contenders in two tables, where a column that says how they were trained takes the room."""
    if all(column.title != "Training" for column in table.columns):
        return [table]
    first, second = table.pick(lambda c: c.group not in WIDE), table.pick(lambda c: c.group in WIDE)
    assert first is not None
    assert second is not None
    title, _, rest = table.title.partition("; ")
    return [replace(first, title=title), replace(second, title=f"{rest[0].upper()}{rest[1:]}, in per cent")]


def name_training(run: Run, name: ModelId) -> str:
    """Recipe and backbone in full; "any" for a model that has neither."""
    parts = (run.labels.recipe(name.recipe), run.labels.backbone(name.backbone))
    return " · ".join(part for part in parts if part) or "any"


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
        *([Column("Training")] if len(trainings) > 1 else []),
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
                    "as in the paper" if name.model == "memory" else name.model,
                    *([name_training(run, name)] if len(trainings) > 1 else []),
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
    chart = charts.severities(run, folder)
    title = "Robust accuracy over the severities"
    return Section("severities", title, [] if chart is None else [chart], "Over the severities", [severities(run)])


def severities(run: Run) -> Table:
    """Mean accuracy over the corruptions, per severity."""
    steps = list(run.steps())
    rows: list[list[Cell]] = [
        [run.labels.model(name.model), name_training(run, name), *(number(run.mean(name, asked)) for _, asked in steps)]
        for name in run.field
    ]
    heads = [Column("Clean" if not level else f"Severity {level}") for level, _ in steps]
    title = "Robust accuracy over the severities, mean over the corruptions, in per cent"
    return Table("severities", title, [Column("Model"), Column("Training"), *heads], rows)
