"""What all commands print with: errors, tables, JSON, text that is safe for a terminal."""

from __future__ import annotations

import inspect
import json
import math
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.markup import escape

from memclf.exceptions import MemclfError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_debugging = [False]  # whether errors are shown with their trace


def set_debug(debug: bool) -> None:
    """Show the trace of errors from now on, or do not."""
    _debugging[0] = debug


def split_examples(text: str) -> tuple[str, list[str]]:
    """A docstring without its examples, and these: the lines below "Examples:".

    >>> split_examples("A command.\\n\\n    Examples:\\n        memclf study leaf\\n    ")
    ('A command.', ['memclf study leaf'])
    """
    about, _, examples = inspect.cleandoc(text).partition("\nExamples:\n")
    return about.strip(), [line.strip() for line in examples.splitlines() if line.strip()]


def join_lines(text: str) -> str:
    """A docstring with one line per paragraph: typer keeps line breaks, wherever they are.

    >>> join_lines("A command.\\n\\n    It does\\n    something.\\n    ")
    'A command.\\n\\nIt does something.'
    """
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in inspect.cleandoc(text).split("\n\n"))


@contextmanager
def exit_on_error(*kinds: type[Exception]) -> Iterator[None]:
    """Turn errors of memclf, and of these kinds, into one printed line and exit code 1."""
    caught: tuple[type[Exception], ...] = (MemclfError, *kinds)
    try:
        yield
    except BrokenPipeError:  # the reader of a pipe has seen enough
        raise
    except caught as error:
        fail(error)


def fail(message: object, code: int = 1) -> NoReturn:
    """Print an error as one line and exit; with ``--debug`` also where the error comes from."""
    if _debugging[0] and sys.exc_info()[0] is not None:
        traceback.print_exc()
    typer.echo(f"error: {as_line(message)}", err=True)
    raise typer.Exit(code) from None


def fail_by_bug(error: Exception) -> NoReturn:
    """Print an error that no command expects, and exit."""
    advice = "" if _debugging[0] else ", run with --debug: memclf --debug COMMAND ..."
    fail(f"{type(error).__name__}: {error} (this is a bug{advice})")


def check_workers(number: int) -> int:
    """A number of workers that joblib can make sense of."""
    if number == 0:
        raise typer.BadParameter("0 workers would do nothing; give 1 or more, or -1 for all cores")
    return number


def as_line(value: object) -> str:
    """Text on one line, without control codes of terminals."""
    return make_printable(" ".join(str(value).split()))


def make_printable(text: str) -> str:
    """The same text with escape sequences in place of what cannot be printed."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def as_markup(value: object) -> str:
    """Text on one line that rich shows as it is."""
    return escape(as_line(value))


def check_folder_of(*files: Path | None) -> None:
    """Refuse files whose folder does not exist, before any work is done for them."""
    for file in files:
        if file is not None and not file.absolute().parent.is_dir():
            raise ValueError(f"there is no folder {file.absolute().parent} to write {file.name} into")


def make_console(*, for_json: bool = False) -> Console:
    """Where tables go: to standard output, or to standard error where that is for JSON."""
    from rich.console import Console

    return Console(stderr=for_json, highlight=False)


def make_table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """A table without frames and with one line per row; the columns in `right` hold numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", no_wrap=name in right)
    return table


def as_cell(value: object) -> Text:
    """Text of a table's cell on one line, cut where the terminal is too narrow."""
    from rich.text import Text

    return Text(as_line(value), no_wrap=True, overflow="ellipsis")


def print_json(value: Any) -> None:
    """Print one JSON document to standard output."""
    typer.echo(json.dumps(as_plain(value), indent=1, allow_nan=False, ensure_ascii=False))


def as_plain(value: Any) -> Any:
    """A value as JSON knows it; numbers that JSON does not know are null.

    >>> as_plain({1: (float("nan"), Path("a"))})
    {'1': [None, 'a']}
    """
    if isinstance(value, Mapping):
        return {str(key): as_plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain(each) for each in value]
    numpy = sys.modules.get("numpy")  # which must not be imported for a help page
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return as_plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
