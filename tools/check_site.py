"""Check the built site: nothing is loaded from another host, every public name is there, and the search has an index.

`make docs` calls it after mkdocs, which checks links and anchors itself.
"""

import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
DIRECTIVE = re.compile(r"^::: (\S+)$", re.M)
LOADS = {**dict.fromkeys(["script", "img", "iframe", "source", "video"], "src"), "link": "href", "object": "data"}
ELSEWHERE = re.compile(r"^\s*(https?:)?//", re.I)
IN_CSS = re.compile(r"(?:@import\s*|url\()\s*[\"']?((?:https?:)?//[^\"')\s]+)", re.I)


class Loads(HTMLParser):
    """Collects what a page loads, and the ids in it. A link to click is not loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one tag."""
        given = dict(attrs)
        if given.get("id"):
            self.ids.add(str(given["id"]))
        if tag in LOADS and given.get(LOADS[tag]) and given.get("rel") not in ("canonical", "prev", "next"):
            self.loaded.append(str(given[LOADS[tag]]))
        self.loaded += IN_CSS.findall(given.get("style") or "")


def read_page(file: Path) -> Loads:
    """What one page loads, and its ids."""
    page = Loads()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def find_other_hosts(site: Path) -> Iterator[str]:
    """Everything that a page or a style sheet would load from elsewhere."""
    for file in sorted(site.rglob("*.html")):
        text = file.read_text(encoding="utf-8")
        styles = IN_CSS.findall("".join(re.findall(r"<style.*?</style>", text, re.S)))
        for address in [*filter(ELSEWHERE.match, read_page(file).loaded), *styles]:
            yield f"{file.relative_to(site)} loads {address}"
    for file in sorted(site.rglob("*.css")):
        for address in IN_CSS.findall(file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(site)} loads {address}"


def names_of_reference(folder: Path = REFERENCE) -> dict[str, str]:
    """Public name -> the page of the reference that describes it."""
    return {name: page.stem for page in sorted(folder.glob("*.md")) for name in DIRECTIVE.findall(page.read_text())}


def find_missing_names(site: Path) -> Iterator[str]:
    """Names that a page of the reference should describe and does not."""
    pages = names_of_reference()
    ids = {page: read_page(site / "reference" / f"{page}.html").ids for page in set(pages.values())}
    yield from (f"reference/{page}.html lacks {name}" for name, page in pages.items() if name not in ids[page])


def find_faults(site: Path) -> list[str]:
    """All that is wrong with the built site."""
    index = site / "search" / "search_index.js"
    found = [] if index.is_file() else [f"{index.relative_to(site)} is missing: no search in files"]
    if not found and not json.loads(index.read_text(encoding="utf-8").removeprefix("var __index = "))["docs"]:
        found.append("the search knows no page")
    return [*found, *find_other_hosts(site), *find_missing_names(site)]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    faults = find_faults(folder)
    print("\n".join(faults) or f"{len(list(folder.rglob('*.html')))} pages: nothing from other hosts, no name missing")
    raise SystemExit(bool(faults))
