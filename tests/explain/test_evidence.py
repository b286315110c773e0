import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from explain.models import NAMES, X, fit_flowers, y
from memclf import MemoryClassifier
from memclf.explain.evidence import Evidence, evidence_for
from memclf.similarity import RBFSimilarity

LINEAR = LogisticRegression(max_iter=1000)


def test_a_linear_classifier_tells_what_each_feature_adds():
    table = pd.DataFrame(X, columns=["sepal", "width", "petal", "breadth"])
    clf = MemoryClassifier(RBFSimilarity(0.05), make_pipeline(StandardScaler(), LogisticRegression()), 0.3)
    clf.fit(table, NAMES[y])
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


def test_evidence__large_numbers__are_written_in_full():
    found = Evidence("income", 46128.3, 9999.8, 1234.5, "contribution")
    assert str(found) == "income = 46,128 (memory: 10,000) adds +1,234"


def test_a_tree_tells_which_features_matter_in_the_cluster():
    item = fit_flowers(DecisionTreeClassifier(random_state=0)).explain(X[75:76])[0]
    assert item.evidence
    assert item.evidence[0].kind == "importance"
    assert item.evidence[0].feature.startswith("feature ")


def test_classifiers_that_tell_nothing_give_no_evidence():
    assert fit_flowers(GaussianNB()).explain(X[75:76])[0].evidence == ()


def test_a_classifier_with_one_row_per_pair_of_classes_gives_no_evidence():
    clf = MemoryClassifier(RBFSimilarity(0.01), SVC(kernel="linear"), 0.3, n_memories=1).fit(X, NAMES[y])
    assert clf.explain(X[75:76])[0].evidence == ()


def test_evidence__columns_that_are_mixed__are_shown_as_they_come_out():
    pipe = make_pipeline(PCA(2), LINEAR).fit(X, y)
    found = evidence_for(pipe, X[:1], X[1:2], 0)
    assert {each.feature for each in found} <= {"pca0", "pca1"}
    by_name = {each.feature: each for each in found}
    np.testing.assert_allclose(by_name["pca0"].value, pipe[0].transform(X[:1])[0, 0])


def test_evidence__step_without_names__features_by_number():
    pipe = make_pipeline(FunctionTransformer(np.square), LINEAR).fit(X, y)
    found = evidence_for(pipe, X[:1], X[1:2], 0)
    assert all(each.feature.startswith("feature ") for each in found)
    first = found[0]
    assert first.value == pytest.approx(X[0, int(first.feature[-1])] ** 2)


def test_evidence__steps_column_by_column__values_in_the_units_of_the_user():
    found = evidence_for(make_pipeline(StandardScaler(), LINEAR).fit(X, y), X[:1], X[1:2], 0)
    assert all(each.value == X[0, int(each.feature[-1])] for each in found)


def test_evidence__pipeline_of_one_step__as_the_step_alone():
    clf = LINEAR.fit(X, y)
    assert evidence_for(Pipeline([("last", clf)]), X[:1], X[1:2], 2) == evidence_for(clf, X[:1], X[1:2], 2)


def test_evidence__two_classes__the_other_class_has_the_opposite_sign():
    clf = LogisticRegression().fit(X[y > 0], y[y > 0])
    one, other = (evidence_for(clf, X[60:61], X[61:62], label) for label in (1, 2))
    assert [each.weight for each in one] == [-each.weight for each in other]


def test_evidence__sparse_rows__are_read():
    rows, clf = sp.csr_array(X), LINEAR.fit(X, y)
    assert evidence_for(clf, rows[[0]], rows[[1]], 0) == evidence_for(clf, X[:1], X[1:2], 0)


def test_evidence__forest__importances_in_words():
    found = evidence_for(RandomForestClassifier(5, random_state=0).fit(X, y), X[:1], X[1:2], 0)
    assert found[0].kind == "importance"
    assert "importance" in str(found[0])


@pytest.mark.parametrize(
    ("estimator", "case"),
    [
        (GaussianNB(), X[:1]),
        (SVC(kernel="linear"), X[:1]),
        (LINEAR, np.zeros((1, 9))),  # as many weights as columns are needed
        (LINEAR, np.array(["a text"])),
        (LINEAR, pd.DataFrame({"word": ["a"]})),
        (LINEAR, np.zeros((1, 2, 2))),
    ],
    ids=["tells nothing", "one row per pair", "other columns", "text", "words", "image"],
)
def test_evidence__nothing_to_tell__is_empty(estimator, case):
    assert evidence_for(estimator.fit(X, y), case, case, 0) == ()


def test_evidence__answer_that_the_classifier_does_not_know__is_empty():
    assert evidence_for(LINEAR.fit(X, y), X[:1], X[1:2], "unknown") == ()


def test_evidence__column_transformer__values_are_those_of_the_table():
    frame = pd.DataFrame({"age": [20.0, 40.0, 60.0, 80.0] * 5, "ward": ["A", "B"] * 10})
    prepared = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["ward"]))
    clf = make_pipeline(prepared, LogisticRegression()).fit(frame, (frame["age"] > 50).astype(int))
    first, *others = evidence_for(clf, frame[3:4], frame[:1], 1)
    assert (first.feature, first.value, first.memory_value) == ("age", 80.0, 20.0)
    assert first.weight > 0
    assert {each.feature for each in others} <= {"onehotencoder__ward_A", "onehotencoder__ward_B"}
