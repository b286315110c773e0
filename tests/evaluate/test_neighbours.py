"""Training cases like a case, and labels that contradict all around them."""

import numpy as np
import pytest

from memclf import MemoryClassifier
from memclf.evaluate import check_labels, find_alike, neighbours
from memclf.exceptions import TrainingCasesError
from memclf.similarity import RBFSimilarity


@pytest.fixture(scope="module")
def clf():
    """Two well-separated heaps with one wrong label in each."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.3, (20, 2)), rng.normal(5, 0.3, (20, 2))])
    y = np.array([10] * 20 + [20] * 20)
    y[3], y[30] = 20, 10
    return MemoryClassifier(RBFSimilarity(gamma=0.1), random_state=0).fit(X, y)


def test_find_alike_gives_the_most_similar_cases_first(clf):
    found = find_alike(clf, np.array([[0.0, 0.0], [5.0, 5.0]]), n=5)
    everything = clf.similarity_.compare(clf.training_.X, np.array([[0.0, 0.0], [5.0, 5.0]])).T
    assert found.rows.shape == (2, 5)
    np.testing.assert_allclose(found.similarity, np.sort(everything, axis=1)[:, ::-1][:, :5])
    assert (found.rows[0] < 20).all()
    assert (found.rows[1] >= 20).all()


def test_check_labels_finds_labels_that_contradict_all_around_them(clf, monkeypatch):
    monkeypatch.setattr(neighbours, "BLOCK", 90)  # a few cases at a time
    found = check_labels(clf, n=6)
    assert sorted(found.rows[found.doubtful]) == [3, 30]
    assert dict(zip(found.rows[found.doubtful].tolist(), found.around[found.doubtful].tolist(), strict=True)) == {
        3: 10,
        30: 20,
    }
    assert (found.alike.rows != found.rows[:, None]).all()  # a case is not compared with itself


def test_check_labels_of_some_rows_is_the_same_as_of_all(clf):
    some, whole = check_labels(clf, [3, 4, 30], n=6), check_labels(clf, n=6)
    np.testing.assert_array_equal(some.agreement, whole.agreement[[3, 4, 30]])
    np.testing.assert_array_equal(some.alike.rows, whole.alike.rows[[3, 4, 30]])


def test_more_neighbours_than_cases_are_all_cases(clf):
    assert find_alike(clf, np.zeros((1, 2)), n=99).rows.shape == (1, 40)
    assert check_labels(clf, [0], n=99).alike.rows.shape == (1, 39)


def test_neighbours_need_the_training_cases(clf):
    import pickle

    with pytest.raises(TrainingCasesError, match="with_training"):
        check_labels(pickle.loads(pickle.dumps(clf)))
