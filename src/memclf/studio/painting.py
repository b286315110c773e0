"""What the expert painted: regions, strokes in the log, and paintings made of them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import cv2
import numpy as np

from memclf._numbers import Array
from memclf.exceptions import DataError, ImageError
from memclf.studio.log import Event
from memclf.studio.pictures import shrink
from memclf.studio.project import Project
from memclf.vision.features.measures.sight import FOREGROUND, PICTURE
from memclf.vision.features.outline import mask_colours
from memclf.vision.features.regions import check_regions
from memclf.vision.files import Pixels

REGIONS, STROKE = "regions", "stroke"  # kinds of events
MOST = 12  # regions
LONGEST = 40  # characters of a name
POINTS = 20_000  # of a stroke
SIDE = 1024  # pixels of the longer side at which pictures are taught; TaughtRegions looks at half of that at most


@dataclass(frozen=True)
class Region:
    """A region: strokes are of its number, so that its name can change."""

    number: int
    name: str
    inside: int | None = None

    @property
    def colour(self) -> str:
        """The colour of its strokes and masks."""
        return "#{:02x}{:02x}{:02x}".format(*mask_colours(self.number)[-1])


FIRST = (Region(1, "background"), Region(2, "object"), Region(3, "spot", 2))  # of a new project


def list_regions(project: Project) -> list[Region]:
    """The regions as the expert named them last."""
    event = project.log.last(REGIONS)
    return list(FIRST) if event is None else [Region(**each) for each in event.about["regions"]]


def set_regions(project: Project, regions: Sequence[Region]) -> None:
    """Name the regions anew; strokes of numbers that are gone count no more."""
    names = {each.number: each.name for each in regions}
    for name in names.values():
        if name in (PICTURE, FOREGROUND):
            raise DataError(
                f"a region cannot be called {name!r}, since all pictures have a {name}; choose another name"
            )
        if len(name) > LONGEST:
            raise DataError(f"a name has at most {LONGEST} characters; {name[:LONGEST]!r} has {len(name)}")
    if len(regions) > MOST:
        raise DataError(f"there may be at most {MOST} regions; got {len(regions)}")
    if len(set(names.values())) < len(regions):
        raise DataError("regions must have different names")
    check_regions({each.name: None if each.inside is None else names.get(each.inside) for each in regions})
    if list(regions) != list_regions(project):
        project.log.append(REGIONS, {"regions": [asdict(each) for each in regions]})


def add_stroke(project: Project, row: int, region: int, size: float, points: Any, erase: bool) -> Event:
    """Note a finished stroke: `points` and `size` (its width) are in pixels of the picture."""
    data = project.data
    if data is None or data.kind != "images" or not 0 <= row < len(data):
        raise DataError(f"there is no picture {row}")
    if region not in {each.number for each in list_regions(project)}:
        raise DataError("this region is no more; reload the page")
    path = np.asarray(points, dtype=np.float64)
    if path.ndim != 2 or path.shape[1] != 2 or not 1 <= len(path) <= POINTS or not np.isfinite(path).all():
        raise DataError(f"a stroke has 1 to {POINTS:,} points with two numbers each")
    if not (math.isfinite(size) and 0 < size <= 100_000):
        raise DataError(f"a brush is wider than nothing; got {size}")
    about = {"case": data.keys[row], "region": region, "size": size, "points": path.round(1).tolist(), "erase": erase}
    return project.log.append(STROKE, about)


def list_strokes(project: Project, case: str | None = None) -> list[Event]:
    """The strokes that stand, of one case or of all, in the order of time."""
    return [each for each in project.log.events(STROKE) if case is None or each.about["case"] == case]


def undo_stroke(project: Project, case: str) -> None:
    """Take the last stroke on a case back, if there is one."""
    if strokes := list_strokes(project, case):
        project.log.undo(strokes[-1].number)


def draw_strokes(
    strokes: Iterable[Mapping[str, Any]], numbers: Mapping[int, int], shape: tuple[int, int], scale: float = 1.0
) -> Array:
    """A painting: for each pixel 0, or the number of the region of the last stroke there.

    >>> stroke = {"region": 7, "size": 1, "points": [[0, 0], [2, 0]], "erase": False}
    >>> draw_strokes([stroke], {7: 2}, (2, 4))
    array([[2, 2, 2, 0],
           [0, 0, 0, 0]], dtype=uint8)
    """
    painting = np.zeros(shape, dtype=np.uint8)
    for stroke in strokes:
        value = 0 if stroke["erase"] else numbers.get(stroke["region"])
        if value is None:
            continue
        path = np.floor(np.asarray(stroke["points"], dtype=np.float64) * scale)
        path = np.clip(path, -30_000, 30_000).astype(np.int32)
        width = min(30_000, round(float(stroke["size"]) * scale))
        width = max(1, (width - 1) // 2 * 2)  # OpenCV draws even widths one pixel wider, and odd ones two
        cv2.polylines(painting, [np.concatenate([path, path[-1:]])[:, None]], False, value, width)
    return painting


@dataclass(frozen=True)
class Painted:
    """All that was painted, as `TaughtRegions` takes it; `regions` are those that have a stroke."""

    regions: dict[str, str | None]
    images: list[Pixels]
    paintings: list[Array]
    strokes: int


def read_painted(project: Project, read: Any = None) -> Painted | None:
    """The pictures with strokes and their paintings; None if there are not two regions.

    `read(row)` gives a picture and how much smaller it is than the original; by default it is read from its file.
    """
    data = project.data
    if data is None or data.kind != "images":
        return None
    read = read or (lambda row: read_small(data.cases, row))
    regions, strokes = list_regions(project), list_strokes(project)
    there = [
        each for each in regions if any(s.about["region"] == each.number and not s.about["erase"] for s in strokes)
    ]
    numbers = {each.number: place for place, each in enumerate(there, 1)}
    images, paintings = [], []
    for case in dict.fromkeys(each.about["case"] for each in strokes):
        if case not in data.rows:
            continue
        try:
            image, scale = read(data.rows[case])
        except (ImageError, OSError):  # it is gone, or broken by now; the others can teach
            continue
        own = [each.about for each in strokes if each.about["case"] == case]
        painting = draw_strokes(own, numbers, image.shape[:2], scale)
        if painting.any():
            images.append(image)
            paintings.append(painting)
    seen = {int(value) for painting in paintings for value in np.unique(painting)}
    if seen >= set(numbers.values()) and len(there) > 1:
        return Painted(name_parents(there, regions), images, paintings, len(strokes))
    # Some were erased again, or their pictures are gone: teach those that are left.
    there = [each for place, each in enumerate(there, 1) if place in seen]
    if len(there) < 2:
        return None
    new = np.zeros(len(numbers) + 1, dtype=np.uint8)
    for place, each in enumerate(there, 1):
        new[numbers[each.number]] = place
    return Painted(name_parents(there, regions), images, [new[each] for each in paintings], len(strokes))


def name_parents(there: Sequence[Region], all_regions: Sequence[Region]) -> dict[str, str | None]:
    """Each region, and the next one around it that is there."""
    known, names = {each.number: each for each in all_regions}, {each.number: each.name for each in there}
    found: dict[str, str | None] = {}
    for each in there:
        above = each.inside
        while above is not None and above not in names:
            above = known[above].inside if above in known else None
        found[each.name] = None if above is None else names[above]
    return found


def read_small(images: Any, row: int) -> tuple[Pixels, float]:
    """A picture at the size at which it is taught, and how much smaller than its file it is."""
    image = images[row]
    small = shrink(image, SIDE)
    return small, small.shape[1] / image.shape[1]


def digest_paintings(project: Project) -> str:
    """A name for all that was painted: another one after each stroke."""
    data = project.data
    about = [
        str(data.path) if data is not None else "",
        [asdict(each) for each in list_regions(project)],
        [each.number for each in list_strokes(project)],  # events never change, so that their numbers tell them
    ]
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
