"""What is written in more than one place for a release says the same everywhere."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from memclf._version import __version__

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RECIPE = (ROOT / "conda" / "meta.yaml").read_text()


def test_version_is_that_of_the_citation_and_the_recipe():
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == __version__
    assert re.search(r'set version = "(.*)"', RECIPE)[1] == __version__


def test_changelog_has_this_version_with_the_date_of_the_citation():
    released = yaml.safe_load((ROOT / "CITATION.cff").read_text())["date-released"]
    first, newest = re.findall(r"^## (.*)", (ROOT / "CHANGELOG.md").read_text(), re.M)[:2]
    assert (first, newest) == ("Unreleased", f"{__version__}, {released}")


def test_recipe_asks_for_the_same_packages_as_pyproject():
    run = yaml.safe_load(re.sub(r"{%.*?%}|{{.*?}}", "", RECIPE))["requirements"]["run"]
    asked = {Requirement(each) for each in run}
    assert asked == {Requirement(f"python{PYPROJECT['requires-python']}"), *map(Requirement, PYPROJECT["dependencies"])}


def test_workflow_runs_every_python_of_the_classifiers():
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]["run"]
    promised = re.findall(r"Python :: (\d\.\d+)", "\n".join(PYPROJECT["classifiers"]))
    assert job["strategy"]["matrix"]["python"] == promised


@pytest.mark.parametrize("file", [".pre-commit-config.yaml", ".github/ISSUE_TEMPLATE/bug.yml", "mkdocs.yml"])
def test_files_of_settings_can_be_read(file):
    assert yaml.safe_load((ROOT / file).read_text())


def test_commit_hooks_come_from_this_tree_alone():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert {each["repo"] for each in hooks} == {"local"}


@pytest.mark.parametrize(
    "file",
    [".ci/run", ".github/workflows/tests.yml", ".github/PULL_REQUEST_TEMPLATE.md", "CONTRIBUTING.md", "README.md"],
)
def test_targets_of_make_that_a_file_names_exist(file):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"^\s*(?:- run: )?make ([a-z-]+)|`make ([a-z-]+)`", (ROOT / file).read_text(), re.M))
    assert {first or second for first, second in named} <= targets
    assert named


def test_commit_hooks_call_what_the_dev_extra_installs():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    dev = {Requirement(each).name for each in PYPROJECT["optional-dependencies"]["dev"]}
    assert {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in hooks} <= dev
