"""Reading cases and labels from files: image folders, lists of images, and tables."""

from memclf.data.columns import ColumnDifference, compare_columns, match_columns

__all__ = ["ColumnDifference", "compare_columns", "match_columns"]
