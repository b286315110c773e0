"""What the numbers say, in sentences: gain or loss or neither, whether a control does it too, what to beware of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from memclf.evaluate.intervals import Interval
from memclf.evaluate.store import Condition
from memclf.report import words
from memclf.report.published import PublishedTable
from memclf.report.run import Run
from memclf.report.tables import Mark, Number

CLEAN = Condition()
PAPERS_BACKBONE = "resnet50"  # of the tables whose columns are recipes

Kind = Literal["gain", "loss", "unclear", "none"]


@dataclass(frozen=True)
class Headline:
    """The first thing to be read. `kind` "unclear": the interval contains 0; "none": nothing to compare yet.

    `alike` is our gain over the corruptions and trainings of the paper's, where that is not all of ours.
    """

    kind: Kind
    sentence: str
    gain: Number = field(default_factory=lambda: Number(None, signed=True))
    balanced: Number = field(default_factory=lambda: Number(None, signed=True))
    clean: Number = field(default_factory=lambda: Number(None, signed=True))
    paper: Number = field(default_factory=lambda: Number(None, signed=True))
    paper_note: str = ""
    alike: Number = field(default_factory=lambda: Number(None, signed=True))
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
        paper=Number(None if published is None else published.gain, signed=True),
        paper_note="" if published is None else published.note,
        alike=marked(None if published is None else published.alike),
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
    return [*found, *_careful(run)]


def _careful(run: Run) -> list[str]:
    """A classifier that may decline is not judged by accuracy alone, which counts that as an error."""
    found = []
    for name in (each for each in run.field if each.model == "careful"):
        answered, clean = run.measure(name, "coverage"), run.measure(name, "coverage", [CLEAN])
        right = run.measure(name, "selective_accuracy")
        training = f", {run.called(name[1:])}" if len(run.pairs) > 1 else ""
        found.append(
            f"The careful memory classifier{training}, which may say unknown, answers {words.percent(answered)} % of "
            f"the cases under corruption, {words.percent(right)} % of those rightly; of the clean ones it answers "
            f"{words.percent(clean)} %."
        )
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


class Published(NamedTuple):
    """The paper's gain, how it was found, and ours over the same where that is less than all of ours."""

    gain: float
    note: str
    alike: Interval | None


def paper_gain(run: Run) -> Published | None:
    """The paper's gain for the trainings and the corruptions that both have.

    Where the paper has no such column, a vanilla training is put beside its ResNet50 without augmentation.
    """
    columns = {pair: counterpart(run.published, pair) for pair in run.pairs}
    known = {pair: found for pair, found in columns.items() if found is not None}
    shared = [name for name in run.corruptions if all(name in table.rows for table, _ in known.values())]
    if not known or not shared:
        return None
    gains = [
        sum(table.rows[name][column, "memory"] - table.rows[name][column, "baseline"] for name in shared) / len(shared)
        for table, column in known.values()
    ]
    names = (words.RECIPES.get(column) or f"vanilla {words.backbone(column)}" for _, column in known.values())
    number = "one corruption" if len(shared) == 1 else f"{len(shared)} corruptions"
    everything = len(shared) == len(run.corruptions)
    parts = [
        words.listed(dict.fromkeys(names)),
        f"the same {number}" if everything else f"over the {number} that both have",
        *([] if run.five else [f"there all five severities, here {run.severities}"]),
    ]
    asked = [each for each in run.common if each.corruption in shared]
    alike = None if everything and len(known) == len(run.pairs) else run.gain(list(known), asked)
    if len(known) < len(run.pairs):
        parts.append(f"ours for {words.listed(run.called(pair) for pair in known)} only")
    return Published(sum(gains) / len(gains) / 100, ", ".join(parts), alike)


def counterpart(published: Sequence[PublishedTable], pair: tuple[str, str]) -> tuple[PublishedTable, str] | None:
    """The published table and its column that a training of ours is put beside."""
    recipe, backbone = pair
    tables = {table.kind: table for table in published}
    options = [(tables.get("recipe"), recipe)]
    if recipe == "vanilla":
        options += [(tables.get("backbone"), backbone), (tables.get("backbone"), PAPERS_BACKBONE)]
    return next(((table, column) for table, column in options if table is not None and column in table.columns), None)


