"""The site: every page and public name has its place in it, and links of the source tree become links of the site.

What needs mkdocs is checked by `make docs`.
"""

import importlib
import pkgutil
import re
from types import ModuleType

import pytest
import yaml

import memclf
from check_site import find_other_hosts, names_of_reference, read_page
from site_pages import LINK, ROOT, follow_links, pages_outside, place_in_site

#: Packages whose names are for memclf itself: the command line, and what a report shows of a run.
NOT_PUBLIC = {"memclf.cli", "memclf.evaluate.exhibits"}
MOST_WORDS = 1500
PAGES = {path.relative_to(ROOT).as_posix(): path for path in sorted((ROOT / "docs").rglob("*.md"))}
PAGES |= {path: ROOT / path for path in pages_outside()}


def public_packages():
    found = [name for _, name, is_package in pkgutil.walk_packages(memclf.__path__, "memclf.") if is_package]
    modules = [importlib.import_module(name) for name in ["memclf", *found]]
    return [each for each in modules if "__all__" in vars(each) and each.__name__ not in NOT_PUBLIC]


def find_object(path):
    package, _, name = path.rpartition(".")
    return getattr(importlib.import_module(package), name)


def test_reference_describes_every_public_name():
    described = [find_object(path) for path in names_of_reference()]
    missing = [
        f"{package.__name__}.{name}"
        for package in public_packages()
        for name in package.__all__
        if not isinstance(getattr(package, name), ModuleType)
        and not any(getattr(package, name) is each for each in described)
    ]
    assert missing == [], "add `::: NAME` to a page of docs/reference for each"


def test_public_functions_and_classes_say_what_they_do():
    named = [(path, find_object(path)) for path in names_of_reference()]
    assert [path for path, each in named if callable(each) and not each.__doc__] == []


def listed(nav):
    for entry in nav:
        for each in entry.values() if isinstance(entry, dict) else [entry]:
            yield from listed(each) if isinstance(each, list) else [each]


def test_navigation_lists_every_page_once():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    assert sorted(listed(nav)) == sorted(filter(None, map(place_in_site, PAGES))), "pages stand in `nav` of mkdocs.yml"


def count_words(text):
    """Words of prose: code and tables are looked up, not read."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return sum(len(line.split()) for line in prose.splitlines() if not line.startswith("|"))


@pytest.mark.parametrize("page", sorted(PAGES.keys() - {"CHANGELOG.md"}))
def test_page_has_at_most_1500_words(page):
    assert count_words(PAGES[page].read_text()) <= MOST_WORDS


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_to_files_of_the_source_tree(page):
    prose = re.sub(r"^```.*?^```", "", PAGES[page].read_text(), flags=re.M | re.S)
    missing = [link[3] for link in LINK.finditer(prose) if not (PAGES[page].parent / link[3]).exists()]
    assert missing == []


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("index.md", "[a](docs/cases.md#words)", "[a](cases.md#words)"),
        ("index.md", "![a](docs/pictures/scale.png)", "![a](pictures/scale.png)"),
        ("competence.md", "[code](../src/memclf/unknown.py)", "code"),
        ("competence.md", "[`b`](../benchmarks/README.md)", "[`b`](benchmarks/README.md)"),
        ("results/leaf.md", "[a](../answers.md), [b](../../CHANGELOG.md)", "[a](../answers.md), [b](../CHANGELOG.md)"),
        ("benchmarks/README.md", "[a](../docs/earn.md)", "[a](../earn.md)"),
        ("benchmarks/README.md", "[a](../README.md)", "[a](../index.md)"),
        ("search.md", "[a](https://example.org/b.md)", "[a](https://example.org/b.md)"),
        ("search.md", "```\nx[a](b)\n```", "```\nx[a](b)\n```"),
    ],
)
def test_links_of_the_source_tree_become_links_of_the_site(page, link, expected):
    assert follow_links(link, page) == expected


def test_check_finds_what_a_page_loads_from_another_host(tmp_path):
    kept = '<a href="https://example.org">x</a><script src="own.js"></script><link rel="canonical" href="https://a.b/">'
    (tmp_path / "good.html").write_text(f'<p id="here">{kept}</p>')
    assert list(find_other_hosts(tmp_path)) == []
    assert read_page(tmp_path / "good.html").ids == {"here"}
    (tmp_path / "bad.html").write_text(
        '<script src="//a.example/x.js"></script><link rel="stylesheet" href="https://b.example/y.css">'
        "<style>@import 'https://c.example/z.css';</style><p style=\"background: url(http://d.example/p.png)\"></p>"
    )
    (tmp_path / "bad.css").write_text("p { background: url('https://e.example/q.png') }")
    found = " ".join(find_other_hosts(tmp_path))
    assert [letter for letter in "abcde" if f"{letter}.example" not in found] == []
