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
from memclf.studio.painting import Region, digest_paintings, list_regions, list_strokes, name_parents
from memclf.studio.project import Project, write_json
from memclf.vision.features import Measurements, read_spec, write_spec
from memclf.vision.features.base import Masks
from memclf.vision.features.measures import REGISTRY
from memclf.vision.features.measures.base import Measurement
from memclf.vision.features.measures.sight import FOREGROUND, PICTURE

MEASUREMENTS = "measurements"  # a kind of events
INSPECTION = "inspection.json"


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
    """Stands for the taught regions where only their names matter; it finds nothing."""

    def masks(self, image: Any) -> Masks:
        """Nothing is found."""
        return {}


def list_choices(project: Project) -> dict[str, list[Choice]]:
    """What can be chosen of each painted region, of the foreground and of the picture."""
    parents = _painted_regions(project)
    return {of: _choices_of(of, parents.get(of) or PICTURE) for of in (*parents, FOREGROUND, PICTURE)}


def _choices_of(of: str, within: str) -> list[Choice]:
    """What can be measured of a part that lies within another."""
    found = []
    for word, kind in REGISTRY.items():
        usual = kind.options()
        variants = kind.variants or (({}, word),)
        if "within" in usual:
            variants = (({"within": within}, f"{word} of the {within}"),)
        for options, label in variants:
            choice = Choice(word, of, label, {name: value for name, value in options.items() if value != usual[name]})
            try:
                choice.make(NamedRegions())._validate_params()
            except ValueError:  # the picture has no shape
                continue
            found.append(choice)
    return found


def _painted_regions(project: Project) -> dict[str, str | None]:
    """The regions that have strokes, and what each lies in."""
    painted = {each.about["region"] for each in list_strokes(project) if not each.about["erase"]}
    regions = list_regions(project)
    return name_parents([each for each in regions if each.number in painted], regions)


def read_chosen(project: Project) -> Measurements | None:
    """The measurements of the SPEC, or the usual ones; not yet able to measure."""
    if project.spec.exists():
        return read_spec(project.spec, regions=NamedRegions())
    parents = _painted_regions(project)
    if len(parents) < 2:
        return None
    taught: Any = NamedRegions()
    taught.regions = parents
    return default_measurements(taught)


def key_of(measurement: Any) -> str:
    """The key of the choice that a measurement is."""
    usual, params = type(measurement).options(), measurement.get_params(deep=False)
    changed = {name: params[name] for name, value in usual.items() if params[name] != value}
    return Choice(measurement.word, measurement.of, "", changed).key


def choose(project: Project, keys: Sequence[str]) -> None:
    """Use these measurements: write the SPEC, and note it.

    What the page does not offer stays as it is.
    """
    offered = {choice.key: choice for choices in list_choices(project).values() for choice in choices}
    known = read_chosen(project)
    others = [] if known is None else [each for each in known.measurements if key_of(each) not in offered]
    strange = [key for key in keys if key not in offered]
    if strange:
        raise DataError(f"there is no measurement {strange[0]!r}; reload the page")
    regions = NamedRegions()
    made = [*others, *(offered[key].make(regions) for key in keys)]
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


def follow_regions(project: Project, before: Sequence[Region]) -> None:
    """After regions were named anew: let the SPEC name and measure these."""
    if not project.spec.exists():
        return
    now = {each.number: each.name for each in list_regions(project)}
    names = {each.name: now.get(each.number) for each in before} | {FOREGROUND: FOREGROUND, PICTURE: PICTURE}
    if all(new == old for old, new in names.items()):
        return
    known = read_spec(project.spec, regions=NamedRegions())
    made, left_out = [], []
    for each in known.measurements:
        params = {name: names.get(v) if name in ("of", "within") else v for name, v in each.get_params(False).items()}
        if params["of"] is None or params.get("within", PICTURE) is None:
            continue
        made.append(type(each)(**params))
        pairs = zip(each.names, made[-1].names, strict=True)
        left_out += [new for old, new in pairs if old in known.leave_out]
    if made:
        _write(project, made, left_out)
    else:
        project.spec.unlink()


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


# ---------------------------------------------------------------------------------------------- what survives the field


def inspect_measurements(folder: Path) -> dict[str, Any]:
    """Write to inspection.json which measurements survive. It runs as a job."""
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
    """What the last inspection found; `old` if the description is another by now."""
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
