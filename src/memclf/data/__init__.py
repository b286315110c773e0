"""Reading cases and labels from files: image folders, lists of images, and tables."""

from memclf.data.cases import Block, CaseFile, read_cases, read_unlabelled, takes_images
from memclf.data.columns import ColumnDifference, compare_columns, match_columns
from memclf.data.images import list_images, read_groups, read_images
from memclf.data.training import TrainingCases, read_training

__all__ = [
    "Block",
    "CaseFile",
    "ColumnDifference",
    "TrainingCases",
    "compare_columns",
    "list_images",
    "match_columns",
    "read_cases",
    "read_groups",
    "read_images",
    "read_training",
    "read_unlabelled",
    "takes_images",
]
