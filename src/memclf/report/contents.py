"""The tables of the report, made from a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from colorsys import hls_to_rgb
from dataclasses import replace
from typing import Any

import numpy as np

from memclf.evaluate.intervals import Interval
from memclf.evaluate.store import Condition
from memclf.report import words
from memclf.report.findings import CLEAN, PAPERS_BACKBONE, marked
from memclf.report.published import PublishedTable
from memclf.report.run import UNPAIRED, Contender, Run
from memclf.report.tables import EMPTY, Cell, Column, Number, Table

SIZES = ("image_size", "corrupt_at")
MEASURES = ("Accuracy", "Balanced")
WIDE = ("Answering", "Routing")  # columns of the contenders that have a table of their own where there is no room
# It goes by the names of the images, which no corruption changes.
MEANINGLESS = {("random", "routing_stability"), ("random", "oracle_accuracy")}
WORST = 10
CONFUSIONS = 8
HARDEST = 12


def number(interval: Interval | None) -> Number:
    return EMPTY if interval is None else Number(*interval)


def conditions_of(run: Run, corruption: str) -> list[Condition]:
    return [CLEAN] if corruption == "clean" else [each for each in run.common if each.corruption == corruption]


# --------------------------------------------------------------------------------------------------- the contenders


def contenders(run: Run) -> Table:
    """Everyone who took part, clean and under corruption, with the paired gain over the baseline."""
    several = len({name[1:] for name in run.field if any(name[1:])}) > 1
    columns = [
        Column("Model"),
        *([Column("Training")] if several else []),
        Column("Accuracy", "Clean test set"),
        Column("Balanced", "Clean test set"),
        Column("Accuracy", "Mean over corruptions"),
        Column("Balanced", "Mean over corruptions"),
        Column("Accuracy", "Gain over its baseline"),
        Column("Balanced", "Gain over its baseline"),
        Column("Coverage", WIDE[0]),
        Column("Selective", WIDE[0]),
        Column("Stability", WIDE[1]),
        Column("Oracle", WIDE[1]),
    ]
    rows: list[list[Cell]] = []
    for name in run.field:
        training = run.called(name[1:])
        gains = [gain(run, name, balanced) for balanced in (False, True)]
        plain = ("coverage", "selective_accuracy", "routing_stability", "oracle_accuracy")
        rows.append(
            [
                words.model(name.model),
                *([training or "any"] if several else []),
                number(run.mean(name, [CLEAN])),
                number(run.mean(name, [CLEAN], balanced=True)),
                number(run.mean(name)),
                number(run.mean(name, balanced=True)),
                *gains,
                *(Number(None if (name.model, each) in MEANINGLESS else run.measure(name, each)) for each in plain),
            ]
        )
    who = "Contenders and controls" if any(name.model in words.CONTROLS for name in run.field) else "Contenders"
    return Table(
        "contenders",
        f"{who} on {run_size(run)}, in per cent, with 95 % intervals; answering and routing under corruption",
        columns,
        rows,
        strong=frozenset(k for k, name in enumerate(run.field) if name.model in ("memory", "sturdy")),
    )


def halves(table: Table) -> list[Table]:
    """The contenders in two tables, where a column that says how they were trained takes the room."""
    if all(column.title != "Training" for column in table.columns):
        return [table]
    first, second = table.picked(lambda c: c.group not in WIDE), table.picked(lambda c: c.group in WIDE)
    assert first is not None
    assert second is not None
    title = "Answering and routing under corruption, in per cent"
    return [replace(first, title=table.title.split(";")[0]), replace(second, title=title)]


def ablation(run: Run) -> Table | None:
    """What each part brings by itself, and what the sturdy memory classifier loses without it."""
    trainings = list(dict.fromkeys(name[1:] for name in run.parts))
    if not trainings:
        return None
    columns = [
        Column("Memory classifier"),
        *([Column("Training")] if len(trainings) > 1 else []),
        *(Column(measure, group) for group in ("Clean test set", "Mean over corruptions") for measure in MEASURES),
        *(Column(measure, "Gain over the paper’s way") for measure in MEASURES),
        *(Column(measure, "Gain over the network") for measure in MEASURES),
    ]
    rows: list[list[Cell]] = []
    strong = set()
    for pair in trainings:
        for name in [Contender("memory", *pair), Contender("sturdy", *pair), *(p for p in run.parts if p[1:] == pair)]:
            if not all(run.has(name, each) for each in (CLEAN, *run.common)):
                continue
            if name.model == "sturdy":
                strong.add(len(rows))
            gains = [
                marked(None if over == name.model else run.gain([pair], model=name.model, over=over, balanced=balanced))
                for over in ("memory", "baseline")
                for balanced in (False, True)
            ]
            rows.append(
                [
                    "as in the paper" if name.model == "memory" else name.model,
                    *([training_of(name)] if len(trainings) > 1 else []),
                    *(number(run.mean(name, asked, balanced=b)) for asked in ([CLEAN], None) for b in (False, True)),
                    *gains,
                ]
            )
    return Table(
        "ablation",
        f"What each part brings on {run_size(run)}, in per cent, with 95 % intervals of paired differences",
        columns,
        rows,
        strong=frozenset(strong),
    )


def run_size(run: Run) -> str:
    cases = 0 if run.cases is None else len(run.cases.keys)
    corruptions = words.counted(len(run.corruptions), "corruption")
    levels = "" if run.five or not run.common else f" at {run.severities}"
    conditions = words.counted(len(run.common), "corrupted condition")
    return f"{words.counted(cases, 'test case')} under {conditions} ({corruptions}{levels})"


def gain(run: Run, name: Contender, balanced: bool) -> Number:
    """Over the baseline of the same training; a control that belongs to no training is put against all baselines."""
    if name.model == "baseline":
        return Number(None, signed=True)
    pairs = run.pairs if name.model in UNPAIRED else [(name.recipe, name.backbone)]
    return marked(run.gain(pairs, model=name.model, balanced=balanced))


def severities(run: Run) -> Table:
    """Mean accuracy over the corruptions, per severity."""
    found: list[list[Cell]] = [
        [words.model(name.model), training_of(name), *(number(run.mean(name, asked)) for _, asked in steps(run))]
        for name in run.field
    ]
    heads = [Column("Clean" if not level else f"Severity {level}") for level, _ in steps(run)]
    title = "Robust accuracy over the severities, mean over the corruptions, in per cent"
    return Table("severities", title, [Column("Model"), Column("Training"), *heads], found)


def steps(run: Run) -> Iterator[tuple[int, list[Condition]]]:
    """Severity by severity the conditions that are in common; the clean test set is severity 0."""
    yield 0, [CLEAN]
    for level in sorted({each.severity for each in run.common}):
        yield level, [each for each in run.common if each.severity == level]


def training_of(name: Contender) -> str:
    return " · ".join(part for part in (words.recipe(name.recipe), words.backbone(name.backbone)) if part) or "any"


# ------------------------------------------------------------------------------------------------ beside the paper


def paper_tables(run: Run) -> list[Table]:
    """The paper's tables of this study with ours beside them; a table of which nothing was run is left out."""
    found = (beside(run, table) for table in run.published)
    return [table for table in found if table is not None]


