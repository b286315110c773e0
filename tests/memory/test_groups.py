"""Groups of cases that are alike."""

import numpy as np
import pytest

from memclf.memory import group_alike
from memclf.similarity import RBFSimilarity


@pytest.fixture(scope="module")
def heaps():
    rng = np.random.default_rng(1)
    return np.concatenate([rng.normal(0, 0.1, (7, 2)), rng.normal(4, 0.1, (12, 2)), [[-9.0, 9.0]]])


def test_every_case_is_within_the_threshold_of_the_centre_of_its_group(heaps):
    similarity = RBFSimilarity(gamma=0.5).fit(heaps)
    groups = group_alike(heaps, similarity, 0.8)
    assert [len(group) for group in groups] == [12, 7, 1]
    assert sorted(np.concatenate(groups)) == list(range(len(heaps)))
    for group in groups:
        near = similarity.compare(heaps[group[:1]], heaps[group])[0]
        assert near.min() >= 0.8
        assert near.argmax() == 0
        assert (np.diff(near[1:]) <= 1e-9).all()  # the least alike last


@pytest.mark.parametrize("n", [0, 1])
def test_few_cases_need_no_search(heaps, n):
    groups = group_alike(heaps[:n], RBFSimilarity(gamma=0.5).fit(heaps), 0.8)
    assert [group.tolist() for group in groups] == [[0]][:n]
