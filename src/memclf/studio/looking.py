"""A look at all pictures: thumbnails, broken files, near-duplicates. It runs as a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memclf._progress import track
from memclf.exceptions import ImageError
from memclf.studio.pictures import SMALL, Thumbnails, shrink
from memclf.studio.project import DATA, Project, write_json
from memclf.vision.twins import group_twins, look_hash


def look_at_all(folder: Path) -> dict[str, Any]:
    """Make every thumbnail; write to check.json what is broken and what is nearly the same."""
    project = Project(folder)
    data, event = project.data, project.log.last(DATA)
    if data is None or event is None or data.kind != "images":
        return {}
    thumbnails, images = Thumbnails(folder / "thumbnails"), data.cases
    paths = images.paths
    hashes: dict[str, int] = {}
    sizes: dict[str, list[int]] = {}
    broken: dict[str, str] = {}
    for row in track(range(len(data)), total=len(data), what="looking at pictures", verbose=None):
        try:
            image = images[row]
        except (ImageError, OSError) as error:
            broken[data.keys[row]] = str(error)
            continue
        small = shrink(image, SMALL)
        target = thumbnails.path(paths[row], row)
        if not target.exists():
            thumbnails.make(target, small)
        hashes[data.keys[row]] = look_hash(small)
        sizes[data.keys[row]] = [image.shape[1], image.shape[0]]
    keys = list(hashes)
    twins = [[keys[position] for position in group] for group in group_twins(list(hashes.values()))]
    found = {"path": event.about["path"], "broken": broken, "twins": twins, "sizes": _sum_sizes(sizes)}
    write_json(folder / "check.json", found)
    project.close()
    return {"broken": len(broken), "twins": len(twins)}


def _sum_sizes(sizes: dict[str, list[int]]) -> dict[str, list[int]]:
    """The smallest, the median and the largest picture, by their pixels."""
    order = sorted(sizes.values(), key=lambda size: size[0] * size[1])
    return {"smallest": order[0], "median": order[len(order) // 2], "largest": order[-1]} if order else {}
