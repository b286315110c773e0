"""JudgedSimilarity: what it learns from judgements and labels, what survives, and what it says."""

import re
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import memclf
from memclf import MemoryClassifier
from memclf.exceptions import JudgementsWarning
from memclf.similarity import CombinedSimilarity, JudgedSimilarity, RBFSimilarity
from memclf.vision import ImageCollection
from memclf.vision.features import ImageFeatures
from toolbox import length_and_first

HIDDEN = np.array([4.0, 1.0, 1.0, 0.0, 0.0])


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(80, 5)) * [1, 10, 0.1, 5, 1] + [0, 100, 0, 0, -3]


class Expert:
    """Answers by hidden weights; with `slips`, some answers are the wrong way round."""

    def __init__(self, X, weights, power=1, slips=0.0, seed=0):
        self.X, self.weights, self.power, self.slips = X / X.std(axis=0), weights, power, slips
        self.rng = np.random.default_rng(seed)

    def distance(self, i, j):
        return self.weights @ np.abs(self.X[i] - self.X[j]) ** self.power

    def answer(self, questions):
        nearer = [self.distance(i, j) < self.distance(i, k) for i, j, k in questions]
        right = self.rng.random(len(questions)) >= self.slips
        pairs = zip(questions, np.equal(nearer, right), strict=True)
        return [(i, j, k) if first else (i, k, j) for (i, j, k), first in pairs]

    def triplets(self, n):
        return self.answer([tuple(self.rng.choice(len(self.X), 3, replace=False).tolist()) for _ in range(n)])

    def pairs(self, n, limit):
        drawn = [tuple(self.rng.choice(len(self.X), 2, replace=False).tolist()) for _ in range(n)]
        return [(i, j, bool(self.distance(i, j) < limit)) for i, j in drawn]

    def agreement(self, similarity, n=500):
        """Share of new questions that the similarity answers as the expert would, without slips."""
        S = similarity.compare(*[similarity.describe(self.X * self.unit)] * 2)
        asked = np.array([self.rng.choice(len(self.X), 3, replace=False) for _ in range(n)])
        own = [self.distance(i, j) < self.distance(i, k) for i, j, k in asked]
        return np.mean((S[asked[:, 0], asked[:, 1]] > S[asked[:, 0], asked[:, 2]]) == own)

    unit = 1.0


def test_fit__without_judgements__has_equal_weights_and_says_so(X):
    similarity = JudgedSimilarity().fit(X)
    assert similarity.weights_.tolist() == [1] * 5
    assert similarity.learned_from_ == "equal weights"
    assert similarity.sentence == "The 5 measurements that vary count the same (equal weights)."
    Z = similarity.describe(X)
    expected = (np.abs(X[:, None] - X) / similarity.scales_).sum(axis=2)
    np.testing.assert_allclose(similarity.compare(Z, Z), 0.5 ** (expected / 5))


def test_scales__are_the_mean_difference_of_two_cases(X):
    similarity = JudgedSimilarity().fit(X)
    differences = np.abs(X[:, None] - X)
    np.testing.assert_allclose(similarity.scales_, differences.mean(axis=(0, 1)))
    np.testing.assert_allclose(similarity.usual_[1], ((differences / similarity.scales_) ** 2).mean(axis=(0, 1)))
    weights = np.random.default_rng(1).integers(0, 3, len(X))
    again = JudgedSimilarity().fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(JudgedSimilarity().fit(X, sample_weight=weights).scales_, again.scales_)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("kind", ["triplets", "pairs"])
def test_judge__clear_answers__finds_hidden_weights_and_power(X, power, kind):
    expert = Expert(X, HIDDEN, power)
    given = {"triplets": expert.triplets(250)} if kind == "triplets" else {"pairs": expert.pairs(400, 4.0)}
    similarity = JudgedSimilarity().judge(X, **given)
    assert similarity.learned_from_ == "judgements"
    assert similarity.power_ == power
    np.testing.assert_allclose(similarity.weights_, HIDDEN / HIDDEN.mean(), atol=0.5)


def test_judge__one_answer_in_ten_wrong__agrees_with_the_expert(X):
    expert = Expert(X, HIDDEN, slips=0.1)
    similarity = JudgedSimilarity().fit(X)
    expert.unit = X.std(axis=0)
    before = expert.agreement(similarity)
    similarity.judge(X, triplets=expert.triplets(150))
    assert before < 0.88
    assert expert.agreement(similarity) > 0.93


