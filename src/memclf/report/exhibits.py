"""Sections that show single cases.

They are one picture, samples, memories, routes, what features see, and hard cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from memclf.evaluate.kinds import shorten
from memclf.evaluate.store import ModelId
from memclf.report import captions, formats
from memclf.report.colours import class_colours
from memclf.report.labels import model_order
from memclf.report.run import Run
from memclf.report.section import Gallery, Section, Text
from memclf.report.tables import Cell, Column, Number, Picture, Table

SUMMARY = 60  # characters of a case in a cell of a table


def entries(run: Run, part: str) -> list[dict[str, Any]]:
    """The entries of one part of exhibits.json."""
    return [each for each in run.exhibits.get(part) or [] if isinstance(each, dict)]


def opening(run: Run, folder: Path) -> Section | None:
    """One picture, clean and corrupted, and what each model answers to it."""
    found = run.exhibits.get("opening") or {}
    if not found:
        return None
    condition, truth = run.labels.condition(str(found.get("condition", ""))), run.label(found.get("truth", ""))
    key = str(found.get("key", ""))
    sides: list[Cell] = [show_case(run, {"case": found.get(side), "key": key}) for side in ("clean", "corrupted")]
    title = "One picture, clean and corrupted"
    heads = [Column("Picture"), Column("True class"), Column("Clean"), Column(condition)]
    gallery = Gallery("opening", found, Table("opening", title, heads, [[key, truth, *sides]]))
    rows: list[list[Cell]] = [
        [
            run.name(ModelId(str(each.get("model")), str(each.get("recipe") or ""), str(each.get("backbone") or ""))),
            _marked(run, each.get("clean"), found.get("truth")),
            _marked(run, each.get("corrupted"), found.get("truth")),
            Number(each.get("accuracy")),
        ]
        for each in _in_order(found.get("answers") or [])
    ]
    answers = Table(
        "opening_answers",
        f"Answers to this picture, and accuracy on the whole test set under {condition}, in per cent",
        [Column("Model"), Column("Clean"), Column(condition), Column("Accuracy there")],
        rows,
        look="fit",
    )
    text = Text(f"A test picture of class {found.get('truth', '')}, and what the models answer.")
    return Section("opening", title, [text, gallery, answers], "One picture")


def samples(run: Run, folder: Path) -> Section | None:
    """A sheet of pictures of each class."""
    found = [each for each in entries(run, "samples") if each.get("samples")]
    if not found:
        return None
    width = max(len(each["samples"]) for each in found)
    rows: list[list[Cell]] = []
    for each in found:
        shown = [show_case(run, {"case": view, "key": "–"}) for view in each["samples"]]
        rows.append([run.label(each.get("label")), each.get("cases") or 0, *shown, *[""] * (width - len(shown))])
    heads = [Column("Class"), Column("Cases"), *(Column(f"{number}") for number in range(1, width + 1))]
    of = str(found[0].get("of", ""))
    title = f"Samples of each class, {of} images" if of else "Samples of each class"
    known = 0 if run.cases is None else len(run.cases.classes)
    more = f" Shown are {len(found)} of {known} classes." if known > len(found) else ""
    gallery = Gallery("samples", found, Table("samples", title, heads, rows))
    return Section(
        "samples", "Samples of each class", [Text(f"{captions.CAPTIONS['samples']}{more}"), gallery], "Samples"
    )


def memories(run: Run, folder: Path) -> Section | None:
    """Each memory with its cluster."""
    found = entries(run, "memories")
    if not found:
        return None
    who = {each.get("number"): describe_classifier(run, each.get("classifier")) for each in found}
    rows: list[list[Cell]] = [
        [
            f"{each.get('number')}",
            show_case(run, each),
            run.label(each.get("label")),
            each.get("cases") or 0,
            ", ".join(f"{run.label(name)} {count}" for name, count in (each.get("classes") or {}).items()),
            formats.two_digits(each.get("threshold")),
            who[each.get("number")],
        ]
        for each in found
    ]
    local = run.exhibits.get("local")
    total = local.get("memories") if isinstance(local, dict) else None
    more = f" Shown are {len(found)} of {total:,} memories." if isinstance(total, int) and total > len(found) else ""
    title, heads = (
        "The memories and their clusters",
        "Memory, Case, Class, Cases, Classes of its cluster, Threshold, Who answers",
    )
    gallery = Gallery(
        "memories",
        {"memories": found, "colours": class_colours(run), "who": who},
        _table("memories", title, heads, rows),
    )
    return Section(
        "memories", title, [Text(f"{captions.CAPTIONS['memories']}{more}{_whose(run, found)}"), gallery], "Memories"
    )


def routes(run: Run, folder: Path) -> Section | None:
    """Test cases beside the memories that they were routed to."""
    found = entries(run, "routes")
    if not found:
        return None
    known = {each.get("number"): each for each in entries(run, "memories")}
    data = [{**each, "to": known.get(each.get("nearest" if _unknown(each) else "memory"))} for each in found]
    rows: list[list[Cell]] = [
        [
            show_case(run, each),
            run.labels.condition(str(each.get("condition", ""))),
            f"none; nearest: {each.get('nearest')}" if _unknown(each) else str(each.get("memory")),
            show_case(run, each["to"] or {}),
            f"{formats.two_digits(each.get('similarity'))} / {formats.two_digits(each.get('threshold'))}",
            run.label(each.get("truth")),
            _marked(run, each.get("answer"), each.get("truth")),
            _marked(run, each.get("baseline_answer"), each.get("truth")),
        ]
        for each in data
    ]
    heads = "Case, Condition, Memory, Its case, Similarity / threshold, Truth, Memory classifier, Baseline"
    gallery = Gallery("routes", data, _table("routes", "Sample routes", heads, rows))
    return Section("routes", "Sample routes", [Text(captions.CAPTIONS["routes"]), gallery], "Routes")


def overlays(run: Run, folder: Path) -> Section | None:
    """What the expert feature sees in one picture, clean and corrupted."""
    found = entries(run, "overlays")
    if not found:
        return None
    rows: list[list[Cell]] = [
        [
            run.labels.condition(str(each.get("condition"))),
            show_case(run, each),
            ", ".join(
                f"{part.get('name')} {formats.percent(part.get('share'))} %" for part in each.get("legend") or []
            ),
            ", ".join(f"{name} {formats.two_digits(value)}" for name, value in (each.get("numbers") or {}).items()),
        ]
        for each in found
    ]
    title = "What the expert feature sees"
    gallery = Gallery("overlays", found, _table("overlays", title, "Condition, Picture, Parts, Numbers", rows))
    return Section("overlays", title, [Text(captions.CAPTIONS["overlays"]), gallery], "What the feature sees")


def masks(run: Run, folder: Path) -> Section | None:
    """What the paper's own feature sees in pictures of each class, painted over them."""
    found = entries(run, "masks")
    if not found:
        return None
    rows: list[list[Cell]] = [
        [
            run.label(each.get("truth")),
            run.labels.condition(str(each.get("condition"))),
            show_case(run, each),
            show_case(run, {"case": each.get("painted"), "key": each.get("key")}),
            ", ".join(f"{name} {formats.two_digits(value)}" for name, value in (each.get("numbers") or {}).items()),
        ]
        for each in found
    ]
    title = "What the paper’s feature sees"
    colours = found[0].get("colours") or {}
    gallery = Gallery(
        "masks",
        {"cases": [list(same) for _, same in groupby(found, lambda each: each.get("key"))], "colours": colours},
        _table("masks", title, "True class, Condition, Picture, Masks, Numbers", rows),
    )
    return Section("masks", title, [Text(captions.CAPTIONS["masks"]), gallery], "The paper’s feature")


def hardest(run: Run) -> Gallery | None:
    """The cases that the memory classifier gets wrong most often."""
    found = entries(run, "hardest")
    rows: list[list[Cell]] = [
        [
            show_case(run, each),
            str(each.get("key", "")),
            run.label(each.get("truth")),
            Number(each.get("wrong_share")),
            run.label(each.get("mostly_answered")),
        ]
        for each in found
    ]
    title = "Hardest test cases: share of wrong answers over all conditions, in per cent"
    table = _table("hardest", title, "Case, Name, True class, Wrong, Mostly answered", rows)
    return Gallery("hardest", found, table) if found else None


def _table(name: str, title: str, heads: str, rows: list[list[Cell]]) -> Table:
    return Table(name, title, [Column(head) for head in heads.split(", ")], rows)


def show_case(run: Run, entry: Mapping[str, Any]) -> Cell:
    """A case in a cell of a table: its picture, or a line of text."""
    path = str((entry.get("case") or {}).get("picture") or "")
    return case_summary(entry) if run.picture(path) is None else Picture(case_summary(entry), path)


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
