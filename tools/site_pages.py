"""What mkdocs asks while it builds the site (`hooks` in mkdocs.yml).

Pages outside docs/ (README, the changelog, the benchmarks) belong to the site too, so that they are written once. Links
in Markdown are those of the source tree, where people read them as well: here they become links of the site. Examples
become pages of the gallery, with what tools/gallery.py kept of their runs.
"""

import ast
import json
import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".gallery"
OUTSIDE = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "benchmarks/*.md"]
OUTSIDE += ["examples/README.md", "examples/*.py"]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
CODE = re.compile(r"(^```.*?^```)", re.M | re.S)


def pages_outside() -> dict[str, str]:
    """Path in the source tree -> path in the site, of the pages that do not lie in docs/."""
    found = [path.relative_to(ROOT).as_posix() for pattern in OUTSIDE for path in sorted(ROOT.glob(pattern))]
    return {path: _name_page(path) for path in found}


def _name_page(path: str) -> str:
    if path.startswith("examples/"):
        return f"gallery/{'index' if path.endswith('README.md') else Path(path).stem}.md"
    return "index.md" if path == "README.md" else path


def place_in_site(path: str) -> str | None:
    """Where a path of the source tree is in the site; None if it is not part of it."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("examples/") and path.endswith(".png"):  # drawn by an example
        return path.replace("examples/", "gallery/", 1)
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


def write_example(file: Path, kept: Path = KEPT) -> str:
    """The page of an example: what it shows, its picture, what it printed, and its code."""
    if not (kept / f"{file.stem}.json").is_file():
        raise FileNotFoundError(f"{kept} holds no run of examples/{file.name}: call `make gallery` before mkdocs")
    code = file.read_text(encoding="utf-8")
    title, _, text = (ast.get_docstring(ast.parse(code)) or "").partition("\n\n")
    seconds = json.loads((kept / f"{file.stem}.json").read_text(encoding="utf-8"))["seconds"]
    printed = (kept / f"{file.stem}.txt").read_text(encoding="utf-8")
    return (
        f"# {title.rstrip('.')}\n\n{text}\n\n![{title}]({file.stem}.png)\n\n"
        f"`python examples/{file.name}` prints, after {seconds:.0f} s of processor time:\n\n```text\n{printed}```\n\n"
        f"## The code\n\n```python\n{code}```\n"
    )


def show_cards(markdown: str) -> str:
    """The list of the examples as cards with their pictures."""
    item = r"^- \[(.+?)\]\((\w+)\.py\): (.+)$"
    cards = re.sub(item, r"-   [![\1](\2.png)](\2.py)\n\n    **[\1](\2.py)**: \3\n", markdown, flags=re.M)
    head, mark, rest = cards.partition("-   [")
    return f'{head}<div class="grid cards" markdown>\n\n{mark}{rest}\n</div>\n'


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the pages outside docs/, and the gallery."""
    from mkdocs.structure.files import File

    for source, place in pages_outside().items():
        file = ROOT / source
        if file.suffix == ".py":
            files.append(File.generated(config, place, content=write_example(file)))
            picture = file.with_suffix(".png").name
            files.append(File.generated(config, f"gallery/{picture}", abs_src_path=str(KEPT / picture)))
        elif place == "gallery/index.md":
            files.append(File.generated(config, place, content=show_cards(file.read_text(encoding="utf-8"))))
        else:
            files.append(File.generated(config, place, abs_src_path=str(file)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links of the source tree into links of the site."""
    return follow_links(markdown, page.file.src_uri)
