"""Our numbers beside the paper's: its gain, and its tables with ours in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from memclf.evaluate.intervals import Interval, seeds_interval
from memclf.evaluate.results import Training
from memclf.evaluate.store import BASELINE, Condition, ModelId
from memclf.report import captions, formats
from memclf.report.published import PublishedTable
from memclf.report.run import Run
from memclf.report.section import Block, Folded, Heading, Section, Text
from memclf.report.tables import EMPTY, Cell, Column, Mark, Number, Table, difference

PAPERS_BACKBONE = "resnet50"  # of the tables whose columns are recipes
OTHER_BACKBONES = {"manifold_mixup": "preact_resnet18"}  # of these recipes the paper has another one (its footnote 2)
PAPERS_MODEL = "memory"  # the model of ours that is built as the paper says
WITH_ITS_FEATURE = "memory-paper"  # the same where the run has the paper's own expert feature beside ours


def section(run: Run, folder: Path) -> Section | None:
    """The paper's tables of this study with ours beside them.

    A table of which nothing was run is left out.
    """
    blocks = show_tables(run)
    return Section("paper", "Beside the paper", blocks) if blocks else None


def show_tables(run: Run) -> list[Block]:
    """The paper's tables of one run, or of several joined ones; [] if nothing in them was run."""
    shown = paper_tables(run)
    if not shown:
        return []
    blocks: list[Block] = [
        Text(f"{captions.TERMS['recipe']} {captions.CAPTIONS['paper']} The paper’s numbers are in italics.")
    ]
    if (gain := paper_gain(run)) is not None:
        apart = difference(gain.ours)
        ours = f"{apart.text} ({apart.interval})" if apart.known else "none"
        text = f"{formats.points(gain.gain)} points ({gain.note}); ours there: {ours}."
        blocks.append(Text(text, lead="The paper’s gain over the baseline:"))
    for table in shown:
        blocks.append(Heading(table.title.split(":")[0]))
        blocks.append(
            Text(f"▲ the memory classifier is better, ▼ {_rival(table)} is; △ ▽ may be chance.", style="small")
        )
        blocks.append(replace(table, note=""))
        blocks += [Folded("About this table", [Text(table.note, style="small")])] if table.note else []
    return blocks


def _rival(table: Table) -> str:
    return "the network with the expert features joined" if table.columns[1].title == "Augmented" else "the baseline"


# --------------------------------------------------------------------------------------------------------- its gain


class PaperGain(NamedTuple):
    """The paper's gain, how it was found, and ours over the same corruptions and trainings."""

    gain: float
    note: str
    ours: Interval | None


def paper_gain(run: Run) -> PaperGain | None:
    """The paper's gain for the trainings and the corruptions that both have.

    Where the paper has no such column, a vanilla training is compared with its ResNet50 without augmentation.
    """
    trainings = run.trainings(PAPERS_MODEL)
    columns = {training: counterpart(run.published, training) for training in trainings}
    known = {training: found for training, found in columns.items() if found is not None}
    shared = [name for name in run.corruptions if all(name in table.rows for table, _ in known.values())]
    if not known or not shared:
        return None
    gains = [
        sum(table.rows[name][column, "memory"] - table.rows[name][column, "baseline"] for name in shared) / len(shared)
        for table, column in known.values()
    ]
    names = (run.labels.recipes.get(column) or f"vanilla {run.labels.backbone(column)}" for _, column in known.values())
    count = "one corruption" if len(shared) == 1 else f"{len(shared)} corruptions"
    parts = [
        formats.join_words(dict.fromkeys(names)),
        f"the same {count}" if len(shared) == len(run.corruptions) else f"over the {count} that both have",
        *([] if run.five else [f"there all five severities, here {run.severities}"]),
    ]
    if len(known) < len(trainings):
        parts.append(f"ours for {formats.join_words(run.name_training(training) for training in known)} only")
    asked = [each for each in run.common if each.corruption in shared]
    own = all(ModelId(WITH_ITS_FEATURE, *training) in run.field for training in known)
    ours = run.gain(WITH_ITS_FEATURE if own else PAPERS_MODEL, conditions=asked, trainings=list(known))
    return PaperGain(sum(gains) / len(gains) / 100, ", ".join(parts), ours)


