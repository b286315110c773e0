import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from explain.models import FAR, NAMES, X, fit_flowers, y
from memclf import MemoryClassifier
from memclf.similarity import CosineSimilarity, JudgedSimilarity, RBFSimilarity
from memclf.vision import ImageCollection
from memclf.vision.features import ImageFeatures


def test_explanation__agrees_with_route_predict_and_probabilities():
    clf = fit_flowers()
    cases = X[::10]
    ways, answers, chances = clf.route(cases), clf.predict(cases), clf.predict_proba(cases)
    for i, item in enumerate(clf.explain(cases)):
        assert item.answer == answers[i]
        assert (item.memory, item.threshold) == (ways[i].memory, ways[i].threshold)
        assert item.similarity == pytest.approx(ways[i].similarity, abs=1e-12)  # not all memories are compared to route
        assert item.memory_row == clf.memory_indices_[item.memory]
        np.testing.assert_array_equal(item.memory_case, X[[item.memory_row]])
        assert item.cluster_size == (clf.labels_ == item.memory).sum()
        assert item.cluster_classes == {
            label: int((NAMES[y][clf.labels_ == item.memory] == label).sum()) for label in NAMES
        }
        np.testing.assert_allclose(list(item.probabilities.values()), chances[i])
        assert item.margin == pytest.approx(item.similarity - np.sort(item.similarities)[-2])


def test_explanation__answer_and_commonest_class_of_the_cluster__are_compared():
    items = list(fit_flowers(n_memories=2).explain(X))
    commonest = [max(item.cluster_classes, key=item.cluster_classes.get) for item in items]
    assert [item.against_cluster for item in items] == [
        item.known and item.answer != label for item, label in zip(items, commonest, strict=True)
    ]
    assert any(item.against_cluster for item in items)


def test_explanation__single_memory__has_no_runner_up():
    item = fit_flowers(n_memories=1).explain(X[:1])[0]
    assert (item.runner_up, item.runner_up_row, item.runner_up_similarity, item.margin) == (None,) * 4
    assert "runner-up" not in str(item)
    assert "runner-up" not in item._repr_html_()


def test_compare_with_memory__table__column_by_column():
    table = pd.DataFrame(X, columns=["sepal", "width", "petal", "breadth"])
    clf = MemoryClassifier(RBFSimilarity(0.3), GaussianNB(), 0.5).fit(table, y)
    item = clf.explain(table.iloc[[3]])[0]
    here, there = table.iloc[3], table.iloc[item.memory_row]
    assert item.compare_with_memory() == [(name, f"{here[name]:.4g}", f"{there[name]:.4g}") for name in table.columns]
    assert f"remembered: sepal {there['sepal']:.4g} (here {here['sepal']:.4g})" in str(item)
    assert f"<td>{there['sepal']:.4g}</td>" in item._repr_html_()


def test_compare_with_memory__array__features_by_number_and_no_more_than_six():
    assert fit_flowers().explain(X[:1])[0].compare_with_memory()[0][0] == "feature 0"
    wide = np.tile(X, 2)
    item = MemoryClassifier(RBFSimilarity(0.1), GaussianNB(), 0.5).fit(wide, y).explain(wide[:1])[0]
    assert len(item.compare_with_memory()) == 8
    remembered = str(item).splitlines()[1]
    assert remembered.endswith(", ...")
    assert remembered.count("feature") == 6


def test_compare_with_memory__text__as_it_is_but_not_longer_than_a_line():
    words = ["leaf", "leafy", "stem", "s" + "tems" * 30]
    pipe = make_pipeline(CountVectorizer(analyzer="char"), MultinomialNB())
    clf = MemoryClassifier(lambda a, b: len(set(a) & set(b)) / len(set(a) | set(b)), pipe, 0.6).fit(words, [0, 1, 0, 1])
    item = clf.explain(["leaf"])[0]
    assert item.compare_with_memory() == [("", "leaf", words[item.memory_row])]
    shown = clf.explain([words[3]])[0].compare_with_memory()[0][1]
    assert len(shown) == 60
    assert shown.endswith("…")


