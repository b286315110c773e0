"""The benchmarks are scripts beside the package: their folder is found for the tests of this one."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def benchmarks_on_path(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
