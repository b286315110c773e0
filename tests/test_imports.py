"""Who may import whom (docs/architecture), and what importing memclf may load."""

import ast
import subprocess
import sys
from pathlib import Path

import memclf

SOURCE = Path(memclf.__file__).parent

# package -> packages of memclf that it may import; modules with a leading underscore, `unknown` and
# `exceptions` are small common ground and open to all.
COMMON = {"_cases", "_numbers", "_progress", "_seeds", "exceptions", "unknown"}
ALLOWED = {
    "similarity": set(),
    "memory": {"similarity.base"},
    "routing": {"similarity.base"},
    "local": set(),
    "fitted": set(),
    "selector": {"_inputs", "fitted", "memory", "routing", "similarity.base"},
    "answer": {"classifier", "local", "routing"},
    "folds": set(),
    "fitting": {
        *("_inputs", "_settings", "answer", "classifier", "folds"),
        *("local", "memory", "routing", "similarity.base"),
    },
    "heldout": {"answer", "classifier", "fitting", "folds", "local", "routing", "similarity.base"},
    "classifier": {
        *("_inputs", "_settings", "answer", "fitted", "fitting", "folds", "heldout"),
        *("bounds", "explain", "local", "memory", "routing", "similarity.base"),
    },
    "_inputs": {"similarity"},
    "_settings": {"classifier", "folds", "local", "routing"},
    "bounds": {"local", "similarity"},
    "explain": {"answer", "classifier", "fitted", "routing"},
    "evaluate": {"classifier", "routing", "similarity.base"},
    "persist": {"bounds", "classifier", "fitted", "selector", "local", "memory", "similarity", "vision", ""},
    "vision": {"similarity.base"},
    "studies": {"bounds", "classifier", "evaluate", "persist", "report", "similarity", "vision", ""},
    "report": {"bounds", "evaluate"},
    "cli": {"bounds", "classifier", "evaluate", "persist", "report", "studies", "vision", ""},
    "": {"classifier", "selector", "memory", "persist"},
}


def test_what_is_tested_is_the_source_beside_these_tests():
    """Not some other copy that is installed: `make test-archive` depends on it."""
    beside = Path(__file__).parents[1] / "src" / "memclf"
    code = "import memclf; print(memclf.__file__)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert beside.samefile(SOURCE)
    assert beside.samefile(Path(shown.stdout.strip()).parent)


def imports_of(path):
    """Modules of memclf that a file imports, function bodies included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "memclf":
            if node.module == "memclf":
                names = [alias.name for alias in node.names]
                yield from [n if (SOURCE / n).exists() or (SOURCE / f"{n}.py").exists() else "" for n in names]
            else:
                yield node.module.removeprefix("memclf.")
        elif isinstance(node, ast.Import):
            yield from [
                alias.name.removeprefix("memclf").removeprefix(".")
                for alias in node.names
                if alias.name.split(".")[0] == "memclf"
            ]


def home_of(path):
    relative = path.relative_to(SOURCE)
    first = relative.parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def permitted(home, module):
    top = module.split(".")[0]
    if top == home or top in COMMON:
        return True
    return any(module == allowed or (allowed and module.startswith(f"{allowed}.")) for allowed in ALLOWED[home])


def test_the_import_table_is_kept():
    wrong = []
    for path in SOURCE.rglob("*.py"):
        home = home_of(path)
        if home in COMMON:
            wrong += [(home, module) for module in imports_of(path) if module.split(".")[0] not in COMMON]
            continue
        assert home in ALLOWED, f"{path} has no place in the table"
        wrong += [(home, module) for module in imports_of(path) if not permitted(home, module)]
    assert not wrong


def test_the_table_would_notice_a_wrong_import():
    assert not permitted("similarity", "memory.search")
    assert not permitted("memory", "similarity.numeric")
    assert permitted("memory", "similarity.base")


HEAVY = ("torch", "torchvision", "cv2", "matplotlib", "skops", "typer")


def test_importing_memclf_leaves_heavy_packages_alone():
    code = f"import sys, memclf; print([name for name in {HEAVY} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


BASE_ONLY = """
import importlib, pkgutil, sys

class Blocked:
    names = {"torch", "torchvision", "timm", "skorch", "cv2", "PIL", "matplotlib", "jinja2", "pandas",
             "safetensors", "pytest", "hypothesis"}
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
import memclf
count = 0
for module in pkgutil.walk_packages(memclf.__path__, "memclf.", onerror=lambda name: None):
    part = module.name.split(".")[1:3]
    if part[0] not in ("vision", "studies") or part in (["vision"], ["studies"], ["studies", "published"]):
        importlib.import_module(module.name)
        count += 1

for name in ("corrupt", "ImageCollection", "ImageClassifier", "features"):
    try:
        getattr(getattr(memclf.vision, name), "PatchColour")
    except ImportError as error:
        print(name, error)

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


LIGHT = ("torch", "torchvision", "timm", "skorch", "matplotlib")


def test_corruptions_and_expert_features_do_not_load_networks():
    code = f"""
import sys
from memclf.vision import CORRUPTIONS, ImageCollection, corrupt
from memclf.vision.features import LeafColours, LesionFeatures, PatchColour
print([name for name in {LIGHT} if name in sys.modules])
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_every_module_of_the_base_install_imports_without_the_extras():
    shown = subprocess.run([sys.executable, "-c", BASE_ONLY], capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert int(shown.stdout.split()[-2]) > 30
    assert 'pip install "memclf[report]"' in shown.stdout
    assert shown.stdout.count('pip install "memclf[vision]"') == 4
