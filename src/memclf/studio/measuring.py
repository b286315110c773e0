"""Which measurements the expert chose, as a SPEC, and which of them will survive the field."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memclf.evaluate.inspection import inspect_features
from memclf.exceptions import DataError, SpecError
from memclf.studio.description import default_measurements, make_features
from memclf.studio.painting import digest_paintings, list_regions, list_strokes, name_parents
from memclf.studio.project import Project, write_json
from memclf.vision.features import Measurements, read_spec, write_spec
from memclf.vision.features.base import Masks
from memclf.vision.features.measures import REGISTRY
from memclf.vision.features.measures.base import Measurement
from memclf.vision.features.measures.sight import FOREGROUND, PICTURE

MEASUREMENTS = "measurements"  # a kind of events
INSPECTION = "inspection.json"
#: What can be chosen of each part: the word of a SPEC, its options, and what people call it.
OFFERED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("colour", {}, "colour"),
    ("shape", {}, "shape"),
    ("texture", {}, "texture"),
    ("sharpness", {}, "sharpness"),
    ("count", {"kind": "dark"}, "dark blobs"),
    ("count", {"kind": "bright"}, "bright blobs"),
    ("count", {"kind": "red"}, "red blobs"),
    ("count", {"kind": "yellow"}, "yellow blobs"),
    ("place", {"part": "darkest"}, "place of the darkest part"),
    ("place", {"part": "reddest"}, "place of the reddest part"),
)


@dataclass(frozen=True)
class Choice:
    """A measurement that can be chosen."""

    word: str
    of: str
    label: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What a form calls it."""
        return json.dumps([self.word, self.of, self.options], sort_keys=True)

    @property
    def sentence(self) -> str:
        """What its numbers say."""
        return REGISTRY[self.word].sentence

    def make(self, regions: Any) -> Measurement:
        """The measurement itself."""
        return REGISTRY[self.word](
            of=self.of, regions=None if self.of in (FOREGROUND, PICTURE) else regions, **self.options
        )


class NamedRegions:
    """Stands for the taught regions where only their names matter: nothing is measured with it."""

    def masks(self, image: Any) -> Masks:
        """Nothing is found."""
        return {}


def list_choices(project: Project) -> dict[str, list[Choice]]:
    """What can be chosen of each painted region, of the foreground and of the picture."""
    painted = {each.about["region"] for each in list_strokes(project) if not each.about["erase"]}
    regions = list_regions(project)
    parents = name_parents([each for each in regions if each.number in painted], regions)
    found: dict[str, list[Choice]] = {}
    for of in (*parents, FOREGROUND, PICTURE):
        shares = [] if of == PICTURE else [parents.get(of) or PICTURE]
        own = [
            Choice("share", of, f"share of the {within}", {} if within == PICTURE else {"within": within})
            for within in shares
        ]
        for word, options, label in OFFERED:
            if not (of == PICTURE and word == "shape"):
                usual = REGISTRY[word].options()
                own.append(Choice(word, of, label, {name: v for name, v in options.items() if v != usual[name]}))
        found[of] = own
    return found


def read_chosen(project: Project) -> Measurements | None:
    """The measurements of the SPEC, not yet able to measure; the usual ones of taught regions without it."""
    if project.spec.exists():
        return read_spec(project.spec, regions=NamedRegions())
    names = [choice.of for of in list_choices(project).values() for choice in of if choice.word == "share"]
    names = [name for name in names if name not in (FOREGROUND, PICTURE)]
    if len(names) < 2:
        return None
    regions = list_regions(project)
    taught: Any = NamedRegions()
    taught.regions = name_parents([each for each in regions if each.name in names], regions)
    return default_measurements(taught)


def key_of(measurement: Any) -> str:
    """The key of the choice that a measurement is."""
    usual, params = type(measurement).options(), measurement.get_params(deep=False)
    changed = {name: params[name] for name, value in usual.items() if params[name] != value}
    return Choice(measurement.word, measurement.of, "", changed).key


