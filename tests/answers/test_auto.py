"""Whom to believe: each part alone is what it is, the best one is found, and the answer says who it was."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import softmax
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from counting import CountingClassifier, count
from memclf import MemoryClassifier, load, save
from memclf.answers import AutoAnswer
from memclf.answers.base import HeldOut, Opinions
from memclf.answers.belief import PARTS, Belief, _Together, learn_belief
from memclf.answers.choice import Trial, Worth, choose, try_beliefs
from memclf.answers.nearby import labels_by_closeness
from memclf.answers.samples import Sample, draw_samples, leave_out
from memclf.cases import Cases
from memclf.classifier.fit import FittedParts
from memclf.classifier.folds import FoldPlan
from memclf.classifier.held_out import FoldedFit, split_by_memories
from memclf.similarity import GowerSimilarity, RBFSimilarity

PRIOR = np.array([0.6, 0.3, 0.1])


def opinions(n=400, seed=0, local=1.0, memory=1.0, whole=1.0):
    """Opinions about cases of three classes, and their classes; the numbers say how much each part knows."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n, p=PRIOR)

    def about(knowledge):
        return softmax(np.log(PRIOR) + 2 * knowledge * np.eye(3)[truth] + rng.normal(0, 1, (n, 3)), axis=1)

    size = rng.integers(10, 60, n)
    found = Opinions(about(local), about(memory), PRIOR, whole=about(whole), size=size, distance=rng.random(n))
    return found, truth


def sample(fold=0, shifted=False, **knowledge):
    found, truth = opinions(seed=10 * fold + shifted, **knowledge)
    return Sample(found, truth, np.full(len(truth), 1 / len(truth)), fold, shifted)


# ------------------------------------------------------------------------------------------------------------ beliefs


@pytest.mark.parametrize(("name", "part"), [("global", "whole"), ("local", "local"), ("labels", "memory")])
def test_combine__a_part_alone__is_that_part(name, part):
    found, _ = opinions()
    assert PARTS[name].combine(found) == pytest.approx(getattr(found, part), abs=1e-9)


def test_combine__two_parts__count_class_frequencies_once():
    found, _ = opinions()
    expected = found.whole * found.memory / PRIOR
    expected /= expected.sum(axis=1, keepdims=True)
    assert Belief(1.0, 1.0).combine(found) == pytest.approx(expected, abs=1e-9)


def test_combine__shrinkage__large_clusters_believe_their_own_classifier_more():
    found, _ = opinions()
    P = Belief(1.0, 0.0, shrinkage=20.0).combine(found)
    share = (found.size / (found.size + 20))[:, None]
    assert pytest.approx(share * found.local + (1 - share) * found.whole, abs=1e-9) == P


def test_combine__class_that_was_not_learned__has_no_chance():
    found, _ = opinions()
    without = Opinions(found.local, found.memory, np.array([0.6, 0.4, 0.0]), whole=found.whole)
    assert (Belief(1.0, 1.0).combine(without)[:, 2] == 0).all()


def test_learn_belief__slope__is_that_of_the_loss():
    together = _Together.of([sample(), sample(1, True)], Belief(1.0, 1.0, shrinkage=20.0))
    together = _Together(**{**vars(together), "strange": np.linspace(0, 2, len(together.truth))})
    for tilt in (-0.3, 0.4):
        values = np.array([tilt, 0.4, 0.3, 0.2, 0.6])
        assert check_grad(lambda v: together.loss(v)[0], lambda v: together.loss(v)[1], values) < 1e-5


@pytest.mark.parametrize(("knows", "power"), [("whole", "classifier"), ("memory", "labels")])
def test_learn_belief__one_part_knows__the_other_hardly_counts(knows, power):
    knowledge = {"local": 0.0, "memory": 0.0, "whole": 0.0, knows: 1.0}
    belief = learn_belief([sample(fold, **knowledge) for fold in range(3)])
    powers = {"classifier": belief.classifier, "labels": belief.labels}
    assert powers.pop(power) == 1
    assert max(powers.values()) < 0.5


