"""``memclf doctor``: what is installed, what is missing, and whether it works."""

from __future__ import annotations

import json
import platform
import re
import shutil
import webbrowser
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires
from importlib.metadata import version as version_of
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from memclf._version import __version__
from memclf.cli.output import as_line
from memclf.exceptions import MissingExtraError

#: Extra -> what it allows. Which packages it brings is read from the metadata of memclf.
ALLOWS = {
    "report": "pictures of explanations, plots and reports",
    "tables": "data frames of pandas, in and out",
    "scale": "Parquet files and more cases than fit in memory",
    "cluster": "collections of Dask, on this machine or on several",
    "corruptions": "pictures from files and folders, and 19 corruptions of them",
    "serve": "answers over HTTP, `memclf serve`",
    "studio": "the expert's page, `memclf studio`",
    "mlflow": "model folders in MLflow",
    "vision": "networks, expert features and the case studies",
    "arch": "ImageNet weights of more backbones, installed instead of downloaded",
}
WORKS, ABSENT, BROKEN = "works", "absent", "broken"


@dataclass(frozen=True)
class Extra:
    """An extra: what it allows, its packages that are there with versions, and the others."""

    name: str
    allows: str
    installed: dict[str, str]
    missing: list[str]

    @property
    def sentence(self) -> str:
        """What is missing for what, in one line."""
        if not self.installed and not self.missing:
            return f"this installation does not know it (for {self.allows}); install memclf again"
        if not self.missing:
            return f"installed: {self.allows}"
        return f'missing {", ".join(self.missing)}, for {self.allows}: pip install "memclf[{self.name}]"'


@dataclass(frozen=True)
class Finding:
    """What a check found."""

    name: str
    state: str
    sentence: str


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Say what is installed, which extras are missing, and whether all of it works.

    The exit code is 1 if something that is installed does not work. A missing extra is no fault.

    Examples:
        memclf doctor
        memclf doctor --json
    """
    about = describe_installation()
    extras = [read_extra(name) for name in ALLOWS]
    if not as_json:
        typer.echo(f"memclf {__version__}, Python {about['python']}, {about['system']}")
        typer.echo(", ".join(f"{name} {found}" for name, found in about["packages"].items()))
        typer.echo(f"{about['cores']} cores, {about['free_memory'] / 1e9:.1f} GB of free memory\n")
        for extra in extras:
            typer.echo(f"memclf[{extra.name}]".ljust(20) + extra.sentence)
        typer.echo()
    findings = []
    for name, check in CHECKS.items():
        found = run_check(name, check)
        findings.append(found)
        if not as_json:
            typer.echo(f"{found.name:12}{found.state:8}{found.sentence}")
    if as_json:
        listed = {each.name: asdict(each) for each in extras}
        checks = {each.name: {"state": each.state, "sentence": each.sentence} for each in findings}
        typer.echo(json.dumps({"memclf": __version__, **about, "extras": listed, "checks": checks}, indent=2))
    raise typer.Exit(int(any(each.state == BROKEN for each in findings)))


def describe_installation() -> dict[str, Any]:
    """Versions, cores and free memory."""
    from joblib import cpu_count

    from memclf.memory.budget import free_memory

    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": read_versions(list_requirements(None)),
        "cores": cpu_count(),
        "free_memory": free_memory(),
    }


def list_requirements(extra: str | None) -> list[str]:
    """The packages that memclf asks for, by itself or with an extra."""
    try:
        asked = requires("memclf") or []
    except PackageNotFoundError:  # a source tree that was never installed
        return []
    found = []
    for line in asked:
        requirement, _, marker = line.partition(";")
        wanted = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", marker)
        if (wanted[1] if wanted else None) == extra:
            found.append(re.split(r"[\s<>=!~\[]", requirement.strip())[0])
    return sorted(found)


def read_versions(packages: list[str]) -> dict[str, str]:
    """The versions of those packages that are installed."""
    found = {}
    for name in packages:
        try:
            found[name] = version_of(name)
        except PackageNotFoundError:
            continue
    return found


def read_extra(name: str) -> Extra:
    """What is there of an extra, and what is missing."""
    packages = list_requirements(name)
    installed = read_versions(packages)
    return Extra(name, ALLOWS[name], installed, [each for each in packages if each not in installed])


def run_check(name: str, check: Callable[[], str]) -> Finding:
    """Whether something works; a package that is not installed is no fault."""
    try:
        return Finding(name, WORKS, check())
    except (MissingExtraError, ModuleNotFoundError) as error:
        return Finding(name, ABSENT, as_line(error))
    except Exception as error:  # whatever is wrong with an installation is what we are looking for
        return Finding(name, BROKEN, as_line(f"{type(error).__name__}: {error}"))


def fit_small() -> Any:
    """A fitted memory classifier, and its cases."""
    import numpy as np

    from memclf.classifier import MemoryClassifier

    X = np.random.default_rng(0).normal(size=(60, 2))
    return MemoryClassifier(threshold=0.5, random_state=0, verbose=0).fit(X, (X[:, 0] > 0).astype(int)), X


def check_classifier() -> str:
    """Ask a memory classifier about a case like none before."""
    clf, X = fit_small()
    if (answer := clf.predict([[99.0, 99.0]])[0]) != clf.unknown_label_:
        raise RuntimeError(f"a case like none before was answered {answer} instead of unknown")
    return f"{len(clf.memory_indices_)} memories for {len(X)} cases, and unknown for a strange one"


def check_plots() -> str:
    """Draw an explanation without a screen."""
    clf, X = fit_small()
    clf.explain(X[:1])[0].plot().savefig(file := BytesIO(), backend="agg")
    return f"an explanation was drawn, {file.tell():,} bytes"


def check_pictures() -> str:
    """Write a picture, read it, and corrupt it, with frost from a photograph."""
    from memclf.vision import corrupt, read_image

    # After memclf.vision, which names the extra if there is no Pillow.
    from PIL import Image  # isort: skip

    with TemporaryDirectory() as folder:
        Image.new("RGB", (48, 48), (120, 120, 120)).save(file := Path(folder) / "grey.png")
        changed = corrupt(read_image(file), "frost", 3)
    return f"Pillow and OpenCV read a picture and put frost on it (mean {changed.mean():.0f} instead of 120)"


def check_networks() -> str:
    """Pass a picture through the network whose weights come with the extra `vision`."""
    from memclf.vision import ImageClassifier  # names the extra if there is no torch
    from memclf.vision.nets import backbones, catalogue, devices, weights

    name = ImageClassifier().backbone
    backbone = backbones.build(name, (64, 64))
    weights.load_pretrained(backbone, name, "bundled")
    width = backbones.width_of(backbone.module, (64, 64))
    where = devices.find_device("auto")
    return f"{catalogue.label_of(name)} with its weights makes {width:,} numbers of a picture; device {where}"


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox")


def check_browser() -> str:
    """Find a browser for reports."""
    if any(map(shutil.which, BROWSERS)):  # webbrowser finds none of them without a screen
        return "reports can be opened"
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        raise MissingExtraError("no browser here; a report is one file that any browser elsewhere can open") from None
    return f"reports can be opened with {found.name}" if found.name else "reports can be opened"


CHECKS = {
    "classifier": check_classifier,
    "plots": check_plots,
    "pictures": check_pictures,
    "networks": check_networks,
    "browser": check_browser,
}
