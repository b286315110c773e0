"""What `inspect_features` found: a table, two sentences of advice, a chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from memclf.evaluate.inspection import picture

Verdict: TypeAlias = Literal["good", "fragile", "repeats", "unsure", "says little"]

TELLS = 0.1  # separation from which a measurement tells something about the classes,
TELLS_BESIDE = 0.4  # and share of the best one's that it must reach
STEADY = 0.75  # steadiness from which a measurement can be relied on
REPEATS = 0.9  # rank correlation from which one measurement repeats another
VAGUE = 0.2  # half of an interval from which separations are too vague to choose by
NAMED = 3  # measurements that a sentence names


@dataclass(frozen=True)
class Inspected:
    """What was found out about one measurement.

    Attributes
    ----------
    name : str
    separation : float
        How well it tells the classes apart by itself, on held-out cases: 0 is chance, 1 is all right.
    interval : (float, float)
        Where the separation may lie with other cases of the same kind, 95 %.
    steadiness : float or None
        How little mild changes of the cases move it: 1 not at all, 0 as far as to another case at random. None where
        the cases cannot be changed (texts, objects).
    corrupted : dict
        Steadiness under each corruption (of tables: kind of strong change).
    corrupted_separation : float or None
        Separation of corrupted cases by what was learned on clean ones, the mean of all corruptions.
    overlap, overlaps_with : float and str
        The largest absolute rank correlation with another measurement, and with which.
    predictable : float
        Share of its variance, in ranks, that all others together explain.
    verdict : {"good", "fragile", "repeats", "unsure", "says little"}
        "unsure": that it tells the classes apart may be luck. From separation, mild changes and overlap alone.
    """

    name: str
    separation: float
    interval: tuple[float, float]
    steadiness: float | None
    corrupted: Mapping[str, float]
    corrupted_separation: float | None
    overlap: float
    overlaps_with: str
    predictable: float
    verdict: Verdict = "good"

    @property
    def corrupted_steadiness(self) -> float | None:
        """The mean steadiness under all corruptions; None where there are none."""
        return sum(self.corrupted.values()) / len(self.corrupted) if self.corrupted else None


@dataclass(frozen=True)
class FeatureInspection:
    """What `inspect_features` found: `table`, `advice` and `plot`.

    Attributes
    ----------
    measurements : tuple of Inspected
        In the order of the features.
    n_cases, n_corrupted : int
        Cases that were measured as they are and mildly changed; cases of each corruption.
    classes : tuple of str
    severity : int or None
        Of the corruptions; None where there are none.
    labels : dict
        What people call the corruptions.
    """

    measurements: tuple[Inspected, ...]
    n_cases: int
    n_corrupted: int
    classes: tuple[str, ...]
    severity: int | None
    labels: Mapping[str, str]

    @property
    def table(self) -> list[dict[str, Any]]:
        """One dictionary per measurement, the most useful first; see `to_frame`."""
        rows = []
        for each in sorted(self.measurements, key=worth, reverse=True):
            row = asdict(each)
            corrupted = row.pop("corrupted")
            verdict = row.pop("verdict")
            row["corrupted_steadiness"] = each.corrupted_steadiness
            rows.append({**row, "verdict": verdict, **{f"under {name}": value for name, value in corrupted.items()}})
        return rows

    def to_frame(self) -> Any:
        """The table as a data frame (needs pandas)."""
        import pandas as pd

        return pd.DataFrame(self.table)

    def with_verdict(self, verdict: Verdict) -> list[Inspected]:
        """The measurements with this verdict, the most useful or (fragile) tempting first."""
        found = [each for each in self.measurements if each.verdict == verdict]
        return sorted(found, key=(lambda each: each.separation) if verdict == "fragile" else worth, reverse=True)

    @property
    def advice(self) -> str:
        """What to build on, and what to distrust or leave out; and whether cases are too few."""
        return " ".join(filter(None, (self.build_on, self.beware, self.caution)))

    @property
    def build_on(self) -> str:
        """The first sentence of the advice."""
        good = self.with_verdict("good")
        if not good:
            if unsure := self.with_verdict("unsure"):
                may = "may tell the classes apart, but that may be luck too"
                return f"{_list(unsure)} {may}: {self.n_cases} cases are too few to say."
            if self.with_verdict("fragile"):
                return "None of the measurements both tells the classes apart and is steady."
            return "None of the measurements tells the classes apart by itself."
        unmoved = "" if good[0].steadiness is None else " and stay nearly the same when the cases change a little"
        told = "they tell" if len(good) > 1 else "it tells"
        return f"Build on {_list(good)}: {told} the classes apart{_agree(unmoved, len(good))}."

    @property
    def beware(self) -> str:
        """The second sentence of the advice."""
        fragile, repeats, idle = (self.with_verdict(each) for each in ("fragile", "repeats", "says little"))
        if fragile:
            first = fragile[0]
            others = f"; nor on {_list(fragile[1:])}" if len(fragile) > 1 else ""
            return (
                f"Do not rely on {first.name}: it tells the classes apart here ({first.separation:.2f}), but mild "
                f"changes move it (steadiness {first.steadiness:.2f}){others}."
            )
        if repeats:
            first = repeats[0]
            return f"{first.name} repeats {first.overlaps_with} (rank correlation {first.overlap:.2f}): one is enough."
        if idle:
            verb = "says" if len(idle) == 1 else "say"
            return f"{_list(idle)} {verb} little about the classes and can be left out."
        return "None of them is fragile or superfluous."

    @property
    def caution(self) -> str:
        """How far the separations may be off, where that is too far to choose by; else nothing."""
        half = max(each.interval[1] - each.interval[0] for each in self.measurements) / 2
        if half < VAGUE:
            return ""
        few = f"But {self.n_cases} cases are few: separations may be off by {half:.1f}"
        return f"{few}; measure more cases before you choose."

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON."""
        about = {"cases": self.n_cases, "corrupted cases": self.n_corrupted, "classes": list(self.classes)}
        return {**about, "severity": self.severity, "advice": self.advice, "measurements": self.table}

    def plot(self, ax: Any = None) -> Any:
        """Draw separation against steadiness into axes of matplotlib, new ones by default."""
        return picture.plot(self, ax)

    def __str__(self) -> str:
        wide = max(len(each.name) for each in self.measurements)
        lines = [f"{'measurement':{wide}}  separation (95 %)   steadiness  corrupted  overlap  verdict"]
        for each in sorted(self.measurements, key=worth, reverse=True):
            steady, corrupted = (
                "-" if value is None else f"{value:.2f}" for value in (each.steadiness, each.corrupted_steadiness)
            )
            lines.append(
                f"{each.name:{wide}}  {show_separation(each):>18}  {steady:>10}  {corrupted:>9}  {each.overlap:7.2f}  "
                f"{each.verdict}"
            )
        return "\n".join([*lines, "", self.advice])

    __repr__ = __str__


def show_separation(each: Inspected) -> str:
    """The separation and its interval in words."""
    return f"{each.separation:.2f} ({each.interval[0]:.2f}-{each.interval[1]:.2f})"


def worth(each: Inspected) -> float:
    """How useful a measurement is: what it tells, as far as it is steady."""
    return each.separation * (1.0 if each.steadiness is None else each.steadiness)


def _list(some: list[Inspected]) -> str:
    """Names of the first few, and how many more there are."""
    names = [each.name for each in some[:NAMED]]
    if len(some) > NAMED:
        names.append(f"{len(some) - NAMED} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _agree(text: str, number: int) -> str:
    return text.replace(" stay ", " stays ") if number == 1 else text
