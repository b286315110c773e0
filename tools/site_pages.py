"""What mkdocs asks while it builds the site (`hooks` in mkdocs.yml).

Pages outside docs/ (README, the changelog, the benchmarks) belong to the site too, so that they are written once. Links
in Markdown are those of the source tree, where people read them as well: here they become links of the site.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
OUTSIDE = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "benchmarks/*.md"]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
CODE = re.compile(r"(^```.*?^```)", re.M | re.S)


def pages_outside() -> dict[str, str]:
    """Path in the source tree -> path in the site, of the pages that do not lie in docs/."""
    found = [path.relative_to(ROOT).as_posix() for pattern in OUTSIDE for path in sorted(ROOT.glob(pattern))]
    return {path: "index.md" if path == "README.md" else path for path in found}


def place_in_site(path: str) -> str | None:
    """Where a path of the source tree is in the site; None if it is not part of it."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return pages_outside().get(path)


def place_in_source(path: str) -> str:
    """Where a page of the site is in the source tree."""
    return {there: here for here, there in pages_outside().items()}.get(path, f"docs/{path}")


def follow_links(markdown: str, page: str) -> str:
    """The text of a page of the site with links of the site; files that it does not have are named without a link."""
    source = posixpath.dirname(place_in_source(page))

    def follow(link: re.Match[str]) -> str:
        mark, text, target, anchor = link[1], link[2], link[3], link[4] or ""
        place = place_in_site(posixpath.normpath(posixpath.join(source, target)))
        if place is None:
            return text
        return f"{mark}[{text}]({posixpath.relpath(place, posixpath.dirname(page) or '.')}{anchor})"

    # Code is full of brackets.
    return "".join(LINK.sub(follow, part) if not CODE.match(part) else part for part in CODE.split(markdown))


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the pages outside docs/."""
    from mkdocs.structure.files import File

    for source, place in pages_outside().items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links of the source tree into links of the site."""
    return follow_links(markdown, page.file.src_uri)
