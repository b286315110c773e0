"""Lower limits of the search, with which a few hundred cases are very many."""

from memclf.memory import batches, blocks, describing, search

LIMITS = {
    search: {"EXACT_CASES": 300},
    describing: {"EXACT_CASES": 300, "SAMPLE_TO_FIT": 200},
    blocks: {"SAMPLE": 250, "SAMPLE_OF_A_FUNCTION": 150, "PER_MEMORY": 5, "ROWS": 256},
    batches: {"GREEDY_SAMPLE": 60, "MANY_WITNESSES": 40},
}


def lower_limits(monkeypatch):
    """Take the limits down until the test is over."""
    for module, limits in LIMITS.items():
        for name, value in limits.items():
            monkeypatch.setattr(module, name, value)
