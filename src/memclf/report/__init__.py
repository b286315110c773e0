"""The report of a run, from its folder alone: an HTML page, Markdown, tables and figures."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["build", "compare"]


def build(run: str | os.PathLike[str]) -> Path:
    """Write the report of a run and return the path of the page, RUN/report.html.

    RUN/report.md, RUN/tables/ and RUN/figures/ are written anew with it. Needs neither the data set nor the models, and
    works on a run that is not finished: the page then says what is missing. Needs ``memclf[report]``.
    """
    from memclf.report import contents, formats, page
    from memclf.report.run import Run

    found = Run(Path(run))
    for package in ("matplotlib", "jinja2"):  # before anything is written
        page.require(package)
    started = formats.format_moment(found.about["started"])
    about = (found.about["question"], f"{found.size} · {started}" if started else found.size)
    return page.write(
        found.folder,
        "report",
        title=found.title,
        kicker=f"study {found.study}" if found.study else "",
        lines=[str(line) for line in about if line],
        notices=contents.notices(found),
        sections=contents.collect(found, found.folder),
        run=found,
    )


def compare(
    runs: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    say: Callable[[str], object] = lambda line: None,
) -> Path:
    """Put runs side by side on a page, OUT/compare.html, and return its path.

    Runs on the same data and conditions are also joined: each fills its cells of the paper's tables. OUT/compare.md
    and CSV and LaTeX tables are written with it. `say` is called with each line on what cannot be compared or joined.
    Needs ``memclf[report]``.
    """
    from memclf.report.side_by_side import write_comparison

    return write_comparison([Path(each) for each in runs], Path(out), say)
