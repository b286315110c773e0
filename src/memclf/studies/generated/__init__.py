"""Generated pictures that stand in for data, so that every study runs anywhere."""

from memclf.studies.generated.leaves import leaf_paintings, leaf_pictures, write_leaves
from memclf.studies.generated.patches import colour_patches
from memclf.studies.generated.skin import skin_photographs, write_skin

__all__ = [
    "colour_patches",
    "leaf_paintings",
    "leaf_pictures",
    "skin_photographs",
    "write_leaves",
    "write_skin",
]
