import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from memclf import MemoryClassifier
from memclf.similarity import RBFSimilarity

X, y = load_iris(return_X_y=True)
names = load_iris().target_names
FAR = np.full((1, 4), 500.0)


def fit(estimator=None, **settings):
    settings = {"similarity": RBFSimilarity(0.3), "threshold": 0.5, "random_state": 0, **settings}
    return MemoryClassifier(estimator=estimator or GaussianNB(), **settings).fit(X, names[y])


def test_an_explanation_agrees_with_route_predict_and_probabilities():
    clf = fit()
    cases = X[::10]
    ways, answers, chances = clf.route(cases), clf.predict(cases), clf.predict_proba(cases)
    for i, item in enumerate(clf.explain(cases)):
        assert item.answer == answers[i]
        assert (item.memory, item.similarity, item.threshold) == (ways[i].memory, ways[i].similarity, ways[i].threshold)
        assert item.memory_row == clf.memory_indices_[item.memory]
        np.testing.assert_array_equal(item.memory_case, X[[item.memory_row]])
        assert item.cluster_size == (clf.labels_ == item.memory).sum()
        assert item.cluster_classes == {
            label: int((names[y][clf.labels_ == item.memory] == label).sum()) for label in names
        }
        np.testing.assert_allclose(list(item.probabilities.values()), chances[i])
        assert item.margin == pytest.approx(item.similarity - np.sort(item.similarities)[-2])


def test_the_sentence_says_why_this_answer():
    item = fit().explain(X[75:76])[0]
    assert item.sentence.startswith(f"Answer {item.answer!r}: most like memory {item.memory} (training case")
    assert f"similarity {item.similarity:.3f}, threshold 0.500" in item.sentence
    assert "GaussianNB says so with probability" in item.sentence
    assert "its cluster holds" in item.sentence


def test_the_sentence_of_a_constant_says_that_all_cases_are_of_one_class():
    item = fit().explain(X[:1])[0]
    assert item.origin == "constant"
    assert f"all {item.cluster_size} cases of its cluster are 'setosa'" in item.sentence


@pytest.mark.parametrize(
    ("fallback", "by", "sentence"),
    [
        ("unknown", "nobody", "Unknown: the most similar memory is memory"),
        ("global", "fallback", "by the fallback, GaussianNB"),
        (DecisionTreeClassifier(random_state=0), "fallback", "by the fallback, DecisionTreeClassifier"),
        ("nearest", "nearest", "which is not enough"),
    ],
)
def test_the_sentence_says_who_answers_when_no_threshold_is_met(fallback, by, sentence):
    item = fit(fallback=fallback).explain(FAR)[0]
    assert not item.known
    assert item.answered_by == by
    assert sentence in item.sentence
    assert (item.probabilities is None) == (fallback == "unknown")


@pytest.mark.parametrize(
    ("small", "words"),
    [("merge", "shares a classifier with the cluster of another memory"), ("global", "so the global one answers")],
)
def test_the_sentence_says_when_a_cluster_has_no_classifier_of_its_own(small, words):
    clf = fit(min_cluster_size=45, small_clusters=small)
    shared = [k for k, origin in enumerate(clf.pool_.origins) if origin in ("merged", "handed to global")]
    assert words in clf.explain(clf.memories_[shared[:1]])[0].sentence


def test_a_linear_classifier_tells_what_each_feature_adds():
    table = pd.DataFrame(X, columns=["sepal", "width", "petal", "breadth"])
    clf = MemoryClassifier(RBFSimilarity(0.05), make_pipeline(StandardScaler(), LogisticRegression()), 0.3)
    clf.fit(table, names[y])
    item = clf.explain(table.iloc[[100]])[0]
    local = clf.estimators_[item.memory]
    scaled = local[:-1].transform(table.iloc[[100]])[0]
    row = list(local.classes_).index(item.answer)
    coefficients = local[-1].coef_[row] if len(local.classes_) > 2 else local[-1].coef_[0] * (1 if row else -1)
    adds = dict(zip(table.columns, coefficients * scaled, strict=True))
    assert [each.feature for each in item.evidence] == sorted(adds, key=lambda name: -abs(adds[name]))[:3]
    first = item.evidence[0]
    assert first.weight == pytest.approx(adds[first.feature])
    assert first.value == table.iloc[100][first.feature]  # in the user's units, not the scaler's
    assert first.memory_value == table.iloc[item.memory_row][first.feature]
    assert "adds" in str(item)


