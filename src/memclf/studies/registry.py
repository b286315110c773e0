"""All case studies. A new study is a module that defines it, and its name in this file."""

from __future__ import annotations

from typing import Any

from memclf.exceptions import StudyError
from memclf.studies.acne import ACNE
from memclf.studies.color import COLOR
from memclf.studies.leaf import LEAF
from memclf.studies.settings import Settings
from memclf.studies.study import Study, StudyData

STUDIES: dict[str, Study] = {study.name: study for study in (COLOR, LEAF, ACNE)}


def find_study(name: str) -> Study:
    """The study of this name.

    >>> find_study("colour").name
    'color'
    """
    for study in STUDIES.values():
        if name in (study.name, *study.other_names):
            return study
    raise StudyError(f"there is no study {name!r}; the studies are {', '.join(STUDIES)}")


def settings_for(study: str, scale: str = "quick", **asked: Any) -> Settings:
    """The settings of a study at a scale; values in `asked` replace them, None does not.

    >>> settings_for("leaf", "full", seeds=(7,)).seeds, settings_for("leaf", "full").epochs
    ((7,), 8)
    """
    return find_study(study).settings(scale, **asked)


def load_study(settings: Settings) -> StudyData:
    """The images of the study that the settings are for."""
    return find_study(settings.study).load(settings)
