"""Answers of 25 configurations, stored before the redesign of the package: the same classifier answers the same.

On the machine that stored them, the answers were equal to the last bit. Other processors add and multiply in another
order, so numbers are compared within 1e-9 here, and all that is not a fraction exactly.
"""

from pathlib import Path

import numpy as np
import pytest

from classifier.configurations import CONFIGURATIONS, answers_of
from memclf import MemoryClassifier, MemorySelector
from memclf.answers import RULES

pytestmark = pytest.mark.no_cover  # many fits, of which tests of the parts run every line

# Where the classifiers stop before they have converged, other arithmetic stops them elsewhere: the default estimator
# stops at a slope of 1e-4. All other configurations have classifiers that converge, or that need not.
TOLERANCES = {"default": 1e-5}
STORED = Path(__file__).parents[1] / "data" / "stored_answers.npz"


def build(similarity, estimator, **settings):
    """A classifier from a stored configuration."""
    if "search" in settings:
        settings["search"] = MemorySelector(**settings["search"])
    if "answer" in settings:
        rule, own = settings["answer"]
        settings["answer"] = RULES[rule](**own)
    return MemoryClassifier(similarity, estimator, **settings)


@pytest.fixture(scope="module")
def stored():
    with np.load(STORED) as found:
        return dict(found)


def test_stored_answers__every_configuration__is_stored(stored):
    assert {name.rpartition("/")[0] for name in stored} == set(CONFIGURATIONS)
    assert len(CONFIGURATIONS) == 25


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_stored_answers__fitted_again__are_the_same(name, stored):
    for part, found in answers_of(name, build).items():
        expected = stored[f"{name}/{part}"]
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        if expected.dtype.kind == "f":
            near = TOLERANCES.get(name, 1e-9) if part == "probabilities" else 1e-9
            np.testing.assert_allclose(found, expected, rtol=0, atol=near, err_msg=part)
        else:
            np.testing.assert_array_equal(found, expected, err_msg=part)


def test_stored_answers__all_together__hold_unknown_cases_and_several_memories(stored):
    """Otherwise the same answers would say little."""
    unknown = [name for name in CONFIGURATIONS if "unknown" in stored[f"{name}/labels"]]
    assert len(unknown) >= 15
    assert all(len(stored[f"{name}/memories"]) > 1 for name in CONFIGURATIONS)
