"""Which model to use on the user's data, in one sentence, from held-out answers alone."""

from __future__ import annotations

from typing import Literal, NamedTuple

from memclf.evaluate.intervals import Interval
from memclf.evaluate.results import Results
from memclf.evaluate.store import BASELINE, CLEAN, ModelId
from memclf.evaluate.verdict import judge

MEMORY, STAGE_ONE, MAJORITY = "memory", "stage1", "majority"
#: Contenders in the order of the table, and what readers call them.
NAMES = {
    MAJORITY: "commonest class",
    BASELINE: "plain model",
    STAGE_ONE: "stage 1 alone",
    MEMORY: "memory classifier",
}
SHOWS = "shows the remembered case behind every answer, and says unknown"
KEPT = f"The memory classifier is saved all the same: it {SHOWS}. With --answer global the plain model answers in it."

Use = Literal["memory", "plain", "stage1"]


class Advice(NamedTuple):
    """What to use, why in one sentence, and what else to know."""

    use: Use
    sentence: str
    more: str = ""


#: Where the plain model answers, there is nothing to choose.
AS_PLAIN = Advice("memory", f"The plain model answers, in a memory classifier that {SHOWS}.")


def advise(results: Results, answered: float = 1.0) -> Advice:
    """Apply the rule of `memclf.evaluate.verdict`: the simplest that nothing else surely beats.

    Parameters
    ----------
    results : Results
        Held-out answers of the plain model ("baseline"), "stage1" and "memory", about the same cases: where the memory
        classifier may say unknown, those that it answers.
    answered : float
        The share of all cases that these are.
    """
    verdict = judge(results)
    if verdict is None:
        raise ValueError("there are no held-out answers to compare")
    pick = verdict.pick.model
    gain, fair = (results.gain(MEMORY, BASELINE, [CLEAN], balanced=each) for each in (False, True))
    if gain is None or fair is None:
        raise ValueError(f"the results need {BASELINE!r} and {MEMORY!r}; they have {sorted(results.contenders)}")
    of = "" if answered > 0.9995 else f" on the {100 * answered:.1f} % of cases that it answers"
    if pick == BASELINE:
        return Advice("plain", _say_plain(gain, fair, of), KEPT)
    if pick == STAGE_ONE:
        return Advice("stage1", _say_stage_one(results, of), "Fit it with --answer labels: no classifier is trained.")
    return Advice("memory", f"Use the memory classifier:{of} it {_say_gain(gain, fair)}.")


def _say_plain(gain: Interval, fair: Interval, of: str) -> str:
    if gain.high < 0 or (gain.low <= 0 and fair.high < 0):
        worse, what = (gain, "accuracy") if gain.high < 0 else (fair, "balanced accuracy")
        return f"Use the plain model: in {what} the memory classifier is surely worse{of}, by {_points(worse)}."
    return (
        f"Use the plain model: it is cheaper, and the memory classifier is not surely better{of}: {_points(gain)} in "
        "accuracy."
    )


def _say_stage_one(results: Results, of: str) -> str:
    gain, fair = (results.gain(STAGE_ONE, BASELINE, [CLEAN], balanced=each) for each in (False, True))
    over = results.gain(MEMORY, STAGE_ONE, [CLEAN])
    if gain is None or fair is None or over is None:
        raise ValueError("the results have answers to some of the cases only")
    return (
        f"Use stage 1 alone, the labels of the memories:{of} it {_say_gain(gain, fair)}, and what the "
        f"classifiers add, {_points(over)}, may be chance."
    )


def _say_gain(gain: Interval, fair: Interval) -> str:
    """How a contender that is recommended stands to the plain model, which is not."""
    if gain.low > 0:
        return f"is surely better than the plain model, by {_points(gain)} in accuracy"
    if fair.low > 0:
        said = f"is surely better than the plain model in balanced accuracy, by {_points(fair)}"
        return f"{said}, and not surely worse in accuracy: {_points(gain)}"
    return f"may be as good as the best, and the plain model is surely not (difference of these two: {_points(gain)})"


def _points(interval: Interval) -> str:
    value, low, high = (100 * each for each in interval)
    return f"{value:+.1f} points (95 % interval {low:+.1f} to {high:+.1f})"


def order(names: list[ModelId]) -> list[ModelId]:
    """Contenders in the order of the table."""
    places = list(NAMES)
    return sorted(names, key=lambda name: places.index(name.model) if name.model in places else len(places))