def beside(run: Run, printed: PublishedTable) -> Table | None:
    """One table of the paper: for every column ours and the paper's; grey what was not run, ours alone what is new.

    None when nothing of ours belongs into it.
    """
    first = "augmented" if printed.kind == "augmented" else "baseline"
    ours = _ours_for(run, printed, first)
    if not ours:
        return None
    order = [*ours, *(column for column in printed.columns if column not in ours)]
    own = {column for column, pair in ours.items() if Contender("memory-paper", *pair) in run.field}
    shared = [name for name in printed.corruptions if conditions_of(run, name)]
    extra = [name for name in run.corruptions if name not in printed.rows]
    lines = {words.corruption(name): [name] for name in ("clean", *shared, *extra)}
    means = _means(shared, extra)
    rows: list[list[Cell]] = []
    for title, names in (lines | means).items():
        asked = [each for name in names for each in conditions_of(run, name)]
        line: list[Cell] = [title]
        for column in order:
            line += _ours(run, ours[column], asked, first, column in own) if column in ours else []
            line += _theirs(printed, column, names, grey=column not in ours) if column in printed.columns else []
        rows.append(line)
    columns = [Column("Corruption"), *(head for column in order for head in _heads(printed, column, ours, own))]
    over = "mean over all five severities" if run.five else f"ours over {run.severities}, the paper’s over all five"
    title = f"{printed.title}: ours beside the paper’s, accuracy in per cent, {over}"
    strong = frozenset(range(len(lines), len(rows)))
    rival = "the network with the expert features joined" if first == "augmented" else "the baseline"
    return Table(f"paper_{printed.name}", title, columns, rows, _note(printed, ours, extra), strong, rival)


