"""Saving and loading models without pickle."""

from memclf.persist.folder import load, save
from memclf.persist.history import read_edits, save_edit, undo_edit
from memclf.persist.inspection import Inspection, inspect_folder

__all__ = ["Inspection", "inspect_folder", "load", "read_edits", "save", "save_edit", "undo_edit"]
