"""Tables that ``memclf evaluate`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from memclf.cli.output import as_cell, as_line, make_table
from memclf.evaluate.assess import Assessment
from memclf.evaluate.intervals import Interval
from memclf.evaluate.store import CLEAN, Condition, ModelId
from memclf.report.findings import cautions, headline

if TYPE_CHECKING:
    from memclf.report.run import Run

MOST_CLASSES = 8  # columns of a confusion matrix; with more classes the commonest confusions are listed
CONFUSIONS = 10
MOST_MEMORIES = 20
OWN = ModelId("memory")


def print_evaluation(console: Console, run: Run, found: Assessment, clf: Any) -> None:
    """Print models, corruptions, confusions, memories, risk and the verdict."""
    _print_models(console, run, [CLEAN], "clean" if run.common else "")
    if run.common:
        _print_models(console, run, run.common, f"mean of {len(run.common)} corrupted conditions")
        _print_grid(console, run)
    _print_confusion(console, found)
    _print_memories(console, found, clf)
    _print_risk(console, found)
    said = headline(run)
    for sentence in (f"{said.title}. {said.sentence}", said.small_print, *cautions(run)):
        console.print(Text(as_line(use_own_words(sentence))), end="\n" if sentence else "")
    if found.like_training:
        console.print(
            Text(
                "Beware: every memory is among these cases, so the model was fitted on them; all figures are too good."
            ),
            style="yellow",
        )


#: What the reports of studies say, and what ``memclf fit`` says about a user's own data.
OWN_WORDS = {
    "On the clean test set it answers": "It answers",
    "the baseline": "the plain model",
    "Baseline": "Plain model",
    "Majority class": "Commonest class",
    "majority class": "commonest class",
}


def use_own_words(text: str) -> str:
    """The same text in the words of ``memclf fit``.

    >>> use_own_words("Use the baseline. On the clean test set it answers 90.0 % of the test cases correctly.")
    'Use the plain model. It answers 90.0 % of the test cases correctly.'
    """
    for word, own in OWN_WORDS.items():
        text = text.replace(word, own)
    return text


def _print_models(console: Console, run: Run, conditions: list[Condition], title: str) -> None:
    n = 0 if run.cases is None else len(run.cases.labels)
    title = f"{n:,} cases{f', {title}' if title else ''}: accuracy in % (95 % interval)"
    numbers = ("accuracy", "balanced", "answered", "beside the model")
    table = make_table("", *numbers, right=numbers)
    for name in run.contenders:
        plain, balanced = (run.mean(name, conditions, balanced=each) for each in (False, True))
        answered = run.measure(name, "coverage", conditions)
        apart = None if name == OWN else run.apart(name, OWN, conditions)
        cells = (_say(plain), "" if balanced is None else f"{100 * balanced.value:.1f}", f"{100 * (answered or 0):.1f}")
        called = "This model" if name == OWN else run.labels.model(name.model, short=True).replace(",", "")
        table.add_row(use_own_words(called), *cells, _say(apart, sign="+"))
    _print_table(console, title, table)


def _say(found: Interval | None, sign: str = "") -> str:
    if found is None:
        return ""
    value, low, high = (f"{100 * each:{sign}.1f}" for each in found)
    return f"{value} ({low}, {high})"


def _print_grid(console: Console, run: Run) -> None:
    """Accuracy under each corruption, of the model and the global classifier if there is one."""
    severities = sorted({each.severity for each in run.common})
    names = [str(each) for each in severities]
    baseline = next((name for name in run.contenders if name.model == "baseline"), None)
    both = "" if baseline is None else " / plain model"
    table = make_table("", *names, right=tuple(names))
    for corruption in dict.fromkeys(each.corruption for each in run.common):
        cells = []
        for severity in severities:
            found = [run.mean(name, [Condition(corruption, severity)]) for name in (OWN, baseline) if name is not None]
            cells.append(" / ".join("" if each is None else f"{100 * each.value:.1f}" for each in found))
        table.add_row(as_cell(run.labels.corruption(corruption)), *cells)
    _print_table(console, f"accuracy in % by severity: model{both}", table)


def _print_confusion(console: Console, found: Assessment) -> None:
    names = [as_line(label) for label in found.classes]
    if len(names) <= MOST_CLASSES:
        table = make_table("answer", *names, right=tuple(names))
        for name, counts in zip([*names, "unknown"], found.confusion, strict=True):
            table.add_row(as_cell(name), *map(str, counts))
        right = [f"{100 * each['right'] / each['cases']:.1f}" if each["cases"] else "" for each in found.by_class]
        table.add_row("right, in %", *right)
        _print_table(console, "answers (rows) to the cases of each class (columns)", table)
        return
    table = make_table("true class", "answer", "cases", right=("cases",))
    wrong = found.confusion.copy()
    wrong[range(len(names)), range(len(names))] = 0
    for place in (-wrong.ravel()).argsort(kind="stable")[:CONFUSIONS]:
        answer, truth = divmod(int(place), len(names))
        if wrong[answer, truth]:
            table.add_row(as_cell(names[truth]), as_cell([*names, "unknown"][answer]), str(wrong[answer, truth]))
    _print_table(console, "the commonest confusions", table)


def _print_memories(console: Console, found: Assessment, clf: Any) -> None:
    numbers = ("memory", "row", "cases", "answered", "right")
    table = make_table(*numbers, "right, in %", right=(*numbers, "right, in %"))
    for each in found.by_memory[:MOST_MEMORIES]:
        share = f"{100 * each['right'] / each['answered']:.1f}" if each["answered"] else ""
        cells = (each["memory"], clf.memory_indices_[each["memory"]], each["cases"], each["answered"], each["right"])
        table.add_row(*map(str, cells), share)
    more = len(found.by_memory) - MOST_MEMORIES
    _print_table(console, f"by memory{f' ({more:,} more are in --json)' if more > 0 else ''}", table)


def _print_risk(console: Console, found: Assessment) -> None:
    if not len(found.curve.coverage):
        console.print("No case was answered.")
        return
    numbers = ("answered, in %", "wrong, in %", found.confidence)
    table = make_table(*numbers, right=numbers)
    for point in found.points():
        table.add_row(f"{100 * point['coverage']:.1f}", f"{100 * point['risk']:.1f}", f"{point['threshold']:.3f}")
    title = f"when the least confident are left out (mean error, AURC: {100 * found.curve.area:.1f} %)"
    _print_table(console, title, table)


def _print_table(console: Console, title: str, table: Any) -> None:
    console.print(Text(as_line(title), style="bold"))
    console.print(table)
    console.print()
