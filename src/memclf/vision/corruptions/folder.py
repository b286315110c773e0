"""Write a corrupted copy of a folder of images; an interrupted run goes on where it stopped."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cv2
from joblib import Parallel, delayed
from PIL import Image

from memclf._progress import track
from memclf.exceptions import ImageError
from memclf.vision.corruptions.apply import CORRUPTIONS, REGISTRY, SEVERITIES, check, corrupt
from memclf.vision.corruptions.textures import texture_files
from memclf.vision.files import IMAGE_SUFFIXES, Pixels, read_image

SETTINGS = "corruption_settings.json"
PART = ".part"  # of names that are being written; whatever ends so when a run begins was left by one that was killed
RESULTS = 1  # to be raised when the same settings come to give other pixels

Condition = tuple[str, int]


class CopyResult(NamedTuple):
    """What was done: files written, files found finished, and why images failed."""

    written: int
    finished: int
    failures: list[str]


class Job(NamedTuple):
    """One image, and the files that it is to become."""

    source: Path
    key: str
    targets: list[tuple[Condition, Path]]


def corrupt_folder(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    corruptions: Sequence[str] = CORRUPTIONS,
    severities: Sequence[int] = SEVERITIES,
    preset: str = "imagenet-c",
    seed: int = 0,
    quality: int | None = None,
    texture_dir: str | os.PathLike[str] | None = None,
    workers: int = 1,
    verbose: int | None = None,
) -> CopyResult:
    """Write every image below `folder` under every condition.

    Files are ``out/<corruption>/<severity>/<path>``.

    An image's key is its path below `folder`, so results depend neither on where the folder lies nor on the number of
    workers. Files that are there and not older than their image are left as they are. One run at a time per `out`.

    Parameters
    ----------
    folder, out : path
        `out` must not lie within `folder`.
    corruptions, severities : sequences
    preset, seed, texture_dir
        As for `corrupt`.
    quality : int or None
        None: PNG, without loss. 1 to 100: JPEG of that quality (ImageNet-C itself was saved with 85), which adds
        artefacts of its own to every corruption.
    workers : int
        Processes at work; -1 for as many as there are cores.
    verbose : int
        1: a progress bar on standard error.
    """
    folder, out = Path(folder), Path(out)
    conditions = [(name, check(name, severity, preset)) for name in corruptions for severity in severities]
    if not conditions:
        raise ValueError("there must be at least one corruption and one severity")
    if quality is not None and not 1 <= quality <= 100:
        raise ValueError(f"quality must be from 1 to 100, or None for PNG, got {quality!r}")
    if not folder.is_dir():
        raise ImageError(f"there is no folder {folder}")
    if out.resolve().is_relative_to(folder.resolve()):
        raise ImageError(f"{out} lies within {folder}: the next run would corrupt what this one writes")
    sources = _sources(folder, ".png" if quality is None else ".jpg")
    textures = None if texture_dir is None else os.path.abspath(texture_dir)
    if any(REGISTRY[name].takes("texture_dir") for name in corruptions):
        texture_files(textures)  # an error now rather than one per image
    settings = {"source": os.path.abspath(folder), "preset": preset, "seed": seed, "quality": quality}
    _check_settings(out, settings | {"texture_dir": textures, "results": RESULTS})
    _remove_parts(out, conditions)

    jobs = [
        Job(source, key, [(each, out / each[0] / str(each[1]) / name) for each in conditions])
        for source, key, name in sources
    ]
    options = {"seed": seed, "preset": preset, "texture_dir": textures}
    work = Parallel(n_jobs=workers, return_as="generator")(
        delayed(_copy)(job, quality, options, workers != 1) for job in jobs
    )
    return _sum_up(track(work, total=len(jobs), what="corrupting images", verbose=verbose))


def _sources(folder: Path, suffix: str) -> list[tuple[Path, str, str]]:
    """Each image, its key, and its name in the copy.

    Two images with one name in the copy are an error.
    """
    keys = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() in IMAGE_SUFFIXES and path.is_file() and not path.name.startswith(".")
    )
    if not keys:
        raise ImageError(f"{folder} holds no images ({', '.join(sorted(IMAGE_SUFFIXES))})")
    names: dict[str, str] = {}
    for key in keys:
        name = key.removesuffix(Path(key).suffix) + suffix
        if name in names:
            raise ImageError(f"{names[name]} and {key} in {folder} would both become {name}; rename one of them")
        names[name] = key
    return [(folder / key, key, name) for name, key in names.items()]


def _check_settings(out: Path, settings: dict[str, Any]) -> None:
    """Keep the settings beside the files, and refuse to mix files of different ones."""
    file = out / SETTINGS
    try:
        before = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if any((out / name).is_dir() for name in CORRUPTIONS):
            raise ImageError(
                f"{out} holds corrupted images but no {SETTINGS} that says how they were made; choose another folder"
            ) from None
        out.mkdir(parents=True, exist_ok=True)
        _replace(file, json.dumps(settings, indent=2).encode())
        return
    except ValueError as error:
        raise ImageError(f"{file} is no file of settings: {error}") from error
    changed = [name for name in settings if not isinstance(before, dict) or before.get(name) != settings[name]]
    if changed:
        was = ", ".join(f"{n}={before.get(n)!r}" for n in changed) if isinstance(before, dict) else repr(before)
        now = ", ".join(f"{name}={settings[name]!r}" for name in changed)
        raise ImageError(
            f"{out} was begun with {was}; this run has {now}. They must not be mixed: choose another folder"
        )


def _remove_parts(out: Path, conditions: Iterable[Condition]) -> None:
    """Remove what a killed run left half-written."""
    for name, severity in conditions:
        for left in (out / name / str(severity)).rglob(f".*{PART}"):
            left.unlink()


def _copy(job: Job, quality: int | None, options: dict[str, Any], shared: bool) -> CopyResult:
    """All conditions of one image, which is read once, and not at all when everything is there."""
    if shared:
        cv2.setNumThreads(1)  # the workers share the cores already
    written = finished = 0
    try:
        changed = job.source.stat().st_mtime
        todo = [each for each in job.targets if not _is_finished(each[1], changed)]
        finished = len(job.targets) - len(todo)
        image = read_image(job.source) if todo else None
        for (name, severity), target in todo:
            _replace(target, _encode(corrupt(image, name, severity, key=job.key, **options), quality))
            written += 1
    except ImageError as error:
        message = str(error) if str(job.source) in str(error) else f"{job.source}: {error}"
        return CopyResult(written, finished, [message])
    return CopyResult(written, finished, [])


def _is_finished(target: Path, changed: float) -> bool:
    try:
        return target.stat().st_mtime >= changed
    except FileNotFoundError:
        return False


def _encode(image: Pixels, quality: int | None) -> bytes:
    stream = io.BytesIO()
    if quality is None:
        Image.fromarray(image).save(stream, "PNG", compress_level=4)
    else:
        Image.fromarray(image).save(stream, "JPEG", quality=quality)
    return stream.getvalue()


def _replace(target: Path, content: bytes) -> None:
    """Write under another name first, so that under its own a file is always whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}{PART}")
    try:
        part.write_bytes(content)
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _sum_up(results: Iterator[CopyResult]) -> CopyResult:
    written, finished, failures = 0, 0, []
    for result in results:
        written, finished = written + result.written, finished + result.finished
        failures += result.failures
    return CopyResult(written, finished, failures)
