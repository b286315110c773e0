"""What the numbers say, in sentences: the verdict, and what to beware of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from memclf.evaluate.store import BASELINE, ModelId
from memclf.evaluate.verdict import Verdict
from memclf.report import formats
from memclf.report.run import Run

Kind = Literal["memory", "baseline", "other", "none"]
NO_ARTICLE = ("stage1", "augmented", "random")


@dataclass(frozen=True)
class Headline:
    """The verdict in words; the sentence continues the title.

    `kind` says what is recommended: a memory classifier, the baseline, another contender or nothing.
    """

    kind: Kind
    title: str
    sentence: str
    small_print: str = ""


def headline(run: Run) -> Headline:
    """Which contender to use, and why; see `memclf.evaluate.verdict` for the rule."""
    found = run.verdict
    if found is None:
        return Headline("none", "Nothing to compare yet", _say_nothing(run))
    kind: Kind = "memory" if found.pick == found.memory else "baseline" if found.pick.model == BASELINE else "other"
    if found.candidates == 1:
        return Headline("none", f"Only {refer(run, found.pick)} was measured", f"{_say_level(run, found.pick)}.")
    sentence = f"{_say_level(run, found.pick)}{_say_gain(run, found)}."
    meaning = run.labels.role(found.pick.model)
    what = f"{run.labels.model(found.pick.model)}: {meaning}. " if kind == "other" and meaning else ""
    return Headline(kind, f"Use {refer(run, found.pick)}", sentence, what + _small_print(run, found))


def refer(run: Run, name: ModelId) -> str:
    """A contender as a sentence names it: "the memory classifier", or “mine” in quotes.

    Quotes stand around a name of one's own.
    """
    called = run.labels.model(name.model)
    if called == name.model:  # a name of the user's own
        model = f"“{called}”"
    else:
        model = ("" if name.model.startswith(NO_ARTICLE) else "the ") + called[0].lower() + called[1:]
    _, _, training = run.name(name).partition(" · ")
    return f"{model} ({training})" if training else model


def where(run: Run) -> str:
    """What the means are over."""
    return "under corruption" if run.common else "on the clean test set"


def _say_level(run: Run, name: ModelId) -> str:
    mean = run.mean(name, run.judged)
    place = where(run)
    share = formats.percent(None if mean is None else mean.value)
    said = f"{place[0].upper()}{place[1:]} it answers {share} % of the test cases correctly"
    coverage = run.measure(name, "coverage", run.judged)
    return said if coverage is None or coverage > 0.9995 else f"{said} ({formats.percent(coverage)} % get an answer)"


def _say_gain(run: Run, found: Verdict) -> str:
    if found.pick.model == BASELINE:
        return ", and nothing else is surely better"
    if found.gain is None:
        return ""
    interval = f"95 % interval {formats.points(found.gain.low)} to {formats.points(found.gain.high)}"
    size = formats.points(abs(found.gain.value)).lstrip("+±")
    if found.gain.low > 0:
        return f", {size} points more than the baseline ({interval})"
    if found.gain.high < 0:
        return f", {size} points less than the baseline ({interval})"
    return f"; its difference of {formats.points(found.gain.value)} points from the baseline may be chance ({interval})"


def _small_print(run: Run, found: Verdict) -> str:
    if found.pick == found.best:
        said = f"The most accurate of {found.candidates} candidates"
        said += "." if not found.level else f"; {_names(run, found.level)} may be as good."
    else:
        best = run.mean(found.best, run.judged)
        fair = ""
        if found.dropped:
            own = run.mean(found.pick, run.judged, balanced=True)
            fair = (
                " and are not surely worse in balanced accuracy (it has "
                f"{formats.percent(None if own is None else own.value)} %),"
            )
        said = (
            f"The simplest of those that may be as good as the best, {refer(run, found.best)} "
            f"({formats.percent(None if best is None else best.value)} %),{fair} among {found.candidates} candidates."
        )
    majority = next((name for name in run.field if name.model == "majority"), None)
    apart = None if majority is None else run.apart(majority, found.pick, run.judged)
    if majority is not None and apart is not None and apart.low > 0:
        level = run.mean(majority, run.judged)
        share = formats.percent(level.value if level else 0)
        said += (
            f" Always answering the commonest class is correct more often ({share} %), but"
            " it does not look at the case."
        )
    return f"{said} The same test cases chose it and measured it: expect a little less on new cases."


def _names(run: Run, names: list[ModelId]) -> str:
    shown = [refer(run, name) for name in names[:3]]
    return formats.join_words([*shown, *([f"{len(names) - 3} more"] if len(names) > 3 else [])])


def _say_nothing(run: Run) -> str:
    if not run.rows:
        return "There are no results yet."
    return "No contender has finished a condition that the others have finished too."


# ------------------------------------------------------------------------------------------- what to read it all with

FEW = 5  # test cases of a class
NAMED = 6  # classes, at most; where there are more they are counted


def cautions(run: Run) -> list[str]:
    """What a reader must know before believing any of the numbers."""
    return [said for said in (_warn_of_one_classifier(run), _warn_of_few_cases(run)) if said]


def _warn_of_one_classifier(run: Run) -> str:
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


def _warn_of_few_cases(run: Run) -> str:
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
        f"{formats.join_words(names)} there {'is' if count == 1 else 'are'} {formats.count(count, 'test case')}"
        + (" each" if len(names) > 1 else "")
        for count, names in sorted(found.items())
    ]
    said = f"Of {', of '.join(parts)}" if rare <= NAMED else f"{rare} classes have fewer than {FEW} test cases each"
    return f"{said}: balanced accuracy hangs on single cases, and its intervals are too narrow."