def test_a_tree_tells_which_features_matter_in_the_cluster():
    item = fit(DecisionTreeClassifier(random_state=0)).explain(X[75:76])[0]
    assert item.evidence
    assert item.evidence[0].kind == "importance"
    assert item.evidence[0].feature.startswith("feature ")


def test_classifiers_that_tell_nothing_give_no_evidence():
    assert fit(GaussianNB()).explain(X[75:76])[0].evidence == ()


def test_a_classifier_with_one_row_per_pair_of_classes_gives_no_evidence():
    clf = MemoryClassifier(RBFSimilarity(0.01), SVC(kernel="linear"), 0.3, n_memories=1).fit(X, names[y])
    assert clf.explain(X[75:76])[0].evidence == ()


def test_the_remembered_case_is_shown_beside_the_case():
    table = pd.DataFrame(X, columns=["sepal", "width", "petal", "breadth"])
    clf = MemoryClassifier(RBFSimilarity(0.3), GaussianNB(), 0.5).fit(table, y)
    item = clf.explain(table.iloc[[3]])[0]
    remembered = table.iloc[item.memory_row]
    assert item.beside() == [(name, f"{table.iloc[3][name]:.4g}", f"{remembered[name]:.4g}") for name in table.columns]
    assert f"remembered: sepal {remembered['sepal']:.4g} (here {table.iloc[3]['sepal']:.4g})" in str(item)
    assert f"<td>{remembered['sepal']:.4g}</td>" in item._repr_html_()
    assert fit().explain(X[:1])[0].beside()[0][0] == "feature 0"


def test_a_remembered_text_is_shown_as_it_is():
    words = ["leaf", "leafy", "stem", "stems"]
    pipe = make_pipeline(CountVectorizer(analyzer="char"), MultinomialNB())
    clf = MemoryClassifier(lambda a, b: len(set(a) & set(b)) / len(set(a) | set(b)), pipe, 0.6).fit(words, [0, 1, 0, 1])
    item = clf.explain(["leaf"])[0]
    assert item.beside() == [("", "leaf", words[item.memory_row])]


def test_a_memory_classifier_inside_a_memory_classifier_may_answer_unknown():
    inner = MemoryClassifier(RBFSimilarity(50.0), GaussianNB(), 0.9, random_state=0)
    clf = MemoryClassifier(RBFSimilarity(0.05), inner, 0.3, random_state=0).fit(X, names[y])
    item = clf.explain(X[100:101] + 0.2)[0]
    assert (item.known, item.answer) == (True, "unknown")
    assert item.sentence.startswith("Answer 'unknown'")


def test_the_table_and_the_words():
    shown = fit().explain(np.vstack([X[:2], FAR]))
    text = str(shown)
    assert text.splitlines()[0].split()[:4] == ["case", "answer", "known", "memory"]
    assert "case 2: Unknown" in text
    assert shown.to_frame()["known"].tolist() == [True, True, False]
    assert len(shown[:2]) == 2
    assert str(shown[:0]) == "no cases to explain"


def test_notebooks_get_html_in_which_labels_are_escaped():
    label = np.where(y == 0, "<b>bold</b>", "plain")
    clf = MemoryClassifier(RBFSimilarity(0.3), GaussianNB(), 0.5).fit(X, label)
    html = clf.explain(np.vstack([X[:1], FAR]))._repr_html_()
    assert html.count("class='memclf'") == 2
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<b>bold" not in html
    assert "below threshold" in html
    assert clf.explain(X[:1])[0]._repr_html_().count("class='memclf'") == 1


def test_the_picture_shows_similarities_thresholds_and_classes():
    figure = fit().explain(X[75:76])[0].plot()
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()][-1].startswith("memory ")
    assert [label.get_text() for label in right.get_yticklabels()] == list(names)
    assert left.get_xlabel() == "similarity (red: threshold)"


def test_images_are_shown_beside_their_memory():
    rng = np.random.default_rng(0)
    bright = rng.integers(0, 2, 40)
    images = (rng.random((40, 8, 8)) * 0.2 + 0.7 * bright[:, None, None]).astype(np.float32)

    class Flat(GaussianNB):
        def fit(self, X, y):
            return super().fit(X.reshape(len(X), -1), y)

        def predict(self, X):
            return super().predict(X.reshape(len(X), -1))

        def predict_proba(self, X):
            return self.classes_[None, :] == self.predict(X)[:, None]

    clf = MemoryClassifier(RBFSimilarity(1.0, features=np.mean), Flat(), 0.9).fit(images, np.arange(40) % 2)
    figure = clf.explain(images[:1])[0].plot()
    assert len(figure.axes) == 4
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), images[0])
