"""The benchmark `judged.py`: one small run, and the marks that its exam gives."""

import numpy as np
import pytest

pytest.importorskip("pandas")


def test_run__own_contenders__gives_a_row_per_size_and_marks_in_range():
    import judged

    rows = judged.run_one("diabetes", "few count", 1, 0, (10, 20), judged.OWN)
    assert [(row[4], row[5]) for row in rows] == [
        *[("equal weights", 0), ("equal, squared", 0)],
        *[(name, n) for name in judged.OWN for n in (10, 20)],
    ]
    assert all(0.5 < row[6] <= 1 and -1 <= row[7] <= 1 for row in rows)


def test_exam__of_the_judge_himself__is_passed_with_full_marks():
    import judged

    rng = np.random.default_rng(0)
    judge = judged.Judge(judged.load("generated 5", rng), "uneven", 2, rng)
    agreement, spearman = judged.Exam(judge).mark(judge.distances)
    assert agreement == 1
    assert spearman == pytest.approx(1)
    said = np.array(judge.answer(judge.draw(2000)))
    assert 0.07 < 1 - judge.is_nearer(said).mean() < 0.13
