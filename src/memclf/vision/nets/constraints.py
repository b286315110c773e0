"""What the parameters of an image classifier may be, as data."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from memclf.vision.nets.schedules import SCHEDULES
from memclf.vision.nets.skorch_net import OPTIMIZERS

COUNT = Interval(Integral, 1, None, closed="left")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")

CONSTRAINTS: dict[str, Any] = {
    "backbone": "no_validation",  # backbones.build
    "pretrained": "no_validation",  # weights.load_pretrained
    "image_size": "no_validation",  # files.as_height_width
    "recipe": "no_validation",  # recipes.get_recipe
    "train": [StrOptions({"all", "head"})],
    "epochs": [COUNT],
    "batch_size": [COUNT],
    "lr": [Interval(Real, 0, None, closed="neither")],
    "momentum": [NOT_NEGATIVE],
    "weight_decay": [NOT_NEGATIVE],
    "optimizer": [StrOptions(set(OPTIMIZERS))],
    "schedule": [StrOptions({name for name in SCHEDULES if name is not None}), None],
    "label_smoothing": [Interval(Real, 0, 1, closed="both")],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "early_stopping": [COUNT, None],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "features": [HasMethods(["fit", "transform"]), None],
    "share_backbone": ["boolean"],
    "local_epochs": [COUNT, None],
    "checkpoint": [str, os.PathLike, None],
    "device": [str],
    "mixed_precision": ["boolean"],
    "predict_batch_size": [COUNT, None],
    "callbacks": [list, tuple, None],
    "random_state": ["random_state"],
    "verbose": ["verbose", None],
}
