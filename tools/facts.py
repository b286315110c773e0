"""Facts about the source, measured from it: `make facts`. tests/test_architecture.py checks the same facts.

Imports inside functions and under TYPE_CHECKING count like all others, and so do modules that are imported by name
(`import_module("memclf.x")`), so that no dependency can hide.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "memclf"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
FRONT_DOOR, MOST_PARAMETERS = "memclf.classifier.estimator.MemoryClassifier", 18
MOST_PROBES, MOST_FILES = 29, 3
LONG_MODULE, LONG_LINE, LONG_SUMMARY = 350, 120, 90
PROBES = ("hasattr", "getattr", "setattr", "delattr")
TOP = "memclf"  # the part that `memclf/__init__.py` is

Graph = dict[str, set[str]]


@dataclass(frozen=True)
class Module:
    """One file of the source: what `import` calls it, where it is, and its place in the package."""

    name: str
    path: Path
    file: str

    @cached_property
    def lines(self) -> list[str]:
        return self.path.read_text(encoding="utf-8").splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse("\n".join(self.lines))

    @property
    def part(self) -> str:
        """The package or module directly below memclf that it belongs to."""
        return self.name.split(".")[1] if "." in self.name else TOP

    def at(self, line: int) -> str:
        return f"{self.file}:{line}"


def read_modules(source: Path = SOURCE) -> dict[str, Module]:
    """Every module of the source by its name."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        file = path.relative_to(source).as_posix()
        name = f"{source.name}/{file}".removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        found[name] = Module(name, path, file)
    return found


def imported_names(tree: ast.Module) -> Iterator[str]:
    """What a file imports, wherever in it. `import_module` with an f-string may import all of a package: "p.*"."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"name the module in full: {ast.unparse(node)}")
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            name = node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) else node.args[0]
            if isinstance(name, ast.Constant):
                yield f"{name.value}*" if name is not node.args[0] else name.value


def import_graph(modules: Mapping[str, Module]) -> Graph:
    """Module -> modules that it imports."""
    graph: Graph = {}
    for module in modules.values():
        found = graph.setdefault(module.name, set())
        for name in imported_names(module.tree):
            if name.endswith(".*"):  # any module of that package
                found |= {each for each in modules if each.rpartition(".")[0] == name[:-2]}
                continue
            while name and name not in modules:
                name = name.rpartition(".")[0]
            found |= {name} - {"", module.name}
    return graph


def part_graph(modules: Mapping[str, Module], graph: Graph) -> Graph:
    """Part of memclf -> parts that it imports."""
    parts: Graph = {}
    for name, targets in graph.items():
        part = modules[name].part
        parts.setdefault(part, set()).update({modules[each].part for each in targets} - {part})
    return parts


def sibling_graphs(modules: Mapping[str, Module], graph: Graph) -> dict[str, Graph]:
    """Package -> which of its own modules and subpackages import which others of them."""
    packages = {name for name, module in modules.items() if module.path.name == "__init__.py"}
    found: dict[str, Graph] = {}
    for package in packages:
        below, depth = f"{package}.", package.count(".") + 2
        for name in (name for name in graph if name.startswith(below)):
            child = ".".join(name.split(".")[:depth])
            others = {".".join(each.split(".")[:depth]) for each in graph[name] if each.startswith(below)}
            found.setdefault(package, {}).setdefault(child, set()).update(others - {child})
    return found


def find_cycles(graph: Graph) -> list[list[str]]:
    """Cycles of a graph: one for each arrow that must go before none is left."""
    left, found = {name: set(targets) for name, targets in graph.items()}, []
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            cycle = error.args[1][::-1]  # it lists who is imported first
            found.append(cycle)
            left[cycle[0]].discard(cycle[1])
        else:
            return found


def all_cycles(modules: Mapping[str, Module]) -> list[list[str]]:
    """Cycles between modules, and between packages at every level of the tree."""
    graph = import_graph(modules)
    packages = [cycle for siblings in sibling_graphs(modules, graph).values() for cycle in find_cycles(siblings)]
    return [*find_cycles(graph), *packages]


class Probe(NamedTuple):
    """A call as `getattr(x, "name")`, and whether a comment on its line or the line before says why."""

    at: str
    text: str
    explained: bool


def probes(modules: Mapping[str, Module]) -> list[Probe]:
    """Calls of hasattr, getattr, setattr and delattr with a literal name."""
    found = []
    for module in modules.values():
        for node in ast.walk(module.tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PROBES):
                continue
            if len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
                near = module.lines[max(0, node.lineno - 2) : node.end_lineno]
                explained = "#" in "".join(near[1:]) or near[0].lstrip().startswith("#")
                found.append(Probe(module.at(node.lineno), ast.unparse(node), explained))
    return found


def signatures(modules: Mapping[str, Module]) -> dict[str, int]:
    """Function, or class for its `__init__` -> number of parameters, self and cls left out."""
    found = {}
    for module in modules.values():
        for owner in ast.walk(module.tree):
            for node in ast.iter_child_nodes(owner):
                if isinstance(node, ast.FunctionDef):
                    inside = f"{module.name}.{owner.name}" if isinstance(owner, ast.ClassDef) else module.name
                    given = node.args
                    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                    name = inside if node.name == "__init__" else f"{inside}.{node.name}"
                    found[name] = len([each for each in names if each not in ("self", "cls")])
    return found


def long_summaries(modules: Mapping[str, Module]) -> list[str]:
    """Docstrings whose first line is too long."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [(module, node) for module in modules.values() for node in ast.walk(module.tree) if isinstance(node, kinds)]
    return [
        module.at(1 if isinstance(node, ast.Module) else node.lineno)
        for module, node in nodes
        if len((ast.get_docstring(node) or "").partition("\n")[0]) > LONG_SUMMARY
    ]


