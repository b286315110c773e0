"""The facts that `make facts` prints, the tables of docs/architecture.md, and what importing memclf loads."""

import ast
import re
import subprocess
import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

import facts
import memclf
from memclf.answers import RULES
from memclf.bounds import KINDS
from memclf.local.competence import DETECTORS
from memclf.similarity import REGISTRY as SIMILARITIES
from memclf.studies.registry import STUDIES
from memclf.vision.corruptions import REGISTRY as CORRUPTIONS
from memclf.vision.features.measures import REGISTRY as MEASUREMENTS
from memclf.vision.nets.catalogue import CATALOGUE
from memclf.vision.nets.recipes import RECIPES


@cache  # not at import: every worker would read all of the source
def modules():
    return facts.read_modules()


@cache
def parts():
    return facts.part_graph(modules(), facts.import_graph(modules()))


def test_tests_run_on_the_source_beside_them():
    """Not on another copy that is installed: `make test-archive` depends on it."""
    code = "import memclf; print(memclf.__file__)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert facts.SOURCE.samefile(Path(memclf.__file__).parent)
    assert facts.SOURCE.samefile(Path(shown.stdout.strip()).parent)


def test_front_door_has_at_most_18_parameters():
    assert facts.signatures(modules())[facts.FRONT_DOOR] <= facts.MOST_PARAMETERS


def test_attribute_probes_are_under_30_and_each_has_a_reason():
    found = facts.probes(modules())
    assert len(found) <= facts.MOST_PROBES
    assert [each for each in found if not each.explained] == []


def test_imports_make_no_cycle_of_modules_or_packages():
    assert facts.all_cycles(modules()) == []


def test_first_docstring_lines_have_at_most_90_characters():
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [(m.file, n) for m in modules().values() for n in ast.walk(m.tree) if isinstance(n, kinds)]
    first = {(file, line) for file, node in found for line in (ast.get_docstring(node) or "").splitlines()[:1]}
    assert [each for each in sorted(first) if len(each[1]) > 90] == []


# ------------------------------------------------------------------------------------------------- the table of imports


def read_import_table():
    """Part -> parts that it may import; the common ground is open to all."""
    rows = [(facts.quoted(row["part"]), row["may import"]) for row in facts.read_table("part")]
    common = {part for parts, cell in rows if cell == "each other" for part in parts}
    allowed = {part: set(facts.quoted(cell)) for parts, cell in rows for part in parts}
    return common, allowed


def test_import_table_lists_every_part_once():
    listed = [part for row in facts.read_table("part") for part in facts.quoted(row["part"])]
    assert sorted(listed) == sorted({module.part for module in modules().values()})


def test_every_import_is_allowed_by_the_table():
    common, allowed = read_import_table()
    assert {part: wrong for part in parts() if (wrong := parts()[part] - allowed[part] - common)} == {}


def test_every_permission_of_the_table_is_used():
    _, allowed = read_import_table()
    assert {part: unused for part in allowed if (unused := allowed[part] - parts()[part])} == {}


def test_common_ground_imports_nothing_but_common_ground():
    common, _ = read_import_table()
    assert {part: parts()[part] - common for part in common if parts()[part] - common} == {}


# ---------------------------------------------------------------------------------------------------- everyday changes

CHANGES = facts.everyday_changes()
REGISTRIES = {
    "a similarity": SIMILARITIES,
    "a corruption": CORRUPTIONS,
    "a competence detector": DETECTORS,
    "an answer rule": RULES,
    "a study": STUDIES,
    "a backbone's weights": CATALOGUE,
    "a bound": KINDS,
    "a recipe": RECIPES,
    "a measurement": MEASUREMENTS,
}
# A transcript of the paper's tables, with its own names for rows and columns. It does not grow.
TRANSCRIPT = "studies/published/tables.py"


def test_there_are_thirteen_everyday_changes_of_at_most_three_files():
    assert len(CHANGES) == 13
    assert {change: files for change, files in CHANGES.items() if not 1 <= len(files) <= facts.MOST_FILES} == {}


def test_files_of_everyday_changes_exist():
    for name in (name for files in CHANGES.values() for name in files):
        path = facts.SOURCE / name
        assert path.parent.is_dir() if path.stem == "NEW" else path.is_file(), name