def test_judge__pairs__put_the_border_where_the_expert_has_it(X):
    expert = Expert(X, HIDDEN)
    pairs = expert.pairs(500, 4.0)
    similarity = JudgedSimilarity().fit(X).judge(X, pairs=pairs)
    Z = similarity.describe(X)
    found = [similarity.compare(Z[[i]], Z[[j]])[0, 0] > 0.5 for i, j, _ in pairs]
    assert np.mean(np.equal(found, [alike for _, _, alike in pairs])) > 0.93


def test_judge__degrees_of_likeness__count_like_shares_of_answers(X):
    expert = Expert(X, HIDDEN)
    degrees = [(i, j, float(np.exp2(-expert.distance(i, j) / 4.0))) for i, j, _ in expert.pairs(300, 1.0)]
    similarity = JudgedSimilarity().judge(X, pairs=degrees)
    assert similarity.weights_[0] > 2 * similarity.weights_[1:].max()


def test_judge__in_parts__is_the_same_as_at_once(X):
    triplets = Expert(X, HIDDEN).triplets(40)
    pairs = Expert(X, HIDDEN).pairs(20, 4.0)
    once = JudgedSimilarity().fit(X).judge(X, pairs, triplets)
    parts = JudgedSimilarity().fit(X).judge(X, triplets=triplets[:15]).judge(X, pairs=pairs)
    assert parts.judge(X, triplets=triplets[15:]) is parts
    np.testing.assert_allclose(parts.weights_, once.weights_, rtol=1e-3)
    assert len(parts.judgements_) == 3


def test_judge__nothing__changes_nothing(X):
    assert JudgedSimilarity().judge(X).learned_from_ == "equal weights"


def test_judgements__survive_clone_and_fit_on_other_rows(X):
    judged = JudgedSimilarity().fit(X).judge(X, triplets=Expert(X, HIDDEN).triplets(100))
    copy = clone(judged)
    with pytest.raises(NotFittedError):
        copy.describe(X)
    copy.fit(X[::-1][:60], np.arange(60) % 2)
    assert copy.learned_from_ == "judgements"
    np.testing.assert_allclose(copy.weights_, judged.weights_, atol=0.3)
    copy.judge(X, triplets=[(0, 1, 2)])
    assert len(copy.judgements_) == 2
    assert len(judged.judgements_) == 1


def test_judgements__survive_memory_classifier_and_combination(X):
    y = np.where(X[:, 0] > 0, "a", "b")
    judged = JudgedSimilarity().judge(X, triplets=Expert(X, HIDDEN).triplets(60))
    clf = MemoryClassifier(judged, LogisticRegression(), threshold=0.4, random_state=0).fit(X[10:], y[10:])
    assert clf.similarity_.learned_from_ == "judgements"
    assert clf.similarity_.weights_.argmax() == 0
    both = CombinedSimilarity([("judged", judged), ("near", RBFSimilarity(0.001))])
    clf = MemoryClassifier(both, LogisticRegression(), threshold=0.2, random_state=0).fit(X, y)
    assert clf.similarity_.similarities_[0].learned_from_ == "judgements"


def test_judgements__about_texts__are_measured_again_by_new_features():
    animals, tools = ["cat dog", "dog cow", "cow cat", "cat"], ["saw axe", "axe nail", "nail saw", "saw"]
    texts = animals + tools
    features = make_pipeline(TfidfVectorizer(), TruncatedSVD(2, random_state=0))
    triplets = [(i, j, k) for i in range(3) for j in range(4) for k in range(4, 8) if i != j]
    judged = JudgedSimilarity(features).judge(texts, triplets=triplets)
    copy = clone(judged).fit(texts[::-1] + ["a nail and a cow"] * 3)
    Z = copy.describe(["cat cow", "dog", "nail axe"])
    S = copy.compare(Z, Z)
    assert S[0, 1] > S[0, 2]
    assert not hasattr(features, "steps_")
    assert copy.features_ is not judged.features_


def test_grid_search__over_the_features__keeps_judgements(X):
    y = (X[:, 0] > 0).astype(int)
    judged = JudgedSimilarity(FunctionTransformer()).judge(X, triplets=Expert(X, HIDDEN).triplets(40))
    clf = MemoryClassifier(judged, threshold=0.3, random_state=0)
    search = GridSearchCV(clf, {"similarity__features": [FunctionTransformer(), StandardScaler()]}, cv=2).fit(X, y)
    assert search.best_estimator_.similarity_.learned_from_ == "judgements"
    assert set(JudgedSimilarity(StandardScaler()).get_params()) > {"features", "features__with_mean"}


