import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from memclf import MemoryClassifier
from memclf.answers import ProductAnswer
from memclf.evaluate import Contender, Store, accuracy, controls_of, evaluate, summarise
from memclf.exceptions import StoreError
from memclf.similarity import RandomSimilarity, RBFSimilarity
from memclf.vision import ImageCollection

SHIFT = np.array([0.6, 0.0])


@pytest.fixture(scope="module")
def table():
    """Two groups in which the same second coordinate means opposite things."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 240)
    X = np.c_[group * 4.0 + rng.normal(0, 0.3, 240), rng.normal(0, 1, 240)]
    y = np.where((X[:, 1] > 0) == (group == 1), "up", "down")
    return X[:160], y[:160], X[160:], y[160:]


@pytest.fixture(scope="module")
def fitted(table):
    X, y, *_ = table
    similarity = RBFSimilarity(gamma=0.1)
    return MemoryClassifier(similarity, LogisticRegression(), 0.2, start="global", random_state=0).fit(X, y)


class Counting:
    """A classifier that counts the cases it is asked about."""

    def __init__(self, inner):
        self.inner, self.asked, self.classes_ = inner, 0, inner.classes_

    def predict(self, X):
        self.asked += len(X)
        return self.inner.predict(X)


def test_rows_hold_what_the_metrics_say(table, fitted):
    _, _, X, y = table
    rows = evaluate({"memory": fitted, "baseline": fitted.global_}, X, y, {("drift", 2): X + SHIFT})
    by = {(row["model"], row["corruption"]): row for row in rows}
    assert set(by) == {(m, c) for m in ("memory", "baseline") for c in ("clean", "drift")}
    found = by["memory", "drift"]
    assert found["severity"] == 2
    assert found["n"] == len(y)
    assert found["accuracy"] == accuracy(y, fitted.predict(X + SHIFT))
    clean, drifted = fitted.route(X).memory, fitted.route(X + SHIFT).memory
    assert found["routing_stability"] == np.mean(clean == drifted)
    assert by["memory", "clean"]["routing_stability"] == 1.0
    assert by["memory", "clean"]["oracle_accuracy"] == by["memory", "clean"]["accuracy"]
    assert by["baseline", "drift"]["routing_stability"] is None


def test_oracle_routing_asks_the_memory_of_the_clean_case(table, fitted):
    _, _, X, y = table
    far = X + np.array([4.0, 0.0])  # everybody moves into the other group, or out of sight
    rows = evaluate({"memory": fitted}, X, y, {("drift", 1): far})
    clean = fitted.route(X).memory
    expected = [
        fitted.estimators_[k].predict(case[None])[0] if k >= 0 else "unknown"
        for k, case in zip(clean, far, strict=True)
    ]
    assert rows[1]["oracle_accuracy"] == np.mean(np.array(expected) == y)
    assert rows[1]["routing_stability"] < 0.6


def test_unknown_is_an_error_in_accuracy_and_absent_in_coverage(table, fitted):
    _, _, X, y = table
    row = evaluate({"memory": fitted}, X, y, {("gone", 1): X + 1000.0})[1]
    assert (row["accuracy"], row["coverage"], row["selective_accuracy"]) == (0.0, 0.0, None)


def test_what_a_store_holds_is_not_asked_again(table):
    X, y, test, labels = table
    knn = Counting(KNeighborsClassifier().fit(X, y))
    store = Store()
    conditions = {("drift", s): test + s * SHIFT for s in (1, 2)}
    first = evaluate({"knn": knn}, test, labels, conditions, store=store)
    asked = knn.asked
    assert asked == 3 * len(test)
    assert evaluate({"knn": knn}, test, labels, conditions, store=store) == first
    assert knn.asked == asked
    evaluate({"knn": knn}, test, labels, {**conditions, ("drift", 3): test}, store=store)
    assert knn.asked == asked + len(test)


def test_each_condition_is_made_once_for_all_contenders(table):
    X, y, test, labels = table
    made = []

    def make(corruption, severity):
        made.append((corruption, severity))
        return test + severity

    contenders = {f"knn{k}": KNeighborsClassifier(k).fit(X, y) for k in (1, 3, 5)}
    evaluate(contenders, test, labels, [("drift", 1), ("drift", 2)], make=make)
    assert made == [("drift", 1), ("drift", 2)]


def test_going_on_in_the_middle_of_a_condition_asks_only_who_has_not_answered(table):
    X, y, test, labels = table
    good, store = Counting(KNeighborsClassifier().fit(X, y)), Store()

    class Falls(Counting):
        def predict(self, X):
            raise RuntimeError("struck by lightning")

    conditions = {("drift", 1): test + SHIFT}
    with pytest.raises(RuntimeError, match="lightning"):
        evaluate({"good": good, "bad": Falls(good.inner)}, test, labels, conditions, store=store)
    assert good.asked == len(test)
    evaluate({"good": good, "bad": good.inner}, test, labels, conditions, store=store)
    assert good.asked == 2 * len(test)


def test_errors_say_what_to_do(table, fitted):
    _, _, X, y = table
    with pytest.raises(TypeError, match="cannot be corrupted by name.*make=function"):
        evaluate({"memory": fitted}, X, y, [("fog", 1)])
    with pytest.raises(ValueError, match="80 test cases and 79 labels"):
        evaluate({"memory": fitted}, X, y[1:])
    with pytest.raises(ValueError, match="drift 1 has 79 cases"):
        evaluate({"memory": fitted}, X, y, {("drift", 1): X[1:]})
    twice = [Contender("memory", fitted), Contender("memory", fitted)]
    with pytest.raises(ValueError, match="same model, recipe, backbone and seed"):
        evaluate(twice, X, y)


def test_a_watcher_hears_of_every_condition_and_row(table, fitted):
    _, _, X, y = table
    heard = []

    class Watcher:
        def begins(self, condition, done, total):
            heard.append((str(condition), done, total))

        def finished(self, row):
            heard.append(row.model)

    evaluate({"memory": fitted}, X, y, {("drift", 1): X}, watcher=Watcher())
    assert heard == [("clean", 0, 2), "memory", ("drift 1", 1, 2), "memory"]


def test_controls_are_what_their_names_say(table, fitted):
    _, labels, X, y = table
    controls = controls_of(fitted)
    counts = {label: int((labels == label).sum()) for label in fitted.classes_}
    assert set(controls["majority"].predict(X)) == {max(counts, key=counts.get)}
    routes = fitted.route(X)
    commonest = fitted.classes_[fitted.cluster_counts_.argmax(axis=1)]
    expected = [commonest[k] if k >= 0 else "unknown" for k in routes.memory]
    assert controls["stage1"].predict(X).tolist() == expected
    prior = np.array([counts[label] for label in fitted.classes_]) / len(labels)
    weighed = np.sqrt(fitted.global_.predict_proba(X)) * prior
    np.testing.assert_allclose(controls["prior"].predict_proba(X), weighed / weighed.sum(axis=1, keepdims=True))
    rows = evaluate({"memory": fitted, **controls}, X, y)
    by = {row["model"]: row for row in rows}
    assert by["stage1"]["accuracy"] == by["memory"]["stage1_accuracy"]


def test_the_controls_of_a_balanced_classifier_are_weighed_in_the_same_way(table):
    cases, labels, X, _ = table
    settings = {"threshold": 0.5, "start": "global", "fallback": "nearest", "random_state": 0}
    answer = ProductAnswer(balance=1.0)
    clf = MemoryClassifier(RBFSimilarity(), LogisticRegression(), answer=answer, **settings).fit(cases, labels)
    controls = controls_of(clf)
    assert set(controls_of(clone(clf).set_params(answer="local").fit(cases, labels))) == {"majority", "stage1", "prior"}
    shares = clf.cluster_counts_ / clf.cluster_counts_.sum(axis=0)
    said = controls["stage1-balanced"].predict(X)
    assert said.tolist() == clf.classes_[shares.argmax(axis=1)][clf.route(X).memory].tolist()
    soft = np.sqrt(clf.global_.predict_proba(X))  # with balance 1 the frequencies have no say
    np.testing.assert_allclose(controls["prior-balanced"].predict_proba(X), soft / soft.sum(axis=1, keepdims=True))


def test_random_clusters_have_the_sizes_asked_for_and_stay_under_corruption(table):
    X, y, *_ = table
    similarity = RandomSimilarity((300, 100), random_state=5)
    Z = similarity.fit_describe(np.random.default_rng(0).normal(size=(4000, 2)))
    assert np.mean(Z == 0) == pytest.approx(0.75, abs=0.03)
    clf = MemoryClassifier(similarity, LogisticRegression(), random_state=0).fit(X, y)
    assert len(clf.memory_indices_) == 2
    others = RandomSimilarity((300, 100), random_state=6).fit(X).describe(X)
    assert not np.array_equal(others, similarity.describe(X))

    pixels = np.random.default_rng(0).integers(0, 256, (50, 32, 32, 3), dtype=np.uint8)
    images = ImageCollection(pixels, keys=[f"image {position}" for position in range(50)])
    assert np.array_equal(similarity.describe(images), similarity.describe(images.corrupted("contrast", 3)))


def test_severities_and_seeds_may_be_numpy_numbers(table):
    X, y, test, labels = table
    store, knn = Store(), KNeighborsClassifier().fit(X, y)
    contender = Contender("knn", knn, seed=np.int64(3))
    conditions = [("drift", s) for s in np.arange(1, 3)]
    rows = evaluate([contender], test, labels, conditions, make=lambda name, s: test + s * SHIFT, store=store)
    assert [(row["seed"], row["severity"]) for row in rows] == [(3, 0), (3, 1), (3, 2)]
    assert {type(value) for row in store.rows() for value in (row["seed"], row["severity"])} == {int}


@pytest.mark.parametrize("label", ["other", None, -7, float("nan")])
def test_unknown_may_have_any_label(label):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    y = (X[:, 0] > 0).astype(int)
    clf = MemoryClassifier(RBFSimilarity(gamma=5.0), LogisticRegression(), unknown_label=label, random_state=0).fit(
        X, y
    )
    row = evaluate({"memory": clf}, X, y, {("gone", 1): X + 1e6})[1]
    assert (row["coverage"], row["accuracy"]) == (0.0, 0.0)


def test_a_true_label_that_is_called_unknown_is_not_answered_by_declining(table, fitted):
    _, _, X, _ = table
    row = evaluate({"memory": fitted}, X + 1e6, np.repeat(["up", "unknown"], len(X) // 2))[0]
    assert (row["accuracy"], row["coverage"]) == (0.0, 0.0)


def test_a_store_refuses_other_cases_that_have_no_names(table):
    X, y, test, labels = table
    store, knn = Store(), {"knn": KNeighborsClassifier().fit(X, y)}
    evaluate(knn, test, labels, store=store)
    with pytest.raises(StoreError, match="other test cases"):
        evaluate(knn, -test, labels, store=store)
    with pytest.raises(StoreError, match="holds results on the classes"):
        evaluate({"more": KNeighborsClassifier().fit(X, np.where(X[:, 1] > 1, "top", y))}, test, labels, store=store)


def test_random_groups_are_drawn_for_tables_too():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": np.arange(40.0), "kind": ["a", "b"] * 20})
    groups = RandomSimilarity((1, 1)).fit(frame).describe(frame)
    assert 5 < groups.sum() < 35
    assert np.array_equal(groups, RandomSimilarity((1, 1)).fit(frame).describe(frame.copy()))


def test_groups_may_be_said_later_but_not_otherwise(table, fitted):
    _, _, X, y = table
    store, faces = Store(), np.arange(len(y)) // 10
    evaluate({"memory": fitted}, X, y, store=store)
    evaluate({"memory": fitted}, X, y, store=store, groups=faces)
    assert store.cases().groups.tolist() == faces.tolist()
    with pytest.raises(StoreError, match="other groups of these cases"):
        evaluate({"memory": fitted}, X, y, store=store, groups=faces // 2)


def test_severities_that_are_no_whole_numbers_are_refused(table, fitted):
    _, _, X, y = table
    with pytest.raises(ValueError, match=r"severities are whole numbers, got 0.5 for 'drift'"):
        evaluate({"memory": fitted}, X, y, {("drift", 0.5): X})


def test_groups_are_kept_with_the_cases_and_widen_the_intervals(table, fitted):
    _, _, X, y = table
    y = np.roll(y, 1)  # many answers are wrong now
    faces = np.array([f"face {i // 10}" for i in range(len(y))])
    store, plain = Store(), Store()
    evaluate({"memory": fitted}, X, y, store=store, groups=faces)
    evaluate({"memory": fitted}, X, y, store=plain)
    assert plain.cases().groups is None
    assert store.cases().groups.tolist() == np.unique(faces, return_inverse=True)[1].tolist()
    found, alone = (summarise(each)["models"][0]["clean"]["accuracy"] for each in (store, plain))
    assert found["value"] == alone["value"]
    assert (found["low"], found["high"]) != (alone["low"], alone["high"])
    with pytest.raises(ValueError, match="entries in groups"):
        evaluate({"memory": fitted}, X, y, groups=faces[:-1])


def test_evaluate__classifier_that_is_not_fitted__is_refused_before_any_work():
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    with pytest.raises(NotFittedError, match="MemoryClassifier"):
        evaluate({"memory": MemoryClassifier()}, X, y)
    with pytest.raises(TypeError, match="a mapping from names to classifiers: {'mine': MemoryClassifier"):
        evaluate(MemoryClassifier(), X, y)
