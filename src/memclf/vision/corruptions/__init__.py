"""Corruptions of images as in ImageNet-C: noise, blur, weather and digital ones.

`REGISTRY` holds the label, the family and the row in the paper's tables of each. Neither it nor anything else here
loads torch.
"""

from memclf.vision.corruptions.apply import CORRUPTIONS, PAPER, PRESETS, REGISTRY, SETS, SEVERITIES, check, corrupt
from memclf.vision.corruptions.folder import corrupt_folder
from memclf.vision.corruptions.registry import FAMILIES, Corruption
from memclf.vision.corruptions.sheet import draw_sheet, save_sheet

__all__ = [
    "CORRUPTIONS",
    "FAMILIES",
    "PAPER",
    "PRESETS",
    "REGISTRY",
    "SETS",
    "SEVERITIES",
    "Corruption",
    "check",
    "corrupt",
    "corrupt_folder",
    "draw_sheet",
    "save_sheet",
]
