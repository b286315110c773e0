"""The product of classifier and labels: by hand, its powers by direct search, and the sentence that explains it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memclf import MemoryClassifier
from memclf.answers import ProductAnswer
from memclf.answers.base import FLOOR, HeldOut, Opinions, balance_probabilities
from memclf.answers.product import FADING, LOCAL, MEMORY, PRIOR, combine, learn_weights
from memclf.local.competence import Calibration
from memclf.similarity import RBFSimilarity

UNIFORM = np.full(3, 1 / 3)


def drawn(n, seed, sure=1.0):
    """Probabilities, and classes drawn from them; with `sure` above 1 the probabilities are too certain."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 2, (n, 3))
    codes = np.array([rng.choice(3, p=row) for row in softmax(scores, axis=1)])
    return softmax(sure * scores, axis=1), codes


def vague(P, seed, noise=1.0):
    """The same probabilities, blurred."""
    return softmax(np.log(P) + np.random.default_rng(seed).normal(0, noise, P.shape), axis=1)


def learned(opinions, codes, weights=None, changed=None):
    """The powers for opinions about held-out cases and, if given, about changed versions of them."""
    weights = np.ones(len(codes)) if weights is None else weights
    unchanged = [(opinions.terms(), codes, weights)]
    versions = unchanged if changed is None else [*unchanged, (changed.terms(), codes, weights)]
    return learn_weights(versions, unchanged, LOCAL if opinions.excess is None else FADING)


# ------------------------------------------------------------------------------------------------------ the product


def test_combine__powers_of_both__their_product():
    local, memory = np.array([[0.7, 0.2, 0.1]]), np.array([[0.1, 0.8, 0.1]])
    found = combine(Opinions(local, memory, UNIFORM), np.array([0.5, 0.0, 1.0, 0.0]))
    expected = local**0.5 * memory
    np.testing.assert_allclose(found, expected / expected.sum())


def test_combine__probability_of_zero__is_no_veto():
    local, memory = np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0]])
    found = combine(Opinions(local, memory, UNIFORM), np.array([1.0, 0.0, 1.0, 0.0]))
    np.testing.assert_allclose(found[0], np.array([FLOOR, FLOOR, FLOOR**2]) / (2 * FLOOR + FLOOR**2))


def test_combine__class_without_training_cases__has_no_probability():
    local = np.array([[0.2, 0.2, 0.6]])
    found = combine(Opinions(local, local, np.array([0.5, 0.5, 0.0])), np.array([1.0, 0.0, 1.0, 0.0]))
    np.testing.assert_allclose(found, [[0.5, 0.5, 0.0]])


def test_opinions__excess__fades_the_classifier():
    local, memory = np.array([[0.7, 0.2, 0.1]] * 3), np.array([[0.1, 0.8, 0.1]] * 3)
    opinions = Opinions(local, memory, UNIFORM, np.array([0.0, 1.0, np.inf]))
    np.testing.assert_allclose(opinions.fade, [1, np.exp(-1), 0])
    found = combine(opinions, np.array([0.0, 1.0, 1.0, 0.0]))
    for row, fade in zip(found, opinions.fade, strict=True):
        expected = local[0] ** fade * memory[0]
        np.testing.assert_allclose(row, expected / expected.sum())
    np.testing.assert_array_equal(Opinions(local, memory, UNIFORM).fade, 1)


# ------------------------------------------------------------------------------------------------ learning the powers


def directly(opinions, codes, weights, share, power):
    """Mean of minus the logarithm of the true class's probability, written from the definition."""
    total = 0.0
    fade = np.ones(len(codes)) if opinions.excess is None else np.exp(-opinions.excess)
    for i, truth in enumerate(codes):
        local, memory = (np.maximum(part[i], FLOOR) for part in (opinions.local, opinions.memory))
        product = local ** (power * fade[i]) * memory**share * opinions.prior ** (1 - share)
        total -= weights[i] * np.log(product[truth] / product.sum())
    return total / weights.sum()


