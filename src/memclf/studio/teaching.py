"""Teaching while the expert paints: one thread, and only the newest strokes count."""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np
from threadpoolctl import threadpool_limits

from memclf._numbers import Array
from memclf.exceptions import ImageError
from memclf.studio.background import Background
from memclf.studio.painting import Region, list_regions, read_painted, read_small
from memclf.studio.pictures import shrink
from memclf.studio.project import Project
from memclf.vision.features.base import Masks
from memclf.vision.features.regions import TaughtRegions, check_regions
from memclf.vision.files import Pixels

#: Showings of a quick look: under a second of one core for ten pictures of 256 x 128; the fit has the full number.
QUICK = 30
PAUSE = 0.12  # seconds without a stroke, after which teaching begins
KEPT = 64  # pictures in memory
SAMPLE = 24  # pictures among which places to paint are looked for
PLACES = 6
OUTLINED = 400  # pixels of a picture's longer side, from which edges are thicker
INSIDE, EDGE = 60, 235  # opacity of a mask and of its edge, of 255


@dataclass(frozen=True)
class Lesson:
    """What was learned: regions, and a number that is another for each lesson."""

    number: int
    taught: TaughtRegions
    pictures: int
    strokes: int
    colours: dict[str, tuple[int, int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where a stroke would teach much: a picture, a pixel in it, and what that seems to be."""

    row: int
    x: int
    y: int
    percent: tuple[float, float]
    taken_for: str


class Teacher:
    """Learns from the strokes of a project, in the background, whenever `work.wake` is called."""

    def __init__(self, project: Project):
        self.project = project
        self.lesson: Lesson | None = None
        self.places: list[Place] = []
        self.looked_for: Lesson | None = None  # what these places are of
        self.work = Background(self._learn, self._suggest, PAUSE)
        self._pictures: OrderedDict[int, tuple[Pixels, float]] = OrderedDict()
        self._masks: OrderedDict[tuple[int, int, int], Masks] = OrderedDict()
        self._lock = threading.Lock()
        self._lessons = 0
        self._data: Any = None  # whose rows these are

    def masks(self, row: int, side: int) -> tuple[Pixels, Masks]:
        """A picture with a longer side of at most so many pixels, and where its regions are."""
        image = shrink(self._read(row)[0], side)
        lesson = self.lesson
        if lesson is None:
            return image, {}
        key = (lesson.number, row, side)
        with self._lock:
            if key not in self._masks:
                self._masks[key] = lesson.taught.masks(image)
                while len(self._masks) > KEPT:
                    self._masks.popitem(last=False)
            return image, self._masks[key]

    def draw(self, row: int, side: int) -> Array:
        """The masks of a picture in their colours, clear where there is none: RGBA."""
        image, masks = self.masks(row, side)
        shown = np.zeros((*image.shape[:2], 4), dtype=np.uint8)
        lesson = self.lesson
        if lesson is None:
            return shown
        parents = check_regions(lesson.taught.regions)
        thick = np.ones((3, 3) if side > OUTLINED else (2, 2), dtype=np.uint8)
        for name in sorted(masks, key=lambda each: _depth(each, parents)):  # what lies inside is drawn on top
            if name in lesson.colours:
                shown[masks[name]] = (*lesson.colours[name], INSIDE)
                edge = cv2.morphologyEx(masks[name].astype(np.uint8), cv2.MORPH_GRADIENT, thick) > 0
                shown[edge & masks[name]] = (*lesson.colours[name], EDGE)
        return shown

    def _learn(self) -> None:
        painted = read_painted(self.project, self._read)
        if painted is None:
            self.lesson, self.places = None, []
            return
        taught = TaughtRegions(painted.regions, showings=QUICK, verbose=0)
        with threadpool_limits(1, user_api="blas"):
            taught.fit(painted.images, painted.paintings)
        self._lessons += 1
        colours = {each.name: _rgb(each) for each in list_regions(self.project)}
        self.lesson = Lesson(self._lessons, taught, len(painted.images), painted.strokes, colours)

    def _suggest(self) -> None:
        """Look for places to paint next, unless there are newer strokes already."""
        lesson = self.lesson
        if lesson is None:
            return
        images, rows, scales = [], [], []
        for row in sample_rows(self.project, SAMPLE):
            if self.work.stale:
                return
            with suppress(ImageError, OSError):
                image, scale = self._read(row)
                images.append(image)
                rows.append(row)
                scales.append(scale)
        found = []
        with threadpool_limits(1, user_api="blas"):
            for place in lesson.taught.suggest(images, PLACES):
                scale, (height, width) = scales[place.image], images[place.image].shape[:2]
                x, y = round(place.column / scale), round(place.row / scale)
                at = 100 * place.column / width, 100 * place.row / height
                found.append(Place(rows[place.image], x, y, at, place.taken_for))
        self.places, self.looked_for = found, lesson

    def _follow(self, data: Any) -> None:
        """Forget what is known about rows when they stand for other pictures, and learn anew."""
        with self._lock:
            before, self._data = self._data, data
            if before is None or before is data:
                return
            self._pictures.clear()
            self._masks.clear()
            self.lesson, self.places = None, []
        self.work.wake()

    def _read(self, row: int) -> tuple[Pixels, float]:
        data = self.project.data
        if data is None:
            raise ImageError("there are no pictures")
        self._follow(data)
        with self._lock:
            if row in self._pictures:
                self._pictures.move_to_end(row)
                return self._pictures[row]
        found = read_small(data.cases, row)
        with self._lock:
            self._pictures[row] = found
            while len(self._pictures) > KEPT:
                self._pictures.popitem(last=False)
        return found


def sample_rows(project: Project, n: int) -> list[int]:
    """Rows of up to n pictures that can be read, with all classes in turn."""
    data = project.data
    if data is None:
        return []
    labels = data.target if data.target is not None else np.zeros(len(data))
    broken = project.broken
    rng = np.random.default_rng(0)
    queues: list[list[int]] = []
    for label in sorted(set(labels.tolist())):
        rows = np.flatnonzero(labels == label)
        queues.append([int(row) for row in rng.permutation(rows)[: n + len(broken)] if int(row) not in broken])
    found: list[int] = []
    while any(queues) and len(found) < n:
        found += [queue.pop(0) for queue in queues if queue]
    return found[:n]


def _depth(name: str, parents: dict[str, Any]) -> int:
    return 0 if parents.get(name) is None else 1 + _depth(parents[name], parents)


def _rgb(region: Region) -> tuple[int, int, int]:
    return int(region.colour[1:3], 16), int(region.colour[3:5], 16), int(region.colour[5:7], 16)
