"""A fitted classifier that takes part in an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memclf.evaluate.store import ModelId


@dataclass(frozen=True)
class Contender:
    """A fitted classifier with a name.

    Rows tell contenders apart by model, recipe, backbone and seed.
    """

    model: str
    estimator: Any
    recipe: str = ""
    backbone: str = ""
    seed: int = 0

    @property
    def name(self) -> ModelId:
        return ModelId(self.model, self.recipe, self.backbone, int(self.seed))
