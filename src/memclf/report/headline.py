"""The first section: one verdict, one chart of all contenders, and the numbers behind it for those who ask."""

from __future__ import annotations

from pathlib import Path

from memclf.evaluate.store import BASELINE, CLEAN
from memclf.report import captions, charts, findings, formats
from memclf.report.beside_paper import PAPERS_MODEL, paper_gain
from memclf.report.labels import CONTROLS
from memclf.report.run import Run
from memclf.report.section import Block, Folded, Section, Text
from memclf.report.tables import Cell, Column, Number, Table, difference


def section(run: Run, folder: Path) -> Section:
    """The verdict, its small print, and a chart of all contenders."""
    head = findings.headline(run)
    blocks: list[Block] = [Text(head.sentence, style="verdict")]
    blocks += [Text(head.small_print, style="small")] if head.small_print else []
    if cautions := findings.cautions(run):
        blocks.append(Text(lead="Read the numbers with care.", lines=cautions, style="alert"))
    chart = charts.contenders(run, folder)
    blocks += [chart] if chart is not None else []
    details = _details(run)
    blocks += [Folded("The numbers behind it", details)] if details else []
    blocks.append(Folded("The words used here", [Text(_terms(run), style="small")]))
    return Section("headline", head.title, blocks, short="Verdict")


def _details(run: Run) -> list[Block]:
    found: list[Block] = []
    if table := gains(run):
        found.append(table)
    if careful := findings.describe_careful(run):
        found.append(Text(lines=careful))
    controls = [model for model in CONTROLS if any(name.model == model for name in run.field)]
    if warnings := findings.warnings(run):
        contested = findings.contested(run)
        lead = "A gain that a control has too is no gain." if contested else "Controls that do as well or better."
        found.append(Text(lead=lead, lines=warnings))
    elif controls and run.subject:
        name = findings.refer(run, run.verdict.memory) if run.verdict and run.verdict.memory else ""
        count = formats.count(len(controls), "control")
        found.append(Text(f"None of the {count} does as well as {name}, in accuracy or in balanced accuracy."))
    return found


def gains(run: Run) -> Table | None:
    """Gains of the memory classifiers over the baseline, mean over the trainings and for each; the paper's beside."""
    models = [name.model for name in run.field if name.model.startswith(("memory", "sturdy", "careful"))]
    rows: list[list[Cell]] = []
    for model in dict.fromkeys([*models, *([run.subject] if run.subject else [])]):
        trainings = run.trainings(model)
        for chosen in [trainings, *([each] for each in trainings)] if len(trainings) > 1 else [trainings]:
            whose = (
                f"mean of {len(chosen)} trainings"
                if len(chosen) > 1
                else run.name_training(chosen[0])
                if chosen
                else ""
            )
            called = run.labels.model(model)
            cells = [
                difference(run.gain(model, BASELINE, asked, trainings=chosen, balanced=balanced))
                for asked, balanced in ((run.common, False), (run.common, True), ([CLEAN], False))
            ]
            if any(cell.known for cell in cells):
                rows.append([f"{called}, {whose}" if len(trainings) > 1 else called, *cells])
    if not rows:
        return None
    published, empty, note = paper_gain(run), Number(None, signed=True), ""
    if published is not None:
        rows.append(
            [
                f"{run.labels.model(PAPERS_MODEL)}, as the paper ran it",
                Number(published.gain, signed=True),
                empty,
                empty,
            ]
        )
        rows.append(["The same corruptions and trainings here", difference(published.ours), empty, empty])
        note = f"The paper’s gain: {published.note}."
    heads = [Column("Memory classifier"), Column("Accuracy"), Column("Balanced"), Column("Clean")]
    return Table("headline", "Gain over the baseline, in points, with 95 % intervals", heads, rows, note, look="fit")


def _terms(run: Run) -> str:
    names = ["memory", "baseline", "gain", "corruption", *(["severity"] if run.published else [])]
    names += ["accuracy", "balanced", "interval", *(["groups"] if run.groups is not None else [])]
    return " ".join(captions.TERMS[name] for name in names)
