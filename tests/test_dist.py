"""The wheel in clean environments, without and with each extra. Slow: it downloads and installs the dependencies."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
USE = """
import importlib, pkgutil, sys, memclf
model, extra = sys.argv[1:]
needs = {
    "memclf.vision.": "vision", "memclf.studies.": "vision",
    "memclf.serve.images": "studio", "memclf.serve.": "serve studio", "memclf.studio.": "studio",
}
for module in pkgutil.walk_packages(memclf.__path__, "memclf.", onerror=lambda name: None):
    wanted = next((extras for name, extras in needs.items() if module.name.startswith(name)), extra)
    if wanted == extra or extra in wanted.split():
        importlib.import_module(module.name)
import numpy as np
X = np.random.default_rng(0).normal(size=(60, 2)); y = (X[:, 0] > 0).astype(int)
clf = memclf.MemoryClassifier(random_state=0).fit(X, y)
memclf.save(clf, model)
assert (memclf.load(model).predict(X) == clf.predict(X)).all()
"""
# What each extra is for.
USES = {
    "": "",
    "report": "clf.explain(X[:1])[0].plot().savefig(model + '/picture.png')",
    "tables": "clf.route(X).to_frame()",
    "scale": """
import pyarrow, pyarrow.parquet
pyarrow.parquet.write_table(pyarrow.table({"a": X[:, 0], "b": X[:, 1]}), model + ".parquet")
assert memclf.MemorySelector(threshold=0.5, random_state=0).fit(model + ".parquet").memory_indices_.size
""",
    "corruptions": """
from memclf.vision import CORRUPTIONS, ImageCollection, corrupt
image = np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)
assert {corrupt(image, name, 3).shape for name in CORRUPTIONS} == {image.shape}
assert "torch" not in sys.modules and not importlib.util.find_spec("torch")
""",
    "cluster": """
import dask.array
found = memclf.MemorySelector(threshold=0.5, random_state=0).fit(dask.array.from_array(X, chunks=(20, 2)))
assert found.memory_indices_.size
""",
    "mlflow": """
import memclf.mlflow
memclf.mlflow.save_model(clf, model + "-mlflow")
assert (memclf.mlflow.load_model(model + "-mlflow").predict(X) == clf.predict(X)).all()
""",
    "serve": "from memclf.serve import create_app\nassert create_app(clf).openapi()['paths']['/v1/predict']",
    "studio": """
import pathlib
from memclf.studio import Project, create_studio
rows = "\\n".join(f"{a:.3f},{b:.3f},{c}" for (a, b), c in zip(X, y))
pathlib.Path(model + ".csv").write_text("a,b,label\\n" + rows)
project = Project(model + "-project")
assert len(project.set_data(model + ".csv")) == 60
create_studio(project)
""",
    "vision": """  # with the tables, coefficients and weights that come along
from memclf.vision import CORRUPTIONS, ImageClassifier, ImageCollection, corrupt
from memclf.vision.features import LeafColours
image = np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)
images = ImageCollection([corrupt(image, name, 3) for name in CORRUPTIONS])
assert LeafColours().transform(images).shape[0] == 19
y = np.arange(19) % 2
clf = ImageClassifier(image_size=32, train="head", epochs=1).fit(images, y)
memclf.save(clf, model + "-network")
assert (memclf.load(model + "-network").predict(images) == clf.predict(images)).all()
""",
}


def test_every_extra_for_users_is_tried():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    not_for_users = {"all", "arch", "dev", "docs", "bench", "earn"}  # arch: weights alone
    assert set(USES) - {""} == set(extras) - not_for_users


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    run = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(out), str(ROOT)]
    subprocess.run(run, check=True, capture_output=True)
    return next(out.glob("memclf-*.whl"))


@pytest.mark.slow
@pytest.mark.parametrize("extra", USES, ids=lambda extra: extra or "base")
def test_the_wheel_works_in_a_clean_environment(wheel, extra, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    subprocess.run([python, "-m", "pip", "install", "-q", wanted], check=True, capture_output=True)

    def run(*words):
        shown = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert shown.returncode == 0, shown.stderr + shown.stdout
        return shown.stdout

    run(python, "-c", USE + USES[extra], str(tmp_path / "model"), extra)
    memclf = str(Path(python).parent / "memclf")
    assert "all files are whole" in run(memclf, "inspect", str(tmp_path / "model"))
    assert "memclf" in run(memclf, "doctor")