def test_model_folder__keeps_judgements_and_answers(X, tmp_path):
    y = np.where(X[:, 0] > 0, "a", "b")
    table = pd.DataFrame(X, columns=list("vwxyz"))
    table.iloc[3:9, 2] = np.nan
    judged = JudgedSimilarity().judge(table, Expert(X, HIDDEN).pairs(30, 4.0), Expert(X, HIDDEN).triplets(40))
    clf = MemoryClassifier(judged, threshold=0.4, random_state=0, answer="labels").fit(table, y)
    new = memclf.load(memclf.save(clf, tmp_path / "model"))
    assert new.predict(table).tolist() == clf.predict(table).tolist()
    assert new.similarity_.sentence == clf.similarity_.sentence
    assert new.similarity_.consistency_ == clf.similarity_.consistency_
    fresh = clone(new.similarity_).fit(table)
    np.testing.assert_allclose(fresh.weights_, clf.similarity_.weights_)


def test_model_folder__of_the_similarity_alone__goes_on_learning(X, tmp_path):
    old = JudgedSimilarity().fit(X).judge(X, triplets=[(0, 1, 2), (3, 4, 5)])
    new = memclf.load(memclf.save(old, tmp_path / "likeness"))
    assert new.sentence == old.sentence
    for each in (old, new):
        each.judge(X, triplets=[(6, 7, 8)])
    np.testing.assert_allclose(new.weights_, old.weights_)
    assert "3 judgements" in new.sentence


def test_labels__without_judgements__are_the_start_and_said(X):
    y = np.where(X[:, 3] > 0, "a", "b")
    similarity = JudgedSimilarity().fit(pd.DataFrame(X, columns=list("vwxyz")), y)
    assert similarity.learned_from_ == "labels"
    assert similarity.weights_.argmax() == 3
    assert re.match(
        r"y counts .* times as much as [vwxz], .* and over 20 times as much as [vwxz] ", similarity.sentence
    )
    assert similarity.sentence.endswith("(learned from the labels).")
    similarity.judge(pd.DataFrame(X, columns=list("vwxyz")), triplets=Expert(X, HIDDEN).triplets(80))
    assert similarity.learned_from_ == "judgements"
    assert similarity.weights_.argmax() == 0


@pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning")
@pytest.mark.parametrize("y", [[0] * 80, list(range(80))], ids=["one class", "a class per case"])
def test_labels__that_tell_nothing__leave_equal_weights(X, y):
    assert JudgedSimilarity().fit(X, y).learned_from_ == "equal weights"


def test_labels__drawn_at_random__leave_equal_weights_nearly(X):
    similarity = JudgedSimilarity().fit(X, np.random.default_rng(3).integers(0, 2, len(X)))
    assert similarity.weights_.max() < 2


def test_measurements__constant_or_missing__do_not_count(X):
    X = np.column_stack([X, np.full(len(X), 0.1), np.full(len(X), np.nan)])
    similarity = JudgedSimilarity().fit(X).judge(X, triplets=Expert(X[:, :5], HIDDEN).triplets(30))
    assert similarity.weights_[5:].tolist() == [0, 0]
    assert similarity.weights_[:5].mean() == pytest.approx(1)
    S = similarity.compare(*[similarity.describe(X)] * 2)
    assert np.isfinite(S).all()
    np.testing.assert_allclose(np.diag(S), 1)


def test_measurements__all_constant__make_all_cases_alike():
    X = np.ones((6, 2))
    similarity = JudgedSimilarity().fit(X, [0, 1] * 3).judge(X, triplets=[(0, 1, 2)])
    assert similarity.compare(X, X).tolist() == np.ones((6, 6)).tolist()
    assert similarity.learned_from_ == "equal weights"
    assert similarity.sentence == "No measurement varies in training cases."
    with pytest.raises(
        ValueError, match="no measurement varies between the training cases, so there is nothing to ask"
    ):
        similarity.questions(X, 3)


def test_measurements__one_alone__is_named():
    X = pd.DataFrame({"size": [1.0, 2.0, 5.0], "none": [0.0, 0.0, 0.0]})
    assert JudgedSimilarity().judge(X, triplets=[(0, 1, 2)]).sentence == "size alone varies in training cases."