@pytest.mark.parametrize("strange", [False, True])
def test_learn_weights__held_out_cases__as_a_direct_minimisation_finds(strange):
    local, codes = drawn(300, 0, sure=2.0)
    rng = np.random.default_rng(5)
    excess = rng.exponential(1.0, 300) if strange else None
    weights, prior = rng.uniform(0.5, 2, 300), np.array([0.2, 0.3, 0.5])
    opinions = Opinions(local, vague(local, 1, 2.0), prior, excess)
    found = learned(opinions, codes, weights)
    grid = np.linspace(0, 1, 101)
    best = grid[np.argmin([directly(opinions, codes, weights, share, 0.0) for share in grid])]
    assert found[MEMORY] == pytest.approx(best, abs=0.01)
    assert found[PRIOR] == pytest.approx(1 - found[MEMORY])
    position, other = (FADING, LOCAL) if strange else (LOCAL, FADING)
    assert found[other] == 0
    powers = np.linspace(0, 2, 201)
    losses = [
        directly(opinions, codes, weights, found[MEMORY], power) + 0.5 / 300 * (power - 1) ** 2 for power in powers
    ]
    assert found[position] == pytest.approx(powers[np.argmin(losses)], abs=0.01)


def test_learn_weights__classifier_too_certain__its_temperature_is_found():
    local, codes = drawn(4000, 0, sure=3.0)
    found = learned(Opinions(local, np.tile(UNIFORM, (4000, 1)), UNIFORM), codes)
    assert found[LOCAL] == pytest.approx(1 / 3, abs=0.05)


def test_learn_weights__labels_that_tell_nothing__get_hardly_any_power():
    local, codes = drawn(3000, 0)
    noise = drawn(3000, 1)[0]
    weights = learned(Opinions(local, noise, UNIFORM), codes)
    assert weights[MEMORY] < 0.1
    assert weights[LOCAL] == pytest.approx(1, abs=0.1)
    assert learned(Opinions(noise, local, UNIFORM), codes)[MEMORY] > 0.9


def test_learn_weights__changed_versions__soften_the_classifier_alone():
    local, codes = drawn(2000, 0)
    usual = Opinions(local, vague(local, 1), UNIFORM)
    broken = Opinions(np.roll(local, 1, axis=1), np.roll(usual.memory, 1, axis=0), UNIFORM)
    plain, both = learned(usual, codes), learned(usual, codes, changed=broken)
    assert both[MEMORY] == plain[MEMORY]
    assert both[LOCAL] < plain[LOCAL]


def test_learn_weights__weights_of_cases__count():
    local, codes = drawn(1000, 0)
    both = Opinions(np.concatenate([local, np.roll(local, 1, axis=1)]), np.tile(UNIFORM, (2000, 1)), UNIFORM)
    truth = np.concatenate([codes, codes])
    first = learned(both, truth, np.repeat([1.0, 1e-9], 1000))[LOCAL]
    alone = learned(Opinions(local, both.memory[:1000], UNIFORM), codes)[LOCAL]
    assert first == pytest.approx(alone, abs=0.01)
    assert learned(both, truth, np.repeat([1e-9, 1.0], 1000))[LOCAL] < 0.2


def held_out(strangeness, n=200, seed=0):
    local, codes = drawn(n, seed)
    opinions = Opinions(local, vague(local, 1), UNIFORM)
    return [HeldOut(np.arange(n), [opinions], [strangeness])], codes


def test_product_answer__learn__calibrates_strangeness_and_fades():
    strange = np.random.default_rng(0).gamma(2.0, size=200)
    held, codes = held_out(strange)
    rule = ProductAnswer().learn(held, codes, None, None)
    np.testing.assert_array_equal(rule.calibration_.held, np.sort(strange))
    expected = learned(replace(held[0].opinions[0], excess=rule.calibration_.excess(strange)), codes)
    np.testing.assert_allclose(rule.weights_, expected)


def test_product_answer__learn__counts_groups_and_weights():
    strange = np.random.default_rng(0).gamma(2.0, size=200)
    held, codes = held_out(strange)
    weight = np.linspace(0.1, 2, 200)
    groups = np.arange(200) // 4
    rule = ProductAnswer().learn(held, codes, weight, groups)
    assert rule.calibration_.share.sum() == pytest.approx(50)
    opinions = replace(held[0].opinions[0], excess=rule.calibration_.excess(strange))
    np.testing.assert_allclose(rule.weights_, learned(opinions, codes, weight))


