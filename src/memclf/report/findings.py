"""What the numbers say, in sentences: gain or loss or neither, and whether a control does it too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from memclf.evaluate.intervals import Interval
from memclf.evaluate.store import Condition
from memclf.report import words
from memclf.report.run import Run
from memclf.report.tables import Mark, Number
from memclf.studies.paper import tables_of

STUDIES = ("color", "leaf", "acne")
CLEAN = Condition()
PAPERS_BACKBONE = "resnet50"  # of the tables whose columns are recipes

Kind = Literal["gain", "loss", "unclear", "none"]


@dataclass(frozen=True)
class Headline:
    """The first thing to be read. `kind` "unclear": the interval contains 0; "none": nothing to compare yet."""

    kind: Kind
    sentence: str
    gain: Number = field(default_factory=lambda: Number(None, signed=True))
    balanced: Number = field(default_factory=lambda: Number(None, signed=True))
    clean: Number = field(default_factory=lambda: Number(None, signed=True))
    paper: Number = field(default_factory=lambda: Number(None, signed=True))
    paper_note: str = ""
    more: tuple[str, ...] = ()


def verdict(interval: Interval) -> Kind:
    """Gain or loss only where the whole interval says so."""
    if interval.low > 0:
        return "gain"
    return "loss" if interval.high < 0 else "unclear"


def marked(interval: Interval | None, *, faint: bool = False) -> Number:
    """A difference as a number that is coloured by who wins."""
    if interval is None:
        return Number(None, signed=True, faint=faint)
    value = interval.value
    mark: Mark = "win" if value > 5e-4 else "lose" if value < -5e-4 else "tie"
    sure = verdict(interval) != "unclear" and interval.high > interval.low  # without width there is no telling
    return Number(*interval, signed=True, mark=mark, sure=sure, faint=faint)


BESIDE = {
    "sturdy": "The sturdy memory classifier, which goes beyond the paper",
    "memory-paper": "With the expert feature as the paper has it",
}


def headline(run: Run) -> Headline:
    """Gain of the memory classifier over the baseline, mean over what was run."""
    gain = run.gain(run.pairs)
    if gain is None:
        return Headline("none", _nothing(run))
    memory, baseline = (level(run, model) for model in ("memory", "baseline"))
    head = (
        f"Under corruption the memory classifier answers {words.percent(memory)} % of the test cases rightly, "
        f"its baseline {words.percent(baseline)} %"
    )
    if len(run.pairs) > 1:
        head += f" (means over {len(run.pairs)} trainings)"
    published = paper_gain(run)
    return Headline(
        kind=verdict(gain),
        sentence=f"{head}: {_said(gain)}",
        gain=marked(gain),
        balanced=marked(run.gain(run.pairs, balanced=True)),
        clean=marked(run.gain(run.pairs, [CLEAN])),
        paper=Number(None, signed=True) if published is None else Number(published[0], signed=True),
        paper_note="" if published is None else published[1],
        more=tuple(_more(run)),
    )


def _said(gain: Interval) -> str:
    interval = f"95 % interval {words.points(gain.low)} to {words.points(gain.high)}"
    size = words.points(abs(gain.value)).lstrip("+±")
    kind = verdict(gain)
    if kind == "gain":
        return f"a gain of {size} points ({interval})."
    if kind == "loss":
        return f"a loss of {size} points ({interval})."
    return f"a difference of {words.points(gain.value)} points that may well be chance: the {interval} contains 0."


def _more(run: Run) -> list[str]:
    """Sentences for the single trainings when there are several, and for the paper's own feature."""
    found = []
    if len(run.pairs) > 1:
        for pair in run.pairs:
            gain = run.gain([pair])
            if gain is not None:
                found.append(f"{run.called(pair)}: {_said(gain)}")
    for model, said in BESIDE.items():
        own = [pair for pair in run.pairs if run.contender(model, pair) in run.contenders]
        gain = run.gain(own, model=model)
        if gain is not None:
            found.append(f"{said}: {_said(gain)}")
    return found