@pytest.mark.parametrize("power", [1, 2])
def test_gaps__count_as_the_usual_difference_or_as_none(X, power):
    similarity = JudgedSimilarity().fit(X)
    similarity.power_ = power
    whole, gap = np.zeros((1, 5)), np.array([[np.nan, 0, 0, 0, 0]])
    usual = 0.5 ** (similarity.usual_[power - 1, 0] / 5)
    S = similarity.compare(np.vstack([whole, gap]), np.vstack([whole, gap]))
    np.testing.assert_allclose(S, [[1, usual], [usual, 1]])


def test_gaps__in_training_and_judged_cases__do_not_stop_learning(X):
    expert = Expert(X, HIDDEN)
    gappy = np.where(np.random.default_rng(5).random(X.shape) < 0.1, np.nan, X)
    similarity = JudgedSimilarity().judge(gappy, triplets=expert.triplets(200))
    assert similarity.weights_.argmax() == 0
    assert similarity.weights_[0] > 1.5 * similarity.weights_[1:].max()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**20), st.sampled_from([1, 2]))
def test_contributions__of_any_two_cases__add_up_to_the_similarity(seed, power):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 4))
    X[rng.random(X.shape) < 0.15] = np.nan
    similarity = JudgedSimilarity().fit(X)
    similarity.weights_, similarity.power_, similarity.reach_ = rng.exponential(size=4), power, rng.uniform(0.5, 8)
    Z = similarity.describe(X)
    added = similarity.contributions(Z[0], Z[1])
    assert added.sum() + similarity.usual_similarity == pytest.approx(similarity.compare(Z[:1], Z[1:2])[0, 0])
    differences = np.nan_to_num(np.abs(Z[0] - Z[1]) ** power, nan=-1)
    less = (similarity.usual_[power - 1] > differences) & (differences >= 0)
    assert (added[less] >= 0).all()


def test_sentence__says_how_many_times_as_much(X):
    similarity = JudgedSimilarity().judge(
        pd.DataFrame(X, columns=["redness", "size", "hue", "length", "width"]),
        triplets=Expert(X, HIDDEN).triplets(300),
    )
    assert re.match(r"redness counts \d\.\d times as much as (size|hue), \d\.\d times as much as", similarity.sentence)
    assert re.search(r" and .* times as much as (length|width) ", similarity.sentence)
    assert similarity.sentence.endswith("(learned from 300 judgements).")


def test_names__come_from_the_features_where_they_have_some():
    words = ["leaf", "bee", "oak"]
    assert JudgedSimilarity(length_and_first).fit(words).measurements_ == ["measurement 0", "measurement 1"]
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    assert JudgedSimilarity(StandardScaler()).fit(table).measurements_ == ["a", "b"]
    assert JudgedSimilarity().fit(table).measurements_ == ["a", "b"]


# ---------------------------------------------------------------------------------------------- questions, consistency


def test_questions__before_any_judgement__name_three_cases_each(X):
    similarity = JudgedSimilarity().fit(X)
    asked = similarity.questions(X, 25)
    assert len(asked) == 25
    assert all(len({i, j, k}) == 3 and max(i, j, k) < 80 for i, j, k in asked)
    assert asked == similarity.questions(X, 25)
    different = {(i, *sorted((j, k))) for i, j, k in asked}
    assert len(different) == 23  # two are repeats


def test_judge__none_for_one_kind__is_the_same_as_nothing(X):
    triplets = Expert(X, HIDDEN).triplets(10)
    assert len(JudgedSimilarity().judge(X, pairs=None, triplets=triplets).judgements_) == 1


def test_questions__every_tenth__repeats_an_earlier_one_the_other_way_round(X):
    similarity = JudgedSimilarity().fit(X)
    first = similarity.questions(X, 10)
    i, j, k = first[0]
    assert first[9] == (i, k, j)
    similarity.judge(X, triplets=[(5, 6, 7), (8, 9, 10)])
    assert similarity.questions(X, 10)[9] == (5, 7, 6)
    assert similarity.questions(X[11:], 10)[9] != (5, 7, 6)  # the judged cases are not among these


def test_questions__of_three_cases__are_all_there_are():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    asked = JudgedSimilarity().fit(X).questions(X, 8)
    assert sorted(asked) == [(0, 1, 2), (1, 0, 2), (2, 0, 1)]


