import numpy as np
import pytest

from memclf.explain import Explanation


@pytest.fixture
def item():
    """Makes an `Explanation` of a case of class "a", whose classifier and whose memory's labels both say "a"."""

    def make(**changes):
        settings = {
            "position": 0,
            "answer": "a",
            "known": True,
            "answered_by": "memory",
            "memory": 1,
            "memory_row": 17,
            "similarity": 0.9,
            "threshold": 0.7,
            "runner_up": None,
            "runner_up_row": None,
            "runner_up_similarity": None,
            "margin": None,
            "cluster_size": 8,
            "cluster_classes": {"a": 5, "b": 3, "c": 0},
            "classifier": "LogisticRegression",
            "origin": "fresh",
            "probabilities": {"a": 0.8, "b": 0.15, "c": 0.05},
            "evidence": (),
            "memory_case": np.array([[1.0]]),
            "case": np.array([[1.1]]),
            "similarities": np.array([0.2, 0.9]),
            "thresholds": np.array([0.7, 0.7]),
            "local_classifier": "LogisticRegression",
        }
        return Explanation(**{**settings, **changes})

    return make
