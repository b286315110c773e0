"""CSV files that say which images are for training and which for testing."""

from __future__ import annotations

import csv
from pathlib import Path

from memclf.exceptions import StudyError

PARTS = ("train", "test")


def read_rows(file: Path, needed: tuple[str, ...]) -> list[dict[str, str]]:
    """The rows of a CSV file with at least these columns; a short row has empty cells."""
    try:
        with open(file, newline="", encoding="utf-8-sig") as stream:
            reader = csv.DictReader(stream, restval="")
            rows = [{name: text for name, text in row.items() if name is not None} for row in reader]
    except OSError as error:
        raise StudyError(f"{file} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{file} is no CSV file: {error}") from error
    missing = [name for name in needed if not rows or name not in rows[0]]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise StudyError(
            f"{file} needs the columns {' and '.join(needed)}; {' and '.join(missing)} {verb} missing or empty"
        )
    return rows


def read_split(file: Path, column: str) -> dict[str, str]:
    """Name of an image, from this column, to "train" or "test"."""
    parts: dict[str, str] = {}
    for row in read_rows(file, (column, "split")):
        name, part = row[column].strip(), check_part(row["split"], f"{column} {row[column].strip()}", file)
        if parts.setdefault(name, part) != part:
            raise StudyError(f"{file} puts {column} {name} into both train and test")
    return parts


def check_part(part: str, image: str, file: Path) -> str:
    """Either train or test, however it is written; anything else is an error."""
    found = part.strip().lower()
    if found not in PARTS:
        raise StudyError(f"{file} says {part!r} for {image}; the column split holds train or test")
    return found


def refuse_split_without_data(data: str | None, split: str | None) -> None:
    """A split file names images of a folder, so it needs one."""
    if split is not None and data is None:
        raise StudyError("--split says which images of --data are for testing; give the folder too")
