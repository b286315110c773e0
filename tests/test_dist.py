"""The wheel in a clean environment. Slow: it downloads and installs the dependencies."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
USE = """
import importlib, pkgutil, sys, memclf
vision = "vision" in sys.argv
for module in pkgutil.walk_packages(memclf.__path__, "memclf.", onerror=lambda name: None):
    if vision or not module.name.startswith("memclf.vision."):
        importlib.import_module(module.name)
import numpy as np
X = np.random.default_rng(0).normal(size=(60, 2)); y = (X[:, 0] > 0).astype(int)
clf = memclf.MemoryClassifier(random_state=0).fit(X, y)
memclf.save(clf, sys.argv[1])
assert (memclf.load(sys.argv[1]).predict(X) == clf.predict(X)).all()
if "plot" in sys.argv:
    clf.explain(X[:1])[0].plot().savefig(sys.argv[1] + "/picture.png")
    clf.route(X).to_frame()
if vision:  # with the tables, coefficients and weights that come along
    from memclf.vision import CORRUPTIONS, ImageClassifier, ImageCollection, corrupt
    from memclf.vision.features import LeafColours
    image = np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)
    images = ImageCollection([corrupt(image, name, 3) for name in CORRUPTIONS])
    assert LeafColours().transform(images).shape[0] == 19
    y = np.arange(19) % 2
    clf = ImageClassifier(image_size=32, train="head", epochs=1).fit(images, y)
    memclf.save(clf, sys.argv[1] + "-network")
    assert (memclf.load(sys.argv[1] + "-network").predict(images) == clf.predict(images)).all()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    run = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(out), str(ROOT)]
    subprocess.run(run, check=True, capture_output=True)
    return next(out.glob("memclf-*.whl"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extras", "use"),
    [("", []), ("[report,tables]", ["plot"]), ("[vision]", ["vision"])],
    ids=["base", "tables", "vision"],
)
def test_the_wheel_works_in_a_clean_environment(wheel, extras, use, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", f"{wheel}{extras}"], check=True, capture_output=True)
    shown = subprocess.run(
        [python, "-c", USE, str(tmp_path / "model"), *use], capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    command = subprocess.run(
        [str(Path(python).parent / "memclf"), "inspect", str(tmp_path / "model")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "all files are whole" in command.stdout, command.stderr
