"""``memclf explain``: the remembered case behind an answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from memclf.cli.load_model import AsJson, Model, Trusted, load_classifier
from memclf.cli.output import (
    as_cell,
    as_line,
    check_folder_of,
    exit_on_error,
    fail,
    make_console,
    make_table,
    print_json,
)

if TYPE_CHECKING:
    from rich.console import Console

    from memclf.explain import Explanation

BAR = 40  # characters of a similarity of 1
ROWS = 16  # measurements or columns beside each other


def explain(
    model: Model,
    data: Annotated[Path, typer.Argument(help="An image file, or what holds the case: a table or a folder of images.")],
    row: Annotated[
        list[int] | None, typer.Option(min=0, help="Which case of DATA; the first is 0. Repeat it for more.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with pictures into this HTML file.")] = None,
    as_json: AsJson = False,
    trusted: Trusted = None,
) -> None:
    """Show why a case got its answer: the remembered case that it is most like.

    The sentence says what answered. Below it: the similarity against the threshold from which on the memory answers,
    the next most similar memory, the case beside its memory, and what made them alike, as far as the similarity can
    tell.

    Examples:
        memclf explain MODEL leaf.png --html why.html
        memclf explain MODEL new.csv --row 3
        memclf explain MODEL photos/ --row 0 --row 5 --json
    """
    with exit_on_error(OSError, TypeError, ValueError):
        import numpy as np

        from memclf.cases import containers
        from memclf.data import read_unlabelled
        from memclf.evaluate.kinds import name_cases
        from memclf.explain.page import make_page

        check_folder_of(html)
        clf = load_classifier(model, trusted)
        X = read_unlabelled(clf, data)
        rows = choose_rows(row, containers.count(X), data)
        picked = containers.take(X, np.array(rows))
        names = name_cases(picked, rows)
        found = clf.explain(picked)
        if html is not None:
            html.write_text(make_page(found, f"Why? {data.name}", names), encoding="utf-8")
        console = make_console(for_json=as_json)
        for number, (name, item) in enumerate(zip(names, found, strict=True)):
            _print_explanation(console, name, item, first=not number)
        if as_json:
            cases = [describe(item, at, name) for item, at, name in zip(found, rows, names, strict=True)]
            print_json({"model": str(model), "data": str(data), "cases": cases})
    if html is not None:
        typer.echo(f"page: {as_line(html)}", err=as_json)


def choose_rows(asked: list[int] | None, count: int, data: Path) -> list[int]:
    """The cases that are asked for; of one case, that one."""
    if not count:
        raise ValueError(f"{data} holds no cases")
    if not asked and count > 1:
        fail(f"{data} holds {count:,} cases; say which with --row, the first is --row 0", code=2)
    rows = asked or [0]
    if beyond := [each for each in rows if each >= count]:
        raise ValueError(f"--row {beyond[0]} is beyond the last case of {data}, which is {count - 1}")
    return list(dict.fromkeys(rows))


def describe(item: Explanation, row: int, name: str) -> dict[str, Any]:
    """An explanation for scripts."""
    return {
        "row": row,
        "name": name,
        "sentence": item.sentence,
        "contradiction": item.contradiction,
        **item.row(),
        "runner_up_similarity": item.runner_up_similarity,
        "probabilities": item.probabilities,
        "cluster_classes": item.cluster_classes,
        "beside": [{"name": each, "case": a, "memory": b} for each, a, b in item.compare_with_memory()],
        "likeness": dict(item.likeness),
        "evidence": [str(each) for each in item.evidence],
    }


def _print_explanation(console: Console, name: str, item: Explanation, *, first: bool) -> None:
    if not first:
        console.print()
    console.print(Text(as_line(name), style="bold"))
    console.print(Text(as_line(item.sentence)))
    if item.contradiction:
        console.print(Text(as_line(item.contradiction)), style="yellow")
    console.print()
    console.print(Text(_draw_bar(item.similarity, item.threshold)))
    if item.runner_up is not None:
        console.print(
            f"runner-up   memory {item.runner_up} (training case {item.runner_up_row}), similarity "
            f"{item.runner_up_similarity:.3f}"
        )
    beside = item.compare_with_memory()
    if beside:
        table = make_table("", "case", f"memory {item.memory}")
        for line in beside[:ROWS]:
            table.add_row(*map(as_cell, line))
        console.print(table)
        if len(beside) > ROWS:
            console.print(f"... and {len(beside) - ROWS} more (--json has all)")
    if item.likeness:
        console.print(Text(f"alike: {as_line(item.say_likeness())}"))
    for each in item.evidence:
        console.print(Text(as_line(each)))
    if item.promise:
        console.print(Text(as_line(item.promise)))


def _draw_bar(similarity: float, threshold: float) -> str:
    """Similarity and threshold as two lines below each other.

    >>> print(_draw_bar(0.5, 0.25))
    similarity  ████████████████████ 0.500
    threshold            ^ 0.250
    """
    full, mark = round(BAR * similarity), max(1, round(BAR * threshold))
    return f"similarity  {'█' * full} {similarity:.3f}\nthreshold   {'^':>{mark}} {threshold:.3f}"
