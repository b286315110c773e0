"""The case studies of the paper, end to end: colour patches, coffee leaves, acne lesions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from memclf.studies.settings import SCALES, STUDIES, Settings, settings_for

if TYPE_CHECKING:
    from memclf.studies.study import Study

__all__ = ["SCALES", "STUDIES", "Settings", "settings_for", "study_for"]


def study_for(settings: Settings) -> Study:
    """The data, features and corruptions of a study."""
    module = import_module(f"memclf.studies.{settings.study}")
    found: Study = getattr(module, f"{settings.study}_study")(settings)
    return found
