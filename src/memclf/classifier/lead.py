"""How far each class leads in the answers: the paper's F(x), for any number of classes."""

from __future__ import annotations

import numpy as np

from memclf._numbers import TOLERANCE, Array
from memclf.answers import Answers


def measure_lead(answers: Answers, classes: Array) -> Array:
    """For each case and class, its probability less the largest of the other classes.

    Without probabilities the answered class has 1 and the others 0, so that leads are 1 and -1. An answered class
    always leads, if only by `TOLERANCE`: a classifier may break a tie, or contradict its own probabilities. Leads of
    unknown cases are 0.
    """
    answered = answers.labels[:, None] == classes
    P = answered.astype(np.float64) if answers.probabilities is None else answers.probabilities
    second, first = np.partition(P, -2, axis=1)[:, -2:].T
    lead = P - np.where(first[:, None] == P, second[:, None], first[:, None])
    lead = np.where(answered, np.maximum(lead, TOLERANCE), np.minimum(lead, -TOLERANCE))
    lead[~answered.any(axis=1)] = 0.0
    return np.asarray(lead)
