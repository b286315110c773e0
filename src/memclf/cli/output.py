"""Helpers of all commands: errors as one line, and text that is safe for a terminal."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer
from rich.markup import escape

from memclf.exceptions import MemclfError


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
    except caught as error:
        fail(error)


def fail(message: object, code: int = 1) -> NoReturn:
    """Print an error as one line and exit."""
    typer.echo(f"error: {as_line(message)}", err=True)
    raise typer.Exit(code) from None


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