def test_questions__chosen__teach_more_than_random_ones(X):
    X = np.random.default_rng(4).normal(size=(300, 12))
    hidden = np.array([5.0, 3.0, 1.0] + [0.0] * 9)
    chosen, random = [], []
    for seed in range(4):
        expert = Expert(X, hidden, slips=0.1, seed=seed)
        expert.unit = X.std(axis=0)
        similarity = JudgedSimilarity().fit(X)
        for _ in range(3):
            similarity.judge(X, triplets=expert.answer(similarity.questions(X, 15)))
        chosen.append(expert.agreement(similarity))
        random.append(expert.agreement(JudgedSimilarity().fit(X).judge(X, triplets=expert.triplets(45))))
    assert np.mean(chosen) > np.mean(random)


def test_consistency__counts_repeats_and_predicts_held_out_answers(X):
    triplets = Expert(X, HIDDEN).triplets(60)
    turned = [(i, k, j) for i, j, k in triplets[:5]]
    similarity = JudgedSimilarity().judge(X, triplets=triplets + triplets[5:20] + turned)
    found = similarity.consistency_
    assert (found.repeats.count, found.repeats.total) == (15, 20)
    assert found.held_out.total == 80
    assert found.held_out.value > 0.75
    low, high = found.held_out.interval
    assert 0 < low < found.held_out.value < high < 1
    assert str(found).startswith("The expert gave the same answer to 75 % (53 to 89 %) of 20 repeated questions; of 80")


def test_consistency__of_pairs__counts_answers_on_the_same_side_as_equal(X):
    pairs = Expert(X, HIDDEN).pairs(40, 4.0)
    again = [(j, i, 0.9 if alike else 0.1) for i, j, alike in pairs[:8]]
    similarity = JudgedSimilarity().judge(X, pairs=pairs + again + [(*pairs[9][:2], not pairs[9][2])])
    assert (similarity.consistency_.repeats.count, similarity.consistency_.repeats.total) == (8, 9)


def test_consistency__of_few_judgements__says_that_they_are_few(X):
    similarity = JudgedSimilarity().fit(X)
    assert str(similarity.consistency_).startswith("There are too few judgements")
    assert np.isnan(similarity.consistency_.held_out.value)
    assert similarity.consistency_.held_out.interval == (0.0, 1.0)


# ------------------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pairs": [(0, 80, True)]}, r"pairs\[0\] names case 80, which does not exist: X has 80 cases, .* 0 to 79"),
        ({"triplets": [(0, 1, 2), (0, -1, 3)]}, r"triplets\[1\] names case -1, which does not exist"),
        ({"triplets": [(0, 1.5, 3)]}, r"triplets\[0\] names case 1.5, which does not exist"),
        ({"triplets": [(0, float("nan"), 3)]}, r"triplets\[0\] names case nan"),
        ({"triplets": [(0, 1, 1)]}, r"triplets\[0\] names case 1 twice: \(0, 1, 1\)"),
        ({"pairs": [(3, 3, True)]}, r"pairs\[0\] compares case 3 with itself"),
        ({"pairs": [(0, 1, 1.5)]}, r"pairs\[0\] says alike = 1.5; give True, False or a number from 0"),
        ({"pairs": [(0, 1, float("nan"))]}, r"pairs\[0\] says alike = nan"),
        ({"pairs": [(0, 1)]}, r"pairs must be a list of \(i, j, alike\), where .* 0 to 1; got \(0, 1\)"),
        ({"pairs": [(0, 1, "alike")]}, r"where alike is True, False or a number from 0 to 1; got \(0, 1, 'alike'\)"),
        ({"triplets": [(0, 1, 2), (0, 1, 2, 3)]}, r"triplets must be a list of \(i, j, k\): .*; got \(0, 1, 2, 3\)"),
        ({"triplets": [("a", "b", "c")]}, r"triplets must be a list .*; got \('a', 'b', 'c'\)"),
        ({"triplets": (0, 1, 2)}, r"triplets must be a list of \(i, j, k\).*; got 0"),
    ],
)
def test_judge__wrong_judgement__error_names_it_and_nothing_is_kept(X, given, message):
    similarity = JudgedSimilarity().fit(X)
    with pytest.raises(ValueError, match=message):
        similarity.judge(X, **given)
    assert len(similarity.judgements_) == 0


