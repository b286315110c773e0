"""Tables, written as CSV, LaTeX (booktabs) and Markdown; the templates draw them as HTML."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias
from urllib.parse import quote

from memclf.evaluate.intervals import Interval
from memclf.report import formats

Mark: TypeAlias = Literal["", "win", "lose", "tie"]
SIGNS = {"": "", "win": "▲", "lose": "▼", "tie": "="}
UNSURE = SIGNS | {"win": "△", "lose": "▽"}  # hollow: may be chance


@dataclass(frozen=True)
class Number:
    """A fraction, or a difference of fractions, with its interval.

    It is shown in per cent, a difference in points. `mark` says whether this number wins or loses; `sure` that the
    interval excludes chance; `faint` that the number is shown for comparison only; `plain` that it is shown as it is,
    not in per cent.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    signed: bool = False
    mark: Mark = ""
    sure: bool = False
    faint: bool = False
    digits: int = 1
    plain: bool = False

    @property
    def known(self) -> bool:
        return not formats.missing(self.value)

    @property
    def text(self) -> str:
        if self.plain:
            return f"{self.value:,.{self.digits}f}" if self.known else "–"
        return formats.points(self.value, self.digits) if self.signed else formats.percent(self.value, self.digits)

    @property
    def interval(self) -> str:
        if not self.known or formats.missing(self.low) or formats.missing(self.high):
            return ""
        write = formats.points if self.signed else formats.percent
        return f"{write(self.low)} to {write(self.high)}"

    @property
    def sign(self) -> str:
        return (SIGNS if self.sure else UNSURE)[self.mark]


@dataclass(frozen=True)
class Picture:
    """A picture of the run folder in a cell, for Markdown; elsewhere its text stands for it."""

    text: str
    path: str

    def __str__(self) -> str:
        return self.text


Cell: TypeAlias = str | int | Number | Picture
EMPTY = Number(None)
TIE = 5e-4  # differences below it are shown as 0.0


def number(interval: Interval | None) -> Number:
    """A mean with its interval; an empty cell where there is none."""
    return EMPTY if interval is None else Number(*interval)


def difference(interval: Interval | None) -> Number:
    """A difference with its interval, marked by who wins and whether that is sure."""
    if interval is None:
        return Number(None, signed=True)
    mark: Mark = "win" if interval.value > TIE else "lose" if interval.value < -TIE else "tie"
    sure = (interval.low > 0 or interval.high < 0) and interval.high > interval.low  # no width: no evidence
    return Number(*interval, signed=True, mark=mark, sure=sure)


@dataclass(frozen=True)
class Column:
    """A column. `group` is written above neighbouring columns of the same group."""

    title: str
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table of the report; the first column names the row.

    `name` is the name of its files. `strong` are rows to be set apart. `look` is how the page draws it: "coloured"
    tints cells by who wins, "heat" by how much, "fit" breaks words rather than scroll on a phone.
    """

    kind: ClassVar[str] = "table"
    name: str
    title: str
    columns: list[Column]
    rows: list[list[Cell]]
    note: str = ""
    strong: frozenset[int] = field(default_factory=frozenset)
    look: Literal["", "coloured", "heat", "fit"] = ""

    @property
    def largest(self) -> float:
        """The largest absolute number, for the strength of colours; at least one point."""
        cells = [cell for row in self.rows for cell in row if isinstance(cell, Number)]
        return max([0.01, *(abs(cell.value) for cell in cells if cell.value is not None)])

    def groups(self) -> list[tuple[str, int]]:
        """Neighbouring columns of one group: its title, and how many there are."""
        return [(title, len(list(same))) for title, same in groupby(self.columns, key=lambda column: column.group)]

    def starts(self) -> set[int]:
        """Columns with which a group begins."""
        return {
            number
            for number, column in enumerate(self.columns)
            if number and column.group != self.columns[number - 1].group
        }

    @property
    def grouped(self) -> bool:
        return any(column.group for column in self.columns)

    def numeric(self) -> list[bool]:
        return [any(isinstance(row[k], Number | int) for row in self.rows) for k in range(len(self.columns))]


def write(table: Table, folder: Path) -> None:
    """`folder`/NAME.csv and `folder`/NAME.tex."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{table.name}.csv").write_text(to_csv(table), encoding="utf-8", newline="")
    (folder / f"{table.name}.tex").write_text(to_latex(table), encoding="utf-8")