def choose(project: Project, keys: Sequence[str]) -> None:
    """Use these measurements: write the SPEC, and note it. What the page does not offer stays as it is."""
    offered = {choice.key: choice for choices in list_choices(project).values() for choice in choices}
    known = read_chosen(project)
    others = [] if known is None else [each for each in known.measurements if key_of(each) not in offered]
    strange = [key for key in keys if key not in offered]
    if strange:
        raise DataError(f"there is no measurement {strange[0]!r}; reload the page")
    regions = NamedRegions()
    made = [*others, *(offered[key].make(regions) for key in keys)]
    gone = _known_regions(project)
    made = [each for each in made if each.of in gone or each.of in (FOREGROUND, PICTURE)]
    if not made:
        raise DataError("choose at least one measurement")
    names = set(Measurements(made).names)
    left_out = [] if known is None else [name for name in known.leave_out if name in names]
    _write(project, made, [] if set(left_out) == names else left_out)


def leave_out(project: Project, name: str, leave: bool) -> None:
    """Leave a single number out of the description, or take it back in."""
    known = read_chosen(project)
    if known is None:
        known = read_defaults()
    if name not in known._all_names():
        raise DataError(f"there is no number {name!r} in the description; reload the page")
    rest = [each for each in known.leave_out if each != name]
    _write(project, list(known.measurements), [*rest, name] if leave else rest)


def undo_choice(project: Project) -> None:
    """Take the last choice of measurements back."""
    event = project.log.last(MEASUREMENTS)
    if event is None:
        return
    project.log.undo(event.number)
    before = project.log.last(MEASUREMENTS)
    if before is None:
        project.spec.unlink(missing_ok=True)
    else:
        project.spec.write_text(before.about["spec"], encoding="utf-8")


def read_defaults() -> Measurements:
    """What memclf measures of pictures where nothing was taught or chosen."""
    from memclf.own.defaults import make_measurements

    found: Measurements = make_measurements()
    return found


def _write(project: Project, made: list[Any], left_out: list[str]) -> None:
    whole = Measurements(made, leave_out=left_out)
    try:
        whole._validate_params()
    except ValueError as error:
        raise DataError(str(error)) from None
    part = write_spec(whole, project.spec.with_suffix(".new"))
    text = part.read_text(encoding="utf-8")
    project.log.append(MEASUREMENTS, {"spec": text})
    part.replace(project.spec)


def _known_regions(project: Project) -> set[str]:
    return {each.name for each in list_regions(project)}


# ---------------------------------------------------------------------------------------------- what survives the field


def inspect_measurements(folder: Path) -> dict[str, Any]:
    """Find out which measurements survive, on training cases; written to inspection.json. It runs as a job."""
    project = Project(folder)
    features = make_features(project) or read_defaults()
    about = digest_measurements(project)
    whole = Measurements(features.measurements)  # also what is left out: it may be taken back
    data = project.training()
    found = inspect_features(whole, data.cases, data.target)
    advice = [each for each in (found.build_on, found.beware, found.caution) if each]
    write_json(folder / INSPECTION, {"about": about, **found.as_dict(), "advice": advice})
    project.close()
    return {"measurements": len(found.measurements)}


def read_inspection(project: Project) -> dict[str, Any] | None:
    """What the last inspection found, with `old` if the description is another by now; None without one."""
    try:
        found = json.loads((project.folder / INSPECTION).read_text(encoding="utf-8"))
        found["old"] = found["about"] != digest_measurements(project)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return dict(found)


def digest_measurements(project: Project) -> str:
    """A name for what is measured, whatever is left out of it."""
    try:
        known = read_chosen(project)
        keys = [] if known is None else sorted(key_of(each) for each in known.measurements)
    except SpecError:
        keys = ["a SPEC that cannot be read"]
    return hashlib.sha256(json.dumps([digest_paintings(project), keys]).encode()).hexdigest()[:16]