# ----------------------------------------------------------------------------------------------------- the controls


CHAMPIONS = {"memory": "the memory classifier", "sturdy": "the sturdy memory classifier"}
MEASURES = {"accuracy": False, "balanced accuracy": True}


def warnings(run: Run) -> list[str]:
    """Controls that a memory classifier is not surely better than, in plain words: one sentence for each control.

    A control is named for a measure unless the whole interval of the paired difference is above 0.
    """
    found = []
    for control in words.CONTROLS:
        said = [part for champion in CHAMPIONS if (part := _rivalry(run, champion, control))]
        if said:
            found.append(f"The control “{words.model(control)}” {'; it '.join(said)}.")
    return found


def contested(run: Run) -> bool:
    """Whether a gain is claimed for a memory classifier that a control does as well as."""
    gains = {champion: run.gain(run.pairs, model=champion) for champion in CHAMPIONS}
    return any(gain and verdict(gain) == "gain" and matched(run, champion) for champion, gain in gains.items())


def matched(run: Run, champion: str) -> list[str]:
    """The controls that do as well as one memory classifier, in accuracy or in balanced accuracy."""
    return [control for control in words.CONTROLS if _rivalry(run, champion, control)]


def _rivalry(run: Run, champion: str, control: str) -> str:
    """Where a control beats a memory classifier and where the two cannot be told from each other, "" if nowhere.

    All numbers are the memory classifier minus the control, so that one sign means one thing throughout.
    """
    pairs = [pair for pair in run.pairs if run.contender(control, pair) in run.field]
    measured = {what: run.gain(pairs, model=champion, over=control, balanced=b) for what, b in MEASURES.items()}
    found = {what: apart for what, apart in measured.items() if apart is not None and apart.low <= 0}
    if not found:
        return ""
    ahead = [what for what, apart in found.items() if apart.high < 0]
    level = [what for what in found if what not in ahead]
    name = CHAMPIONS[champion]
    said = [f"beats {name} in {words.listed(ahead)}"] if ahead else []
    said += [f"cannot be told from {'it' if ahead else name} in {words.listed(level)}"] if level else []
    numbers = "; ".join(
        f"{words.points(apart.value)} of {what}, {words.points(apart.low)} to {words.points(apart.high)}"
        for what, apart in found.items()
    )
    return f"{' and '.join(said)} ({name} minus this control, in points with 95 % intervals: {numbers})"


# ------------------------------------------------------------------------------------------- what to read it all with

FEW = 5  # test cases of a class
NAMED = 6  # classes, at most; where there are more they are counted


def cautions(run: Run) -> list[str]:
    """What a reader must know before believing any of the numbers."""
    return [said for said in (_one_classifier(run), _few_cases(run)) if said]


def _one_classifier(run: Run) -> str:
    local = run.exhibits.get("local")
    memories = local.get("memories") if isinstance(local, dict) and local.get("classifiers") == 1 else None
    if not isinstance(memories, int) or memories < 2:
        return ""
    least = run.settings.get("min_cluster_size")
    asked = f" (min_cluster_size {least})" if least else ""
    return (
        f"All {memories} memories share ONE classifier, since their clusters are too small for classifiers of their "
        f"own{asked}: this run cannot show what routing brings. More training cases or a lower min_cluster_size help."
    )


def _few_cases(run: Run) -> str:
    """Classes with so few test cases that one of them moves the balanced accuracy."""
    if run.cases is None:
        return ""
    found: dict[int, list[str]] = {}
    counts = np.bincount(run.cases.labels, minlength=len(run.cases.classes)).tolist()
    for name, count in zip(run.cases.classes, counts, strict=True):
        if 0 < count < FEW:
            found.setdefault(count, []).append(run.label(name))
    rare = sum(map(len, found.values()))
    if not rare:
        return ""
    parts = [
        f"{words.listed(names)} there {'is' if count == 1 else 'are'} {words.counted(count, 'test case')}"
        + (" each" if len(names) > 1 else "")
        for count, names in sorted(found.items())
    ]
    told = f"Of {', of '.join(parts)}" if rare <= NAMED else f"{rare} classes have fewer than {FEW} test cases each"
    return f"{told}: balanced accuracy hangs on single cases, and its intervals are too narrow."