def read_table(first: str) -> list[dict[str, str]]:
    """The rows of the table in docs/architecture.md whose first column is called `first`."""
    lines = ARCHITECTURE.read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def quoted(cell: str) -> list[str]:
    """What a cell of a table has between backticks."""
    return re.findall(r"`([^`]+)`", cell)


def everyday_changes() -> dict[str, list[str]]:
    """Everyday change -> the files of src that it touches, as the table says. NEW stands for a file of its own."""
    return {row["change"]: quoted(row["files of src"]) for row in read_table("change")}


def listed(title: str, entries: Iterable[str]) -> list[str]:
    return ["", f"{title}:", *([f"  {each}" for each in entries] or ["  none"])]


def counted(counts: Iterable[tuple[str, int]]) -> list[str]:
    return [f"{count:6,}  {name}" for name, count in counts]


def report(modules: Mapping[str, Module]) -> Iterator[str]:
    """All facts, line by line."""
    lines: Counter[str] = Counter()
    for module in modules.values():
        lines[module.part] += len(module.lines)
    title = f"{sum(lines.values()):,} lines of Python in {len(modules)} modules"
    yield from listed(title, counted(lines.most_common()))
    widths = signatures(modules)
    title = f"MemoryClassifier has {widths[FRONT_DOOR]} parameters (at most {MOST_PARAMETERS}); the widest signatures"
    yield from listed(title, counted(Counter(widths).most_common(8)))
    found = probes(modules)
    title = f"{len(found)} calls of {', '.join(PROBES)} with a literal name (at most {MOST_PROBES})"
    yield from listed(f"{title}; without a reason", [f"{each.at}  {each.text}" for each in found if not each.explained])
    parts = part_graph(modules, import_graph(modules))
    order = TopologicalSorter(parts).static_order() if not find_cycles(parts) else sorted(parts)
    yield from listed("Who imports whom", [f"{part:12}{', '.join(sorted(parts[part])) or '-'}" for part in order])
    title = "Cycles between modules or packages, imports inside functions and for types included"
    yield from listed(title, [" -> ".join(cycle) for cycle in all_cycles(modules)])
    long = [(each.name, len(each.lines)) for each in modules.values() if len(each.lines) > LONG_MODULE]
    yield from listed(f"Modules over {LONG_MODULE} lines", counted(long))
    numbered = [(each, number, line) for each in modules.values() for number, line in enumerate(each.lines, 1)]
    wide = [each.at(number) for each, number, line in numbered if len(line) > LONG_LINE]
    yield from listed(f"Lines over {LONG_LINE} characters", wide)
    summaries = Counter(re.split("[/:]", at)[0] for at in long_summaries(modules))
    title = f"{summaries.total()} docstrings whose first line is over {LONG_SUMMARY} characters"
    yield from listed(title, counted(summaries.most_common()))
    title = f"Everyday changes and the files of src that they touch (at most {MOST_FILES})"
    yield from listed(title, [f"{change:28}{', '.join(files)}" for change, files in everyday_changes().items()])


if __name__ == "__main__":
    print(*report(read_modules()), sep="\n")