def test_product_answer__learn__without_competence__measures_nothing():
    held, codes = held_out(np.full(200, np.nan))
    rule = ProductAnswer(competence=None)
    rule.calibration_ = None
    rule.learn(held, codes, None, None)
    assert rule.calibration_ is None
    assert rule.weights_[FADING] == 0


def test_product_answer__learn__versions_share_the_weight_of_one():
    """Two changed versions count together as much as the case itself."""
    held, codes = held_out(np.full(200, np.nan))
    usual = held[0].opinions[0]
    broken = [Opinions(np.roll(usual.local, k, axis=1), usual.memory, UNIFORM) for k in (1, 2)]
    nothing = [np.full(200, np.nan)] * 3
    rule = ProductAnswer(competence=None)
    rule.calibration_ = None
    rule.learn([HeldOut(np.arange(200), [usual, *broken], nothing)], codes, None, None)
    ones = np.ones(200)
    versions = [
        (each.terms(), codes, share) for each, share in zip([usual, *broken], (ones, ones / 2, ones / 2), strict=True)
    ]
    np.testing.assert_allclose(rule.weights_, learn_weights(versions, versions[:1], LOCAL))


# ----------------------------------------------------------------------------------------------------------- balance


def test_balance_probabilities__by_hand():
    P, prior = np.array([[0.6, 0.4, 0.0], [0.0, 0.0, 0.0]]), np.array([0.75, 0.25, 0.0])
    assert balance_probabilities(P, prior, 0.0) is P
    whole = balance_probabilities(P, prior, 1.0)
    np.testing.assert_allclose(whole[0], [0.8 / 2.4, 1.6 / 2.4, 0.0])
    half = balance_probabilities(P, prior, 0.5)
    expected = np.array([0.6 / np.sqrt(0.75), 0.4 / np.sqrt(0.25), 0.0])
    np.testing.assert_allclose(half[0], expected / expected.sum())
    assert not whole[1].any()  # unknown stays unknown


