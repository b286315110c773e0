import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from memclf.similarity import RankSimilarity, RBFSimilarity

rows = st.lists(st.tuples(st.integers(-50, 50), st.floats(-1e6, 1e6)), min_size=3, max_size=40)


@settings(max_examples=50, deadline=None)
@given(rows)
def test_it_is_the_rbf_of_ranks(points):
    X = np.array(points, dtype=float)
    ranks = np.stack([(rankdata(column) - 0.5) / len(X) for column in X.T], axis=1)
    ours, theirs = RankSimilarity(3.0).fit(X), RBFSimilarity(3.0).fit(ranks)
    A, B = ours.describe(X), theirs.describe(ranks)
    np.testing.assert_allclose(ours.compare(A, A), theirs.compare(B, B), atol=1e-9)


def test_no_stretching_changes_it():
    X = np.random.default_rng(0).lognormal(size=(60, 2))
    plain, stretched = RankSimilarity().fit(X), RankSimilarity().fit(np.exp(X))
    np.testing.assert_allclose(
        plain.compare(plain.describe(X), plain.describe(X)),
        stretched.compare(stretched.describe(np.exp(X)), stretched.describe(np.exp(X))),
    )


def test_weights_are_repetition():
    X = np.array([[0.0], [1.0], [5.0]])
    weighed, repeated = RankSimilarity(1.0), RankSimilarity(1.0)
    weighed.fit(X, sample_weight=[1, 3, 1])
    repeated.fit(X[[0, 1, 1, 1, 2]])
    np.testing.assert_allclose(weighed.ranks_[0], repeated.ranks_[0])


def test_beyond_the_training_numbers_the_rank_goes_on():
    similarity = RankSimilarity(1.0).fit([[0.0], [1.0], [5.0]])
    Z = similarity.describe([[0.0], [5.0], [7.5], [-5.0], [500.0]])
    close = similarity.compare(Z, Z)
    np.testing.assert_allclose([close[1, 2], close[0, 3]], np.exp([-0.25, -1.0]))  # half a range, and one
    assert close[1, 4] < 1e-9
    flat = RankSimilarity(1.0).fit([[2.0], [2.0]])
    np.testing.assert_allclose(flat.compare(flat.describe([[2.0]]), flat.describe([[3.0]])), np.exp(-1.0))


def test_contributions__add_up_to_the_similarity_and_name_the_columns():
    rng = np.random.default_rng(5)
    X = pd.DataFrame(
        {"width": rng.normal(size=30), "height": rng.integers(0, 4, 30).astype(float), "same": np.ones(30)}
    )
    similarity = RankSimilarity().fit(X)
    Z = similarity.describe(X)
    added = np.array([[similarity.contributions(a, b) for b in Z] for a in Z])
    np.testing.assert_allclose(similarity.usual_similarity + added.sum(axis=2), similarity.compare(Z, Z), atol=1e-9)
    assert similarity.measurements_ == ["width", "height", "same"]
    np.testing.assert_allclose(added[..., 2], 0, atol=1e-12)
    ranks = Z[:, 0]
    assert similarity.usual_[0] == pytest.approx(((ranks[:, None] - ranks[None, :]) ** 2).mean())
    near, far = np.abs(ranks - ranks[0]).argsort()[[1, -1]]
    assert added[0, near, 0] > 0 > added[0, far, 0]