def test_learn_belief__classifier_fails_on_shifted_cases__it_counts_for_less():
    steady = [sample(fold, shifted) for fold in range(3) for shifted in (False, True)]
    failing = [
        sample(fold, shifted, whole=0.1 if shifted else 1.0, local=0.1) for fold in range(3) for shifted in (0, 1)
    ]
    assert learn_belief(failing).classifier < learn_belief(steady).classifier


def test_learn_belief__shifted_cases_that_no_part_knows__take_no_answer_away():
    known = [sample(fold) for fold in range(3)]
    lost = [sample(fold, True, local=0.0, memory=0.0, whole=0.0) for fold in range(3)]
    alone, beside = learn_belief(known), learn_belief([*known, *lost])
    assert max(beside.classifier, beside.labels) == 1
    found, _ = opinions(seed=99)
    rare = [(each.combine(found).argmax(axis=1) == 2).mean() for each in (alone, beside)]
    assert rare[1] > 0.7 * rare[0]


@pytest.mark.parametrize(
    ("belief", "name"),
    [
        (Belief(1.0, 0.0, 0.5, 0.3, closeness=16.0, temperature=2.0), "global"),
        (Belief(1.0, 0.0, 0.5, shrinkage=0.0, measured=True), "local"),
        (Belief(0.0, 1.0, 0.5, 0.3, shrinkage=20.0), "labels"),
        (Belief(0.0, 1.0, distance=0.3, measured=True), "measurements"),
        (Belief(1.0, 0.0, shrinkage=20.0), None),
        (Belief(0.0, 1.0, closeness=16.0), None),
        (Belief(1.0, 0.1), None),
    ],
)
def test_belief__one_power_is_none__comes_down_to_a_part(belief, name):
    found, _ = opinions()
    found = replace(found, excess=found.distance, nearby={16.0: found.memory}, measured=found.local)
    reduced = belief.reduced()
    assert belief.name == reduced.name == name
    assert reduced.combine(found) == pytest.approx(belief.combine(found), abs=1e-12)
    assert reduced.temperature == belief.temperature
    assert (reduced.asks_local, reduced.asks_global) == (belief.asks_local, belief.asks_global) or not belief.classifier


def test_try_beliefs__both_know__together_is_best():
    trials = try_beliefs([sample(fold) for fold in range(3)], (0.0,))
    assert choose(trials, "accuracy").name == "together"


def trial(name, right, balance=0.0):
    """A trial on ten cases of each of two classes; `right` says how many of each are answered right."""
    truth = np.repeat([0, 1], 10)
    told = Sample(None, truth, np.full(20, 0.05), 0, False)
    answered = np.concatenate([np.arange(10) < each for each in right]).astype(float)
    return Trial(name, balance, answered, Worth.of([told]))


def test_trial__scores__are_accuracy_and_the_mean_over_classes():
    truth = np.repeat([0, 1], [30, 10])
    told = Sample(None, truth, np.full(40, 0.025), 0, False)
    found = Trial("global", 0.0, (truth == 0).astype(float), Worth.of([told]))
    assert [found.score(metric) for metric in ("accuracy", "balanced_accuracy", "both")] == pytest.approx(
        [0.75, 0.5, 0.625]
    )


def test_choose__part_better_by_one_case__all_together_answer():
    together = trial("together", (8, 8))
    for metric in ("accuracy", "both"):
        assert choose([trial("global", (9, 8)), together], metric) is together
        assert choose([trial("global", (8, 8)), together], metric) is together


def test_choose__part_far_better__answers_alone():
    alone = trial("labels", (10, 9))
    for metric in ("accuracy", "both"):
        assert choose([alone, trial("together", (5, 3))], metric) is alone


def test_choose__every_case_ten_times__is_no_surer_than_once():
    once = [trial("labels", (8, 8)), trial("together", (7, 6))]
    copies = [
        replace(
            each,
            right=np.repeat(each.right, 10),
            worth=Worth(*(np.repeat(part, 10, axis=1) / 10 for part in (each.worth.accuracy, each.worth.balanced))),
        )
        for each in once
    ]
    of_one = [replace(each, unit=np.repeat(np.arange(20), 10)) for each in copies]
    assert choose(once, "accuracy").name == "together"
    assert choose(copies, "accuracy").name == "labels"
    assert choose(of_one, "accuracy").name == "together"


