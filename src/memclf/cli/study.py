"""``memclf study``, ``memclf report``, ``memclf compare``: run a case study, look at runs."""

from __future__ import annotations

import inspect
import json
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from rich.console import Console

from memclf.cli.cluster import CLUSTER_HELP, WORKERS_HELP, open_cluster
from memclf.cli.output import as_line, exit_on_error, fail
from memclf.exceptions import OptionError, StudyError
from memclf.studies import SCALES, STUDIES, Settings, settings_for

SCALE_HELP = "quick (minutes), full (hours) or paper (for a GPU)."
MEASURED_THERE = "Images are described and conditions measured there; networks are trained here."
SIZE = tuple[int, int]  # (height, width), written as WIDTHxHEIGHT
_HINTS = get_type_hints(Settings)


def study(
    name: str,
    scale: str,
    out: Path | None,
    networks: Path | None,
    cache: Path | None,
    plan: bool,
    cluster: str | None,
    workers: int | None,
    **asked: Any,
) -> None:
    """Run a case study and write a report with every number beside the paper's.

    After an interruption the same command goes on where it stopped; with other arguments a new run begins. Options
    that are not given have the values of the study and its scale: --plan shows them.

    Examples:
        memclf study color
        memclf study leaf --scale full --plan
        memclf study leaf --data leaves/ --out runs/mine
    """
    from memclf.cli.show_study import print_estimate, print_plan, print_summary, print_warnings

    try:
        with exit_on_error(OSError, ValueError):
            settings = read_settings(name, scale, asked)
            if plan:
                print_plan(settings, Console())
                print_estimate(settings, Console())
                return
            from memclf.studies.run import run_study  # which loads torch

            folder = out or Path("runs") / f"{settings.study}-{scale}"
            command = shlex.join(["memclf", *sys.argv[1:]])
            with open_cluster(cluster, workers):  # whose workers describe, embed and measure
                folder = run_study(settings, folder, command=command, networks=networks, cache=cache)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    console = Console() if sys.stdout.isatty() else Console(width=120)  # files have room for the whole table
    print_summary(json.loads((folder / "summary.json").read_text()), console)
    print_warnings(folder, console)
    typer.echo(f"report: {folder / 'report.html'}")


def read_settings(name: str, scale: str, asked: dict[str, Any]) -> Settings:
    """The settings that the command line asks for; what is wrong with it ends the command."""
    try:
        given = read_options(asked)
        return settings_for(name, scale, **given)
    except (StudyError, ValueError) as error:
        fail(error, code=2)


def read_options(asked: dict[str, Any]) -> dict[str, Any]:
    """Values of the command line as values of `Settings`, by the name of the setting."""
    found: dict[str, Any] = {}
    for name, about in Settings.about().items():
        value = asked.get(about.option or name)
        if value is not None and _setting_type(name) == SIZE:
            value = _read_size(value, f"--{name.replace('_', '-')}")
        found[name] = str(value) if isinstance(value, Path) else value
    return {name: value for name, value in found.items() if value is not None}


def _read_size(text: str, option: str) -> tuple[int, int]:
    """WIDTHxHEIGHT, or one number for both, as (height, width)."""
    width, cross, height = text.lower().partition("x")
    try:
        return int(height if cross else width), int(width)
    except ValueError:
        raise ValueError(f"{option} must be WIDTHxHEIGHT, as 256x128, or one number; got {text!r}") from None


def _setting_type(name: str) -> Any:
    """The type of a setting, without None."""
    kind = _HINTS[name]
    return get_args(kind)[0] if type(None) in get_args(kind) else kind


def _option_type(name: str) -> Any:
    """The type of a setting on the command line: optional, and repeated if it is a tuple."""
    kind = _setting_type(name)
    if Settings.about()[name].path:
        return Path | None
    if kind == SIZE:
        return str | None
    return list[get_args(kind)[0]] | None if get_origin(kind) is tuple else kind | None  # type: ignore[misc]


def _signature() -> inspect.Signature:
    """Parameters of the study command: one for each field of `Settings` with a help text."""
    parameters: dict[str, tuple[Any, Any]] = {
        "name": (Annotated[str, typer.Argument(help=_list_studies())], inspect.Parameter.empty),
        "out": (Annotated[Path | None, typer.Option(help="Folder of the run. Default: runs/NAME-SCALE.")], None),
        "scale": (Annotated[str, typer.Option(help=SCALE_HELP)], next(iter(SCALES))),
    }
    for name, about in Settings.about().items():
        if about.help:
            parameters[about.option or name] = (Annotated[_option_type(name), typer.Option(help=about.help)], None)
    parameters["networks"] = (
        Annotated[Path | None, typer.Option(help="Folder that keeps trained networks for other runs.")],
        None,
    )
    parameters["cache"] = (
        Annotated[Path | None, typer.Option(help="Folder that keeps descriptions and embeddings for other runs.")],
        None,
    )
    parameters["plan"] = (
        Annotated[
            bool,
            typer.Option("--plan", help="Only show all settings, and time and disk as a short trial estimates them."),
        ],
        False,
    )
    parameters["cluster"] = (Annotated[str | None, typer.Option(help=f"{CLUSTER_HELP} {MEASURED_THERE}")], None)
    parameters["workers"] = (Annotated[int | None, typer.Option(help=f"{WORKERS_HELP} {MEASURED_THERE}")], None)
    return inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for name, (kind, default) in parameters.items()
        ]
    )


def _list_studies() -> str:
    names = [
        f"{each.name} (or {', '.join(each.other_names)})" if each.other_names else each.name
        for each in STUDIES.values()
    ]
    return f"{', '.join(names[:-1])} or {names[-1]}."


# Typer makes options from the signature: it is built from the settings, so that they are listed once.
study.__signature__ = _signature()  # type: ignore[attr-defined]
study.__annotations__ = {}


def report(run: Annotated[Path, typer.Argument(help="Folder of a run.")]) -> None:
    """Build the report of a run again, from what its folder holds.

    Examples:
        memclf report runs/leaf-quick
    """
    from memclf.report import build

    with exit_on_error(OSError):
        typer.echo(f"report: {build(run)}")


def compare_runs(
    runs: Annotated[list[Path], typer.Argument(help="Folders of two or more runs.")],
    out: Annotated[Path, typer.Option(help="Folder for the comparison.")] = Path("comparison"),
) -> None:
    """Put runs side by side, and join their cells of the paper's tables.

    Each run fills some recipes, backbones and seeds. The joined tables have all of them, say which run each is from,
    and average over seeds. A run on other data, at another image size or under other conditions than the first is not
    joined, and the reason is shown. Other settings, as epochs, momentum or schedule, may differ: they are named, and
    the tables say so.

    Examples:
        memclf compare runs/first runs/second --out comparison
    """
    from memclf.report import compare

    if len(runs) < 2:
        fail("give the folders of two or more runs", code=2)
    places = [run.resolve() for run in runs]
    if twice := [run for k, run in enumerate(runs) if places[k] in places[:k]]:
        fail(f"{twice[0]} is named twice; a run beside itself says nothing", code=2)
    with exit_on_error(OSError):
        try:
            page = compare(runs, out, say=lambda line: typer.echo(as_line(line), err=True))
        except OptionError as error:
            fail(error, code=2)
    typer.echo(f"comparison: {page}")