def _means(shared: list[str], extra: list[str]) -> dict[str, list[str]]:
    """The last rows, each with its corruptions: means beside each other are over the same ones."""
    if not extra or not shared:
        return {"Mean over corruptions": [*shared, *extra]} if shared or extra else {}
    both = "one corruption" if len(shared) == 1 else f"{len(shared)} corruptions"
    ours = f"Mean over all {len(shared) + len(extra)} corruptions of ours"
    return {f"Mean over the {both} that both have": shared, ours: [*shared, *extra]}


def _ours_for(run: Run, printed: PublishedTable, first: str) -> dict[str, tuple[str, str]]:
    """Column -> the training of ours that stands in it; columns that the paper does not have come last.

    A recipe with several backbones is shown with the paper's, if that was run. Our own backbones stand in the
    tables of backbones; a recipe that the paper's table does not have only goes along with one that it has.
    """
    ready = [
        (each.recipe, each.backbone)
        for each in run.field
        if each.model == "memory" and Contender(first, each.recipe, each.backbone) in run.field
    ]
    if printed.kind == "recipe":
        ready.sort(key=lambda pair: pair[1] != PAPERS_BACKBONE)
        found = {recipe: (recipe, backbone) for recipe, backbone in reversed(ready)}
        if not any(column in found for column in printed.columns):
            return {}
    else:
        found = {backbone: (recipe, backbone) for recipe, backbone in ready if recipe == "vanilla"}
    known = [column for column in printed.columns if column in found]
    return {column: found[column] for column in [*known, *(each for each in found if each not in known)]}


def _heads(printed: PublishedTable, column: str, ours: dict[str, tuple[str, str]], own: set[str]) -> Iterator[Column]:
    title = words.column(column)
    base = "Augmented" if printed.kind == "augmented" else "Baseline"
    if column in ours:
        yield Column(base, title)
        yield Column("Memory", title)
        if column in own:
            yield Column("Memory, paper’s feature", title)
    if column in printed.columns:
        grey = column not in ours
        named = f"{title}, not run" if grey else title
        # Something of the paper's is always to be seen: what the headline is held against.
        alone = column == PAPERS_BACKBONE and not any(each in printed.columns for each in ours)
        yield Column(f"Paper: {base.lower()}", named, grey=grey, folded=grey and not alone)
        yield Column("Paper: memory", named, grey=grey, folded=grey and not alone)


def _note(printed: PublishedTable, ours: dict[str, tuple[str, str]], extra: list[str]) -> str:
    parts = []
    if printed.kind == "recipe":
        names = words.listed(dict.fromkeys(words.backbone(pair[1]) for pair in ours.values() if pair[1]))
        parts.append(f"Our network is {names}." if names else "")
    new = [words.column(column) for column in ours if column not in printed.columns]
    parts.append(f"{words.listed(new)} is not in the paper’s table." if len(new) == 1 else "")
    parts.append(f"{words.listed(new)} are not in the paper’s table." if len(new) > 1 else "")
    parts.append(f"The paper has no row for {words.listed(words.corruption(name) for name in extra)}." if extra else "")
    return " ".join([*(part for part in parts if part), *printed.notes])


