"""The command line: parse, call, print."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

import memclf
from memclf.bounds import KINDS
from memclf.exceptions import MemclfError, UntrustedTypeError

if TYPE_CHECKING:
    from memclf.bounds import Bound
    from memclf.persist import Inspection

app = typer.Typer(
    help="Memory classifiers: the remembered case behind every answer, and unknown when nothing is close.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def main() -> None:
    """Memory classifiers: the remembered case behind every answer, and unknown when nothing is close."""


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(memclf.__version__)


@app.command("inspect")
def inspect_command(
    folder: Annotated[Path, typer.Argument(help="A folder written by memclf.save.")],
) -> None:
    """Show what a model folder holds, without running any of it."""
    from memclf.persist import inspect_folder

    try:
        found = inspect_folder(folder)
        _show(Console(), found)
    except MemclfError as error:
        typer.echo(f"error: {_plain(error)}", err=True)
        raise typer.Exit(1) from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        typer.echo(f"error: {folder / 'manifest.json'} is no manifest of memclf: {_plain(repr(error))}", err=True)
        raise typer.Exit(1) from None
    if found.problems:
        raise typer.Exit(1)


@app.command("corrupt")
def corrupt_command(
    folder: Annotated[Path | None, typer.Argument(help="A folder of images, with subfolders or without.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the copies go, or the file of the sheet.")] = None,
    corruption: Annotated[list[str] | None, typer.Option(help="One of the nineteen; repeat it. Default: all.")] = None,
    severity: Annotated[list[int] | None, typer.Option(help="1 to 5; repeat it. Default: all.")] = None,
    preset: Annotated[str, typer.Option(help="Table of severities; small images need another than the default.")] = (
        "imagenet-c"
    ),
    seed: Annotated[int, typer.Option(help="For another draw of the whole data set.")] = 0,
    workers: Annotated[int, typer.Option(help="Processes at work; -1: all cores. Results do not depend on it.")] = 1,
    quality: Annotated[int | None, typer.Option(help="JPEG of this quality instead of PNG; ImageNet-C: 85.")] = None,
    texture_dir: Annotated[Path | None, typer.Option(help="A folder with photographs of frost.")] = None,
    sheet: Annotated[Path | None, typer.Option(help="Instead: draw this one image under all conditions.")] = None,
) -> None:
    """Write a corrupted copy of a folder of images: OUT/<corruption>/<severity>/<path of the image>.

    Only images are copied. An interrupted run goes on where it stopped when the same command is given again.
    """
    if sheet is not None and (corruption or severity):
        typer.echo("error: a sheet shows all conditions; leave out --corruption and --severity", err=True)
        raise typer.Exit(2)
    if out is None or (folder is None) == (sheet is None):
        typer.echo("error: say FOLDER and --out FOLDER, or --sheet IMAGE and --out FILE", err=True)
        raise typer.Exit(2)
    try:
        from memclf.vision import corruptions

        if sheet is not None:
            corruptions.save_sheet(sheet, out, seed=seed, preset=preset)
            return
        done = corruptions.corrupt_folder(
            folder or Path(),
            out,
            corruptions=corruption or corruptions.CORRUPTIONS,
            severities=severity or corruptions.SEVERITIES,
            preset=preset,
            seed=seed,
            quality=quality,
            texture_dir=texture_dir,
            workers=workers,
            verbose=1,
        )
    except (MemclfError, OSError, ValueError) as error:
        typer.echo(f"error: {_plain(error)}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("stopped; the same command goes on from here", err=True)
        raise typer.Exit(130) from None
    typer.echo(f"{done.written:,} files written, {done.finished:,} were there already")
    for failure in done.failures:
        typer.echo(f"failed: {_plain(failure)}", err=True)
    if done.failures:
        typer.echo(f"{len(done.failures):,} images failed", err=True)
        raise typer.Exit(1)


@app.command("study")
def study_command(
    name: Annotated[str, typer.Argument(help="color (or colour), leaf or acne.")],
    out: Annotated[Path | None, typer.Option(help="Folder of the run. Default: runs/NAME-SCALE.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder with real images. Without it they are generated.")] = None,
    split: Annotated[Path | None, typer.Option(help="CSV file that says which images are for testing.")] = None,
    scale: Annotated[str, typer.Option(help="quick (minutes), full (hours) or paper (for a GPU).")] = "quick",
    seed: Annotated[list[int] | None, typer.Option(help="Repeat it for several.")] = None,
    recipe: Annotated[
        list[str] | None,
        typer.Option(help="vanilla, adversarial, augmix, cutmix, noisymix or manifold_mixup; repeat it."),
    ] = None,
    backbone: Annotated[
        list[str] | None, typer.Option(help="efficientnet_lite0, resnet18, ... or a name of timm; repeat it.")
    ] = None,
    corruption: Annotated[list[str] | None, typer.Option(help="Repeat it. Default: the paper's 18.")] = None,
    severity: Annotated[list[int] | None, typer.Option(help="1 to 5; repeat it.")] = None,
    feature: Annotated[list[str] | None, typer.Option(help="robust or paper: the expert feature; repeat it.")] = None,
    preset: Annotated[str | None, typer.Option(help="Table of severities, as imagenet-c or authors-299.")] = None,
    corrupt_at: Annotated[str | None, typer.Option(help="WIDTHxHEIGHT at which corruptions act.")] = None,
    image_size: Annotated[str | None, typer.Option(help="WIDTHxHEIGHT of the networks' input.")] = None,
    pretrained: Annotated[str | None, typer.Option(help="auto, bundled, none, published, or a file.")] = None,
    train: Annotated[str | None, typer.Option(help="all: fine-tune the network; head: its last layer.")] = None,
    local: Annotated[str | None, typer.Option(help="heads on one backbone, or networks of their own.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Of every network.")] = None,
    local_epochs: Annotated[int | None, typer.Option(help="Of local classifiers. Default: the same.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Images per training step.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    augmented: Annotated[bool | None, typer.Option(help="Also train networks with the expert feature joined.")] = None,
    sturdy: Annotated[bool | None, typer.Option(help="Also the memory classifier beyond the paper's.")] = None,
    careful: Annotated[bool | None, typer.Option(help="Also the sturdy one that may answer unknown.")] = None,
    folds: Annotated[int | None, typer.Option(help="Held-out parts of the training images it learns from.")] = None,
    ablate: Annotated[bool | None, typer.Option(help="Also what each of its parts brings: many classifiers.")] = None,
    ensemble: Annotated[int | None, typer.Option(help="Also this many networks that vote.")] = None,
    networks: Annotated[Path | None, typer.Option(help="Folder that keeps trained networks for other runs.")] = None,
    n_train: Annotated[int | None, typer.Option(help="Generated training images (acne: faces).")] = None,
    n_test: Annotated[int | None, typer.Option(help="Generated test images (acne: faces).")] = None,
    patch_size: Annotated[int | None, typer.Option(help="Side of the colour study's images, in pixels.")] = None,
    min_cluster_size: Annotated[int | None, typer.Option(help="Smaller clusters share a classifier.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only show what all of this amounts to, run nothing.")] = False,
) -> None:
    """Run one of the paper's case studies and write a report that puts every number beside the paper's.

    Interrupted, the same command goes on where it stopped; with other arguments a new run begins. What is not said
    comes from the study and its scale: --plan shows it.
    """
    try:
        from memclf.studies import settings_for
        from memclf.studies.run import print_plan, print_summary, print_warnings, run_study

        name = "color" if name == "colour" else name
        settings = settings_for(
            name,
            scale,
            data=None if data is None else str(data),
            split=None if split is None else str(split),
            seeds=seed,
            recipes=recipe,
            backbones=backbone,
            corruptions=corruption,
            severities=severity,
            features=feature,
            preset=preset,
            corrupt_at=_size(corrupt_at, "--corrupt-at"),
            image_size=_size(image_size, "--image-size"),
            pretrained=pretrained,
            train=train,
            local=local,
            epochs=epochs,
            local_epochs=local_epochs,
            batch_size=batch_size,
            lr=lr,
            augmented=augmented,
            sturdy=sturdy,
            careful=careful,
            folds=folds,
            ablate=ablate,
            ensemble=ensemble,
            n_train=n_train,
            n_test=n_test,
            patch_size=patch_size,
            min_cluster_size=min_cluster_size,
        )
        if plan:
            print_plan(settings, Console())
            return
        folder = out or Path("runs") / f"{name}-{scale}"
        folder = run_study(settings, folder, command=shlex.join(["memclf", *sys.argv[1:]]), networks=networks)
    except (MemclfError, OSError, ValueError) as error:
        typer.echo(f"error: {_plain(error)}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    console = Console() if sys.stdout.isatty() else Console(width=120)  # files have room for the whole table
    print_summary(json.loads((folder / "summary.json").read_text()), console)
    print_warnings(folder, console)
    typer.echo(f"report: {folder / 'report.html'}")


@app.command("report")
def report_command(run: Annotated[Path, typer.Argument(help="Folder of a run.")]) -> None:
    """Build the report of a run again, from what its folder holds."""
    from memclf.report import build

    try:
        typer.echo(f"report: {build(run)}")
    except (MemclfError, OSError) as error:
        typer.echo(f"error: {_plain(error)}", err=True)
        raise typer.Exit(1) from None


@app.command("compare")
def compare_command(
    runs: Annotated[list[Path], typer.Argument(help="Folders of two or more runs.")],
    out: Annotated[Path, typer.Option(help="Folder for the comparison.")] = Path("comparison"),
) -> None:
    """Put runs side by side."""
    from memclf.report import compare

    if len(runs) < 2:
        typer.echo("error: give the folders of two or more runs", err=True)
        raise typer.Exit(2)
    try:
        typer.echo(f"comparison: {compare(runs, out)}")
    except (MemclfError, OSError) as error:
        typer.echo(f"error: {_plain(error)}", err=True)
        raise typer.Exit(1) from None


@app.command("bound")
def bound_command(
    model: Annotated[Path, typer.Argument(help="A folder written by memclf.save.")],
    data: Annotated[
        Path,
        typer.Argument(
            help="The cases that the model was fitted on, in their order (for held-out: others): a .csv table, a .npz "
            "file with X and y, a folder with one subfolder of images per class, or a .csv file that lists images."
        ),
    ],
    label: Annotated[
        str | None, typer.Option(help="Column with the labels. Default: the first of label, class, target, y.")
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{', '.join(KINDS)}, or all (those from the training cases); repeat it. Default: compression."
        ),
    ] = None,
    delta: Annotated[float, typer.Option(help="A bound may fail with this probability.")] = 0.05,
    given: Annotated[
        list[str] | None,
        typer.Option(
            help="What was fixed before these cases were seen: similarity, thresholds, memories or inputs; repeat it. "
            "Default: nothing that the model does not show."
        ),
    ] = None,
    complexity: Annotated[
        str, typer.Option(help='Of the local classifiers: auto, "random labels" (a heuristic), or a number.')
    ] = "auto",
    plot: Annotated[Path | None, typer.Option(help="Draw the terms into this file, as bound.png.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write everything into this JSON file.")] = None,
    trusted: Annotated[
        list[str] | None, typer.Option(help="A type or function that loading may use, as mylab.alike; repeat it.")
    ] = None,
) -> None:
    """Say what theory promises for a saved memory classifier: how many new cases it answers wrongly at most."""
    from memclf.bounds import HELD_OUT, TRAINING_KINDS, Bound, bounds_of
    from memclf.casefiles import read_cases
    from memclf.classifier import MemoryClassifier

    try:
        clf = memclf.load(model, trusted=trusted or ())
        if not isinstance(clf, MemoryClassifier):
            raise ValueError(f"a bound is about a memory classifier; {model} holds a {type(clf).__name__}")
        asked = [TRAINING_KINDS if each == "all" else (each,) for each in kind or ["compression"]]
        kinds = list(dict.fromkeys(each for some in asked for each in some))
        if strange := [each for each in kinds if each not in KINDS]:
            raise ValueError(f"--kind must be one of {', '.join(KINDS)} or all; got {strange[0]}")
        if HELD_OUT in kinds and len(kinds) > 1:
            raise ValueError("held-out is about other cases than the other kinds; ask for it by itself")
        for file in (plot, json_file):
            if file is not None and not file.absolute().parent.is_dir():
                raise ValueError(f"there is no folder {file.absolute().parent} to write {file.name} into")
        amount = _number(complexity)
        X, y = read_cases(clf, data, label)
        found = bounds_of(clf, X, y, kinds, delta, complexity=amount, given=given or ())
        bounds = [each for each in found if isinstance(each, Bound)]
        for number, bound in enumerate(bounds):
            _show_bound(Console(), bound, first=not number)
        if json_file is not None:
            content = {"model": str(model), "data": str(data), "bounds": [bound.as_dict() for bound in bounds]}
            json_file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        if plot is not None and bounds:
            from memclf.bounds.picture import draw

            draw(bounds).savefig(plot, dpi=150)
    except UntrustedTypeError as error:
        allowed = " ".join(f"--trusted {name}" for name in error.names)
        typer.echo(f"error: {_plain(error)}; here: {_plain(allowed)}", err=True)
        raise typer.Exit(1) from None
    except (MemclfError, OSError, TypeError, ValueError) as error:
        typer.echo(f"error: {_plain(error)}", err=True)
        raise typer.Exit(1) from None
    failed = [(name, each) for name, each in zip(kinds, found, strict=True) if not isinstance(each, Bound)]
    for name, why in failed:
        typer.echo(f"error: there is no {name} bound: {_plain(why)}", err=True)
    if failed:
        raise typer.Exit(1)


def _number(text: str) -> str | float:
    """A number, if it is one."""
    try:
        return float(text)
    except ValueError:
        return text


def _show_bound(console: Console, bound: Bound, *, first: bool) -> None:
    """The printed form, with what weakens the promise in colour; words come from a folder, so they are no markup."""
    sentence, *lines = str(bound).splitlines()
    loud = "bold yellow" if bound.vacuous or not bound.valid else "bold green"
    shown = Text("" if first else "\n").append(_line(sentence), style=loud)
    for line in lines:
        shown.append("\n").append(_line(line), style="yellow" if line.startswith("  not met:") else "")
    console.print(shown, soft_wrap=True)


def _size(text: str | None, option: str) -> tuple[int, int] | None:
    """WIDTHxHEIGHT as (height, width)."""
    if text is None:
        return None
    width, cross, height = text.lower().partition("x")
    try:
        return int(height if cross else width), int(width)
    except ValueError:
        raise ValueError(f"{option} must be WIDTHxHEIGHT, as 256x128, or one number; got {text!r}") from None


def _show(console: Console, found: Inspection) -> None:
    manifest, training = found.manifest, found.manifest["training"]
    title = f"[bold]{_text(manifest['kind'])}[/bold] saved {_text(manifest['created'])}"
    console.print(f"{title}, format {manifest['format_version']}")
    console.print(_text("versions: " + ", ".join(f"{k} {v}" for k, v in manifest["versions"].items())))
    console.print(_text(f"input: {manifest['input']}"))
    if manifest["classes"]:
        counts = training.get("class_counts")
        shown = manifest["classes"] if counts is None else [f"{label} ({n})" for label, n in counts.items()]
        console.print(_text("classes: " + ", ".join(map(str, shown))))
    if "memories" in training:
        console.print(
            f"{training['memories']:d} memories of {training['cases']:d} cases; threshold {training['threshold']:g}, "
            f"coverage {training['coverage']:.1%}, mean similarity {training['mean_similarity']:.3f}"
        )
    else:
        console.print(f"trained for {training['epochs']:d} epochs, last loss {training['last_loss']:.3f}")
    if training.get("by_memory"):
        table = Table(title="memories", title_justify="left")
        for name in ("memory", "training row", "cases", "classes", "threshold", "classifier"):
            table.add_column(name, overflow="fold")
        for number, each in enumerate(training["by_memory"]):
            classes = ", ".join(f"{label}: {n}" for label, n in each["classes"].items())
            cells = (number, each["row"], each["cases"], classes, f"{each['threshold']:.3f}")
            table.add_row(*map(_text, cells), _text(f"{each['classifier']} ({each['origin']})"))
        console.print(table)
    _two_columns(console, "parameters", manifest["parameters"])
    _two_columns(console, "types that loading constructs", found.types)
    _two_columns(console, "files", {k: f"{v['bytes']:,} bytes" for k, v in manifest["files"].items()})
    if found.strangers:
        console.print(f"[yellow]must be allowed with trusted=[...]:[/yellow] {_text(', '.join(found.strangers))}")
    for problem in found.problems:
        console.print(f"[red]problem:[/red] {_text(problem)}")
    if not found.problems:
        console.print("[green]all files are whole[/green]")


def _two_columns(console: Console, title: str, rows: Mapping[str, object]) -> None:
    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in rows.items():
        table.add_row(_text(name), _text(value))
    console.print(table)


def _plain(value: object) -> str:
    """Text from a folder: on one line, without codes that a terminal would obey."""
    return _line(" ".join(str(value).split()))


def _line(text: str) -> str:
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def _text(value: object) -> str:
    return escape(_plain(value))


if __name__ == "__main__":
    app()