def to_csv(table: Table) -> str:
    """The table as CSV, in per cent with two decimals, plain numbers as shown.

    The ends of intervals are in columns of their own.
    """
    bounded = [
        any(isinstance(row[k], Number) and row[k].interval for row in table.rows)  # type: ignore[union-attr]
        for k in range(len(table.columns))
    ]
    head: list[str] = []
    for column, wide in zip(table.columns, bounded, strict=True):
        name = f"{column.group}: {column.title}" if column.group else column.title
        head += [name, f"{name} (low)", f"{name} (high)"] if wide else [name]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    for row in table.rows:
        cells: list[str] = []
        for cell, wide in zip(row, bounded, strict=True):
            if isinstance(cell, Number) and not cell.plain:
                values = (cell.value, cell.low, cell.high) if wide else (cell.value,)
                cells += [_plain(value) for value in values]
            else:
                text = cell.text.replace(",", "") if isinstance(cell, Number) else str(cell)  # for programs
                cells += [text, "", ""] if wide else [text]
        writer.writerow(cells)
    return file.getvalue()


def _plain(value: float | None) -> str:
    return "" if formats.missing(value) else f"{100 * float(value or 0):.2f}"


LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "−": "$-$", "±": r"$\pm$", "×": r"$\times$", "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$", "△": r"$\vartriangle$", "▽": r"$\triangledown$",
    "→": r"$\rightarrow$", "–": "--", "—": "---", "…": r"\ldots{}", "·": r"$\cdot$",
    "“": "``", "”": "''", "’": "'", "\n": " ",
}  # fmt: skip


def latex(text: str) -> str:
    r"""Text with all characters escaped that LaTeX would interpret.

    >>> print(latex("50 % of a_b & c"))
    50 \% of a\_b \& c
    """
    return "".join(LATEX.get(letter, letter) for letter in text)


def to_latex(table: Table) -> str:
    """A `table` with booktabs rules; needs \\usepackage{booktabs, amssymb}."""
    kinds = "".join("r" if numeric else "l" for numeric in table.numeric())
    lines = [
        "% needs \\usepackage{booktabs,amssymb}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{latex(table.title)}}}",
        f"\\label{{tab:{re.sub('[^a-z0-9]+', '-', table.name.lower())}}}",
        f"\\begin{{tabular}}{{{kinds}}}",
        "\\toprule",
    ]
    if table.grouped:
        spans = [
            f"\\multicolumn{{{width}}}{{c}}{{{latex(title)}}}" if title else " & ".join([""] * width)
            for title, width in table.groups()
        ]
        lines.append(" & ".join(spans) + r" \\")
    lines += [" & ".join(latex(column.title) for column in table.columns) + r" \\", "\\midrule"]
    for number, row in enumerate(table.rows):
        if number in table.strong and number:
            lines.append("\\midrule")
        lines.append(" & ".join(_latex_cell(cell) for cell in row) + r" \\")
    lines += ["\\bottomrule", "\\end{tabular}", "\\end{table}", ""]
    return "\n".join(lines)


def _latex_cell(cell: Cell) -> str:
    if not isinstance(cell, Number):
        return latex(str(cell))
    text = latex(cell.text)
    if cell.mark == "win" and cell.sure:
        text = f"\\textbf{{{text}}}"
    return text + (f" {{\\scriptsize [{latex(cell.interval)}]}}" if cell.interval else "")


def markdown(text: object) -> str:
    """Text with all characters escaped that Markdown or HTML would interpret.

    >>> markdown("a|b *c* <d>")
    'a\\\\|b \\\\*c\\\\* &lt;d&gt;'
    """
    plain = str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", plain)


def to_markdown(table: Table) -> str:
    titles = [f"{column.group}: {column.title}" if column.group else column.title for column in table.columns]
    lines = [_line([markdown(title) for title in titles])]
    lines.append(_line(["--:" if numeric else ":--" for numeric in table.numeric()]))
    lines += [_line([_markdown_cell(cell) for cell in row]) for row in table.rows]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(cell: Cell) -> str:
    if isinstance(cell, Picture):
        return f"![{markdown(cell.text)}]({quote(cell.path)})"
    if not isinstance(cell, Number):
        return markdown(cell)
    text = f"**{cell.text}**" if cell.mark and cell.sure else cell.text
    return " ".join(part for part in (text, cell.sign, f"({cell.interval})" if cell.interval else "") if part)
