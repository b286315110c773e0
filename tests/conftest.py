"""For all tests, the examples in `src` included: what is measured, and other arithmetic where the environment asks."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def pytest_configure(config):
    import jitter

    asked = jitter.wanted()
    if asked is not None:
        moving = jitter.jittered(**asked)
        moving.__enter__()
        config.add_cleanup(lambda: moving.__exit__(None, None, None))


def pytest_collection_modifyitems(items):
    """Measure the coverage of the core by the tests of the core alone: tracing the others would cost minutes."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["coverage"]["run"]
    core = {Path(folder).name for folder in settings["source"]}
    for item in items:
        if not core.intersection(part.name for part in item.path.parents):
            item.add_marker("no_cover")


@pytest.fixture
def jittered():
    """`with jittered(seed):` moves every similarity by at most one unit in the last place, see `jitter`."""
    import jitter

    return jitter.jittered