def counterpart(published: Sequence[PublishedTable], training: Training) -> tuple[PublishedTable, str] | None:
    """The published table and its column that a training of ours is compared with."""
    recipe, backbone = training
    tables = {table.kind: table for table in published}
    options = [(tables.get("recipe"), recipe)]
    if recipe == "vanilla":
        options += [(tables.get("backbone"), backbone), (tables.get("backbone"), PAPERS_BACKBONE)]
    return next(((table, column) for table, column in options if table is not None and column in table.columns), None)


# ------------------------------------------------------------------------------------------------------- its tables


def paper_tables(run: Run) -> list[Table]:
    """The published tables with ours beside them."""
    found = (compare(run, table) for table in run.published)
    return [table for table in found if table is not None]


def compare(run: Run, printed: PublishedTable) -> Table | None:
    """One table of the paper: its numbers and ours for every column that was run.

    A column that is new has ours alone. Where nothing that was run is in the paper, its ResNet50 is shown, which the
    gain is compared with. None when nothing of ours belongs into it.
    """
    first = "augmented" if printed.kind == "augmented" else BASELINE
    ours = _match_columns(run, printed, first)
    if not ours:
        return None
    alone = PAPERS_BACKBONE in printed.columns and not any(column in printed.columns for column in ours)
    order = [*ours, *([PAPERS_BACKBONE] if alone else [])]
    own = {column for column, training in ours.items() if ModelId(WITH_ITS_FEATURE, *training) in run.field}
    shared = [name for name in printed.corruptions if run.conditions_of(name)]
    extra = [name for name in run.corruptions if name not in printed.rows]
    lines = {run.labels.corruption(name): [name] for name in ("clean", *shared, *extra)}
    rows: list[list[Cell]] = []
    for title, names in (lines | _mean_rows(shared, extra)).items():
        asked = [each for name in names for each in run.conditions_of(name)]
        line: list[Cell] = [title]
        for column in order:
            line += _ours(run, ours[column], asked, first, column in own) if column in ours else []
            line += _theirs(printed, column, names, mark=column in ours) if column in printed.columns else []
        rows.append(line)
    strong = frozenset(range(len(lines), len(rows)))
    if run.sources:
        line = ["Run and seeds"]
        for column in order:
            width = len(list(_heads(run, printed, column, ours, own)))
            told = _name_sources(run, ours[column], _models(first, column in own)) if column in ours else ""
            line += [told, *[""] * (width - 1)]
        rows.append(line)
    columns = [Column("Corruption"), *(head for column in order for head in _heads(run, printed, column, ours, own))]
    over = "mean over all five severities" if run.five else f"ours over {run.severities}, the paper’s over all five"
    title = f"{printed.title}: ours beside the paper’s, accuracy in per cent, {over}"
    note = _note(run, printed, ours, extra)
    return Table(f"paper_{printed.name}", title, columns, rows, note, strong, "coloured")


def _mean_rows(shared: list[str], extra: list[str]) -> dict[str, list[str]]:
    """The last rows, each with its corruptions: means beside each other are over the same ones."""
    if not extra or not shared:
        return {"Mean over corruptions": [*shared, *extra]} if shared or extra else {}
    both = "one corruption" if len(shared) == 1 else f"{len(shared)} corruptions"
    ours = f"Mean over all {len(shared) + len(extra)} corruptions of ours"
    return {f"Mean over the {both} that both have": shared, ours: [*shared, *extra]}


def _match_columns(run: Run, printed: PublishedTable, first: str) -> dict[str, Training]:
    """Column -> the training of ours that belongs into it.

    Columns that the paper does not have come last. A recipe with several backbones is shown with the paper's of that
    recipe, if that was run. Our own backbones are shown in the tables of backbones; a recipe that the paper's table
    does not have is only shown with one that it has.
    """
    ready = [each.training for each in run.field if each.model == PAPERS_MODEL and run.beside(each, first)]
    if printed.kind == "recipe":
        ready.sort(key=lambda training: training[1] != OTHER_BACKBONES.get(training[0], PAPERS_BACKBONE))
        found = {recipe: (recipe, backbone) for recipe, backbone in reversed(ready)}
        if not any(column in found for column in printed.columns):
            return {}
    else:
        found = {backbone: (recipe, backbone) for recipe, backbone in ready if recipe == "vanilla"}
    known = [column for column in printed.columns if column in found]
    return {column: found[column] for column in [*known, *(each for each in found if each not in known)]}


