"""Numbers, lists, dates and colours as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

MINUS = "−"
FIVE = (1, 2, 3, 4, 5)


def percent(value: float | None, digits: int = 1) -> str:
    """A fraction in per cent, without the sign of per cent.

    >>> percent(0.8005), percent(None)
    ('80.0', '–')
    """
    return "–" if missing(value) else _signed(100 * float(value or 0), digits, False)


def points(value: float | None, digits: int = 1) -> str:
    """A difference of two fractions in points, always with its sign.

    >>> points(0.079), points(-0.0004), points(-0.021)
    ('+7.9', '±0.0', '−2.1')
    """
    return "–" if missing(value) else _signed(100 * float(value or 0), digits, True)


def _signed(number: float, digits: int, plus: bool) -> str:
    text = f"{abs(number):.{digits}f}"
    if not float(text):
        return f"±{text}" if plus else text
    return (MINUS if number < 0 else "+" if plus else "") + text


def two_digits(value: Any) -> str:
    """A similarity or a threshold.

    >>> two_digits(0.666), two_digits(None)
    ('0.67', '–')
    """
    return f"{value:.2f}" if isinstance(value, int | float) else "–"


def missing(value: Any) -> bool:
    return value is None or value != value


def join_words(items: Iterable[str]) -> str:
    """Words as in a sentence.

    >>> join_words(["fog"]), join_words(["fog", "snow", "frost"])
    ('fog', 'fog, snow and frost')
    """
    *head, last = list(items) or [""]
    return f"{', '.join(head)} and {last}" if head else last


def count(number: int, thing: str) -> str:
    """So many of something.

    >>> count(1, "corruption"), count(18, "corruption")
    ('1 corruption', '18 corruptions')
    """
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def name_severities(levels: Iterable[int]) -> str:
    """Severities as in a sentence; all five, as in the paper, have a name of their own.

    >>> name_severities([3]), name_severities([1, 3, 5]), name_severities([1, 2, 3, 4, 5])
    ('severity 3', 'severities 1, 3 and 5', 'all five severities')
    """
    found = sorted(set(levels))
    if found == list(FIVE):
        return "all five severities"
    return f"severit{'y' if len(found) == 1 else 'ies'} {join_words(map(str, found))}"


def safe_colour(text: Any) -> str:
    """A colour as `#rrggbb`; anything else is grey, since it would go into the style of a page.

    >>> safe_colour("#ff4870"), safe_colour("red; background: url(x)")
    ('#ff4870', '#888888')
    """
    return text if isinstance(text, str) and re.fullmatch("#[0-9a-fA-F]{6}", text) else "#888888"


def format_moment(text: str | None) -> str:
    """A moment as people write it.

    >>> format_moment("2026-11-16T06:03:04+00:00"), format_moment("2026-11-16T06:03:04")
    ('2026-11-16 06:03 UTC', '2026-11-16 06:03')
    """
    day, _, rest = str(text or "").partition("T")
    zone = " UTC" if rest.endswith(("+00:00", "Z")) else ""
    return f"{day} {rest[:5]}{zone}".strip()