def _ours(run: Run, pair: tuple[str, str], asked: list[Condition], first: str, own: bool) -> list[Cell]:
    models = [first, "memory", *(["memory-paper"] if own else [])]
    if not asked or not all(run.has(Contender(model, *pair), each) for model in models for each in asked):
        return [EMPTY] * len(models)
    cells: list[Cell] = [Number(float(run.scores(Contender(first, *pair), asked).mean()))]
    for model in models[1:]:
        value = float(run.scores(Contender(model, *pair), asked).mean())
        apart = marked(run.gain([pair], asked, model=model, over=first))
        cells.append(Number(value, mark=apart.mark, sure=apart.sure))
    return cells


def _theirs(printed: PublishedTable, column: str, names: list[str], *, grey: bool) -> list[Cell]:
    """The paper's cells, or means over several rows of them; nothing where it lacks one of the rows."""
    if not all(name in printed.rows for name in names):
        return [Number(None, faint=True)] * 2
    rows = [printed.rows[name] for name in names]
    base, memory = (sum(row[column, side] for row in rows) / len(rows) / 100 for side in ("baseline", "memory"))
    apart = marked(Interval(memory - base, memory - base, memory - base))
    mark = "" if grey else apart.mark
    digits = 0 if len(rows) == 1 else 1  # printed in whole numbers
    return [Number(base, faint=True, digits=digits), Number(memory, mark=mark, faint=True, digits=digits)]


# ------------------------------------------------------------------------------------------------- what went wrong


def gains(run: Run, pair: tuple[str, str]) -> Table:
    """Gain of the memory classifier for every condition: corruption x severity."""
    levels = sorted({each.severity for each in run.common})
    rows: list[list[Cell]] = []
    for name in dict.fromkeys(each.corruption for each in run.common):
        line: list[Cell] = [words.corruption(name)]
        for level in levels:
            here = [each for each in run.common if each == (name, level)]
            line.append(marked(run.gain([pair], here)) if here else Number(None, signed=True))
        line.append(marked(run.gain([pair], conditions_of(run, name))))
        rows.append(line)
    heads = [Column("Corruption"), *(Column(str(level), "Severity") for level in levels), Column("Mean", " ")]
    suffix = "" if len(run.pairs) < 2 else "_" + "_".join(part for part in pair if part).replace("/", "_")
    called = "" if len(run.pairs) < 2 else f", {run.called(pair)}"
    return Table(f"gains{suffix}", f"Gain of the memory classifier over its baseline, in points{called}", heads, rows)


def worst(run: Run) -> Table | None:
    """Conditions in which the memory classifier does worst against its baseline."""
    found = []
    for pair in run.pairs:
        duel = (run.contender(model, pair) for model in ("memory", "baseline"))
        first, second = (run.scores(name, run.common).mean(axis=1) for name in duel)
        found += [(a - b, pair, each, a, b) for a, b, each in zip(first, second, run.common, strict=True)]
    found.sort(key=lambda each: (each[0], str(each[2])))
    rows: list[list[Cell]] = []
    for _, pair, condition, memory, baseline in found[:WORST]:
        line: list[Cell] = [words.condition(str(condition))]
        line += [run.called(pair)] if len(run.pairs) > 1 else []
        line += [Number(float(baseline)), Number(float(memory)), marked(run.gain([pair], [condition]))]
        rows.append(line)
    training = [Column("Training")] if len(run.pairs) > 1 else []
    heads = [Column("Condition"), *training, Column("Baseline"), Column("Memory"), Column("Gain")]
    title = "Conditions in which the memory classifier does worst against its baseline, in per cent"
    return Table("worst_conditions", title, heads, rows) if rows else None


def confusions(run: Run) -> Table | None:
    """What the memory classifier takes for what most often under corruption, and how often the baseline does."""
    if run.cases is None or not run.pairs or not run.common:
        return None
    counts = {model: _confused(run, model) for model in ("memory", "baseline")}
    wrong = counts["memory"].most_common()
    labels = [str(each) for each in run.cases.classes] + ["unknown"]
    per_class = np.bincount(run.cases.labels, minlength=len(run.cases.classes))
    asked = {model: _times(run, model) for model in counts}
    rows: list[list[Cell]] = []
    for (truth, said), times in wrong[:CONFUSIONS]:
        of = {model: int(per_class[truth]) * asked[model] for model in counts}
        shares = [Number(counts[model][truth, said] / of[model]) for model in ("memory", "baseline")]
        rows.append([labels[truth], labels[said], times, *shares])
    heads = [
        Column("True class"),
        Column("Answered"),
        Column("Times"),
        Column("Share of the class, memory"),
        Column("Share of the class, baseline"),
    ]
    title = "Most frequent confusions of the memory classifier under corruption, in per cent of the true class"
    return Table("confusions", title, heads, rows) if rows else None


