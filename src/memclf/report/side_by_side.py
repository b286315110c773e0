"""Several runs side by side, and joined: verdicts, the paper's tables, settings that differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from memclf.evaluate.engine import RESULTS
from memclf.evaluate.store import BASELINE, CLEAN, Condition, ModelId
from memclf.exceptions import OptionError
from memclf.report import beside_paper, captions, contenders, findings, formats, page
from memclf.report.beside_paper import paper_gain
from memclf.report.contents import show_setting
from memclf.report.join import Joined, find_other_features, have_other_textures, join_runs
from memclf.report.labels import CONTROLS, model_order
from memclf.report.run import Run
from memclf.report.section import Block, Code, Heading, Section, Text
from memclf.report.tables import EMPTY, Cell, Column, Number, Table, difference, number

ABSENT = "–"
SHOWN = 3  # conditions that are named where some are left out
MAKING = ("preset", "corrupt_at")  # settings that change what a corruption and severity look like


def write_comparison(folders: Sequence[Path], out: Path, say: Callable[[str], object] = lambda line: None) -> Path:
    """Write OUT/compare.html, OUT/compare.md and OUT/tables/; return the path of the page.

    `say` is called with each line on what cannot be compared or joined.
    """
    if not folders:
        raise ValueError("there is no run to compare; name at least one run folder")
    if (out / RESULTS).exists():
        raise OptionError(
            f"{out} is the folder of a run, whose tables would be overwritten; choose another one (--out)"
        )
    runs = dict(zip(name_folders(folders), map(Run, folders), strict=True))
    begun = {name: run for name, run in runs.items() if run.rows}
    notices = compare_conditions(begun)  # first: it restricts all means to the shared conditions
    joined = join_runs(begun or runs)
    notices = [*name_empty(runs), *compare_cases(begun), *notices, *compare_making(runs), *compare_features(runs)]
    notices += name_refused(joined) if begun else []
    settings, everyone = differing(runs), models(runs)
    commands: list[Block] = []
    for name, run in runs.items():
        commands += [Heading(name), Code(str(run.about["command"] or "not noted"))]
    sections = [
        Section("headline", "Headlines", [*verdicts(runs), headlines(runs), Text(_terms(runs), style="small")]),
        *([found] if (found := joined_section(joined)) is not None else []),
        Section("settings", "Settings that differ", [settings if settings.rows else Text("None.")]),
        Section("models", "Every model", [everyone if everyone.rows else Text("No run has results yet.")]),
        Section("commands", "Commands", commands),
    ]
    for each in notices:
        say(" ".join([each.lead, each.text, *each.lines]))
    for line in joined.cautions if len(joined.names) > 1 else ():
        say(line)
    title = f"{len(runs)} runs side by side"
    return page.write(out, "compare", title=title, kicker="comparison", notices=notices, sections=sections)


def name_folders(folders: Sequence[Path]) -> list[str]:
    """The names of the folders, with as many of their parents as make them differ."""
    parts = [folder.resolve().parts for folder in folders]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(each[-depth:]) for each in parts]
        if len(set(names)) == len(set(parts)):
            break
    return [f"{name} ({k + 1})" if names.count(name) > 1 else name for k, name in enumerate(names)]


# ------------------------------------------------------------------------------------------- what cannot be compared


def name_empty(runs: dict[str, Run]) -> list[Text]:
    """Runs without results, which cannot be compared yet."""
    empty = [name for name, run in runs.items() if not run.rows]
    if not empty:
        return []
    lead = f"{formats.join_words(empty)} {'has' if len(empty) == 1 else 'have'} no results yet."
    text = "Test cases, conditions and joined tables are those of the other runs."
    return [Text(text if len(empty) < len(runs) else "", lead, style="alert")]


def compare_cases(runs: dict[str, Run]) -> list[Text]:
    """Whether all runs are of one study and were measured on the same test cases."""
    studies = list(dict.fromkeys(run.study for run in runs.values()))
    if len(studies) > 1:
        text = "Their accuracies are on different data; only the gains within a run mean something."
        return [Text(text, f"These runs are of different studies: {formats.join_words(studies)}.", style="alert")]
    cases = [None if run.cases is None else (run.cases.keys, run.cases.labels.tolist()) for run in runs.values()]
    if not cases or (cases[0] is not None and all(other == cases[0] for other in cases)):
        return []
    text = (
        "Differences between runs are partly differences between their test cases; only gains within a run are paired."
    )
    return [Text(text, "These runs were not measured on the same test cases.", style="alert")]


def compare_conditions(runs: dict[str, Run]) -> list[Text]:
    """Let all runs take their means over the conditions they share; say what is left out.

    Where they share none, each keeps its own conditions.
    """
    shared: set[Condition] = set.intersection(*(set(run.common) for run in runs.values())) if runs else set()
    if all(set(run.common) == shared for run in runs.values()):
        return []
    if not shared:
        text = "Each mean is over conditions of its own: accuracies and gains of different runs cannot be compared."
        lines = [f"{name}: {run.size}." for name, run in runs.items()]
        return [Text(text, "These runs have no corrupted condition in common.", lines, "alert")]
    lines = []
    for name, run in runs.items():
        left = [run.labels.condition(str(each)) for each in run.common if each not in shared]
        some = formats.join_words([*left[:SHOWN], *([f"{len(left) - SHOWN} more"] if len(left) > SHOWN else [])])
        lines += [f"{name}: {formats.count(len(left), 'condition')} left out ({some})."] if left else []
        run.restrict(shared)
    text = f"All means and gains on this page are over the {len(shared)} corrupted conditions that they share."
    return [Text(text, "These runs were not measured under the same conditions.", lines, "alert")]


def compare_making(runs: dict[str, Run]) -> list[Text]:
    """Whether a corruption and severity means the same picture everywhere."""
    made = {key: {str(run.settings[key]) for run in runs.values() if key in run.settings} for key in MAKING}
    first, *others = runs.values()
    differ = [key for key, values in made.items() if len(values) > 1]
    differ += ["textures"] if any(have_other_textures(first, other) for other in others) else []
    lead = "The same corruption and severity is not the same picture in these runs."
    return [Text(f"They differ in {formats.join_words(differ)}.", lead, style="alert")] if differ else []


def compare_features(runs: dict[str, Run]) -> list[Text]:
    """Whether a memory classifier of the same name rests on the same expert feature everywhere."""
    (start, first), *others = runs.items()
    found = {name: find_other_features(first, run) for name, run in others if run.study == first.study}
    lines = [f"{name}: {formats.join_words(reasons)}." for name, reasons in found.items() if reasons]
    lead = "Memory classifiers of the same name are not the same in these runs."
    return [Text(f"As compared with {start}:", lead, lines, "alert")] if lines else []


def name_refused(joined: Joined) -> list[Text]:
    """Runs that are not joined, and why."""
    if not joined.refused or not joined.run.published:
        return []
    lines = [f"{name}: {formats.join_words(reasons)}." for name, reasons in joined.refused.items()]
    text = f"The tables that join runs are without these, which do not fit {formats.join_words(joined.names)}:"
    return [Text(text, "Some runs cannot be joined.", lines, "alert")]


# --------------------------------------------------------------------------------------------------- joined in one


def joined_section(joined: Joined) -> Section | None:
    """The paper's tables with the cells of all runs, and which run each cell is from."""
    tables = beside_paper.show_tables(joined.run)
    if len(joined.names) < 2 or not tables:
        return None
    names = formats.join_words(joined.names)
    text = f"{names} fill one table: they are of the same study, with the same test cases and conditions."
    blocks: list[Block] = [Text(f"{text} {captions.CAPTIONS['seeds']} The last row names the runs and seeds.")]
    if joined.cautions:
        blocks.append(Text(lead="Read the joined numbers with care.", lines=joined.cautions, style="alert"))
    blocks += [*tables, Heading("All contenders, joined"), Text("Intervals here are over test cases alone.")]
    blocks += [contenders.contenders(joined.run), Heading("Which run each number is from"), sources(joined)]
    return Section("joined", "The runs joined", blocks, short="Joined")