def mentions(tree: ast.Module) -> set[str]:
    """What a file names: whole strings except docstrings, and what it defines or imports."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docs = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, kinds) and ast.get_docstring(node)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            found.add(node.value)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.alias):
            found.add(node.name)
    return found


def files_that_list(registry):
    """Files that name at least half of the entries of a registry: a new entry would have to be added there.

    Of a registry of up to five all entries: words such as "global" also mean other things.
    """
    names = [{name, entry.__name__} if isinstance(entry, type) else {name} for name, entry in registry.items()]
    for module in modules().values():
        found = mentions(module.tree)
        if sum(bool(each & found) for each in names) >= (len(names) / 2 if len(names) > 5 else len(names)):
            yield module.file


@pytest.mark.parametrize("change", REGISTRIES)
def test_names_are_listed_only_in_the_files_of_the_everyday_change(change):
    patterns = [file.replace("NEW", "*") for file in CHANGES[change]]
    others = [file for file in files_that_list(REGISTRIES[change]) if not any(fnmatch(file, each) for each in patterns)]
    assert set(others) <= {TRANSCRIPT}


# ------------------------------------------------------------------------------------------------- the facts themselves


@pytest.fixture
def small_package(tmp_path):
    """Modules of a package named memclf, from their texts."""

    def make(**files):
        folder = tmp_path / "memclf"
        for name, text in {"__init__": "", **files}.items():
            path = folder / f"{name.replace('__in__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            (path.parent / "__init__.py").touch()
        return facts.read_modules(folder)

    return make


def test_facts_see_imports_inside_functions_and_for_types(small_package):
    lazy = "def f():\n    from memclf import b\n"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from memclf.a import f\n"
    modules = small_package(a=lazy, b=typed)
    assert facts.import_graph(modules) == {"memclf": set(), "memclf.a": {"memclf.b"}, "memclf.b": {"memclf.a"}}
    assert facts.find_cycles(facts.import_graph(modules)) == [["memclf.a", "memclf.b", "memclf.a"]]


def test_facts_see_cycles_of_packages_whose_modules_make_none(small_package):
    modules = small_package(p__in__x="from memclf.q import y", q__in__y="", q__in__z="import memclf.p.x")
    assert facts.find_cycles(facts.import_graph(modules)) == []
    assert facts.all_cycles(modules) == [["memclf.p", "memclf.q", "memclf.p"]]


def test_facts_see_modules_that_are_imported_by_name(small_package):
    modules = small_package(
        p__in__x="", p__in__y="", a="import_module('memclf.p.x')", b="import_module(f'memclf.p.{name}')"
    )
    graph = facts.import_graph(modules)
    assert graph["memclf.a"] == {"memclf.p.x"}
    assert graph["memclf.b"] == {"memclf.p.x", "memclf.p.y"}


def test_facts_see_attribute_probes_without_a_reason(small_package):
    text = "# why\nhasattr(x, 'a')\ngetattr(x, 'b')\ngetattr(x, 'c')  # why\ngetattr(x, name)\n"
    assert [(each.at, each.explained) for each in facts.probes(small_package(a=text))] == [
        ("a.py:2", True),
        ("a.py:3", False),
        ("a.py:4", True),
    ]


def test_facts_are_printed():
    shown = "\n".join(facts.report(modules()))
    assert re.search(r"MemoryClassifier has \d+ parameters", shown)
    assert "a competence detector" in shown


# ------------------------------------------------------------------------------------------------ what importing loads

FIRST_USE = """
import sys

def show(*names):
    print([name for name in names if name in sys.modules])

import memclf
show("numpy")
memclf.Cases, memclf.MemoryClassifier, memclf.select_memories, memclf.similarity
show("torch", "torchvision", "cv2", "matplotlib", "skops", "typer")
from memclf.studies.published import table
table("leaf_architectures")
show("torch", "cv2", "PIL", "matplotlib", "memclf.vision.corruptions")
memclf.load
show("torch", "cv2", "dask", "sklearn.externals.array_api_compat.torch")
from memclf.vision import CORRUPTIONS, ImageCollection, corrupt
from memclf.vision.features import LeafColours, LesionFeatures, PatchColour
show("torch", "torchvision", "timm", "skorch", "matplotlib")
show("skops.io")
"""


def test_importing_memclf_leaves_heavy_packages_alone():
    """Names, the paper's tables, loading a model, corruptions and features: one after the other in a fresh process."""
    shown = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines() == [*["[]"] * 5, "['skops.io']"]


def test_public_names_are_found_and_others_are_errors():
    assert [name for name in memclf.__all__ if getattr(memclf, name).__name__ != name] == []
    assert {*memclf.__all__} <= {*dir(memclf)}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        memclf.nothing  # noqa: B018


BASE_ONLY = """
import importlib, pkgutil, sys

class Blocked:
    names = {"torch", "torchvision", "timm", "skorch", "cv2", "PIL", "matplotlib", "jinja2", "pandas",
             "safetensors", "fastapi", "uvicorn", "pydantic", "python_multipart", "prometheus_client",
             "pytest", "hypothesis"}
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
import memclf
count = 0
for module in pkgutil.walk_packages(memclf.__path__, "memclf.", onerror=lambda name: None):
    part = module.name.split(".")[1:3]
    if part[0] not in ("vision", "studies", "serve", "studio") or len(part) == 1 or part == ["studies", "published"]:
        importlib.import_module(module.name)
        count += 1

for name in ("corrupt", "ImageCollection", "ImageClassifier", "features"):
    try:
        getattr(getattr(memclf.vision, name), "PatchColour")
    except ImportError as error:
        print(name, error)

try:
    memclf.serve.create_app
except ImportError as error:
    print(error)

import numpy as np
X = np.random.default_rng(0).normal(size=(60, 2)); y = (X[:, 0] > 0).astype(int)
clf = memclf.MemoryClassifier(random_state=0).fit(X, y)
print(clf.explain(X[:1]))
try:
    clf.explain(X[:1])[0].plot()
except ImportError as error:
    print(error)
print(count, "modules")
"""


def test_every_module_of_the_base_install_imports_without_the_extras():
    shown = subprocess.run([sys.executable, "-c", BASE_ONLY], capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert int(shown.stdout.split()[-2]) > 30
    assert 'pip install "memclf[report]"' in shown.stdout
    assert 'pip install "memclf[serve]"' in shown.stdout
    assert shown.stdout.count('pip install "memclf[vision]"') == 4
