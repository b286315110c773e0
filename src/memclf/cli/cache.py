"""``memclf cache``: what descriptions a folder keeps."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from memclf.cli.output import as_line, fail


def cache(
    folder: Annotated[Path, typer.Argument(help='A folder that was given as Cases(X, cache="FOLDER").')],
    clear: Annotated[bool, typer.Option("--clear", help="Remove all that it keeps.")] = False,
) -> None:
    """Show how many descriptions and embeddings a cache folder keeps, or clear it.

    What was removed is computed again when it is needed; no answer changes. Other processes may use the folder at the
    same time.

    Examples:
        memclf cache descriptions/
        memclf cache descriptions/ --clear
    """
    from memclf.cases.store import Store

    if not folder.is_dir():
        fail(f"there is no folder {folder}")
    store = Store(folder)
    if not store.file.is_file():
        fail(f"{folder} is no cache folder: it has no file {store.file.name}, which Cases(X, cache=...) writes")
    found = store.clear() if clear else store.usage()
    used = "" if found.last_used is None else f", last used {datetime.fromtimestamp(found.last_used):%Y-%m-%d %H:%M}"
    what = f"{found.entries:,} entries, {found.bytes / 1e6:,.1f} MB{used}"
    typer.echo(as_line(f"{folder}: {'removed ' if clear else ''}{what}"))
