"""Where the verdict's memory classifier fails: confusions, hard cases, gain by condition."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from memclf.evaluate.results import Training
from memclf.evaluate.store import BASELINE, ModelId
from memclf.report import captions, exhibits, findings
from memclf.report.run import Run
from memclf.report.section import Block, Folded, Heading, Section, Text
from memclf.report.tables import Cell, Column, Number, Table, difference

CONFUSIONS = 8


def section(run: Run, folder: Path) -> Section | None:
    """What went wrong most, for the memory classifier of the verdict and nothing else."""
    if not run.subject:
        return None
    confused, cases = confusions(run), exhibits.hardest(run)
    blocks: list[Block] = [Text(f"This section is about {_name(run)}."), Heading("Most frequent confusions")]
    blocks.append(Text("None: it made no mistake in these conditions.") if confused is None else confused)
    blocks += [] if cases is None else [Heading("Hardest cases"), cases]
    return Section("wrong", "What went wrong most", blocks, short="What went wrong")


def _name(run: Run) -> str:
    return findings.refer(run, ModelId(run.subject))


def confusions(run: Run) -> Table | None:
    """What the memory classifier takes for what most often, and how often the baseline does."""
    if run.cases is None:
        return None
    models = [run.subject, *([BASELINE] if any(name.model == BASELINE for name in run.field) else [])]
    answers = {model: _answers(run, model) for model in models}
    counts = {model: _count_confusions(run.cases.labels, answers[model]) for model in models}
    labels = [str(each) for each in run.cases.classes] + ["unknown"]
    per_class = np.bincount(run.cases.labels, minlength=len(run.cases.classes))
    rows: list[list[Cell]] = []
    for (truth, said), times in counts[run.subject].most_common(CONFUSIONS):
        shares = [Number(counts[model][truth, said] / (per_class[truth] * len(answers[model]))) for model in models]
        rows.append([labels[truth], labels[said], times, *shares])
    heads = [Column(title) for title in ("True class", "Answered", "Times", "Share of the class, memory")]
    heads += [Column("Share of the class, baseline")] * (len(models) - 1)
    title = f"Most frequent confusions of {_name(run)} {findings.where(run)}, in per cent of the true class"
    return Table("confusions", title, heads, rows, look="fit") if rows else None


def _answers(run: Run, model: str) -> np.ndarray[Any, Any]:
    """All answers of a model: one row per training, seed and condition."""
    names = [name._replace(seed=seed) for name in run.field if name.model == model for seed in run.contenders[name]]
    return np.array([run.answers[*name, *each] for name in names for each in run.judged])


def _count_confusions(labels: Any, answers: Any) -> Counter[tuple[int, int]]:
    found = Counter[tuple[int, int]]()
    for said in answers:
        found.update(zip(labels[said != labels].tolist(), said[said != labels].tolist(), strict=True))
    return found


# ------------------------------------------------------------------------------------------------ gain by condition


def gains_section(run: Run, folder: Path) -> Section | None:
    """Gain of the memory classifier for every condition, one table for each training."""
    tables = [gains(run, training) for training in run.trainings(run.subject)] if run.common else []
    if not tables:
        return None
    said = "Blue: the memory classifier is better; orange: the baseline is."
    blocks: list[Block] = [Text(f"{said} {captions.CAPTIONS['gains']}")]
    for number, table in enumerate(tables):
        blocks.append(Folded(table.title, [table]) if number else table)
    return Section("gains", "Gain by corruption and severity", blocks, short="Gain by condition")


def gains(run: Run, training: Training) -> Table:
    """Gain of the memory classifier for every condition: corruption x severity."""
    levels = sorted({each.severity for each in run.common})
    rows: list[list[Cell]] = []
    for name in run.corruptions:
        here = run.conditions_of(name)
        asked = [*([each for each in here if each.severity == level] for level in levels), here]
        rows.append(
            [
                run.labels.corruption(name),
                *(difference(run.gain(run.subject, conditions=each, trainings=[training])) for each in asked),
            ]
        )
    heads = [Column("Corruption"), *(Column(str(level), "Severity") for level in levels), Column("Mean", " ")]
    several = len(run.trainings(run.subject)) > 1
    suffix = "_" + "_".join(part for part in training if part).replace("/", "_") if several else ""
    named = f", {run.name_training(training)}" if several else ""
    title = f"Gain of {_name(run)} over its baseline, in points{named}"
    return Table(f"gains{suffix}", title, heads, rows, look="heat")