def uneven(n, seed):
    """Two classes that overlap, the second one rare."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.12).astype(int)
    return rng.normal(0, 1, (n, 2)) + 1.2 * y[:, None], y


def balanced_accuracy(truth, answers):
    return np.mean([np.mean(answers[truth == label] == label) for label in np.unique(truth)])


def test_product_answer__balance__trades_accuracy_for_balanced_accuracy():
    X, y = uneven(600, 0)
    new, truth = uneven(3000, 1)
    found = {}
    for balance in (0.0, 1.0):
        rule = ProductAnswer(competence=None, balance=balance)
        clf = MemoryClassifier(RBFSimilarity(0.1), n_memories=4, fallback="nearest", answer=rule, random_state=0)
        found[balance] = clf.fit(X, y).answers(new)
    plain, weighed = (found[balance].labels for balance in (0.0, 1.0))
    assert np.mean(plain == truth) > np.mean(weighed == truth)
    assert balanced_accuracy(truth, weighed) > balanced_accuracy(truth, plain) + 0.1
    np.testing.assert_array_equal(found[1.0].unbalanced, found[0.0].unbalanced)
    np.testing.assert_array_equal(weighed, found[1.0].probabilities.argmax(axis=1))


# ---------------------------------------------------------------------------------------------- in a memory classifier

BLOBS, PLACE = make_blobs(300, n_features=4, centers=6, cluster_std=2.0, random_state=1)
Y = PLACE % 3
NEW = np.concatenate([BLOBS[::5] + 0.3, BLOBS[:5] + 40.0])
LINEAR = make_pipeline(StandardScaler(), LogisticRegression())


def fitted(rule, **settings):
    settings = {"n_memories": 5, "min_cluster_size": 10, "random_state": 0, **settings}
    return MemoryClassifier(RBFSimilarity(0.01), LINEAR, 0.3, answer=rule, **settings).fit(BLOBS, Y)


def test_product_answer__answers__are_made_of_what_they_say():
    clf = fitted(ProductAnswer())
    found = clf.answers(NEW)
    rule, known = clf.answer_, found.routes.known
    assert 0 < known.sum() < len(NEW)
    nearest = found.routes.nearest
    for i, k in enumerate(nearest):
        own = clf.estimators_[k]
        np.testing.assert_allclose(found.local[i, own.classes_], own.predict_proba(NEW[[i]])[0], atol=1e-12)
    np.testing.assert_array_equal(found.memory, clf.label_distributions_[nearest])
    excess = -np.log(np.maximum(found.share, 1e-300))
    opinions = Opinions(found.local, found.memory, clf.frequencies_, excess)
    np.testing.assert_allclose(found.unbalanced, combine(opinions, rule.weights_))
    expected = balance_probabilities(found.unbalanced, clf.frequencies_, 0.5)
    np.testing.assert_allclose(found.probabilities[known], expected[known])
    assert not found.probabilities[~known].any()
    np.testing.assert_array_equal(found.labels[known], clf.classes_[found.probabilities[known].argmax(axis=1)])
    np.testing.assert_array_equal(found.labels[~known], -1)
    np.testing.assert_array_equal(found.labels_share, rule.weights_[MEMORY])


def test_product_answer__far_cases__low_competence_and_no_share_of_the_classifier():
    found = fitted(ProductAnswer(), fallback="nearest").answers(NEW)
    assert found.competence[-5:].max() < 0.02
    assert found.share[-5:].max() < 1e-3
    assert np.median(found.competence[:-5]) > 0.3


def test_product_answer__classifier_without_power__has_no_share():
    clf = fitted(ProductAnswer())
    clf.answer_.weights_ = np.array([0.0, 0.0, 1.0, 0.0])
    assert not clf.answers(NEW).share.any()


@pytest.mark.parametrize("fallback", ["nearest", "global", LINEAR], ids=["nearest", "global", "classifier"])
def test_product_answer__fallback__answers_what_no_memory_does(fallback):
    clf = fitted(ProductAnswer(), fallback=fallback)
    found = clf.answers(NEW)
    far = ~found.routes.known
    unbalanced = found.unbalanced if fallback == "nearest" else clf.fallback_.predict_proba(NEW)
    expected = balance_probabilities(unbalanced, clf.frequencies_, 0.5)
    np.testing.assert_allclose(found.probabilities[far], expected[far])
    assert found.labels.dtype == Y.dtype


def test_product_answer__unknown_rate__half_is_for_strange_cases():
    assert ProductAnswer(competence=None).strange_share == 0
    clf = fitted(ProductAnswer(), unknown_rate=0.2)
    assert clf.answer_.strange_rate_ == pytest.approx(0.1)
    routes = clf.route(NEW)
    np.testing.assert_array_equal(routes.familiar, clf.answers(NEW).competence > 0.1)
    assert not routes.familiar.all()


def test_product_answer__count_as_strange__not_measured():
    clf = fitted(ProductAnswer(competence=None))
    assert clf.answer_.count_as_strange(clf.route(NEW), 0) == (None, None)
    rule = ProductAnswer()
    rule.calibration_ = Calibration.of(np.array([1.0, 2.0, 3.0]))
    assert rule.count_as_strange(clf.route(NEW), 0) == (None, None)
    routes = clf.route(NEW).drop_strange(np.ones(len(NEW), dtype=bool), np.full(len(NEW), 2.5))
    assert rule.count_as_strange(routes, 0) == (3, 1)


# -------------------------------------------------------------------------------------------------------- sentences

LOCAL_A = {"a": 0.7, "b": 0.2, "c": 0.1}
LOCAL_B = {"a": 0.1, "b": 0.8, "c": 0.1}
STRANGE = {"competence": 0.01, "as_strange": 2, "held_out": 300}
ODD = {"competence": 0.3, "as_strange": 90, "held_out": 300}


def case(item, **changes):
    """A case that classifier and labels answer together, "a"."""
    both = {"a": 0.9, "b": 0.06, "c": 0.04}
    shown = {"local": LOCAL_A, "labels": LOCAL_A, "share": 1.0, "labels_share": 0.8, "unbalanced": both, **ODD}
    return item(**{**shown, **changes})


def cases_to_explain(item):
    """Name -> an explanation, one of every kind that the rule words differently, without balance."""
    by_labels = {"answered_by": "labels", "share": 0.0}
    rare = {"a": 0.2, "b": 0.7, "c": 0.1}
    return {
        "together": case(item),
        "against the labels": case(item, labels=LOCAL_B),
        "overturned": case(item, local=LOCAL_B, share=0.9),
        "faded": case(item, share=0.3, **STRANGE),
        "labels alone, strange": case(item, **by_labels, **STRANGE),
        "labels alone, stranger than usual": case(item, **by_labels, **{**ODD, "competence": 0.06}),
        "labels alone, no help": case(item, **by_labels, **{**ODD, "competence": 0.8}),
        "labels and frequencies": case(item, **by_labels, labels=LOCAL_B, **STRANGE),
        "classifier alone": case(item, labels_share=0.0),
        "classifier and frequencies": case(item, labels_share=0.0, unbalanced=rare, answer="b"),
        "constant": case(item, origin="constant", labels_share=0.0),
        "constant with labels": case(item, origin="constant", answered_by="labels", share=0.0, **STRANGE),
    }


def test_product_answer__sentence__says_what_counted(item):
    rule = ProductAnswer(balance=0.0)
    for name, shown in cases_to_explain(item).items():
        said = rule.say(shown)
        alone = shown.answered_by == "labels" and shown.origin != "constant"
        together = shown.labels_share > 0 and not alone
        assert ("does not count" in said) == alone, name
        assert ("together" in said) == together, name
        assert ("counts for less" in said) == (together and shown.share < 0.995), name
        assert ("competence" in said) == ((shown.share < 0.995) and (shown.competence < 0.5)), name
        assert "rare classes" not in said, name


def test_product_answer__balance__is_said_at_the_end(item):
    same, other = case(item), case(item, answer="b")
    assert ProductAnswer(balance=0.5).say(same).endswith("; rare classes weighed up, balance 0.5: still 'a' (0.80)")
    assert ProductAnswer(balance=1.0).say(other).endswith("; rare classes weighed up, balance 1: 'b' (0.15)")
    for shown in (case(item, probabilities=None), case(item, answer="unknown")):
        assert "rare classes" not in ProductAnswer(balance=0.5).say(shown)


def test_product_answer__words(item):
    """The words themselves, once: a change of wording is made here too."""
    labels = "the labels of its cluster (5 of 'a', 3 of 'b')"
    few = "competence 0.010: 2 of 300 held-out training cases are as strange"
    many = "of 300 held-out training cases are as strange"
    would = "its LogisticRegression, which would say 'a' (0.70), does not count, since"
    found = {name: ProductAnswer(balance=0.0).say(each) for name, each in cases_to_explain(item).items()}
    assert found == {
        "together": f"its LogisticRegression says 'a' (0.70) and {labels} say 'a' (0.70), together 'a' (0.90)",
        "against the labels": (
            f"its LogisticRegression says 'a' (0.70) but {labels} say 'b' (0.80), together 'a' (0.90)"
        ),
        "overturned": (
            f"its LogisticRegression says 'b' (0.80) but {labels} say 'a' (0.70), together 'a' (0.90); the classifier "
            f"counts for less, since the case is stranger to it than usual (competence 0.300: 90 {many})"
        ),
        "faded": (
            f"its LogisticRegression says 'a' (0.70) and {labels} say 'a' (0.70), together 'a' (0.90); the classifier "
            f"counts for less, since the case is strange to it ({few})"
        ),
        "labels alone, strange": f"{labels} answer alone, 'a' (0.90); {would} the case is strange to it ({few})",
        "labels alone, stranger than usual": (
            f"{labels} answer alone, 'a' (0.90); {would} the case is stranger to it than usual "
            f"(competence 0.060: 90 {many})"
        ),
        "labels alone, no help": f"{labels} answer alone, 'a' (0.90); {would} on held-out cases it did not help",
        "labels and frequencies": (
            f"{labels} say 'b' (0.80), in view of how common the classes are 'a' (0.90); {would} the case is strange "
            f"to it ({few})"
        ),
        "classifier alone": (
            "its LogisticRegression says so with probability 0.70; its cluster holds 5 of 'a', 3 of 'b'"
        ),
        "classifier and frequencies": (
            "its LogisticRegression says 'a' with probability 0.70, in view of how common the classes are 'b' (0.70); "
            "its cluster holds 5 of 'a', 3 of 'b'"
        ),
        "constant": "all 8 cases of its cluster are 'a'",
        "constant with labels": (
            f"its constant classifier says 'a' (0.70) and {labels} say 'a' (0.70), together 'a' (0.90); the classifier "
            f"counts for less, since the case is strange to it ({few})"
        ),
    }