def sources(joined: Joined) -> Table:
    """Which run each cell is from."""
    labels = joined.run.labels
    cells: dict[tuple[Any, ...], list[str]] = {}
    for name, source in joined.run.sources.items():
        cells.setdefault((*name.training, name.seed, source), []).append(labels.model(name.model, short=True))
    rows: list[list[Cell]] = [
        [labels.recipe(recipe) or "–", labels.backbone(backbone) or "–", str(seed), source, "; ".join(models)]
        for (recipe, backbone, seed, source), models in sorted(cells.items(), key=lambda each: each[0][:2] == ("", ""))
    ]
    heads = [Column(title) for title in ("Recipe", "Backbone", "Seed", "Run", "Contenders")]
    return Table("sources", "Which run each number is from", heads, rows)


# -------------------------------------------------------------------------------------------------------- the tables


def verdicts(runs: dict[str, Run]) -> list[Block]:
    """What each run recommends, and what to beware of."""
    found: list[Block] = []
    for name, run in runs.items():
        head = findings.headline(run)
        state = f"{' Generated data.' if run.generated else ''}{' PARTIAL run.' if run.partial else ''}"
        lines = [*run.partial, *findings.cautions(run)]
        found += [Heading(name), Text(f"{head.sentence} {run.size}.{state}", f"{head.title}.", lines)]
    return found


