"""The conditions of an evaluation: named, made by a function, or given as changed cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memclf.cases import Collection, containers
from memclf.evaluate.store import CLEAN, Condition, Store
from memclf.exceptions import StoreError

Make = Callable[[str, int], Any]


class Conditions:
    """The conditions of an evaluation, the clean one first, and the test cases under each."""

    def __init__(self, X: Any, conditions: Any, make: Make | None, preset: str | None, at: tuple[int, int] | None):
        self.X, self._make = X, make
        given = conditions if isinstance(conditions, Mapping) else {}
        self._given = {_condition(*key): cases for key, cases in given.items()}
        self.all = list(dict.fromkeys([CLEAN, *(_condition(*key) for key in conditions)]))
        options: dict[str, Any] = {"preset": preset, "at": None if at is None else tuple(at)}
        self.options = {name: value for name, value in options.items() if value is not None}
        if self.options:
            self._check_by_name()
        if self.by_name:
            for condition in self.all[1:]:
                self.X.corrupted(*condition, **self.options)  # lazy: only refuses names that do not exist

    @property
    def by_name(self) -> bool:
        """Whether images are corrupted by the names of the conditions."""
        return self._make is None and not self._given and isinstance(self.X, Collection)

    def _check_by_name(self) -> None:
        names = " and ".join(f"{name}=" for name in self.options)
        if self.by_name:
            return
        if not isinstance(self.X, Collection):
            why = f"the test cases are a {type(self.X).__name__}"
        else:
            why = "make= makes the conditions" if self._make is not None else "conditions= holds the changed cases"
        raise ValueError(
            f"{names} sets how an ImageCollection is corrupted by name, but {why}. Leave it out, or pass an "
            "ImageCollection with a list of (corruption, severity)"
        )

    def check_same(self, store: Store) -> None:
        """Refuse a store with another preset or size, where the same condition means other pixels."""
        if not self.by_name or len(self.all) == 1:
            return
        now = {"preset": self.options.get("preset"), "at": list(self.options["at"]) if "at" in self.options else None}
        before = store.get("corrupted_with")
        if before is None:
            store.put("corrupted_with", now)
        elif before != now:
            raise StoreError(
                f"{store.path or 'this store'} holds results with preset={before['preset']!r} and at={before['at']}, "
                f"these are with preset={now['preset']!r} and at={now['at']}; use a new store"
            )

    def make(self, condition: Condition) -> Any:
        """The test cases under a condition."""
        if condition == CLEAN:
            return self.X
        if condition in self._given:
            cases = self._given[condition]
        elif self._make is not None:
            cases = containers.as_container(self._make(*condition))
        elif isinstance(self.X, Collection):
            cases = self.X.corrupted(*condition, **self.options)
        else:
            raise TypeError(
                f"{type(self.X).__name__} cannot be corrupted by name: pass images (memclf.vision.ImageCollection), a "
                "mapping from (name, severity) to the changed cases, or make=function"
            )
        found, expected = containers.count(cases), containers.count(self.X)
        if found != expected:
            raise ValueError(f"{condition} has {found} cases, the clean test set {expected}")
        return cases


def _condition(name: str, severity: Any) -> Condition:
    if severity != int(severity):
        raise ValueError(f"severities are whole numbers, got {severity!r} for {name!r}; put it into the name instead")
    return Condition(name, int(severity))
