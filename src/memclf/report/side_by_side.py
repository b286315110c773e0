"""Several runs side by side: verdicts, settings that differ, every model in every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memclf.evaluate.store import BASELINE, CLEAN, Condition, ModelId
from memclf.report import findings, formats, page, tables
from memclf.report.beside_paper import paper_gain
from memclf.report.contenders import name_training
from memclf.report.contents import show_value
from memclf.report.labels import CONTROLS, model_order
from memclf.report.run import Run
from memclf.report.tables import EMPTY, Cell, Column, Number, Table, difference, number

ABSENT = "–"
SHOWN = 3  # conditions that are named where some are left out
MAKING = ("preset", "corrupt_at")  # settings that change what a corruption and severity look like


def write_comparison(folders: Sequence[Path], out: Path) -> Path:
    """Write OUT/compare.html, OUT/compare.md and OUT/tables/; return the path of the page."""
    if not folders:
        raise ValueError("there is no run to compare; name at least one run folder")
    runs = [Run(folder) for folder in folders]
    names = name_folders(folders)
    apart = restrict_to_shared(names, runs)
    whole = headlines(names, runs)
    shown: dict[str, Any] = {
        "runs": list(zip(names, runs, map(findings.headline, runs), map(findings.cautions, runs), strict=True)),
        "headlines": whole,
        "halves": split(whole),
        "settings": differing(names, runs),
        "models": models(names, runs),
        "same_cases": same_cases(runs),
        "apart": apart,
        "shared": len(shared_conditions(runs)),
        "made_differently": [
            key for key in MAKING if len({str(run.settings[key]) for run in runs if key in run.settings}) > 1
        ],
        "beside": any(run.published for run in runs),
        "grouped": any(run.groups is not None for run in runs),
        "studies": list(dict.fromkeys(run.study for run in runs)),
    }
    out.mkdir(parents=True, exist_ok=True)
    for table in (shown["headlines"], shown["settings"], shown["models"]):
        tables.write(table, out / "tables")
    (out / "compare.md").write_text(page.render("compare.md.j2", **shown), encoding="utf-8")
    target = out / "compare.html"
    target.write_text(page.render("compare.html.j2", **shown), encoding="utf-8")
    return target


def name_folders(folders: Sequence[Path]) -> list[str]:
    """The names of the folders, with as many of their parents as make them differ."""
    parts = [folder.resolve().parts for folder in folders]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(each[-depth:]) for each in parts]
        if len(set(names)) == len(set(parts)):
            break
    return [f"{name} ({k + 1})" if names.count(name) > 1 else name for k, name in enumerate(names)]


def shared_conditions(runs: Sequence[Run]) -> set[Condition]:
    return set.intersection(*(set(run.common) for run in runs))


def restrict_to_shared(names: Sequence[str], runs: Sequence[Run]) -> list[str]:
    """Let all runs take their means over the conditions that they share; return sentences on what that leaves out.

    Where they share none, each keeps its own conditions, and the sentences say so.
    """
    shared = shared_conditions(runs)
    if all(set(run.common) == shared for run in runs):
        return []
    if not shared:
        return [f"{name}: {run.size}" for name, run in zip(names, runs, strict=True)]
    found = []
    for name, run in zip(names, runs, strict=True):
        left = [run.labels.condition(str(each)) for each in run.common if each not in shared]
        some = [*left[:SHOWN], *([f"{len(left) - SHOWN} more"] if len(left) > SHOWN else [])]
        found += (
            [f"{name}: {formats.count(len(left), 'condition')} left out ({formats.join_words(some)})"] if left else []
        )
        run.restrict(shared)
    return found


def same_cases(runs: Sequence[Run]) -> bool:
    """Whether all runs were measured on the same test cases."""
    first, *others = (None if run.cases is None else (run.cases.keys, run.cases.labels.tolist()) for run in runs)
    return first is not None and all(other == first for other in others)


def headlines(names: Sequence[str], runs: Sequence[Run]) -> Table:
    """What each run was, what it recommends, and the gain of its memory classifier."""
    rows: list[list[Cell]] = []
    beside = any(run.published for run in runs)
    for name, run in zip(names, runs, strict=True):
        source = str(run.about["source"])
        data = source if source in ("generated", "real") else "not stated"
        named = (name_training(run, ModelId("", *each)) for each in run.trainings(run.subject))
        trainings = formats.join_words(named) or ABSENT
        line: list[Cell] = [name, run.study, data, trainings, "partial" if run.partial else "complete"]
        line += [0 if run.cases is None else len(run.cases.keys), len(run.common)]
        line.append(ABSENT if run.verdict is None else run.name(run.verdict.pick))
        line += [_level(run, BASELINE), _level(run, run.subject)]
        line += [difference(run.gain(run.subject, BASELINE, run.judged, balanced=b)) for b in (False, True)]
        line.append(difference(run.gain(run.subject, BASELINE, [CLEAN])))
        if beside:
            paper = paper_gain(run)
            line += [difference(paper and paper.ours), Number(paper and paper.gain, signed=True)]
        rows.append([*line, len(findings.warnings(run))])
    heads = [
        *(Column(title) for title in ("Run", "Study", "Data", "Trainings", "State", "Cases", "Conditions")),
        Column("Use", " "),
        *(Column(title, "Mean accuracy") for title in ("Baseline", "Memory")),
        *(Column(title, "Gain over the baseline") for title in ("Accuracy", "Balanced", "Clean")),
        *(Column(title, "Where the paper has it too") for title in ("Ours", "Paper’s") if beside),
        Column("Warnings", " "),
    ]
    title = "Each run’s best memory classifier beside its baseline, in per cent and points, with 95 % intervals"
    return Table("headlines", title, heads, rows)


def _level(run: Run, model: str) -> Number:
    """Mean accuracy of a model over the trainings that it shares with the baseline."""
    names = [ModelId(model, *training) for training in run.trainings(run.subject)]
    found = [run.scores(name, run.judged).mean() for name in names if name in run.field]
    return Number(float(sum(found) / len(found))) if found else EMPTY


def split(table: Table) -> list[Table]:
    """The headlines in two tables, since a page is not as wide: what was run, and what came out."""
    plain = [number for number, column in enumerate(table.columns) if not column.group]
    rest = [number for number, column in enumerate(table.columns) if column.group]
    titles = {"What was run": plain, table.title: [plain[0], *rest]}
    return [
        replace(
            table,
            title=title,
            columns=[table.columns[number] for number in kept],
            rows=[[row[number] for number in kept] for row in table.rows],
        )
        for title, kept in titles.items()
    ]


def differing(names: Sequence[str], runs: Sequence[Run]) -> Table:
    """Settings and versions that are not the same everywhere."""
    known: list[dict[str, str]] = []
    for run in runs:
        about: dict[str, Any] = {"source": run.about["source"], **run.settings}
        about |= {f"version of {key}": value for key, value in (run.about["versions"] or {}).items()}
        known.append({key: show_value(value) for key, value in about.items()})
    rows: list[list[Cell]] = []
    for key in dict.fromkeys(key for each in known for key in each):
        values = [each.get(key, ABSENT) for each in known]
        if len(set(values)) > 1:
            rows.append([key, *values])
    return Table("differing_settings", "Settings that differ", [Column("Setting"), *map(Column, names)], rows)


def models(names: Sequence[str], runs: Sequence[Run]) -> Table:
    """Every contender in every run: mean accuracy under corruption and gain over its baseline."""
    everyone = sorted({name for run in runs for name in run.field}, key=_place)
    rows: list[list[Cell]] = []
    for contender in everyone:
        first = next(run for run in runs if contender in run.contenders)
        line: list[Cell] = [first.labels.model(contender.model), name_training(first, contender)]
        for run in runs:
            there = contender in run.field
            line.append(number(run.mean(contender, run.judged)) if there else EMPTY)
            line.append(difference(run.own_gain(contender, run.judged)))
        rows.append(line)
    heads = [Column("Model"), Column("Training")]
    for name in names:
        heads += [Column("Accuracy", name), Column("Gain", name)]
    title = "Every model in every run: mean accuracy under corruption in per cent, gain over its baseline in points"
    picks = {run.verdict.pick for run in runs if run.verdict is not None}
    strong = frozenset(k for k, name in enumerate(everyone) if name in picks)
    return Table("models", title, heads, rows, strong=strong)


def _place(name: ModelId) -> tuple[Any, ...]:
    return (name.model in CONTROLS, name.recipe, name.backbone, model_order(name.model))