def headlines(runs: dict[str, Run]) -> Table:
    """What each run recommends, and the gain of its memory classifier."""
    rows: list[list[Cell]] = []
    beside = any(run.published for run in runs.values())
    for name, run in runs.items():
        line: list[Cell] = [name, ABSENT if run.verdict is None else run.name(run.verdict.pick)]
        line += [_level(run, BASELINE), _level(run, run.subject)]
        line += [difference(run.gain(run.subject, BASELINE, run.judged, balanced=b)) for b in (False, True)]
        line.append(difference(run.gain(run.subject, BASELINE, [CLEAN])))
        if beside:
            paper = paper_gain(run)
            line += [difference(paper and paper.ours), Number(paper and paper.gain, signed=True)]
        rows.append(line)
    heads = [
        *(Column(title) for title in ("Run", "Use")),
        *(Column(title, "Mean accuracy") for title in ("Baseline", "Memory")),
        *(Column(title, "Gain over the baseline") for title in ("Accuracy", "Balanced", "Clean")),
        *(Column(title, "Where the paper has it too") for title in ("Ours", "Paper’s") if beside),
    ]
    title = "Each run’s best memory classifier beside its baseline, in per cent and points, with 95 % intervals"
    return Table("headlines", title, heads, rows)


def _terms(runs: dict[str, Run]) -> str:
    grouped = any(run.groups is not None for run in runs.values())
    names = ("gain", "corruption", "interval", *(("groups",) if grouped else ()), "balanced")
    return " ".join(captions.TERMS[name] for name in names)


def _level(run: Run, model: str) -> Number:
    """Mean accuracy of a model over the trainings that it shares with the baseline."""
    names = [ModelId(model, *training) for training in run.trainings(run.subject)]
    found = [run.scores(name, run.judged).mean() for name in names if name in run.field]
    return Number(float(sum(found) / len(found))) if found else EMPTY


def differing(runs: dict[str, Run]) -> Table:
    """Settings and versions that are not the same everywhere."""
    known: list[dict[str, str]] = []
    for run in runs.values():
        about: dict[str, Any] = {"source": run.about["source"], **run.settings}
        about |= {f"version of {key}": value for key, value in (run.about["versions"] or {}).items()}
        known.append({key: show_setting(key, value) for key, value in about.items()})
    rows: list[list[Cell]] = []
    for key in dict.fromkeys(key for each in known for key in each):
        values = [each.get(key, ABSENT) for each in known]
        if len(set(values)) > 1:
            rows.append([key, *values])
    return Table("differing_settings", "Settings that differ", [Column("Setting"), *map(Column, runs)], rows)


def models(runs: dict[str, Run]) -> Table:
    """Every contender in every run: mean accuracy under corruption and gain over its baseline."""
    everyone = sorted({name for run in runs.values() for name in run.field}, key=_place)
    rows: list[list[Cell]] = []
    for contender in everyone:
        line: list[Cell] = [next(run.full_name(contender) for run in runs.values() if contender in run.contenders)]
        for run in runs.values():
            there = contender in run.field
            line.append(number(run.mean(contender, run.judged)) if there else EMPTY)
            line.append(difference(run.own_gain(contender, run.judged)))
        rows.append(line)
    heads = [Column("Model"), *(Column(title, name) for name in runs for title in ("Accuracy", "Gain"))]
    title = "Every model in every run: mean accuracy under corruption in per cent, gain over its baseline in points"
    picks = {run.verdict.pick for run in runs.values() if run.verdict is not None}
    strong = frozenset(k for k, name in enumerate(everyone) if name in picks)
    return Table("models", title, heads, rows, strong=strong)


def _place(name: ModelId) -> tuple[Any, ...]:
    return (name.model in CONTROLS, name.recipe, name.backbone, model_order(name.model))