def test_try_beliefs__together__is_learned_without_the_fold_that_it_is_tried_on():
    samples = [sample(0, whole=1.5, local=0.0, memory=0.0), sample(1, whole=0.0, local=0.0, memory=1.5)]
    found = {each.name: each.accuracy[0] for each in try_beliefs(samples, (0.0,))}
    # In each fold the other part knows the classes: whoever learned on that fold would do well.
    assert found["together"] < min(found["global"], found["labels"]) - 0.05


def test_try_beliefs__cases_held_out_again_with_their_memories__are_not_learned_from():
    found, truth = opinions(300)
    fold, weight = np.repeat([0, 1, 2], 100), np.full(100, 0.01)

    def held(rows, number, shifted):
        return Sample(found.take(rows), truth[rows], weight, number, shifted, rows)

    plain = [held(np.flatnonzero(fold == k), k, False) for k in range(3)]
    far = [held(np.arange(k, 300, 3), 3 + k, True) for k in range(3)]  # other folds of the same cases
    rest = leave_out([*plain, *far], 0)
    assert {each.fold for each in rest} == {1, 2, 3, 4, 5}
    assert all((each.unit >= 100).all() for each in rest)
    assert all(np.array_equal(each.truth, truth[each.unit]) for each in rest)
    assert sum(len(each.truth) for each in rest) == 400
    assert len(leave_out([replace(each, unit=None) for each in plain], 0)) == 2


def test_choose__both__a_point_and_a_half_of_accuracy_is_too_much():
    truth = np.repeat([0, 1], [900, 100])
    worth = Worth.of([Sample(None, truth, np.full(1000, 0.001), 0, False)])

    def answer(common, rare, balance):
        right = np.concatenate([np.arange(900) < common, np.arange(100) < rare]).astype(float)
        return Trial("together", balance, right, worth)

    usual, little, much = answer(880, 40, 0.0), answer(866, 49, 0.25), answer(840, 65, 0.5)  # -0.5 and -1.5 points
    assert choose([usual, little], "both") is little
    assert choose([usual, much], "both") is usual
    assert choose([usual, much], "balanced_accuracy") is much


def test_choose__balances_equal_but_for_rounding__the_first_is_taken():
    first, second = trial("together", (8, 8)), trial("together", (8, 8), 0.5)
    nudged = replace(second, worth=Worth(second.worth.accuracy * (1 + 1e-15), second.worth.balanced * (1 + 1e-15)))
    assert choose([first, nudged], "both") is first


def test_choose__both__gives_away_hardly_any_accuracy():
    trials = try_beliefs([sample(fold) for fold in range(3)], (0.0, 0.25, 0.5, 0.75, 1.0))
    best = max(each.accuracy[0] for each in trials)
    chosen = choose(trials, "both")
    assert chosen.accuracy[0] >= best - 0.02  # what a part has more of is not sure
    assert chosen.balanced[0] >= choose(trials, "accuracy").balanced[0]
    assert choose(trials, "balanced_accuracy").balance > 0.25


# ------------------------------------------------------------------------------------------------ fitted classifiers


