"""Corruptions of images: noise, blur, weather and digital ones, as in ImageNet-C, at five severities."""

from memclf.vision.corruptions.apply import CORRUPTIONS, PAPER, PRESETS, SEVERITIES, check, corrupt

__all__ = ["CORRUPTIONS", "PAPER", "PRESETS", "SEVERITIES", "check", "corrupt"]
