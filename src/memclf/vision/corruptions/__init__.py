"""Corruptions of images: noise, blur, weather and digital ones, as in ImageNet-C, at five severities."""

from memclf.vision.corruptions.apply import CORRUPTIONS, PAPER, PRESETS, SEVERITIES, check, corrupt
from memclf.vision.corruptions.folder import corrupt_folder
from memclf.vision.corruptions.sheet import draw_sheet, save_sheet

__all__ = [
    "CORRUPTIONS",
    "PAPER",
    "PRESETS",
    "SEVERITIES",
    "check",
    "corrupt",
    "corrupt_folder",
    "draw_sheet",
    "save_sheet",
]