def stripes(n, seed, shift=0.0):
    """Two columns: the first says the class in four stripes, the second says it too, unless it is shifted."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 4, n)
    y = np.where(np.floor(x) % 2 == 1, "odd", "even")
    return np.column_stack([x, (y == "odd") + rng.normal(0, 0.35, n) + shift]), y


def look(case):
    """What the expert looks at: the first number."""
    return case[:1]


def make(estimator, **settings):
    given = {"n_memories": 12, "fallback": "nearest", "answer": "auto", "random_state": 0, **settings}
    return MemoryClassifier(RBFSimilarity(gamma=20.0, features=look), estimator, **given)


def second_column():
    return make_pipeline(StandardScaler(), LogisticRegression())


def test_auto__similarity_knows_nothing__is_the_plain_model():
    X, y = stripes(300, 0)
    X[:, 0] = np.random.default_rng(5).uniform(0, 4, 300)
    clf = make(second_column(), answer=AutoAnswer("accuracy"), min_cluster_size=40).fit(X, y)
    assert clf.answer_.scores_["global"] > clf.answer_.scores_["labels"] + 0.2
    clf.answer_.believed_, clf.answer_.belief_ = "global", PARTS["global"]  # if together is ahead by a hair
    new = stripes(50, 1)[0]
    assert clf.predict(new).tolist() == clf.global_.predict(new).tolist()
    found = clf.explain(new[:1])[0]
    assert found.answered_by == "global"
    assert "the global LogisticRegression says" in found.sentence


@pytest.mark.parametrize("seed", range(4))
def test_auto__one_part_has_all_the_power__is_believed_by_name(seed):
    X, y = stripes(150, seed)
    X[:, 0] = np.random.default_rng(seed).uniform(0, 4, 150)
    answer = make(second_column(), random_state=seed).fit(X, y).answer_
    assert answer.believed_ == (answer.belief_.name or "together")
    if not answer.belief_.labels:
        assert not answer.describes
        assert answer.belief_.strangeness == answer.belief_.distance == 0


def test_auto__estimator_knows_nothing__is_stage_one_and_asks_no_classifier(tmp_path):
    X, y = stripes(300, 0)
    log = str(tmp_path / "log")
    clf = make(CountingClassifier(log), answer=AutoAnswer(competence=None)).fit(X, y)
    clf.answer_.believed_, clf.answer_.belief_ = "labels", PARTS["labels"]
    count(log)
    new = stripes(50, 1)[0]
    said = clf.predict(new)
    assert not count(log)
    stage_one = MemoryClassifier(clf.similarity, n_memories=12, fallback="nearest", answer="labels", random_state=0)
    assert said.tolist() == stage_one.fit(X, y).predict(new).tolist()


def test_auto__useless_estimator__labels_are_believed():
    X, y = stripes(300, 0)
    clf = make(DummyClassifier(strategy="prior")).fit(X, y)
    assert clf.answer_.believed_ in ("labels", "together")
    scores = clf.answer_.scores_
    assert scores["labels"] > scores["global"] + 0.2
    assert clf.score(*stripes(300, 1)) > 0.8


def test_auto__both_know_something__no_worse_than_either():
    X, y = stripes(600, 0)
    clf = make(second_column()).fit(X, y)
    test = stripes(2000, 1)
    parts = [make(second_column(), answer=answer).fit(X, y).score(*test) for answer in ("labels", "local")]
    assert clf.score(*test) > max(*parts, clf.global_.score(*test)) - 0.015


def test_auto__classifier_is_fooled_by_a_shift__labels_hold():
    X, y = stripes(600, 0)
    clf = make(second_column()).fit(X, y)
    drifted = stripes(1000, 2, shift=1.5)
    assert clf.score(*drifted) > clf.global_.score(*drifted) + 0.1


def test_auto__explanation__says_who_is_believed_and_why():
    X, y = stripes(300, 0)
    clf = make(second_column()).fit(X, y)
    said = clf.explain(X[:1])[0].sentence
    assert "believed: " in said
    assert "on held-out and shifted training cases: the global classifier" in said


def test_auto__saved_and_loaded__answers_the_same(tmp_path):
    X, y = stripes(200, 0)
    clf = make(second_column(), unknown_rate=0.1, fallback="unknown").fit(X, y)
    save(clf, tmp_path / "model")
    again = load(tmp_path / "model", trusted=[look])
    assert again.answer_.belief_ == clf.answer_.belief_
    assert again.predict(X).tolist() == clf.predict(X).tolist()


def test_auto__metric__rare_class_is_found_more_often():
    rng = np.random.default_rng(3)
    y = np.where(rng.random(800) < 0.12, "rare", "common")
    X = np.column_stack([rng.normal(y == "rare", 1.0), rng.normal(y == "rare", 1.0)])
    found = {}
    for metric in ("accuracy", "balanced_accuracy"):
        clf = make(second_column(), answer=AutoAnswer(metric=metric)).fit(X[:400], y[:400])
        said = clf.predict(X[400:])
        found[metric] = (said[y[400:] == "rare"] == "rare").mean()
    assert found["balanced_accuracy"] > found["accuracy"] + 0.2


def test_auto__cases_that_cannot_be_changed__learns_from_held_out_memories():
    texts = [f"{'ab' if i % 2 else 'ba'} {i % 7}" for i in range(60)]
    y = [i % 2 for i in range(60)]

    def alike(a, b):
        return float(a[:2] == b[:2]) * 0.5 + 0.5 * (a[-1] == b[-1])

    from sklearn.feature_extraction.text import CountVectorizer

    estimator = make_pipeline(CountVectorizer(analyzer="char"), LogisticRegression())
    clf = MemoryClassifier(alike, estimator, n_memories=6, answer="auto", fallback="nearest", random_state=0)
    assert clf.fit(texts, y).score(texts, y) > 0.9


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"metric": "f1"}, "metric must be one of 'accuracy', .*; got 'f1'"), ({"competence": "x"}, "competence must be")],
)
def test_auto__parameters_that_mean_nothing__are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        make(second_column(), answer=AutoAnswer(**wrong)).fit(*stripes(60, 0))


def test_split_by_memories__groups__are_never_on_both_sides():
    X, y = stripes(200, 0)
    groups = np.arange(200) % 20
    clf = make(second_column()).fit(X, y, groups=groups)
    parts: FittedParts = clf._parts
    from memclf.cases import Cases
    from memclf.classifier.constraints import check_settings
    from memclf.classifier.fit import TrainingData

    data = TrainingData(Cases.of(X), y, None, {})
    fit = FoldedFit(check_settings(clf.get_params(deep=False)), data, FoldPlan.create(3, groups, 200), parts, 0, False)
    pairs = split_by_memories(fit)
    for rest, held in pairs:
        assert not set(groups[rest]) & set(groups[held])
        assert not set(clf.labels_[rest]) & set(clf.labels_[held])


@pytest.mark.parametrize(("name", "asked"), [("global", ["whole"]), ("labels", []), ("local", ["a", "b"])])
def test_list_asked__one_part_alone__is_nobody_else(name, asked):
    answer, parts = (
        AutoAnswer(),
        SimpleNamespace(pool=SimpleNamespace(estimators=["a", "b"]), global_classifier="whole"),
    )
    answer.belief_ = PARTS[name]
    assert answer.list_asked(parts) == asked


def test_belief__names_what_takes_part():
    asked = {name: (each.asks_local, each.asks_global) for name, each in PARTS.items()}
    alone = {"labels": (False, False), "measurements": (False, False)}
    assert asked == {"global": (False, True), "local": (True, False), **alone}
    both = Belief(1.0, 0.5, shrinkage=20.0)
    assert (both.asks_local, both.asks_global) == (True, True)


def test_auto__whole_numbers_with_gaps__are_shifted_and_stay_whole():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=90), "count": pd.array(rng.integers(0, 40, 90), dtype="Int64")})
    X.loc[::7, "count"] = pd.NA
    y = np.where(X["size"] > 0, "large", "small")
    estimator = make_pipeline(FunctionTransformer(_keep_size), LogisticRegression())
    settings = {"n_memories": 4, "fallback": "nearest", "random_state": 0}
    clf = MemoryClassifier(GowerSimilarity(), estimator, answer="auto", **settings).fit(X, y)
    assert clf.score(X, y) > 0.8


def _keep_size(X):
    return X[["size"]]


@pytest.mark.parametrize("belief", [PARTS["local"], Belief(1.0, 0.5, strangeness=0.1)])
def test_combine__infinitely_strange_cases__have_probabilities(belief):
    found, _ = opinions(4)
    strange = replace(found, excess=np.array([0.0, 1.0, 50.0, np.inf]))
    P = belief.combine(strange)
    assert P.sum(axis=1) == pytest.approx(1)
    assert belief.powers(strange)[0][3] == belief.powers(strange)[0][2]


def test_powers__case_strange_and_far__the_larger_is_one():
    found, _ = opinions(3)
    case = replace(found, excess=np.array([0.0, 4.0, 9.0]), distance=np.array([0.0, 1.0, 9.0]))
    classifier, labels = Belief(0.6, 1.0, strangeness=0.2, distance=0.5).powers(case)
    assert np.maximum(classifier, labels) == pytest.approx(1)
    assert classifier / labels == pytest.approx(0.6 * np.exp([0.0, -0.8 + 0.5, -1.8 + 4.5]))


def test_learn_belief__measurements_wrong_where_odd__fade_there_and_distance_does_not_matter():
    """Measurements know much, but nothing of every third case, which is odd; the memory knows nothing."""
    found, truth = opinions(600, memory=0.0, whole=0.5)
    knows = softmax(np.log(PRIOR) + 5 * np.eye(3)[truth], axis=1)
    odd = np.arange(600) % 3 == 0
    measured = np.where(odd[:, None], softmax(np.log(PRIOR) + 5 * np.eye(3)[(truth + 1) % 3], axis=1), knows)
    told = replace(found, measured=measured, oddness=np.where(odd, 4.0, 0.0), nearby=None)
    weight = np.full(600, 1 / 600)
    belief = learn_belief([Sample(told, truth, weight, 0, False)])
    assert belief.measured
    share = np.divide(*belief.powers(told)[::-1])
    assert share[odd].max() < share[~odd].min() / 5
    blind = learn_belief([Sample(replace(told, oddness=np.zeros(600)), truth, weight, 0, False)])
    right = [(each.combine(told).argmax(axis=1) == truth).mean() for each in (belief, blind)]
    assert right[0] > right[1] + 0.05


def test_auto__together_gives_the_classifier_no_power__labels_are_explained():
    X, y = stripes(120, 0)
    clf = make(second_column()).fit(X, y)
    clf.answer_.believed_, clf.answer_.belief_ = "together", Belief(0.0, 1.0, shrinkage=20.0)
    said = clf.explain(X[:1])[0].sentence
    assert "the labels of its cluster say" in said
    assert "believed: all together" in said


def test_auto__together_gives_labels_no_power__they_are_not_named():
    X, y = stripes(120, 0)
    clf = make(second_column()).fit(X, y)
    clf.answer_.believed_, clf.answer_.belief_ = "together", Belief(1.0, 0.0, shrinkage=20.0)
    assert "the labels of" not in clf.explain(X[:1])[0].sentence


def as_told(opinions, strange):
    """In place of what is beyond the usual."""
    return opinions


def test_draw_samples__far_cases_of_a_class_of_small_weight__are_learned_from():
    found, truth = opinions(60)
    weight = np.where(truth == 0, 0.1, 1.0)
    prior = np.bincount(truth, weight) / weight.sum()
    held = [HeldOut(np.arange(60), [replace(found, prior=prior)], [np.zeros(60)], far=far) for far in (False, True)]
    plain, far = draw_samples(held, truth, weight, None, as_told)
    assert len(far.truth) == 60
    assert plain.weight.sum() == pytest.approx(far.weight.sum())


def test_draw_samples__cases_as_they_are_and_two_shifted_versions__both_kinds_count_as_much():
    found, truth = opinions(60)
    held = [HeldOut(np.arange(60), [found] * 3, [np.zeros(60)] * 3)]
    plain, *shifted = draw_samples(held, truth, None, None, as_told)
    assert plain.weight.sum() == pytest.approx(sum(each.weight.sum() for each in shifted))
    assert all(each.unit.tolist() == list(range(60)) for each in (plain, *shifted))


def test_draw_samples__case_and_control_side_by_side__a_sample_holds_both_and_every_version_of_a_case():
    found, _ = opinions(6000)
    truth = np.arange(6000) % 2
    found = replace(found, prior=np.array([0.5, 0.5, 0.0]))
    held = [HeldOut(np.arange(6000), [found] * 3, [np.zeros(6000)] * 3)]
    samples = draw_samples(held, truth, None, None, as_told)
    assert all(len(each.truth) == 3000 for each in samples)
    assert all(np.bincount(each.truth).tolist() == [1500, 1500] for each in samples)
    assert all(np.array_equal(each.unit, samples[0].unit) for each in samples)
    assert np.array_equal(samples[0].opinions.local, found.local[samples[0].unit])


def test_draw_samples__groups__cases_of_a_group_are_one_unit():
    found, truth = opinions(60)
    held = [HeldOut(np.arange(60), [found], [np.zeros(60)])]
    groups = np.array(["b", "a", "c"] * 20)
    (only,) = draw_samples(held, truth, None, groups, as_told)
    assert only.unit.tolist() == [1, 0, 2] * 20


@pytest.mark.filterwarnings("error:n_memories")
def test_auto__as_many_memories_as_different_cases__folds_with_fewer_do_not_warn():
    X, y = stripes(12, 0)
    y = np.where(np.arange(120) % 5 == 0, np.roll(np.repeat(y, 10), 1), np.repeat(y, 10))
    y[::20], y[10::20] = "odd", "even"
    clf = make(second_column()).fit(np.repeat(X, 10, axis=0), y)
    assert len(clf.memory_indices_) == 12


def test_labels_by_closeness__weights__count_as_in_the_labels_of_one_memory():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    weight = np.where(y == 0, 1.0, 100.0)
    settings = {"n_memories": 6, "answer": "auto", "fallback": "nearest", "random_state": 0}
    clf = MemoryClassifier(RBFSimilarity(1.0), **settings).fit(X, y, sample_weight=weight)

    def weigh(each):
        weights = each.answer_.label_weights_
        return labels_by_closeness(each._parts, Cases.of(X), [0.0], weights)[0.0]

    share = np.bincount(y, weight) / weight.sum()
    assert weigh(clf) == pytest.approx(np.tile(share, (300, 1)))  # all memories alike: the class frequencies
    assert clf.answer_.label_weights_.sum(axis=1) == pytest.approx(np.bincount(clf.labels_, weight))
    edited = clf.drop(2)
    assert len(edited.answer_.label_weights_) == len(edited.memory_indices_) == 5
    assert edited.answer_.label_weights_.sum(axis=1) == pytest.approx(np.bincount(edited.labels_, weight))
    assert len(clf.answer_.label_weights_) == 6

    def ask(each):
        return each.answer_.observe(each._parts, Cases.of(X), each.route(X))[0].nearby[16.0]

    assert ask(clf)[:, 1].min() > 0.9  # the share of the class of great weight
    del clf.answer_.label_weights_  # as in models of before, which count cases
    assert ask(clf)[:, 1].max() < 0.9


def test_auto__gaps_that_the_estimator_takes__are_answered():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 4))
    y = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 0] = np.nan_to_num(X[:, 0])
    similarity = RBFSimilarity(0.3, features=look)
    settings = {"n_memories": 4, "answer": "auto", "fallback": "nearest", "random_state": 0}
    clf = MemoryClassifier(similarity, DecisionTreeClassifier(max_depth=3, random_state=0), **settings).fit(X, y)
    assert clf.score(X, y) > 0.8
    assert np.isfinite(clf.predict_proba(X)).all()
    assert np.isfinite(clf.answer_.calibration_.held).all()


def test_explain__fallback_with_rare_classes_weighed_up__the_sentence_says_so():
    rng = np.random.default_rng(3)
    y = (rng.random(300) < 0.12).astype(int)
    X = np.column_stack([y + rng.normal(size=300), 1.2 * y + rng.normal(size=300)])
    far = rng.normal([6.0, 0.0], size=(200, 2))
    similarity = RBFSimilarity(1.0, features=look)
    rule = AutoAnswer("balanced_accuracy")
    clf = MemoryClassifier(similarity, threshold=0.8, n_memories=6, answer=rule, fallback="global", random_state=0)
    clf.fit(X, y)
    found = clf.answers(far)
    fallback = np.flatnonzero(~found.routes.known)
    said = clf.fallback_.predict_proba(far[fallback])
    assert found.unbalanced[fallback] == pytest.approx(said)
    balance = clf.answer_.balance_
    assert balance > 0
    other = fallback[found.labels[fallback] != said.argmax(axis=1)]
    assert len(other)
    item = clf.explain(far[other[:1]])[0]
    assert item.answered_by == "fallback"
    assert f"rare classes weighed up, balance {balance:g}: {item.answer!r}" in item.sentence
    assert item.outcome != item.answer
