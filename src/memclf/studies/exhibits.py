"""Pictures of a run for its report: the opening case, the memories, routes, what features saw, the hardest images.

What is shown is drawn by lot, from a seed, within groups that are named here, and never for how well it looks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memclf._numbers import Array
from memclf.evaluate.store import Condition, Name, Store
from memclf.report import words
from memclf.studies.pictures import LARGE, colours, feature_of, much_to_see, outlined, packed, relates, sized

if TYPE_CHECKING:
    from memclf.classifier import MemoryClassifier
    from memclf.vision.images import ImageCollection

MEDIUM, SMALL = 224, 128  # pixels of the longer side
SHARP = 16_000  # bytes up to which a picture stays a PNG
MEMORIES = 12  # shown at least, if there are as many; those that routes lead to are shown as well
MEMBERS = 6  # of a cluster: half of them the nearest to the memory, half the farthest
HARDEST = 6
LOOKED_AT = 12  # images among which the one for overlays is chosen
BASELINE = "baseline"
# Whose answers stand beside the opening: all but the majority class and random routing, which see nothing in it.
OPENING = (
    *(BASELINE, "memory", "memory-paper", "sturdy", "careful", "augmented", "ensemble", "prior", "prior-balanced"),
    *("stage1", "stage1-paper", "stage1-sturdy", "stage1-balanced"),
)
NOISE = "gaussian_noise"
# Of each kind the first that was run; kinds that differ most from each other come first.
KINDS = (
    (NOISE, "shot_noise", "impulse_noise", "speckle_noise"),
    ("defocus_blur", "gaussian_blur", "motion_blur", "zoom_blur", "glass_blur"),
    ("fog", "snow", "frost", "spatter", "brightness"),
    ("contrast", "jpeg_compression", "saturate", "pixelate", "elastic_transform"),
)
CLEAN = Condition()


def write_exhibits(
    run: Path,
    store: Store,
    *,
    test: ImageCollection,
    train: ImageCollection,
    memory: MemoryClassifier,
    model: str = "memory",
    make: Callable[[str, int], ImageCollection],
    contender: tuple[str, str, int],
    others: Mapping[str, Any] | None = None,
    seed: int = 0,
    n_routes: int = 9,
    n_overlays: int = 4,
) -> Path:
    """Write ``exhibits.json`` and the pictures it names into a run's folder, in place of what was there.

    The parts, and how their cases are chosen:

    opening
        One image that the baseline answers rightly when clean and wrongly under gaussian noise of the highest
        severity that was run (where there is none: under the condition that is worst for it). If the memory
        classifier is right on at least half of all such images, the image is drawn from those on which it is
        right, otherwise from those on which it is wrong: it stands for the majority, and `flips` and
        `memory_right` say of how many. If the baseline is never led astray, it is any image.
    memories
        The first ones, which stand for most cases, with members of their clusters: the nearest and the farthest,
        drawn by lot where similarities are equal.
    routes
        A third clean, the rest over as many corruptions as possible; rightly and wrongly answered in turn.
    overlays
        One image, clean and under corruptions of different kinds, at severity 3 or near it. Of twelve drawn by lot
        it is the one with most to see when clean; how it fares under corruption is not looked at.
    hardest
        The images that contenders get wrong most often, over all conditions; controls do not count.
    local
        How many memories there are, and how many different classifiers answer for them.

    Parameters
    ----------
    run : path
        The run's folder.
    store : Store
        Results and answers so far. What they do not suffice for is left out.
    test, train : ImageCollection
        The test cases of the store, and the labelled images on which `memory` was fitted.
    memory, model
        A fitted memory classifier, and what it is called in the store.
    make : function of corruption and severity
        The test images under a condition.
    contender : (recipe, backbone, seed)
        Of `memory` and of the baseline that it is held against.
    others : mapping from name to fitted classifier, or None
        More models for the opening, which the store does not know; they are asked about its two images.
    seed : int
    n_routes, n_overlays : int

    Returns
    -------
    Path
        Of ``exhibits.json``.
    """
    if test.labels is None or train.labels is None:
        raise ValueError("exhibits show true labels; test and train need them")
    if len(train) != len(memory.labels_):
        raise ValueError(f"train holds {len(train)} images, but the memory classifier was fitted on others")
    show = _Show(Path(run), store, test, train, memory, model, make, contender)
    rng = [np.random.default_rng([seed, part]) for part in range(5)]  # no part's draws depend on another part
    opening = show.opening(rng[0], others or {})
    routes = show.routes(rng[1], n_routes)
    exhibits = {
        "opening": opening,
        "memories": show.memories(rng[2], {route["nearest"] for route in routes}),
        "routes": routes,
        "overlays": show.overlays(rng[3], n_overlays),
        "hardest": show.hardest(rng[4]),
        "local": {
            "memories": len(memory.memory_indices_),
            "classifiers": len(np.unique(memory.pool_.trained_with)),
        },
    }
    return show.finish({name: part for name, part in exhibits.items() if part is not None})


class _Show:
    """What all parts need: answers by model and condition, images as they were under it, and a place for pictures."""

    def __init__(
        self,
        run: Path,
        store: Store,
        test: ImageCollection,
        train: ImageCollection,
        memory: MemoryClassifier,
        model: str,
        make: Callable[[str, int], ImageCollection],
        contender: tuple[str, str, int],
    ):
        self.run, self.test, self.train, self.memory = run, test, train, memory
        self.model, self.make, self.contender = model, make, contender
        self.keys = [_key(test, position) for position in range(len(test))]
        cases = store.cases()
        if cases is not None and cases.keys != self.keys:
            raise ValueError(
                f"test holds {len(test)} images that are not the {len(cases.keys)} test cases of the store"
            )
        self.classes = [] if cases is None else [str(label) for label in cases.classes]
        self.truth = np.array([]) if cases is None else cases.labels
        self.answers: dict[Name, dict[Condition, Array]] = {}
        for key, answers in store.answers().items():
            self.answers.setdefault(Name(*key[:4]), {})[Condition(*key[4:])] = answers
        self.mine = self.answers.get(Name(model, *contender), {})
        self.base = self.answers.get(Name(BASELINE, *contender), {})
        self._made: dict[Condition, ImageCollection] = {CLEAN: test}
        self._written: set[str] = set()

    # ---------------------------------------------------------------------------------------------- the parts

    def opening(self, rng: np.random.Generator, others: Mapping[str, Any]) -> dict[str, Any] | None:
        both = [condition for condition in self.base if condition in self.mine and condition != CLEAN]
        if not both or CLEAN not in self.base:
            return None
        right = {condition: answers == self.truth for condition, answers in self.base.items()}
        noise = sorted(c for c in both if c.corruption == NOISE)[-1:]
        worst = sorted(both, key=lambda c: (right[c].mean(), c))
        order = [*noise, *worst]
        condition = next((c for c in order if (right[CLEAN] & ~right[c]).any()), order[0])
        flips = np.flatnonzero(right[CLEAN] & ~right[condition])
        saved = self.mine[condition][flips] == self.truth[flips]
        usual = flips[saved == (2 * saved.sum() >= len(saved))]
        case = int(rng.choice(usual if len(flips) else np.arange(len(self.truth))))
        return {
            "condition": str(condition),
            "key": self.keys[case],
            "truth": self.classes[self.truth[case]],
            "clean": self._save("opening_clean", self.test[case], LARGE),
            "corrupted": self._save("opening_corrupted", self._images(condition)[case], LARGE),
            "flips": len(flips),
            "memory_right": int(saved.sum()),
            "answers": [*self._opening_answers(condition, case), *self._asked(others, condition, case)],
        }

    def _opening_answers(self, condition: Condition, case: int) -> list[dict[str, Any]]:
        """Of this contender's backbone and seed: its recipe first, of the other recipes baseline and memory only."""
        recipe, backbone, seed = self.contender
        names = []
        for name, seen in self.answers.items():
            same = name.recipe in (recipe, "")
            wanted = name.model in (*OPENING, self.model) if same else name.model in (BASELINE, self.model)
            if wanted and name.backbone in (backbone, "") and name.seed == seed and {CLEAN, condition} <= set(seen):
                names.append((not same, "" if same else name.recipe, [*OPENING, self.model].index(name.model), name))
        return [
            {
                "model": name.model,
                "recipe": name.recipe,
                "backbone": name.backbone,
                "clean": self._label(self.answers[name][CLEAN][case]),
                "corrupted": self._label(self.answers[name][condition][case]),
                "accuracy": float(np.mean(self.answers[name][condition] == self.truth)),
            }
            for *_, name in sorted(names)
        ]

    def _asked(self, others: Mapping[str, Any], condition: Condition, case: int) -> list[dict[str, Any]]:
        recipe, backbone, _ = self.contender
        known = {name.model for name in self.answers}
        asked = []
        for model, classifier in others.items():
            if model not in known:
                said = [str(classifier.predict(self._images(c)[[case]])[0]) for c in (CLEAN, condition)]
                clean, corrupted = (each if each in self.classes else "unknown" for each in said)
                asked.append({"model": model, "recipe": recipe, "backbone": backbone,
                              "clean": clean, "corrupted": corrupted, "accuracy": None})  # fmt: skip
        return asked

    def routes(self, rng: np.random.Generator, n: int) -> list[dict[str, Any]]:
        corrupted = _spread([c for c in sorted(self.mine) if c != CLEAN], rng)
        n_clean = 0 if CLEAN not in self.mine else -(-n // 3) if corrupted else n
        used: set[int] = set()
        picked = [*self._in_turn([CLEAN], n_clean, used, rng), *self._in_turn(corrupted, n - n_clean, used, rng)]
        shown: list[dict[str, Any]] = []
        for condition in dict.fromkeys(condition for condition, _ in picked):
            rows = [row for where, row in picked if where == condition]
            images = self._images(condition)
            for row, way in zip(rows, self._of_some(self.memory.route, images, rows), strict=True):
                shown.append(
                    {
                        "model": self.model,
                        "condition": str(condition),
                        "picture": self._save(f"route_{len(shown)}", images[row], MEDIUM),
                        "key": self.keys[row],
                        "truth": self.classes[self.truth[row]],
                        "memory": way.memory,
                        "nearest": way.nearest,  # where memory is -1: the one that was not similar enough
                        "similarity": way.similarity,
                        "threshold": way.threshold,
                        "answer": self._label(self.mine[condition][row]),
                        "baseline_answer": self._label(self.base[condition][row]) if condition in self.base else None,
                    }
                )
        return shown

    def _in_turn(
        self, conditions: list[Condition], n: int, used: set[int], rng: np.random.Generator
    ) -> Iterable[tuple[Condition, int]]:
        """Cases answered rightly and wrongly in turn, each from the next condition; no case twice if it can be."""
        for turn in range(n if conditions else 0):
            start = turn % len(conditions)
            cycle = [*conditions[start:], *conditions[:start]]
            for right, condition in ((right, c) for right in (turn % 2 == 0, turn % 2 == 1) for c in cycle):
                rows = np.flatnonzero((self.mine[condition] == self.truth) == right)
                rows = rows[~np.isin(rows, list(used))]
                if len(rows):
                    row = int(rng.choice(rows))
                    used.add(row)
                    yield condition, row
                    break

    def memories(self, rng: np.random.Generator, needed: set[int]) -> list[dict[str, Any]]:
        clf, labels = self.memory, np.asarray(self.train.labels)
        shown: list[dict[str, Any]] = []
        for k in sorted({*range(min(MEMORIES, len(clf.memory_indices_))), *needed}):
            row = int(clf.memory_indices_[k])
            rows = np.flatnonzero(clf.labels_ == k)
            rows = rng.permutation(rows[rows != row])
            rows = rows[np.argsort(-clf.search_result_.similarity[rows], kind="stable")]
            half = MEMBERS // 2
            ends = rows if len(rows) <= MEMBERS else [*rows[:half], *rows[-half:]]
            counts = zip(clf.classes_.tolist(), clf.cluster_counts_[k].tolist(), strict=True)
            shown.append(
                {
                    "model": self.model,
                    "number": k,
                    "picture": self._save(f"memory_{k}", self.train[row], MEDIUM),
                    "key": _key(self.train, row),
                    "label": str(labels[row]),
                    "cases": int(clf.cluster_counts_[k].sum()),
                    "threshold": float(clf.thresholds_[k]),
                    "classes": {str(label): count for label, count in counts if count},
                    "members": [
                        self._save(f"memory_{k}_member_{number}", self.train[int(member)], SMALL)
                        for number, member in enumerate(ends)
                    ],
                    "classifier": self._who_answers(k),
                }
            )
        return shown

    def _who_answers(self, k: int) -> str:
        """What a memory's local classifier is, in words."""
        pool, estimator = self.memory.pool_, self.memory.estimators_[k]
        kind, home = _kind(estimator), int(pool.trained_with[k])
        if pool.origins[k] == "handed to global":
            return f"the global {kind} answers"
        origin = pool.origins[home]
        if origin == "constant":
            return f"always answers {words.label(estimator.classes_[0], words.numbered(self.classes))}"
        sharing = [f"memory {j}" for j in np.flatnonzero(pool.trained_with == home) if j != k]
        begun = ", trained on from the global one" if origin == "global" else ""
        if not sharing:
            return f"its own {kind} answers{begun}"
        everyone = len(sharing) == len(pool.origins) - 1 > 1
        return f"shares one {kind} with {'the other memories' if everyone else words.listed(sharing)}{begun}"

    def overlays(self, rng: np.random.Generator, n: int) -> list[dict[str, Any]]:
        feature = feature_of(self.memory.similarity_)
        if feature is None or n < 1:
            return []
        looked_at = rng.permutation(len(self.test))[:LOOKED_AT].tolist()
        case = max(looked_at, key=lambda row: much_to_see(feature, self.test, row))
        shown: list[dict[str, Any]] = []
        for number, condition in enumerate([CLEAN, *_different(self.mine)][:n]):
            images = self._images(condition)
            masks = feature.masks(images[case], None if images.info is None else images.info[case])
            if not masks:
                return []
            names = map(str, feature.get_feature_names_out())
            values = self._of_some(feature.transform, images, [case])[0].tolist()
            shown.append(
                {
                    "condition": str(condition),
                    "key": self.keys[case],
                    "picture": self._save(f"overlay_{number}", outlined(images[case], masks), None),
                    "legend": [
                        {"name": name, "colour": "#{:02x}{:02x}{:02x}".format(*colour), "share": float(mask.mean())}
                        for (name, mask), colour in zip(masks.items(), colours(len(masks)), strict=True)
                    ],
                    "numbers": {name: v if np.isfinite(v) else None for name, v in zip(names, values, strict=True)},
                }
            )
        return shown

    def hardest(self, rng: np.random.Generator) -> list[dict[str, Any]]:
        rivals = [each for name, each in self.answers.items() if name.model in (BASELINE, self.model)]
        seen = [{c: said for c, said in each.items() if c != CLEAN} or each for each in rivals]
        if not seen:
            return []
        wrong = np.mean([np.mean([a != self.truth for a in each.values()], axis=0) for each in seen], axis=0)
        said = np.concatenate([np.stack(list(each.values())) for each in seen])
        lot = rng.permutation(len(wrong))
        order = lot[np.argsort(-wrong[lot], kind="stable")][:HARDEST]
        shown: list[dict[str, Any]] = []
        for number, row in enumerate(order[wrong[order] > 0].tolist()):
            codes, counts = np.unique(said[said[:, row] != self.truth[row], row], return_counts=True)
            shown.append(
                {
                    "key": self.keys[row],
                    "picture": self._save(f"hardest_{number}", self.test[row], MEDIUM),
                    "truth": self.classes[self.truth[row]],
                    "wrong_share": float(wrong[row]),
                    "mostly_answered": " or ".join(map(self._label, codes[counts == counts.max()])),
                }
            )
        return shown

    # ------------------------------------------------------------------------------------------------- helpers

    def finish(self, exhibits: dict[str, Any]) -> Path:
        path = self.run / "exhibits.json"
        unfinished = path.with_name("exhibits.json.part")
        self.run.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(json.dumps(exhibits, indent=1, ensure_ascii=False, allow_nan=False) + "\n", "utf-8")
        os.replace(unfinished, path)
        for picture in (self.run / "exhibits").glob("*.*"):  # of exhibits that are no more
            if picture.name not in self._written and picture.suffix in (".png", ".jpg"):
                picture.unlink()
        return path

    def _images(self, condition: Condition) -> ImageCollection:
        if condition not in self._made:
            made = self.make(*condition)
            if len(made) != len(self.test):
                raise ValueError(f"{condition} has {len(made)} images, the clean test set {len(self.test)}")
            self._made = {CLEAN: self.test, condition: made}  # one at a time: test sets may be large
        return self._made[condition]

    def _of_some(self, function: Any, images: ImageCollection, rows: list[int]) -> list[Any]:
        """What a function of images says of these; of all of them, where numbers depend on the other images."""
        feature = feature_of(self.memory.similarity_)
        if feature is None or not relates(feature):
            return list(function(images[rows]))
        found = function(images)
        return [found[row] for row in rows]

    def _label(self, code: Any) -> str:
        return "unknown" if code < 0 else self.classes[int(code)]

    def _save(self, name: str, image: Any, side: int | None) -> str:
        """Writes a picture at display size, and gives its path relative to the run."""
        from PIL import Image

        folder = self.run / "exhibits"
        folder.mkdir(parents=True, exist_ok=True)
        picture = Image.fromarray(np.asarray(image if side is None else sized(image, side)))
        content, suffix = packed(picture, format="PNG", optimize=True), ".png"
        if len(content) > SHARP:
            content, suffix = packed(picture, format="JPEG", quality=85, subsampling=0), ".jpg"
        (folder / f"{name}{suffix}").write_bytes(content)
        self._written.add(f"{name}{suffix}")
        return f"exhibits/{name}{suffix}"


def _key(images: ImageCollection, position: int) -> str:
    key = images.key(position)
    return f"case {position}" if key is None else str(key)


def _kind(estimator: Any) -> str:
    steps = getattr(estimator, "steps", None)
    name = type(steps[-1][1] if steps else estimator).__name__
    return {"ImageClassifier": "network"}.get(name, name)


def _spread(conditions: list[Condition], rng: np.random.Generator) -> list[Condition]:
    """In an order drawn by lot, but every corruption once before any comes again."""
    drawn = [conditions[k] for k in rng.permutation(len(conditions))]
    seen: dict[str, int] = {}
    rounds = []
    for condition in drawn:
        seen[condition.corruption] = seen.get(condition.corruption, 0) + 1
        rounds.append(seen[condition.corruption])
    return [drawn[k] for k in np.argsort(rounds, kind="stable")]


def _different(conditions: Iterable[Condition]) -> list[Condition]:
    """Conditions of different kinds: one of each kind, then the next of each; severity 3 or near it."""
    by_name: dict[str, list[Condition]] = {}
    for condition in conditions:
        if condition != CLEAN:
            by_name.setdefault(condition.corruption, []).append(condition)
    chosen = {name: min(each, key=lambda c: (abs(c.severity - 3), -c.severity)) for name, each in by_name.items()}
    kinds = [[chosen[name] for name in kind if name in chosen] for kind in KINDS]
    known = {name for kind in KINDS for name in kind}
    kinds.append([condition for name, condition in sorted(chosen.items()) if name not in known])
    return [kind[k] for k in range(max(map(len, kinds))) for kind in kinds if k < len(kind)]
