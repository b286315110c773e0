"""The examples run from nothing and end with the honest table."""

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
TABLE = re.compile(r"^(\S.*?)  +([\d.]+) / ([\d.]+) +([\d.]+) / ([\d.]+)$", re.M)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("machine_parts", ["--runs", "1", "--parts", "300"]),
        ("short_texts", ["--runs", "1", "--archive", "800"]),
    ],
)
def test_example__judged_likeness__beats_equal_weights_in_the_field(name, options, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, *options])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    table = {row[0]: [float(number) for number in row[1:]] for row in TABLE.findall(printed)}
    assert {"majority class", "stage 1 alone, judged", "memory classifier, judged"} <= set(table)
    assert any(row.startswith("plain model") for row in table)
    assert table["stage 1 alone, judged"][2] > table["stage 1 alone, equal weights"][2]
    assert "alike: two usual cases" in printed
    assert "are predicted by the others" in printed
