"""A section of the report: a title and blocks.

The HTML page and Markdown render the same blocks. A new section is one function `(Run, folder) -> Section | None` and
one entry in `contents.SECTIONS`. It needs no change in the page or in the templates unless it shows pictures in a
layout of its own (`Gallery`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from memclf.report.tables import Table

Style: TypeAlias = Literal["", "verdict", "small", "alert"]


@dataclass(frozen=True)
class Text:
    """A paragraph: `lead` in bold, then `text`, then `lines` as a list.

    All is plain text, escaped when rendered. Styles: "verdict" is large, "small" is small print, "alert" is a box that
    cannot be overlooked.
    """

    kind: ClassVar[str] = "text"
    text: str = ""
    lead: str = ""
    lines: Sequence[str] = ()
    style: Style = ""


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Terms:
    """Names and what they mean."""

    kind: ClassVar[str] = "terms"
    entries: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """A command or other text to be shown letter by letter."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class Chart:
    """A figure: `figures/NAME.png` for Markdown, and `svgs` for a wide and a narrow page."""

    kind: ClassVar[str] = "chart"
    name: str
    title: str
    alt: str
    svgs: tuple[str, ...]
    caption: str = ""


@dataclass(frozen=True)
class Gallery:
    """Single cases: pictures in a layout of their own on the page, a table in Markdown.

    The page shows macro `name` of `galleries.html.j2` with `data`, Markdown shows `table`.
    """

    kind: ClassVar[str] = "gallery"
    name: str
    data: Any
    table: Table


@dataclass(frozen=True)
class Folded:
    """Blocks that the page shows on request; Markdown shows them in full."""

    kind: ClassVar[str] = "folded"
    title: str
    blocks: Sequence[Block]


Block: TypeAlias = Text | Heading | Terms | Code | Chart | Gallery | Folded | Table


@dataclass(frozen=True)
class Section:
    """A titled part of the report: its blocks and its place on the page.

    `name` is its address on the page, `short` its name in the list of contents (default: the title).
    """

    name: str
    title: str
    blocks: Sequence[Block]
    short: str = ""

    def tables(self) -> Iterator[Table]:
        """All tables of the section, which are also written to files."""
        return _tables(self.blocks)


def _tables(blocks: Sequence[Block]) -> Iterator[Table]:
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Gallery):
            yield block.table
        elif isinstance(block, Folded):
            yield from _tables(block.blocks)
