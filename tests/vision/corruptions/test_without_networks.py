"""Corruptions with what the extra `corruptions` brings: no torch, no pandas, no matplotlib, no YAML."""

import subprocess
import sys

USE = """
import sys
from pathlib import Path

class Blocked:
    names = {"torch", "torchvision", "timm", "skorch", "safetensors", "yaml", "matplotlib", "jinja2", "pandas",
             "pyarrow", "skimage"}
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
import numpy as np
from memclf.vision import CORRUPTIONS, ImageCollection, corrupt
from memclf.vision.corruptions import corrupt_folder, save_sheet
from PIL import Image

image = np.random.default_rng(0).integers(0, 255, (32, 40, 3), dtype=np.uint8)
print(len([name for name in CORRUPTIONS if corrupt(image, name, 1).shape == image.shape]))
folder = Path(sys.argv[1])
(folder / "in").mkdir()
Image.fromarray(image).save(folder / "in" / "a.png")
print(corrupt_folder(folder / "in", folder / "out", corruptions=["fog"], severities=[1]).written)
save_sheet(folder / "in" / "a.png", folder / "sheet.png", preset="cifar-32")
print(ImageCollection([image]).corrupted("frost", 2)[0].shape)
print("torch_uncertainty_assets" in sys.modules)  # the textures of frost are read as files
"""


def test_corruptions_folders_and_sheets_need_no_network_package(tmp_path):
    run = [sys.executable, "-c", USE, str(tmp_path)]
    shown = subprocess.run(run, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.split("\n")[:4] == ["19", "1", "(32, 40, 3)", "False"]
    assert (tmp_path / "sheet.png").stat().st_size > 0
