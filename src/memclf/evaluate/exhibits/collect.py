"""The parts of the report that show single cases.

They are an opening, samples, memories, routes, what features see, and hard cases.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.pipeline import Pipeline

from memclf._numbers import Array
from memclf.cases import Collection, containers
from memclf.classifier import MemoryClassifier
from memclf.evaluate.contender import Contender
from memclf.evaluate.exhibits.choose import (
    Answers,
    choose_different,
    choose_hardest,
    choose_members,
    choose_opening,
    choose_routes,
)
from memclf.evaluate.exhibits.views import CaseViews, paint_masks
from memclf.evaluate.kinds import name_cases
from memclf.evaluate.results import Results
from memclf.evaluate.store import BASELINE, CLEAN, Condition, ModelId, Store
from memclf.evaluate.verdict import is_part, judge
from memclf.similarity import CombinedSimilarity
from memclf.similarity.base import fitted_features

FILE = "exhibits.json"
SHARP, LARGE, MEDIUM, SMALL = 400, 320, 224, 128  # pixels of the longer side; sharp for pictures with lines in them
MEMORIES = 12  # shown at least, if there are as many; those that routes lead to are shown as well
MEMBERS = 6
HARDEST = 6
SAMPLES = 6  # of each class
CLASSES = 12  # of which samples are shown
CANDIDATES = 12  # images among which the one for overlays is chosen
BLIND = ("majority", "random")  # models that do not look at a case: they are not shown

Make = Callable[[Condition], Any]


@runtime_checkable
class Outlines(Protocol):
    """A feature of images that can draw what it measures, as `ImageFeatures` of memclf.vision."""

    @property
    def relates(self) -> bool: ...

    def masks(self, image: Any, info: Any = None) -> dict[str, Array]: ...

    def outline(self, image: Any, masks: dict[str, Array], side: int) -> tuple[Any, list[str]]: ...

    def transform(self, X: Any) -> Array: ...

    def get_feature_names_out(self, input_features: Any = None) -> Array: ...


def choose_contender(store: Store, contenders: Sequence[Contender]) -> Contender | None:
    """The memory classifier whose cases are shown: that of the verdict, or another one.

    Another one is taken if that of the verdict is not among the contenders.
    """
    found = [each for each in contenders if isinstance(each.estimator, MemoryClassifier) and each.model not in BLIND]
    verdict = judge(Results(store))
    named = None if verdict is None else verdict.memory
    return next((each for each in found if each.name._replace(seed=None) == named), found[0] if found else None)


def write_exhibits(
    folder: str | os.PathLike[str],
    store: Store,
    shown: Contender,
    test: Any,
    *,
    make: Make,
    train: tuple[Any, Any] | None = None,
    seed: int = 0,
    n_routes: int = 9,
    n_overlays: int = 4,
    paint: tuple[Outlines, Mapping[str, str]] | None = None,
) -> Path:
    """Write ``exhibits.json`` and its pictures into a run's folder, in place of older ones.

    The parts, and how their cases are chosen (`memclf.evaluate.exhibits.choose`):

    opening
        Of images only: one that the baseline answers rightly when clean and wrongly under noise, and what each model
        answers.
    samples
        Of images only: training images of each class, drawn at random; test images, if `train` is not given.
    memories
        The first ones, which stand for most cases; with cases of their clusters, if `train` is given.
    routes
        A third clean, the rest over as many corruptions as possible; rightly and wrongly answered in turn.
    overlays
        One image, clean and under corruptions of different families, with what the expert feature sees. Of twelve
        drawn at random it is the one with most to see when clean; how it fares under corruption does not count.
    masks
        With `paint`: an image of each class, drawn at random, clean and corrupted, with what the feature sees in it
        painted over it.
    hardest
        The cases that the memory classifier answers wrongly most often, over all conditions.
    local
        How many memories there are, and how many different classifiers answer for them.

    Parameters
    ----------
    folder : path
        The run's folder.
    store : Store
        Results and answers so far. What they do not suffice for is left out.
    shown : Contender
        A fitted memory classifier, as it is called in the store.
    test : test cases of the store
    make : function of a condition
        The test cases under it.
    train : (cases, labels) or None
        What the memory classifier was fitted on, to show cases of the clusters.
    seed : int
    n_routes, n_overlays : int
    paint : (feature, colours) or None
        A feature of images and the masks of it that are painted, each with its colour, as "#804000".

    Returns
    -------
    Path
        Of ``exhibits.json``.
    """
    clf = shown.estimator
    n = len(clf.labels_) if train is None else containers.count(train[0])
    if n != len(clf.labels_):
        raise ValueError(f"train holds {n} cases, but the memory classifier was fitted on {len(clf.labels_)}")
    collector = _Collector(Path(folder), store, shown, test, make, train)
    rng = [np.random.default_rng([seed, part]) for part in range(7)]  # no part's draws depend on another part
    opening = collector.opening(rng[0])
    routes = collector.routes(rng[1], n_routes)
    exhibits = {
        **({"opening": opening} if opening is not None else {}),
        "samples": collector.samples(rng[5]),
        "memories": collector.memories(rng[2], {route["nearest"] for route in routes}),
        "routes": routes,
        "overlays": collector.overlays(rng[3], n_overlays),
        "masks": [] if paint is None else collector.masks(rng[6], *paint),
        "hardest": collector.hardest(rng[4]),
        "local": {"memories": len(clf.memory_indices_), "classifiers": len(np.unique(clf.pool_.trained_with))},
    }
    return collector.finish(exhibits)


class _Collector:
    """What all parts need: answers by contender and condition, changed cases, views of cases."""

    def __init__(
        self,
        run: Path,
        store: Store,
        shown: Contender,
        test: Any,
        make: Make,
        train: tuple[Any, Any] | None,
    ):
        self.run, self.shown, self.test, self.make, self.train = run, shown, test, make, train
        self.clf: MemoryClassifier = shown.estimator
        self.feature = find_feature(self.clf.similarity_)
        cases = store.cases()
        n = containers.count(test)
        if cases is not None and len(cases.keys) != n:
            raise ValueError(f"test holds {n} cases, the store answers about {len(cases.keys)}")
        self.names = name_cases(test) if cases is None else cases.keys
        self.classes = [] if cases is None else [str(label) for label in cases.classes]
        self.truth = np.zeros(n, dtype=int) if cases is None else cases.labels
        self.views = CaseViews(run, test, self.truth)
        self.answers: dict[ModelId, dict[Condition, Array]] = {}
        for key, answers in store.answers().items():
            self.answers.setdefault(ModelId(*key[:4]), {})[Condition(*key[4:])] = answers
        self.mine: Answers = self.answers.get(shown.name, {})
        self.base: Answers = self.answers.get(shown.name._replace(model=BASELINE), {})
        self._made: dict[Condition, Any] = {CLEAN: test}

    # ---------------------------------------------------------------------------------------------- the parts

    def opening(self, rng: np.random.Generator) -> dict[str, Any] | None:
        found = choose_opening(self.mine, self.base, self.truth, rng) if self.views.kind == "images" else None
        if found is None:
            return None
        corrupted = self._cases(found.condition)
        return {
            "condition": str(found.condition),
            "key": self.names[found.case],
            "truth": self.classes[self.truth[found.case]],
            "clean": self.views.show("opening_clean", self.test, found.case, LARGE),
            "corrupted": self.views.show("opening_corrupted", corrupted, found.case, LARGE),
            "flips": found.flips,
            "memory_right": found.kept,
            "answers": [
                {
                    "model": name.model,
                    "recipe": name.recipe,
                    "backbone": name.backbone,
                    "clean": self._label(self.answers[name][CLEAN][found.case]),
                    "corrupted": self._label(self.answers[name][found.condition][found.case]),
                    "accuracy": float(np.mean(self.answers[name][found.condition] == self.truth)),
                }
                for name in self._names_beside(found.condition)
            ],
        }

    def samples(self, rng: np.random.Generator) -> list[dict[str, Any]]:
        """Images of each class."""
        if self.views.kind != "images" or not self.classes:
            return []
        if self.train is None:
            cases, names, of = self.test, np.array(self.classes)[self.truth], "test"
        else:
            cases, names, of = self.train[0], np.asarray(self.train[1]).astype(str), "training"
        shown = []
        for place, name in enumerate(self.classes[:CLASSES]):
            rows = np.flatnonzero(names == name)
            some = rng.permutation(rows)[:SAMPLES].tolist()
            views = [self.views.show(f"sample_{place}_{number}", cases, row, SMALL) for number, row in enumerate(some)]
            shown.append({"label": name, "cases": len(rows), "of": of, "samples": views})
        return shown

    def _names_beside(self, condition: Condition) -> Iterable[ModelId]:
        """Contenders to show beside this one: those of the same backbone and seed.

        Of other recipes only the baseline and the same model are shown.
        """
        mine = self.shown.name
        for name, seen in self.answers.items():
            if name.recipe in (mine.recipe, ""):
                wanted = name == mine or (name.model not in BLIND and not is_part(name.model))
            else:
                wanted = name.model in (BASELINE, mine.model)
            if (
                wanted
                and name.backbone in (mine.backbone, "")
                and name.seed == mine.seed
                and {CLEAN, condition} <= {*seen}
            ):
                yield name

    def routes(self, rng: np.random.Generator, n: int) -> list[dict[str, Any]]:
        picked = choose_routes(self.mine, self.truth, n, rng)
        shown: list[dict[str, Any]] = []
        for condition in dict.fromkeys(condition for condition, _ in picked):
            rows = [row for where, row in picked if where == condition]
            cases = self._cases(condition)
            for row, route in zip(rows, self._apply(self.clf.route, cases, rows), strict=True):
                shown.append(
                    {
                        "model": self.shown.model,
                        "condition": str(condition),
                        "case": self.views.show(f"route_{len(shown)}", cases, row, MEDIUM),
                        "key": self.names[row],
                        "truth": self.classes[self.truth[row]],
                        "memory": route.memory,
                        "nearest": route.nearest,  # where memory is -1: the one that was not similar enough
                        "similarity": route.similarity,
                        "threshold": route.threshold,
                        "answer": self._label(self.mine[condition][row]),
                        "baseline_answer": self._label(self.base[condition][row]) if condition in self.base else None,
                    }
                )
        return shown

    def memories(self, rng: np.random.Generator, needed: set[int]) -> list[dict[str, Any]]:
        clf = self.clf
        names = name_cases(clf.memories_, [f"{row} of the training cases" for row in clf.memory_indices_])
        labels = None if self.train is None else np.asarray(self.train[1])
        shown: list[dict[str, Any]] = []
        for k in sorted({*range(min(MEMORIES, len(clf.memory_indices_))), *needed}):
            counts = zip(clf.classes_.tolist(), clf.cluster_counts_[k].tolist(), strict=True)
            shown.append(
                {
                    "model": self.shown.model,
                    "number": k,
                    "case": self.views.show(f"memory_{k}", clf.memories_, k, MEDIUM),
                    "key": names[k],
                    # A fitted classifier does not keep the labels of single training cases.
                    "label": None if labels is None else str(labels[clf.memory_indices_[k]]),
                    "cases": int(clf.cluster_counts_[k].sum()),
                    "threshold": float(clf.thresholds_[k]),
                    "classes": {str(label): count for label, count in counts if count},
                    "members": self._members(k, rng),
                    "classifier": self._describe_classifier(k),
                }
            )
        return shown

    def _members(self, k: int, rng: np.random.Generator) -> list[dict[str, Any]]:
        if self.train is None:
            return []
        rows = np.flatnonzero(self.clf.labels_ == k)
        rows = rows[rows != self.clf.memory_indices_[k]]
        members = choose_members(rows, self.clf.search_result_.similarity, MEMBERS, rng)
        return [
            self.views.show(f"memory_{k}_member_{number}", self.train[0], member, SMALL)
            for number, member in enumerate(members)
        ]

    def _describe_classifier(self, k: int) -> dict[str, Any]:
        """Which classifier answers for a memory: its own, a shared, the global one or a constant."""
        pool, estimator = self.clf.pool_, self.clf.estimators_[k]
        home = int(pool.trained_with[k])
        found = {"estimator": type(estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator).__name__}
        if pool.origins[k] == "handed to global":
            return {"who": "global", **found}
        if pool.origins[home] in ("constant", "labels"):
            return {"who": "constant", "label": str(estimator.predict(np.zeros((1, 1)))[0])}
        sharing = [int(other) for other in np.flatnonzero(pool.trained_with == home) if other != k]
        started = {"started": "global"} if pool.origins[home] == "global" else {}
        return {"who": "shared", "with": sharing, **found, **started} if sharing else {"who": "own", **found, **started}

    def overlays(self, rng: np.random.Generator, n: int) -> list[dict[str, Any]]:
        feature = self.feature
        if feature is None or n < 1 or not isinstance(self.test, Collection):
            return []
        candidates = rng.permutation(containers.count(self.test))[:CANDIDATES].tolist()
        case = max(candidates, key=lambda row: self._much_to_see(feature, row))
        families = {name: each["family"] for name, each in self.test.corruption_labels().items()}
        shown: list[dict[str, Any]] = []
        for number, condition in enumerate([CLEAN, *choose_different(self.mine, families)][:n]):
            images = self._cases(condition)
            masks = feature.masks(images[case], images.info_of(case))
            if not masks:
                return []
            picture, colours = feature.outline(images[case], masks, SHARP)
            names = map(str, feature.get_feature_names_out())
            values = self._apply(feature.transform, images, [case])[0].tolist()
            shown.append(
                {
                    "condition": str(condition),
                    "key": self.names[case],
                    "case": {"picture": self.views.save(f"overlay_{number}", picture, None)},
                    "legend": [
                        {"name": name, "colour": colour, "share": float(mask.mean())}
                        for (name, mask), colour in zip(masks.items(), colours, strict=True)
                    ],
                    "numbers": {name: v if np.isfinite(v) else None for name, v in zip(names, values, strict=True)},
                }
            )
        return shown

    def masks(self, rng: np.random.Generator, feature: Outlines, colours: Mapping[str, str]) -> list[dict[str, Any]]:
        """One image of each class, clean and corrupted, with masks painted over it."""
        if not isinstance(self.test, Collection) or not self.classes:
            return []
        families = {name: each["family"] for name, each in self.test.corruption_labels().items()}
        conditions = [CLEAN, *choose_different(self.mine, families)[:1]]
        cases = [int(rng.choice(np.flatnonzero(self.truth == k))) for k in np.unique(self.truth)]
        shown: dict[int, list[dict[str, Any]]] = {case: [] for case in cases}
        for at, condition in enumerate(conditions):
            images = self._cases(condition)
            values = self._apply(feature.transform, images, cases)
            for number, case in enumerate(cases):
                masks = feature.masks(images[case], images.info_of(case))
                painted = paint_masks(images[case], masks, colours)
                names = map(str, feature.get_feature_names_out())
                shown[case].append(
                    {
                        "condition": str(condition),
                        "key": self.names[case],
                        "truth": self.classes[self.truth[case]],
                        "case": self.views.show(f"masks_{number}_{at}", images, case, MEDIUM),
                        "painted": {"picture": self.views.save(f"masks_{number}_{at}_painted", painted, MEDIUM)},
                        "colours": dict(colours),
                        "numbers": dict(zip(names, values[number].tolist(), strict=True)),
                    }
                )
        return [each for case in cases for each in shown[case]]

    def _much_to_see(self, feature: Outlines, row: int) -> tuple[int, float]:
        """How many masks are not empty, and how large the smallest of them is."""
        masks = feature.masks(self.test[row], self.test.info_of(row))
        sizes = [float(mask.mean()) for mask in masks.values() if mask.any()]
        return len(sizes), min(sizes, default=0.0)

    def hardest(self, rng: np.random.Generator) -> list[dict[str, Any]]:
        mine = [answers for name, answers in self.answers.items() if name.model == self.shown.model]
        return [
            {
                "key": self.names[row],
                "case": self.views.show(f"hardest_{number}", self.test, row, MEDIUM),
                "truth": self.classes[self.truth[row]],
                "wrong_share": share,
                "mostly_answered": " or ".join(map(self._label, codes)),
            }
            for number, (row, share, codes) in enumerate(choose_hardest(mine, self.truth, HARDEST, rng))
        ]

    # ------------------------------------------------------------------------------------------------- helpers

    def finish(self, exhibits: dict[str, Any]) -> Path:
        path = self.run / FILE
        unfinished = path.with_name(f"{FILE}.part")
        self.run.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(json.dumps(exhibits, indent=1, ensure_ascii=False, allow_nan=False) + "\n", "utf-8")
        os.replace(unfinished, path)
        self.views.remove_old_pictures()
        return path

    def _cases(self, condition: Condition) -> Any:
        if condition not in self._made:
            made, n = self.make(condition), containers.count(self.test)
            if containers.count(made) != n:
                raise ValueError(f"{condition} has {containers.count(made)} cases, the clean test set {n}")
            self._made = {CLEAN: self.test, condition: made}  # one at a time: test sets may be large
        return self._made[condition]

    def _apply(self, function: Any, cases: Any, rows: list[int]) -> list[Any]:
        """``function`` of these cases; of all, where the numbers of one case depend on the others."""
        if self.feature is None or not self.feature.relates:
            return list(function(containers.take(cases, np.array(rows))))
        found = function(cases)
        return [found[row] for row in rows]

    def _label(self, code: Any) -> str:
        return "unknown" if code < 0 else self.classes[int(code)]


def find_feature(similarity: Any) -> Outlines | None:
    """The feature that can draw what it measures; None if there is none.

    It may be in a part of a combined similarity.
    """
    parts = similarity.similarities_ if isinstance(similarity, CombinedSimilarity) else ()
    for each in (similarity, *parts):
        feature = fitted_features(each)
        if isinstance(feature, Outlines):
            return feature
    return None
