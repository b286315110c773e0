"""A schematic of the method: a case, the most similar memory, its classifier, the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memclf.evaluate.kinds import shorten
from memclf.report import captions
from memclf.report.exhibits import entries
from memclf.report.run import Run
from memclf.report.section import Gallery, Section, Text
from memclf.report.tables import Cell, Column, Table

WORDS = 18  # letters of a class that fit into a box
#: What models of the studies do beyond this.
FURTHER = dict.fromkeys(("sturdy", "auto", "careful"), "the labels of the memory’s cluster have a say as well")


def section(run: Run, folder: Path) -> Section | None:
    """How a memory classifier answers, drawn with a case; None where none took part."""
    if not run.subject:
        return None
    rows: list[list[Cell]] = [[str(number), *step] for number, step in enumerate(captions.STEPS, 1)]
    heads = [Column("Step"), Column("What"), Column("What happens")]
    gallery = Gallery("method", _example(run), Table("method", "How a memory classifier answers", heads, rows))
    further = f" {run.labels.model(run.subject)}: {FURTHER[run.subject]}." if run.subject in FURTHER else ""
    return Section("method", "How it answers", [Text(f"{captions.CAPTIONS['method']}{further}"), gallery], "Method")


def _example(run: Run) -> dict[str, Any]:
    """A routed case and its memory, as the drawing shows them; words where there are none."""
    memories = {each.get("number"): each for each in entries(run, "memories")}
    found = next((each for each in entries(run, "routes") if _is_shown(run, each, memories)), {})
    if not found:
        return {"case": "", "memory": "", "routed": "", "label": "", "answer": ""}
    memory = memories[found["memory"]]
    return {
        "case": found["case"]["picture"],
        "memory": memory["case"]["picture"],
        "routed": f"similarity {float(found['similarity']):.2f}, threshold {float(found['threshold']):.2f}",
        "label": f"memory {memory['number']}",
        "answer": shorten(run.label(found.get("answer")), WORDS),
    }


def _is_shown(run: Run, route: dict[str, Any], memories: dict[Any, dict[str, Any]]) -> bool:
    """Whether a route leads to a memory, is answered, and both have pictures."""
    memory = memories.get(route.get("memory"))
    pictures = [(each.get("case") or {}).get("picture") for each in (route, memory or {})]
    numbers = all(isinstance(route.get(name), int | float) for name in ("similarity", "threshold"))
    return memory is not None and numbers and all(run.picture(path) is not None for path in pictures)
