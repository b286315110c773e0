import json
import tomllib
import webbrowser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memclf import __version__
from memclf.cli import app, doctor
from memclf.exceptions import MissingExtraError

EXTRAS = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["optional-dependencies"]
NOT_FOR_USERS = {"dev", "bench", "docs", "earn", "all"}
ASKED = [
    "numpy>=1.26",
    "no-such-package>=2; extra == 'report'",
    'numpy>=1.26; extra == "report"',
    "pandas[x]>=2.1; python_version > '3' and extra == 'tables'",
]


@pytest.fixture
def asked(monkeypatch):
    monkeypatch.setattr(doctor, "requires", lambda name: ASKED)


def run(monkeypatch, checks, *words):
    monkeypatch.setattr(doctor, "CHECKS", checks)
    return CliRunner().invoke(app, ["doctor", *words])


def fails(error):
    def check():
        raise error

    return check


def test_allows__extras_for_users__are_all_named():
    assert set(doctor.ALLOWS) == EXTRAS.keys() - NOT_FOR_USERS


def test_list_requirements__metadata__gives_names_by_extra(asked):
    assert doctor.list_requirements(None) == ["numpy"]
    assert doctor.list_requirements("report") == ["no-such-package", "numpy"]
    assert doctor.list_requirements("tables") == ["pandas"]


def test_doctor__missing_extra__is_named_and_no_fault(asked, monkeypatch):
    shown = run(monkeypatch, {"nothing": fails(MissingExtraError("needs more"))})
    assert shown.exit_code == 0
    assert 'missing no-such-package, for pictures of explanations, plots and reports: pip install "memclf[report]"' in (
        shown.output
    )
    assert "absent  needs more" in shown.output


def test_doctor__something_broken__exit_code_1(monkeypatch):
    shown = run(monkeypatch, {"fine": lambda: "well", "ill": fails(RuntimeError("two\nlines"))})
    assert shown.exit_code == 1
    assert "works   well" in shown.output
    assert "broken  RuntimeError: two lines" in shown.output


def test_doctor__json__is_one_object(asked, monkeypatch):
    told = json.loads(run(monkeypatch, {"fine": lambda: "well"}, "--json").output)
    assert told["memclf"] == __version__
    assert told["checks"] == {"fine": {"state": "works", "sentence": "well"}}
    assert told["extras"]["report"]["missing"] == ["no-such-package"]
    assert told["cores"] >= 1
    assert told["free_memory"] > 0


@pytest.mark.parametrize("name", ["classifier", "plots", "pictures", "networks"])
def test_checks__with_all_extras__find_that_it_works(name):
    assert doctor.run_check(name, doctor.CHECKS[name]).state == "works"


def test_check_browser__none_here__is_no_fault(monkeypatch):
    monkeypatch.setattr(webbrowser, "get", fails(webbrowser.Error("none")))
    monkeypatch.setattr(doctor, "BROWSERS", ())
    assert doctor.run_check("browser", doctor.check_browser).state == "absent"
