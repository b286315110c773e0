"""The first section: one verdict, one chart of all contenders, the words of the report."""

from __future__ import annotations

from pathlib import Path

from memclf.report import captions, charts, findings
from memclf.report.run import Run
from memclf.report.section import Block, Folded, Section, Text


def section(run: Run, folder: Path) -> Section:
    """The verdict, its small print, and a chart of all contenders."""
    head = findings.headline(run)
    blocks: list[Block] = [Text(head.sentence, style="verdict")]
    blocks += [Text(head.small_print, style="small")] if head.small_print else []
    if cautions := findings.cautions(run):
        blocks.append(Text(lead="Read the numbers with care.", lines=cautions, style="alert"))
    chart = charts.contenders(run, folder)
    blocks += [chart] if chart is not None else []
    blocks.append(Folded("The words used here", [Text(_terms(run), style="small")]))
    return Section("headline", head.title, blocks, short="Verdict")


def _terms(run: Run) -> str:
    names = ["memory", "baseline", "gain", "corruption", *(["severity"] if run.published else [])]
    names += ["accuracy", "balanced", "interval", *(["groups"] if run.groups is not None else [])]
    return " ".join(captions.TERMS[name] for name in names)