def _trained(run: Run, model: str) -> list[tuple[Any, ...]]:
    names = [run.contender(model, pair) for pair in run.pairs]
    return [(*name, seed, *each) for name in names for seed in run.contenders[name] for each in run.common]


def _times(run: Run, model: str) -> int:
    return len(_trained(run, model))


def _confused(run: Run, model: str) -> Counter[tuple[int, int]]:
    assert run.cases is not None
    labels, found = run.cases.labels, Counter[tuple[int, int]]()
    for key in _trained(run, model):
        said = run.answers[key]
        found.update(zip(labels[said != labels].tolist(), said[said != labels].tolist(), strict=True))
    return found


def hardest(run: Run) -> Table | None:
    """Test cases that the memory classifier and its baseline get wrong most often under corruption."""
    if run.cases is None or not run.pairs or not run.common:
        return None
    labels = [str(each) for each in run.cases.classes] + ["unknown"]
    keys = [key for model in ("memory", "baseline") for key in _trained(run, model)]
    said = np.array([run.answers[key] for key in keys])
    wrong = (said != run.cases.labels).mean(axis=0)
    rows: list[list[Cell]] = []
    for case in np.argsort(-wrong, kind="stable")[:HARDEST]:
        if wrong[case] == 0:
            break
        answers = Counter(said[said[:, case] != run.cases.labels[case], case].tolist())
        most = max(answers.values())
        mostly = " or ".join(labels[code] for code in sorted(answers) if answers[code] == most)
        rows.append([run.cases.keys[case], labels[run.cases.labels[case]], Number(float(wrong[case])), mostly])
    heads = [Column("Test case"), Column("True class"), Column("Wrong"), Column("Mostly answered")]
    title = "Hardest test cases: share of wrong answers of baseline and memory classifier under corruption, in per cent"
    return Table("hardest", title, heads, rows) if rows else None


# -------------------------------------------------------------------------------------------------------- memories

# Told apart by eyes that see few colours (Paul Tol's "bright"), on light and on dark pages.
CLASS_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999999")


def class_colours(run: Run) -> dict[str, str]:
    """One colour for each class, the same for all memories of the report."""
    shown = run.exhibits.get("memories") or []
    names = [str(each) for each in (run.cases.classes if run.cases is not None else [])]
    names += [str(name) for each in shown for name in each.get("classes") or {}]
    return {name: _class_colour(place) for place, name in enumerate(dict.fromkeys(names))}


def _class_colour(place: int) -> str:
    if place < len(CLASS_COLOURS):
        return CLASS_COLOURS[place]
    red, green, blue = hls_to_rgb(place * 0.618 % 1, 0.52, 0.45)  # the golden section never comes back to a hue
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


# -------------------------------------------------------------------------------------------------------- settings


def about(run: Run) -> Table:
    """What was asked for, as it was noted."""
    told = sorted(run.settings.items())
    rows: list[list[Cell]] = [[key, size(value) if key in SIZES else written(value)] for key, value in told]
    versions = run.about["versions"]
    rows += [[f"version of {key}", written(value)] for key, value in (versions or {}).items()]
    return Table("settings", "Settings and versions", [Column("What"), Column("Value")], rows)


def size(value: Any) -> str:
    """Height and width as WIDTHxHEIGHT, which is how they are asked for."""
    return f"{value[1]}x{value[0]}" if isinstance(value, list | tuple) and len(value) == 2 else written(value)


def written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(written(each) for each in value) or "–"
    if isinstance(value, dict):
        return ", ".join(f"{key} {written(each)}" for key, each in value.items()) or "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None or value == "" else str(value)
