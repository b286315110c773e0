"""Several runs side by side: headlines, what was set differently, every model in every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memclf.evaluate.store import Condition
from memclf.report import contents, findings, page, tables, words
from memclf.report.run import Contender, Run
from memclf.report.tables import EMPTY, Cell, Column, Number, Table

ABSENT = "–"
SHOWN = 3  # conditions that are named where some are left out
MAKING = ("preset", "corrupt_at")  # settings that make another picture of the same corruption and severity


def written(folders: Sequence[Path], out: Path) -> Path:
    """OUT/compare.html, OUT/compare.md and OUT/tables/."""
    if not folders:
        raise ValueError("there is no run to compare; name at least one run folder")
    runs = [Run(folder) for folder in folders]
    names = called(folders)
    apart = alike(names, runs)
    heads = [findings.headline(run) for run in runs]
    whole = headlines(names, runs, heads)
    shown: dict[str, Any] = {
        "runs": list(zip(names, runs, heads, map(findings.cautions, runs), strict=True)),
        "headlines": whole,
        "halves": halves(whole),
        "settings": differing(names, runs),
        "models": models(names, runs),
        "same_cases": same_cases(runs),
        "apart": apart,
        "shared": len(in_common(runs)),
        "made_differently": [
            key for key in MAKING if len({str(run.settings[key]) for run in runs if key in run.settings}) > 1
        ],
        "beside": any(head.paper.known for head in heads),
        "grouped": any(run.cases is not None and run.cases.groups is not None for run in runs),
        "studies": list(dict.fromkeys(run.study for run in runs)),
    }
    out.mkdir(parents=True, exist_ok=True)
    for table in (shown["headlines"], shown["settings"], shown["models"]):
        tables.write(table, out / "tables")
    (out / "compare.md").write_text(page.render("compare.md.j2", **shown), encoding="utf-8")
    target = out / "compare.html"
    target.write_text(page.render("compare.html.j2", **shown), encoding="utf-8")
    return target


def called(folders: Sequence[Path]) -> list[str]:
    """The names of the folders; with as many of their parents as it takes to tell them apart."""
    parts = [folder.resolve().parts for folder in folders]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(each[-depth:]) for each in parts]
        if len(set(names)) == len(set(parts)):
            break
    return [f"{name} ({k + 1})" if names.count(name) > 1 else name for k, name in enumerate(names)]


def in_common(runs: Sequence[Run]) -> set[Condition]:
    return set.intersection(*(set(run.common) for run in runs))


def alike(names: Sequence[str], runs: Sequence[Run]) -> list[str]:
    """Let all runs take their means over the conditions that they share; sentences on what that leaves out.

    Where they share none, each keeps its own, and that is the sentence.
    """
    shared = in_common(runs)
    if all(set(run.common) == shared for run in runs):
        return []
    if not shared:
        return [f"{name}: {contents.run_size(run)}" for name, run in zip(names, runs, strict=True)]
    found = []
    for name, run in zip(names, runs, strict=True):
        left = [words.condition(str(each)) for each in run.common if each not in shared]
        some = [*left[:SHOWN], *([f"{len(left) - SHOWN} more"] if len(left) > SHOWN else [])]
        found += [f"{name}: {words.counted(len(left), 'condition')} left out ({words.listed(some)})"] if left else []
        run.only(shared)
    return found


def same_cases(runs: Sequence[Run]) -> bool:
    """Whether all runs were measured on the same test cases."""
    first, *others = (None if run.cases is None else (run.cases.keys, run.cases.labels.tolist()) for run in runs)
    return first is not None and all(other == first for other in others)


def headlines(names: Sequence[str], runs: Sequence[Run], heads: Sequence[findings.Headline]) -> Table:
    rows: list[list[Cell]] = []
    beside = any(head.paper.known for head in heads)
    for name, run, head in zip(names, runs, heads, strict=True):
        state = "partial" if run.partial else "complete"
        data = {"generated": "generated", "real": "real"}.get(str(run.about["source"]), "not stated")
        cases = 0 if run.cases is None else len(run.cases.keys)
        warned = len(findings.warnings(run))
        levels = [Number(findings.level(run, model)) if run.pairs else EMPTY for model in ("baseline", "memory")]
        numbers = [head.gain, head.balanced, head.clean]
        if beside:
            ours = head.alike if head.alike.known else head.gain
            numbers += [ours if head.paper.known else Number(None, signed=True), head.paper]
        trainings = words.listed(contents.training_of(Contender("", *pair)) for pair in run.pairs) or ABSENT
        rows.append([name, run.study, data, trainings, state, cases, len(run.common), *levels, *numbers, warned])
    heads_of = [
        *(Column(title) for title in ("Run", "Study", "Data", "Trainings", "State", "Cases", "Conditions")),
        *(Column(title, "Mean accuracy") for title in ("Baseline", "Memory")),
        *(Column(title, "Gain over the baseline") for title in ("Accuracy", "Balanced", "Clean")),
        *(Column(title, "Where the paper has it too") for title in ("Ours", "Paper’s") if beside),
        Column("Warnings", " "),
    ]
    return Table("headlines", "Headlines, in per cent and points, with 95 % intervals", heads_of, rows)


def halves(table: Table) -> list[Table]:
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
        known.append({key: contents.written(value) for key, value in about.items()})
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
        line: list[Cell] = [words.model(contender.model), contents.training_of(contender)]
        for run in runs:
            there = contender in run.field
            line.append(contents.number(run.mean(contender)) if there else EMPTY)
            line.append(contents.gain(run, contender, False) if there else Number(None, signed=True))
        rows.append(line)
    heads = [Column("Model"), Column("Training")]
    for name in names:
        heads += [Column("Accuracy", name), Column("Gain", name)]
    title = "Every model in every run: mean accuracy under corruption in per cent, gain over its baseline in points"
    strong = frozenset(k for k, name in enumerate(everyone) if name.model == "memory")
    return Table("models", title, heads, rows, strong=strong)


def _place(name: Contender) -> tuple[Any, ...]:
    return (name.model in words.CONTROLS, name.recipe, name.backbone, words.rank(name.model))