def _heads(
    run: Run, printed: PublishedTable, column: str, ours: dict[str, Training], own: set[str]
) -> Iterator[Column]:
    title = run.labels.training(column)
    base = "Augmented" if printed.kind == "augmented" else "Baseline"
    if column in ours:
        yield Column(base, title)
        yield Column("Memory", title)
        if column in own:
            yield Column("Memory, paper’s feature", title)
    if column in printed.columns:
        named = title if column in ours else f"{title}, not run"
        yield Column(f"Paper: {base.lower()}", named)
        yield Column("Paper: memory", named)


def _note(run: Run, printed: PublishedTable, ours: dict[str, Training], extra: list[str]) -> str:
    parts = []
    if printed.kind == "recipe":
        networks: dict[str, list[str]] = {}
        for column, (_, backbone) in ours.items():
            if backbone:
                networks.setdefault(run.labels.backbone(backbone), []).append(run.labels.training(column))
        if len(networks) > 1:
            each = (f"{name} for {formats.join_words(columns)}" for name, columns in networks.items())
            parts.append(f"Our networks are {'; '.join(each)}.")
        elif networks:
            parts.append(f"Our network is {next(iter(networks))}.")
    new = [run.labels.training(column) for column in ours if column not in printed.columns]
    if new:
        parts.append(f"{formats.join_words(new)} {'is' if len(new) == 1 else 'are'} not in the paper’s table.")
    missing = formats.join_words(map(run.labels.corruption, extra))
    parts.append(f"The paper has no row for {missing}." if extra else "")
    if any(len(seeds) > 1 for name, seeds in run.contenders.items() if name.training in ours.values()):
        parts.append(captions.CAPTIONS["seeds"])
    return " ".join([*(part for part in parts if part), *printed.notes])


def _models(first: str, own: bool) -> list[str]:
    return [first, PAPERS_MODEL, *([WITH_ITS_FEATURE] if own else [])]


def _shared_seeds(run: Run, training: Training, models: list[str]) -> list[int]:
    """Seeds that all of these models have: means beside each other are over the same ones."""
    return sorted(set.intersection(*(set(run.contenders.get(ModelId(model, *training), ())) for model in models)))


def _name_sources(run: Run, training: Training, models: list[str]) -> str:
    """The runs that a column is from, each with its seeds."""
    seeds: dict[str, list[str]] = {}
    for seed in _shared_seeds(run, training, models):
        names = dict.fromkeys(run.sources[ModelId(model, *training, seed)] for model in models)
        seeds.setdefault(" + ".join(names), []).append(str(seed))
    return "; ".join(f"{name}: {', '.join(each)}" for name, each in seeds.items())


def _ours(run: Run, training: Training, asked: list[Condition], first: str, own: bool) -> list[Cell]:
    """The cells of one training: means over the seeds, with an interval where there are several."""
    models = _models(first, own)
    seeds = _shared_seeds(run, training, models)
    if not asked or not seeds:
        return [EMPTY] * len(models)
    if not all(run.has(ModelId(model, *training), each) for model in models for each in asked):
        return [EMPTY] * len(models)
    scores = {model: run.seed_scores(ModelId(model, *training), seeds, asked) for model in models}
    cells: list[Cell] = []
    for model in models:
        found = seeds_interval(scores[model], groups=run.groups)
        low, high = (found.low, found.high) if len(seeds) > 1 else (None, None)
        apart = difference(seeds_interval(scores[model] - scores[first], groups=run.groups))
        mark: Mark = "" if model == first else apart.mark
        cells.append(Number(found.value, low, high, mark=mark, sure=apart.sure))
    return cells


def _theirs(printed: PublishedTable, column: str, names: list[str], *, mark: bool) -> list[Cell]:
    """The paper's cells, or means over several rows; nothing where it lacks one of the rows."""
    if not all(name in printed.rows for name in names):
        return [Number(None, faint=True)] * 2
    rows = [printed.rows[name] for name in names]
    base, memory = (sum(row[column, side] for row in rows) / len(rows) / 100 for side in ("baseline", "memory"))
    apart = difference(Interval(memory - base, memory - base, memory - base))
    digits = 0 if len(rows) == 1 else 1  # printed in whole numbers
    return [
        Number(base, faint=True, digits=digits),
        Number(memory, mark=apart.mark if mark else "", faint=True, digits=digits),
    ]
