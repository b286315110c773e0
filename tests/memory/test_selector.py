"""The memories as an estimator: `fit`, then numbers of memories or similarities to them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memclf import MemorySelector, select_memories
from memclf.memory.search import SearchOptions, search_memories
from memclf.similarity import RBFSimilarity, TreeSimilarity

X, BLOB = make_blobs(90, n_features=3, centers=3, cluster_std=0.5, random_state=0)


def test_selector__fit__keeps_memories_clusters_and_the_result():
    selector = MemorySelector(RBFSimilarity(0.05), 0.5, random_state=0).fit(X)
    rows = selector.memory_indices_
    np.testing.assert_array_equal(selector.memories_, X[rows])
    np.testing.assert_array_equal(selector.labels_, selector.search_result_.labels)
    np.testing.assert_array_equal(selector.predict(X), selector.labels_)
    assert len(rows) == 3
    assert all(len(set(BLOB[selector.labels_ == k])) == 1 for k in range(3))


def test_selector__transform__similarities_to_the_memories():
    selector = MemorySelector(RBFSimilarity(0.05), 0.5, random_state=0).fit(X)
    found = selector.transform(X[:5])
    apart = ((X[:5, None] - selector.memories_[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(found, np.exp(-0.05 * apart))
    assert selector.get_feature_names_out().tolist() == ["memoryselector0", "memoryselector1", "memoryselector2"]


def test_selector__table__in_a_pipeline_that_returns_tables():
    table = pd.DataFrame(X, columns=list("abc"))
    pipe = make_pipeline(StandardScaler(), MemorySelector(n_memories=2, random_state=0)).set_output(transform="pandas")
    found = pipe.fit_transform(table)
    assert found.columns.tolist() == ["memoryselector0", "memoryselector1"]
    assert pipe[-1].feature_names_in_.tolist() == list("abc")


def test_selector__similarity_that_learns_from_labels__gets_them():
    selector = MemorySelector(TreeSimilarity(), 0.5, random_state=0).fit(X, BLOB)
    assert len(selector.memory_indices_) == 3
    np.testing.assert_array_equal(BLOB[selector.memory_indices_][selector.labels_], BLOB)


def test_selector__options__are_those_of_the_search():
    assert MemorySelector(cover="random", max_swaps=3).options == SearchOptions(cover="random", max_swaps=3)


def test_select_memories__option_that_does_not_exist__is_named():
    with pytest.raises(TypeError, match="select_memories has no options stop; it has .*n_restarts"):
        select_memories(X, RBFSimilarity(), stop="clarans")


def test_select_memories__any_object_that_compares__is_enough():
    class Plain:
        def compare(self, A, B):
            return np.exp(-0.05 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    assert select_memories(X, Plain(), 0.5, random_state=0).n_memories == 3


def test_search_memories__no_case__is_refused():
    with pytest.raises(ValueError, match=r"no cases to choose memories from \(n_samples=0\)"):
        search_memories(np.empty((0, 2)), RBFSimilarity(1.0), 0.5)