def test_compare_with_memory__sparse_rows__are_not_shown():
    rows = sp.csr_array(X)
    item = MemoryClassifier(CosineSimilarity(), MultinomialNB(), 0.95).fit(rows, y).explain(rows[:1])[0]
    assert item.compare_with_memory() == []
    assert "remembered" not in str(item)
    assert "<small>case</small>" not in item._repr_html_()


def test_explanations__are_a_list_a_table_and_words():
    shown = fit_flowers().explain(np.vstack([X[:2], FAR]))
    text = str(shown)
    assert text.splitlines()[0].split()[:4] == ["case", "answer", "known", "memory"]
    assert "case 2: Unknown" in text
    assert shown.to_frame()["known"].tolist() == [True, True, False]
    assert len(shown[:2]) == 2
    assert str(shown[:0]) == "no cases to explain"


class FakeBound:
    sentence = "At most 20 % are wrong."

    def __init__(self, own):
        self.own = own

    def promise_for(self, memory):
        return self.own


@pytest.mark.parametrize(
    ("own", "cases", "expected"),
    [
        (0.125, X[:1], "At most 20 % are wrong. For the cases of this memory: at most 12.5 %."),
        (1.0, X[:1], "At most 20 % are wrong. For the cases of this memory: nothing is promised."),
        (None, X[:1], "At most 20 % are wrong."),
        (0.125, FAR, "At most 20 % are wrong."),
    ],
    ids=["memory", "vacuous", "none for memories", "unknown case"],
)
def test_promise__bound_of_the_classifier__is_shown(own, cases, expected):
    clf = fit_flowers()
    assert clf.explain(cases)[0].promise == ""
    clf.bound_ = FakeBound(own)
    item = clf.explain(cases)[0]
    assert item.promise == expected
    assert f"promise: {expected}" in str(item)
    assert expected in item._repr_html_()


def test_explain__texts_in_a_series__shows_them_and_keeps_the_index():
    texts = pd.Series(["red apple pie", "green apple", "blue sky day", "sky and cloud"] * 10, index=range(100, 140))
    clf = MemoryClassifier(
        CosineSimilarity(features=TfidfVectorizer()),
        make_pipeline(TfidfVectorizer(), LogisticRegression()),
        threshold=0.2,
    ).fit(texts, ["fruit", "fruit", "sky", "sky"] * 10)
    shown = clf.explain(texts.iloc[:2])
    assert shown[0].compare_with_memory()[0][1] == "red apple pie"
    assert shown.to_frame().index.tolist() == [100, 101]
    assert f"index {100 + shown[0].memory_row}" in shown[0].sentence


def test_explain__feature_in_a_pipeline__shows_what_it_measured():
    images = ImageCollection(np.random.default_rng(0).integers(0, 256, (30, 36, 36, 3), dtype=np.uint8))
    similarity = RBFSimilarity(features=make_pipeline(Brightness(), StandardScaler()))
    labels = np.array([image.mean() > 127 for image in images]).astype(int)
    clf = MemoryClassifier(similarity, make_pipeline(Brightness(), LogisticRegression()), threshold=0.5)
    item = clf.fit(images, labels).explain(images[:1])[0]
    assert [name for name, _, _ in item.measured] == ["brightness"]


class Brightness(ImageFeatures):
    names = ("brightness",)

    def measure(self, image, info):
        return image.mean()


def test_explanation__judged_similarity__says_which_measurements_made_them_alike():
    table = pd.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal width"])
    judged = JudgedSimilarity().judge(table, triplets=[(i, i + 1, i + 60) for i in range(40)])
    clf = MemoryClassifier(judged, GaussianNB(), threshold=0.3, random_state=0).fit(table, NAMES[y])
    for item in clf.explain(table[::30]):
        names, added = zip(*item.likeness, strict=True)
        assert names[0] == "two usual cases"
        assert set(names[1:]) == set(table.columns)
        assert sum(added) == pytest.approx(item.similarity)
        assert list(np.abs(added[1:])) == sorted(np.abs(added[1:]), reverse=True)
        assert f"alike: two usual cases {added[0]:.2f}, {names[1]} {added[1]:+.2f}, " in str(item)
        assert f"alike: two usual cases {added[0]:.2f}, {names[1]}" in item._repr_html_()
    assert fit_flowers().explain(X[:1])[0].likeness == ()