@pytest.mark.parametrize("answer", [True, False, 0.5])
def test_judge__all_pairs_equal__warns_and_keeps_equal_weights(X, answer):
    with pytest.warns(JudgementsWarning, match="all 3 judged pairs have the same answer .* Equal weights are kept"):
        similarity = JudgedSimilarity().judge(X, pairs=[(0, 1, answer), (2, 3, answer), (4, 5, answer)])
    assert similarity.weights_.tolist() == [1] * 5
    assert similarity.learned_from_ == "equal weights"


def test_judge__contradictions_throughout__warns_and_keeps_equal_weights(X):
    triplets = Expert(X, HIDDEN).triplets(20)
    with pytest.warns(JudgementsWarning, match="the 40 judgements contradict each other throughout"):
        similarity = JudgedSimilarity().judge(X, triplets=triplets + [(i, k, j) for i, j, k in triplets])
    assert similarity.weights_.tolist() == [1] * 5
    with pytest.warns(JudgementsWarning, match="the 2 judgements contradict each other throughout"):
        JudgedSimilarity().judge(X, pairs=[(0, 1, True), (1, 0, False)])


def test_judge__ten_answers_by_coin__leave_equal_weights_and_say_so(X):
    asked = JudgedSimilarity().fit(X).questions(X, 10)
    coins = np.random.default_rng(1).random((8, 10)) < 0.5
    for coin in coins:  # what a coin says about one question in ten may look like knowledge, but not surely
        triplets = [(i, j, k) if heads else (i, k, j) for (i, j, k), heads in zip(asked, coin, strict=True)]
        similarity = JudgedSimilarity().fit(X).judge(X, triplets=triplets)
        np.testing.assert_array_equal(similarity.weights_, 1)
        assert "10 judgements do not surely say otherwise" in similarity.sentence


def test_judge__answers_by_coin__warns_and_keeps_equal_weights(X):
    with pytest.warns(JudgementsWarning, match=r"the best weights agree with \d+ % of these 100 judgements, hardly"):
        similarity = JudgedSimilarity().judge(X, triplets=Expert(X, HIDDEN, slips=0.5).triplets(100))
    assert similarity.weights_.tolist() == [1] * 5


@pytest.mark.parametrize("n", [0, -3, 2.5])
def test_questions__wrong_number_or_too_few_cases__says_so(X, n):
    similarity = JudgedSimilarity().fit(X)
    with pytest.raises(ValueError, match=f"n must be the number of questions, 1 or more; got {n}"):
        similarity.questions(X, n)
    with pytest.raises(ValueError, match="a question needs three different cases, and X has 2"):
        similarity.questions(X[:2], 3)


def test_fit__text_columns_without_features__error_says_what_to_do():
    with pytest.raises(ValueError, match=r"JudgedSimilarity needs numbers, .*'kind' \('bolt'\).* or turn .* features="):
        JudgedSimilarity().fit(pd.DataFrame({"size": [1.0, 2.0], "kind": ["bolt", "nut"]}))
    with pytest.raises(ValueError, match="JudgedSimilarity compares rows of numbers, but X is a list of texts"):
        JudgedSimilarity().judge(["a bolt", "a nut", "a washer"], triplets=[(0, 1, 2)])


def test_fit__other_columns_than_the_judged_cases__error_says_so(X):
    judged = JudgedSimilarity().judge(X, triplets=[(0, 1, 2)])
    with pytest.raises(ValueError, match="judged cases are of another kind than the training cases: X has 5 features"):
        clone(judged).fit(X[:, :3])
    with pytest.raises(ValueError, match="infinity"):
        JudgedSimilarity().fit([[1.0], [np.inf]])
    with pytest.raises(ValueError, match=r"features returned infinity \(first: case 1\)"):
        JudgedSimilarity(float).fit(["1", "inf"])


class CountedRedness(ImageFeatures):
    """Counts how often it measures an image."""

    names = ("redness",)
    calls: ClassVar[list[int]] = []

    def measure(self, image, info):
        self.calls.append(1)
        return [float(image[..., 0].mean())]


def test_judged__images__measures_judged_ones_once_for_all_clones():
    images = ImageCollection([np.full((4, 4, 3), 9 * k, dtype=np.uint8) for k in range(12)])
    judged = JudgedSimilarity(CountedRedness()).judge(images[:3], triplets=[(0, 1, 2)])
    clone(judged).fit(images)
    CountedRedness.calls.clear()
    for _ in range(3):
        clone(judged).fit(images[3:])
    assert len(CountedRedness.calls) == 3 * 9
