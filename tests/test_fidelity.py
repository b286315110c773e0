"""docs/fidelity.md names code and tests: every name is found, and every item of the paper has both."""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

from memclf.cli.main import COMMANDS, load_command

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "fidelity.md").read_text()
SECTIONS = (
    "Definitions",
    "Algorithms 1 and 2",
    "Two stages",
    "Generalisation bound",
    "Studies",
    "Training recipes",
    "Corruptions",
    "Tables and figures",
)
HEAD = ["paper", "code", "shown by", "differs on purpose"]
NAME = re.compile(r"([A-Za-z_][\w.]*)(?:\((\w+)=\))?")


def read_rows(page):
    lines = [line for line in page.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in rows if row != HEAD and not set("".join(row)) <= {"-"}]


ROWS = read_rows(PAGE)


def names_in(cell):
    return re.findall(r"`([^`]+)`", cell)


def find(name):
    """The object that a name after `memclf.` stands for; AttributeError if there is none."""
    parts = ["memclf", *name.split(".")]
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if not module.startswith(error.name or module + "."):
                raise
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise AttributeError(name)


def check_code(name):
    if "/" in name:
        assert (ROOT / "src" / "memclf" / name).is_file(), f"there is no file src/memclf/{name}"
        return
    match = NAME.fullmatch(name)
    assert match, f"{name!r} is no name of code"
    found = find(match[1])
    if match[2]:
        assert match[2] in inspect.signature(found).parameters, f"{match[1]} has no parameter {match[2]}"


@cache
def functions_in(file):
    return {node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)}


def check_proof(name):
    if "::" in name:
        file, function = name.split("::")
        assert function in functions_in(ROOT / "tests" / file), f"{file} has no test {function}"
        return
    words = name.split()
    assert words[0] in ("memclf", "python"), f"{name!r} is neither a test nor a command"
    if words[0] == "memclf":
        assert words[1] in COMMANDS, f"memclf has no command {words[1]}"
        known = {name for each in load_command(words[1]).params for name in (*each.opts, *each.secondary_opts)}
        strange = [word for word in words[2:] if word.startswith("--") and word not in known]
        assert not strange, f"memclf {words[1]} has no option {strange[0]}"
    else:
        assert (ROOT / words[1]).is_file(), f"there is no file {words[1]}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_fidelity__each_row__names_code_and_proof_that_exist(row):
    assert len(row) == 4, f"a row has four cells, this has {len(row)}: {row}"
    item, code, proof, differs = row
    assert item
    if code == "none":  # not built: the last cell says why
        assert differs
        return
    assert names_in(code)
    assert names_in(proof)
    for name in names_in(code):
        check_code(name)
    for name in names_in(proof):
        check_proof(name)


def test_fidelity__sections__are_all_there_in_their_order():
    assert tuple(re.findall(r"^## (.+)$", PAGE, re.M)) == SECTIONS
    assert len(ROWS) >= 100  # as the paper has items


@pytest.mark.parametrize("name", ["memory.nothing", "nothing.at.all", "MemorySelector(nothing=)", "a/file.csv", "a b"])
def test_check_code__name_that_does_not_exist__fails(name):
    with pytest.raises((AssertionError, AttributeError)):
        check_code(name)


@pytest.mark.parametrize(
    "name",
    [
        "test_fidelity.py::test_nothing",
        "memclf nothing",
        "memclf study --nothing",
        "python benchmarks/nothing.py",
        "make nothing",
    ],
)
def test_check_proof__test_or_command_that_does_not_exist__fails(name):
    with pytest.raises(AssertionError):
        check_proof(name)
