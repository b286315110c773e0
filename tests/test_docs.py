"""Every Python snippet in README and docs runs, and prints what it says."""

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
WITH_CODE = [page for page in PAGES if BLOCK.search(page.read_text())]
OLD = np.__version__.startswith("1.")  # `make test-oldest`, where searches and fits end a little elsewhere


class Words(doctest.OutputChecker):
    """Compares what is printed; with old versions all of it but the figures."""

    def check_output(self, want, got, optionflags):
        if OLD:
            want, got = (re.sub(r"\d[\d,.]*", "#", text) for text in (want, got))
        return super().check_output(want, got, optionflags)


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
def test_the_snippets_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "__page__"}
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for number, code in enumerate(BLOCK.findall(page.read_text())):
        if ">>>" not in code:
            exec(compile(code, f"{page.name}[{number}]", "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(code, names, f"{page.name}[{number}]", str(page), 0)
        report: list[str] = []
        runner = doctest.DocTestRunner(Words(), optionflags=flags)
        runner.run(test, out=report.append, clear_globs=False)
        assert not runner.failures, "".join(report)
        names = test.globs


def test_there_is_code_in_readme_and_docs():
    assert {"README.md", "similarities.md", "search.md", "unknown.md"} <= {page.name for page in WITH_CODE}


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        prose = BLOCK.sub("", page.read_text())  # code is full of brackets
        for target in re.findall(r"\]\((?!http)([^)#]+)", prose):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
