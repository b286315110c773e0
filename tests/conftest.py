"""For all tests, the examples in `src` included: another processor's arithmetic, if the environment asks for it."""

import pytest


def pytest_configure(config):
    import jitter

    asked = jitter.wanted()
    if asked is not None:
        moving = jitter.jittered(**asked)
        moving.__enter__()
        config.add_cleanup(lambda: moving.__exit__(None, None, None))


@pytest.fixture
def jittered():
    """`with jittered(seed):` moves every similarity by at most one unit in the last place, see `jitter`."""
    import jitter

    return jitter.jittered
