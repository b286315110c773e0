"""What griffe asks while it reads docstrings for the site (`extensions` in mkdocs.yml)."""

import re
from typing import Any

import griffe

BARE = re.compile(r"\n\n(?=>>> )")


class DoctestsAreExamples(griffe.Extension):
    """Short docstrings show a doctest without the heading "Examples"; Markdown would take it for a quotation."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Add the heading where it is missing."""
        if obj.docstring and "Examples\n---" not in obj.docstring.value:
            obj.docstring.value = BARE.sub("\n\nExamples\n--------\n", obj.docstring.value, count=1)
