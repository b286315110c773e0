"""Stores whose answers are given case by case, so that every mean can be counted by hand."""

import pytest

from memclf.evaluate import Condition, ModelId, Row, Store, metrics


@pytest.fixture
def make_store():
    """A function of {(model, recipe, backbone, seed): {(corruption, severity): which cases are right}} and labels."""

    def make(right, labels, *, path=None, settings=None, routed=(), **about):
        store = Store(path)
        n_classes = max(labels) + 1
        store.put_cases([f"case {i}" for i in range(len(labels))], labels, [f"class {k}" for k in range(n_classes)])
        for name, conditions in right.items():
            for condition, hits in conditions.items():
                said = [label if hit else (label + 1) % n_classes for label, hit in zip(labels, hits, strict=True)]
                row = Row(
                    study="",
                    **ModelId(*name, *(("", "", 0)[len(name) - 1 :]))._asdict(),
                    **Condition(*condition)._asdict(),
                    n=len(labels),
                    accuracy=metrics.accuracy(labels, said),
                    balanced_accuracy=metrics.balanced_accuracy(labels, said),
                    coverage=1.0,
                    selective_accuracy=metrics.accuracy(labels, said),
                    oracle_accuracy=0.5 if name[0] in routed else None,
                )
                store.add(row, said)
        for key, value in {"settings": settings, **about}.items():
            if value is not None:
                store.put(key, value)
        return store

    return make
