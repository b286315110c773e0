"""What the expert taught, as measurements and a likeness that a fit takes."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import Any

import numpy as np

from memclf._progress import say
from memclf.exceptions import MemclfError
from memclf.persist import load, save
from memclf.studio.judging import list_triplets
from memclf.studio.painting import digest_paintings, list_strokes, read_painted
from memclf.studio.project import Project

REGIONS = "regions"  # the folder of what was taught
SHOWINGS = 160  # of a full lesson, which takes about 5 s of one core for ten pictures of 256 x 128


def make_description(project: Project) -> tuple[Any, Any]:
    """Measurements of images (None: memclf's own), and the similarity (None: memclf's own)."""
    features = make_features(project)
    triplets = list_triplets(project)
    if not triplets:
        return features, None
    return features, _judge(project, features, triplets)


def make_features(project: Project) -> Any:
    """The measurements of the SPEC, in the taught regions; None if nothing was taught or chosen."""
    data = project.data
    if data is None or data.kind != "images":
        return None
    taught = find_regions(project)
    if not project.spec.exists():
        return None if taught is None else default_measurements(taught)
    from memclf.vision.features import read_spec

    return read_spec(project.spec, regions=taught)


def default_measurements(taught: Any) -> Any:
    """What is measured before the expert chooses: share and colour of each region.

    Of the first region, which is usually the background, the share is enough.
    """
    from memclf.vision.features import ColourOf, Measurements, ShareOf

    parents = dict(taught.regions)
    shares = [ShareOf(name, regions=taught, within=parent or "picture") for name, parent in parents.items()]
    return Measurements([*shares, *(ColourOf(name, regions=taught) for name in list(parents)[1:])])


def find_regions(project: Project) -> Any:
    """The taught regions: from their folder, or from the strokes if these are newer.

    None if fewer than two regions were painted.
    """
    if not list_strokes(project):
        return None
    name = digest_paintings(project)
    home = project.folder / REGIONS
    if (home / name).is_dir():
        with suppress(MemclfError):  # a damaged folder is written anew
            return load(home / name)
    painted = read_painted(project)
    if painted is None:
        return None
    from memclf.vision.features import TaughtRegions

    say(f"teaching {len(painted.regions)} regions from {painted.strokes} strokes", None)
    taught = TaughtRegions(painted.regions, showings=SHOWINGS).fit(painted.images, painted.paintings)
    home.mkdir(exist_ok=True)
    for old in home.iterdir():
        shutil.rmtree(old, ignore_errors=True)
    save(taught, home / name)
    return taught


def _judge(project: Project, features: Any, triplets: list[tuple[str, str, str]]) -> Any:
    """A similarity over these measurements, with the weights of the expert's judgements."""
    from memclf.own.defaults import make_encoder, make_measurements
    from memclf.similarity import JudgedSimilarity

    data = project.data
    assert data is not None
    keys = sorted({key for each in triplets for key in each}, key=data.rows.__getitem__)
    rows = np.array([data.rows[key] for key in keys])
    place = {key: number for number, key in enumerate(keys)}
    if data.kind == "images":
        cases: Any = data.cases[rows]
        features = make_measurements() if features is None else features
    else:
        cases, features = data.cases.iloc[rows], make_encoder()
    asked = [(place[a], place[more], place[than]) for a, more, than in triplets]
    return JudgedSimilarity(features).judge(cases, triplets=asked)
