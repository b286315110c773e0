"""Which model to use: the decision by itself, from answers that are written down here."""

import numpy as np
import pytest

from memclf.evaluate import Results, store_answers
from memclf.evaluate.store import Cases
from memclf.own import advise, compare_answers

N = 400
TRUTH = np.arange(N) % 2


def answers(right, *, unknown=()):
    """Answers of which the first cases are right, all others wrong."""
    said = np.where(np.arange(N) < right * N, TRUTH, 1 - TRUTH)
    said[list(unknown)] = -1
    return said


def store(**said):
    cases = Cases([str(k) for k in range(N)], TRUTH, ["a", "b"])
    return store_answers({"majority": np.zeros(N, dtype=int), **said}, cases)


def advice(**said):
    return advise(Results(store(**said)))


@pytest.mark.parametrize(
    ("plain", "stage1", "memory", "use", "sentence"),
    [
        (
            0.8,
            0.7,
            0.9,
            "memory",
            "Use the memory classifier: it is surely better than the plain model, by +10.0 points",
        ),
        (0.8, 0.9, 0.9, "stage1", "Use stage 1 alone, the labels of the memories: it is surely better than the plain"),
        (
            0.9,
            0.7,
            0.8,
            "plain",
            "Use the plain model: in accuracy the memory classifier is surely worse, by -10.0 points",
        ),
        (0.9, 0.7, 0.9, "plain", "Use the plain model: it is cheaper, and the memory classifier is not surely better:"),
        (0.9, 0.9, 0.9, "plain", "Use the plain model: it is cheaper"),
    ],
)
def test_advise__three_outcomes__each_in_one_sentence(plain, stage1, memory, use, sentence):
    found = advice(baseline=answers(plain), stage1=answers(stage1), memory=answers(memory))
    assert found.use == use
    assert found.sentence.startswith(sentence)
    assert found.sentence.count(". ") == 0
    assert ("saved all the same" in found.more) == (use == "plain")


def test_advise__better_for_the_rare_class_alone__says_balanced_accuracy():
    truth = (np.arange(N) < 40).astype(int)
    cases = Cases([str(k) for k in range(N)], truth, ["common", "rare"])
    plain = np.zeros(N, dtype=int)
    memory = plain.copy()
    memory[:30] = 1  # 30 rare cases are found
    memory[360:388] = 1  # at the price of 28 common ones
    found = advise(Results(store_answers({"baseline": plain, "stage1": plain, "memory": memory}, cases)))
    assert found.use == "memory"
    assert "surely better than the plain model in balanced accuracy" in found.sentence


def test_compare_answers__unknown_cases__do_not_decide():
    """Unknown counts as an error in the table, and is no reason against a classifier that may decline."""
    away = range(N - 40, N)  # all models are wrong there
    found = compare_answers(
        store(baseline=answers(0.8), stage1=answers(0.7), memory=answers(0.9, unknown=away)), "auto"
    )
    assert found.share == pytest.approx(0.9)
    assert found.advice.use == "memory"
    assert "on the 90.0 % of cases that it answers" in found.advice.sentence
    rows = {row["contender"]: row for row in found.rows}
    assert list(rows) == ["majority", "baseline", "stage1", "memory"]
    assert rows["memory"]["coverage"] == pytest.approx(0.9)
    assert rows["memory"]["accuracy"]["value"] == pytest.approx(0.9)
    assert rows["memory"]["answered_accuracy"]["value"] == 1.0
    assert rows["baseline"]["answered_accuracy"]["value"] == pytest.approx(320 / 360)
    assert found.differences["baseline"]["accuracy"]["value"] == pytest.approx(40 / 360)


def test_compare_answers__nothing_answered__says_what_to_do():
    with pytest.raises(ValueError, match="answered none of the held-out cases"):
        compare_answers(store(baseline=answers(0.8), memory=np.full(N, -1)), "auto")