def _nothing(run: Run) -> str:
    if not run.rows:
        return "There are no results yet."
    if not any(name.model == "memory" for name in run.contenders):
        return "No memory classifier has been measured in this run, so there is no gain to tell."
    if not any(name.model == "baseline" for name in run.contenders):
        return "No baseline has been measured in this run, so there is no gain to tell."
    return "No corrupted condition has been finished by both the memory classifier and its baseline yet."


def level(run: Run, model: str) -> float:
    """Mean accuracy of a model over the common conditions and over the pairs."""
    found = [run.scores(run.contender(model, pair), run.common).mean() for pair in run.pairs]
    return float(sum(found) / len(found))


# ------------------------------------------------------------------------------------------------- beside the paper


def paper_gain(run: Run) -> tuple[float, str] | None:
    """The paper's gain for the same recipes or backbones and the same corruptions, and how it was found.

    Where the paper has no such column, a vanilla training is put beside its ResNet50 without augmentation.
    """
    corruptions = list(dict.fromkeys(each.corruption for each in run.common))
    found = [counterpart(run.study, pair, corruptions) for pair in run.pairs]
    known = [each for each in found if each is not None]
    if not known:
        return None
    gains = [gain for gain, _, _ in known]
    names = (words.RECIPES.get(column) or f"vanilla {words.backbone(column)}" for _, column, _ in known)
    numbers = sorted({number for _, _, number in known})
    note = f"{words.listed(dict.fromkeys(names))}, the same {words.listed(map(str, numbers))} corruptions"
    return sum(gains) / len(gains) / 100, note


def counterpart(study: str, pair: tuple[str, str], corruptions: Iterable[str]) -> tuple[float, str, int] | None:
    """The paper's gain in points for a training, the column it stands in and how many corruptions it is over."""
    if study not in STUDIES:
        return None
    recipe, backbone = pair
    tables = {table.kind: table for table in tables_of(study)}
    options = [(tables.get("recipe"), recipe)] if recipe != "vanilla" or study == "color" else []
    if recipe == "vanilla":
        options += [(tables.get("backbone"), backbone), (tables.get("backbone"), PAPERS_BACKBONE)]
    for table, column in options:
        if table is None or column not in table.columns:
            continue
        rows = [table.rows[name] for name in corruptions if name in table.rows]
        if rows:
            apart = [row[column, "memory"] - row[column, "baseline"] for row in rows]
            return sum(apart) / len(apart), column, len(rows)
    return None


# ----------------------------------------------------------------------------------------------------- the controls


def warnings(run: Run) -> list[str]:
    """Controls that the memory classifiers are not surely better than, in plain words: one sentence each.

    A control is named for a measure unless the whole interval of the paired difference is above 0.
    """
    return [*_warnings(run, "memory", "memory classifier"), *_warnings(run, "sturdy", "sturdy memory classifier")]


def _warnings(run: Run, champion: str, called: str) -> list[str]:
    found = []
    for model in words.CONTROLS:
        pairs = [pair for pair in run.pairs if run.contender(model, pair) in run.field]
        level: list[str] = []
        ahead: list[str] = []
        for measure, balanced in (("accuracy", False), ("balanced accuracy", True)):
            apart = run.gain(pairs, model=champion, over=model, balanced=balanced)
            if apart is None or apart.low > 0:
                continue
            interval = f"95 % interval {words.points(apart.low)} to {words.points(apart.high)}"
            said = f"{words.points(apart.value)} points of {measure} ({interval})"
            (ahead if apart.high < 0 else level).append(said)
        name, against = f"The control “{words.model(model)}”", f"{called} minus control"
        if ahead:
            found.append(f"{name} beats the {called}; {against}: {words.listed(ahead)}.")
        if level:
            found.append(f"{name} cannot be told from the {called}; {against}: {words.listed(level)}.")
    return found
