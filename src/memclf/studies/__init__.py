"""The case studies of the paper, end to end: colour patches, coffee leaves, acne lesions."""

from memclf.studies.registry import STUDIES, find_study, load_study, settings_for
from memclf.studies.settings import SCALES, Settings
from memclf.studies.study import Study, StudyData

__all__ = ["SCALES", "STUDIES", "Settings", "Study", "StudyData", "find_study", "load_study", "settings_for"]
