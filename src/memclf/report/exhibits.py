"""Sections that show single cases: one case under all models, memories, routes, what the feature sees, hard cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memclf.evaluate.kinds import shorten
from memclf.evaluate.store import ModelId
from memclf.report import captions, formats, sheets
from memclf.report.colours import class_colours
from memclf.report.labels import model_order
from memclf.report.run import Run
from memclf.report.section import Block, Folded, Gallery, Section, Text
from memclf.report.tables import Cell, Column, Number, Table

NOUNS = {"images": "picture", "table": "row", "texts": "text"}
SUMMARY = 60  # characters of a case in a cell of a table


def case_noun(run: Run) -> str:
    """What one case of this run is: a picture, a row, a text or a case."""
    return NOUNS.get((run.about["data"] or {"kind": "images" if run.exhibits else ""})["kind"], "case")


def entries(run: Run, part: str) -> list[dict[str, Any]]:
    """The entries of one part of exhibits.json."""
    return [each for each in run.exhibits.get(part) or [] if isinstance(each, dict)]


def opening(run: Run, folder: Path) -> Section | None:
    """One case, clean and corrupted, and what each model answers to it."""
    found = run.exhibits.get("opening") or {}
    if not found:
        return None
    condition = run.labels.condition(str(found.get("condition", "")))
    truth = run.label(found.get("truth", ""))
    named = f" ({found['key']})" if case_noun(run) == "row" and found.get("key") else ""
    rows: list[list[Cell]] = [
        [
            run.name(ModelId(str(each.get("model")), str(each.get("recipe") or ""), str(each.get("backbone") or ""))),
            _marked(run, each.get("clean"), found.get("truth")),
            _marked(run, each.get("corrupted"), found.get("truth")),
            Number(each.get("accuracy")),
        ]
        for each in _in_order(found.get("answers") or [])
    ]
    title = f"Answers to this {case_noun(run)}, and accuracy on the whole test set under {condition}, in per cent"
    table = Table(
        "opening",
        title,
        [Column("Model"), Column("Clean"), Column(condition), Column("Accuracy there")],
        rows,
        look="fit",
    )
    return Section(
        "opening",
        f"One {case_noun(run)}, clean and corrupted",
        [
            Text(f"A test case that is {truth}{named}, and what the models answer."),
            Gallery("opening", {**found, "noun": case_noun(run)}, sheets.opening(run, folder)),
            table,
        ],
        short=f"One {case_noun(run)}",
    )


def memories(run: Run, folder: Path) -> Section | None:
    """Each memory with its cluster."""
    found = entries(run, "memories")
    if not found:
        return None
    rows: list[list[Cell]] = [
        [
            f"{each.get('number')}",
            case_summary(each),
            run.label(each.get("label")) if each.get("label") is not None else "–",
            each.get("cases") or 0,
            ", ".join(f"{run.label(name)} {count}" for name, count in (each.get("classes") or {}).items()),
            formats.two_digits(each.get("threshold")),
            describe_classifier(run, each.get("classifier")),
        ]
        for each in found
    ]
    heads = ["Memory", "Case", "Its class", "Cases", "Classes of its cluster", "Threshold", "Who answers"]
    keep = [k for k, head in enumerate(heads) if head != "Its class" or any(row[k] != "–" for row in rows)]
    table = Table(
        "memories",
        "The memories and their clusters",
        [Column(heads[k]) for k in keep],
        [[row[k] for k in keep] for row in rows],
    )
    local = run.exhibits.get("local")
    total = local.get("memories") if isinstance(local, dict) else None
    more = f" Shown are {len(found)} of {total:,} memories." if isinstance(total, int) and total > len(found) else ""
    data = {
        "memories": found,
        "colours": class_colours(run),
        "who": {each.get("number"): describe_classifier(run, each.get("classifier")) for each in found},
    }
    return Section(
        "memories",
        "The memories and their clusters",
        [
            Text(f"{captions.CAPTIONS['memories']}{more}{_whose(run, found)}"),
            Gallery("memories", data, sheets.memories(run, folder)),
            Folded("The memories as a table", [table]),
        ],
        short="Memories",
    )


def routes(run: Run, folder: Path) -> Section | None:
    """Test cases beside the memories that they were routed to."""
    found = entries(run, "routes")
    if not found:
        return None
    rows: list[list[Cell]] = [
        [
            case_summary(each),
            run.labels.condition(str(each.get("condition", ""))),
            _where(each),
            f"{formats.two_digits(each.get('similarity'))} / {formats.two_digits(each.get('threshold'))}",
            run.label(each.get("truth")),
            _marked(run, each.get("answer"), each.get("truth")),
            _marked(run, each.get("baseline_answer"), each.get("truth")),
        ]
        for each in found
    ]
    heads = ["Case", "Condition", "Memory", "Similarity / threshold", "Truth", "Memory classifier", "Baseline"]
    table = Table("routes", "Sample routes", [Column(head) for head in heads], rows)
    known = {each.get("number"): each for each in entries(run, "memories")}
    data = [{**each, "to": known.get(each.get("nearest" if _unknown(each) else "memory"))} for each in found]
    return Section(
        "routes",
        "Sample routes",
        [
            Text(captions.CAPTIONS["routes"]),
            Gallery("routes", data, sheets.routes(run, folder)),
            Folded("The routes as a table", [table]),
        ],
        short="Routes",
    )


def overlays(run: Run, folder: Path) -> Section | None:
    """What the expert feature sees in one picture, clean and corrupted."""
    found = entries(run, "overlays")
    if not found:
        return None
    blocks: list[Block] = [
        Text(captions.CAPTIONS["overlays"]),
        Gallery("overlays", found, sheets.overlays(run, folder)),
    ]
    return Section("overlays", "What the expert feature sees", blocks, short="What the feature sees")


def hardest(run: Run, folder: Path) -> Gallery | None:
    """The hardest cases as they look, for the section on what went wrong."""
    found = entries(run, "hardest")
    return Gallery("hardest", found, sheets.hardest(run, folder)) if found else None


def case_summary(entry: Mapping[str, Any]) -> str:
    """A case in one line: its text, its columns, or its name."""
    case = entry.get("case") or {}
    if case.get("text"):
        return shorten(case["text"], SUMMARY)
    if case.get("columns"):
        return ", ".join(f"{name} {value}" for name, value in case["columns"].items())
    return str(entry.get("key", ""))


def describe_classifier(run: Run, found: Any) -> str:
    """Which classifier answers for a memory, in words."""
    if not isinstance(found, dict):
        return ""
    kind = {"ImageClassifier": "network"}.get(str(found.get("estimator")), str(found.get("estimator")))
    begun = ", trained on from the global one" if found.get("started") == "global" else ""
    sharing = found.get("with") or []
    match found.get("who"):
        case "global":
            return f"the global {kind} answers"
        case "constant":
            return f"always answers {run.label(found.get('label'))}"
        case "shared" if len(sharing) > 2:
            return f"shares one {kind} with {len(sharing)} other memories{begun}"
        case "shared":
            return f"shares one {kind} with {formats.join_words(f'memory {other}' for other in sharing)}{begun}"
        case _:
            return f"its own {kind} answers{begun}"


def _whose(run: Run, found: Sequence[Mapping[str, Any]]) -> str:
    """Which memory classifier is shown, where there are several."""
    model = str(found[0].get("model", "memory"))
    return "" if model == "memory" else f" They are those of “{run.labels.model(model)}”."


def _in_order(answers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Recipe by recipe, the first one with those that have none."""
    recipes = list(dict.fromkeys(str(each.get("recipe") or "") for each in answers if each.get("recipe")))
    order = {name: place for place, name in enumerate(recipes)}
    return sorted(
        answers, key=lambda each: (order.get(str(each.get("recipe")), 0), model_order(str(each.get("model"))))
    )


def _marked(run: Run, answer: Any, truth: Any) -> str:
    return "–" if answer is None else f"{'✓' if answer == truth else '✗'} {run.label(answer)}"


def _unknown(route: Mapping[str, Any]) -> bool:
    number = route.get("memory")
    return not isinstance(number, int) or number < 0


def _where(route: Mapping[str, Any]) -> str:
    return f"none; nearest: {route.get('nearest')}" if _unknown(route) else str(route.get("memory"))
