"""For all tests, the examples in `src` included: what is measured, and other arithmetic where the environment asks."""

import os
import shutil
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def pytest_configure(config):
    if os.environ.get("MEMCLF_JITTER"):  # only then, since it loads numpy and memclf
        import jitter

        asked = jitter.wanted()
        moving = jitter.jittered(**asked)
        moving.__enter__()
        config.add_cleanup(lambda: moving.__exit__(None, None, None))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for examples in `src` alone: in `tests` there are none, and every file would be imported a second time."""
    found = yield
    return [each for each in found if type(each) is pytest.Module]


def pytest_itemcollected(item):
    """Mark what looks at pages in a browser, which takes long."""
    if "chromium" in getattr(item, "fixturenames", ()):
        item.add_marker("pages")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session):
    """Stop what pytest-cov starts too early in a worker of xdist: it would go on where `no_cover` stops the other."""
    plugin = session.config.pluginmanager.getplugin("_cov")
    if plugin is not None and hasattr(session.config, "workerinput"):
        plugin.cov_controller.cov.stop()


@pytest.hookimpl(trylast=True)  # after hypothesis has marked its tests
def pytest_collection_modifyitems(items):
    """Measure the coverage of the core by its own tests alone, and not by those that draw many examples.

    Tracing the others as well would cost minutes and show nothing new.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["coverage"]["run"]
    core = {Path(folder).name for folder in settings["source"]}
    for item in items:
        if item.get_closest_marker("hypothesis") or not core.intersection(part.name for part in item.path.parents):
            item.add_marker("no_cover")


@pytest.fixture(scope="module")
def workers():
    """A client of two workers that are threads of this process; processes take seconds to start."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "processes": False}
    with (
        distributed.LocalCluster(**options) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def jittered():
    """`with jittered(seed):` moves every similarity by at most one unit in the last place, see `jitter`."""
    import jitter

    return jitter.jittered


@pytest.fixture(scope="module")
def chromium():
    """The system's Chromium; tests that need it are skipped where there is none.

    It ends with the module: as long as Playwright drives it, an event loop runs, and other tests cannot start theirs.
    """
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        try:
            browser = started.chromium.launch(executable_path=path, args=flags)
        except playwright.Error as error:
            pytest.skip(f"Chromium does not start here: {str(error).splitlines()[0]}")
        yield browser
        browser.close()
