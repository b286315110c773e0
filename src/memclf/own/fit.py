"""From a user's data to a memory classifier, and an honest comparison with a plain model."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from memclf._progress import say
from memclf.answers import AutoAnswer
from memclf.answers.auto import METRICS
from memclf.cases import Memory
from memclf.cases.store import Store as CacheStore
from memclf.classifier import MemoryClassifier
from memclf.data import TrainingCases, read_training
from memclf.evaluate import Results, StageOne, Store, evaluate_held_out, keep_answered
from memclf.evaluate.store import BASELINE, CLEAN, ModelId
from memclf.exceptions import DataError, OptionError
from memclf.own.advice import AS_PLAIN, MAJORITY, MEMORY, NAMES, STAGE_ONE, Advice, advise, order
from memclf.own.defaults import NETWORK, make_classifier
from memclf.own.named import find_estimator, find_similarity
from memclf.persist import save
from memclf.persist.folder import check_target

FOLDS = 5
AUTO, GLOBAL, LABELS = "auto", "global", "labels"
BOTH = "both"  # accuracy and balanced accuracy
TEXTS = (
    "holds texts, and memclf has no model of texts by itself. Turn each text into numbers with a sentence embedder "
    "(pip install sentence-transformers), write them as columns of a .parquet file beside the target, and give "
    "--similarity cosine"
)


@dataclass(frozen=True)
class Comparison:
    """Held-out answers of the contenders, and what follows from them.

    Attributes
    ----------
    results : Results
        About all cases; unknown is an error.
    answered : Results
        About those cases that the memory classifier answers, for all contenders.
    share : float
        How many these are.
    advice : Advice
    """

    results: Results
    answered: Results
    share: float
    advice: Advice

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per contender: accuracies with intervals, coverage, and both over answered cases."""
        found = []
        for name in order(list(self.results.contenders)):
            row: dict[str, Any] = {"contender": name.model, "name": NAMES[name.model]}
            for key, results in (("", self.results), ("answered_", self.answered)):
                for measure, balanced in (("accuracy", False), ("balanced_accuracy", True)):
                    mean = results.mean(name, [CLEAN], balanced=balanced)
                    row[key + measure] = None if mean is None else mean._asdict()
            row["coverage"] = self.results.measure(name, "coverage", [CLEAN])
            found.append(row)
        return found

    @property
    def differences(self) -> dict[str, Any]:
        """Memory classifier minus the others, paired, on the cases that it answers."""
        others = [name.model for name in order(list(self.answered.contenders)) if name.model != MEMORY]
        return {
            other: {
                "accuracy": _as_dict(self.answered.gain(MEMORY, other, [CLEAN])),
                "balanced_accuracy": _as_dict(self.answered.gain(MEMORY, other, [CLEAN], balanced=True)),
            }
            for other in others
        }


@dataclass(frozen=True)
class FittedData:
    """What `fit_data` made: the classifier, its data, and the comparison on held-out folds."""

    classifier: MemoryClassifier
    data: TrainingCases
    comparison: Comparison
    model: Path | None

    def as_dict(self) -> dict[str, Any]:
        """All of it that a script needs, as JSON can hold it."""
        data, found = self.data, self.comparison
        labels, counts = _count(data.target)
        return {
            "data": str(data.path),
            "kind": data.kind,
            "model": None if self.model is None else str(self.model),
            "cases": len(data.target),
            "classes": dict(zip(map(str, labels), counts, strict=True)),
            "memories": len(self.classifier.memory_indices_),
            "who": self.classifier.answer_.say_who(),
            "notes": list(data.notes),
            "broken": list(data.broken),
            "contenders": found.rows,
            "answered": found.share,
            "memory_minus": found.differences,
            "use": found.advice.use,
            "advice": found.advice.sentence,
        }


def fit_data(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    target: str | None = None,
    groups: str | None = None,
    features: Any = None,
    similarity: str | None = None,
    estimator: str | None = None,
    answer: str = "auto",
    metric: str = "both",
    unknown_rate: float | None = 0.05,
    seed: int = 0,
    skip_broken: bool = False,
    keep_training: bool = False,
    cache: str | os.PathLike[str] | None = None,
    folds: int = FOLDS,
    verbose: int | None = None,
) -> FittedData:
    """Fit a memory classifier on a user's data, and compare it with a plain model.

    Parameters
    ----------
    path : path
        A folder with one subfolder of images per class, a CSV file that lists images, or a table; see
        `memclf.data.read_training`, which also takes `target`, `groups` and `skip_broken`.
    out : path or None
        The model folder. None: the classifier is not saved.
    features : path, transformer or None
        A SPEC of measurements, for images, or what `read_spec` made of one.
    similarity, estimator : str or None
        A name of memclf, or module:object of one's own, which is imported. None: what `memclf.own.defaults` says.
    answer : str
        See `MemoryClassifier`.
    metric : "accuracy", "balanced_accuracy" or "both"
        What the answer "auto" is to be good at; see `AutoAnswer`.
    unknown_rate : float or None
        The share of cases like these that may be answered unknown. None: every case is answered.
    seed : int
    keep_training : bool
        Save the training cases with the classifier, so that it can be edited without them.
    cache : path or None
        Folder that keeps what is measured about images, and what networks make of them, for other fits.
    folds : int
        Every case is held out once.
    verbose : int or None
        Show progress. None: on a terminal.
    """
    data = read_training(Path(path), target, groups, skip_broken=skip_broken)
    return fit_cases(
        data,
        out,
        features=features,
        similarity=similarity,
        estimator=estimator,
        answer=answer,
        metric=metric,
        unknown_rate=unknown_rate,
        seed=seed,
        keep_training=keep_training,
        cache=cache,
        folds=folds,
        verbose=verbose,
    )


def fit_cases(
    data: TrainingCases,
    out: str | os.PathLike[str] | None = None,
    *,
    features: Any = None,
    similarity: Any = None,
    estimator: str | None = None,
    answer: str = "auto",
    metric: str = "both",
    unknown_rate: float | None = 0.05,
    seed: int = 0,
    keep_training: bool = False,
    cache: str | os.PathLike[str] | None = None,
    folds: int = FOLDS,
    verbose: int | None = None,
) -> FittedData:
    """Do what `fit_data` does, on cases that were read already.

    Parameters
    ----------
    data : TrainingCases
    features : path, transformer or None
        Measurements of images, or the SPEC that names them.
    similarity : str, similarity or None
        By name as in `fit_data`, or the similarity itself.
    out, estimator, answer, metric, unknown_rate, seed, keep_training, cache, folds, verbose
        As in `fit_data`.
    """
    if out is not None:
        check_target(Path(out))
    if data.groups is not None and (many := len(set(data.groups))) < folds:
        raise DataError(
            f"the groups of {data.path} are {many}, and {folds} held-out folds need at least {folds}, since a group "
            "stays together; give a column that cuts the cases finer, or none"
        )
    rule = _find_rule(answer, metric)
    make_memory, plain = _contenders(data, features, similarity, estimator, rule, unknown_rate, seed)
    cases = data.cases
    if data.kind == "images":  # described once for all folds, by the workers of a cluster if there is one
        cases = cases.remembered(None if cache is None else Memory(len(cases), CacheStore(cache)), spread=True)
    elif cache is not None:
        raise OptionError(f"--cache keeps what is measured about images, but {data.path} holds none")
    extra = {} if data.groups is None else {"groups": data.groups}
    say(f"fitting on all {len(data.target):,} cases", verbose)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", UserWarning)
        clf = make_memory(len(data.target)).fit(cases, data.target, **extra)
    model = None if out is None else save(clf, out, training=keep_training)
    store = evaluate_held_out(
        {
            MAJORITY: lambda n: DummyClassifier(strategy="most_frequent"),
            BASELINE: lambda n: clone(plain),
            MEMORY: make_memory,
        },
        cases,
        data.target,
        cv=folds,
        groups=data.groups,
        derive=lambda fitted: {} if answer == LABELS else {STAGE_ONE: StageOne(fitted[MEMORY])},
        random_state=seed,
        verbose=verbose,
    )
    notes = dict.fromkeys(
        (*data.notes, *_find_single_cases(data.target), *(f"Note: {each.message}" for each in raised))
    )
    return FittedData(clf, replace(data, notes=tuple(notes)), compare_answers(store, answer), model)


def compare_answers(store: Store, answer: str) -> Comparison:
    """What held-out answers say: a table, paired differences, and which contender to use."""
    results = Results(store)
    share = results.measure(ModelId(MEMORY), "coverage", [CLEAN])
    if not share:
        raise DataError(
            "the memory classifier answered none of the held-out cases; a higher --unknown-rate, or 0 for none"
        )
    answered = results if share == 1 else Results(keep_answered(store, MEMORY))
    return Comparison(results, answered, share, AS_PLAIN if answer == GLOBAL else advise(answered, share))


def _contenders(
    data: TrainingCases,
    features: Any,
    similarity: Any,
    estimator: Any,
    answer: Any,
    unknown_rate: float | None,
    seed: int,
) -> tuple[Any, Any]:
    """A function that makes the memory classifier for n cases, and the plain model."""
    if data.kind == "texts":
        raise DataError(f"{data.path} {TEXTS}")
    measured = None
    if features is not None:
        if data.kind != "images" or isinstance(similarity, str):  # an object may compare these very measurements
            why = (
                "--similarity says already what is compared"
                if data.kind == "images"
                else f"{data.path} holds no images"
            )
            raise OptionError(f"--features names measurements of images, but {why}")
        measured = _read_features(features)
    alike = find_similarity(similarity, data.kind, measured)
    plain = find_estimator(estimator, data.kind, seed, measured)
    start = "global" if data.kind == "images" and estimator in (None, NETWORK) else "fresh"  # one backbone for all

    def make_memory(n: int) -> MemoryClassifier:
        return make_classifier(n, alike, plain, answer=answer, unknown_rate=unknown_rate, start=start, seed=seed)

    return make_memory, plain


def _find_rule(answer: str, metric: str) -> Any:
    """Who answers, as `MemoryClassifier` takes it."""
    if metric == BOTH:
        return answer
    if metric not in METRICS:
        raise OptionError(f"--metric must be one of {', '.join(METRICS)}; got {metric!r}")
    if answer != AUTO:
        raise OptionError(f"--metric says what the answer auto is to be good at, but {answer} answers")
    return AutoAnswer(metric=metric)


def _read_features(features: Any) -> Any:
    if not isinstance(features, (str, os.PathLike)):
        return features
    from memclf.vision.features import read_spec

    return read_spec(features)


def _find_single_cases(target: Any) -> list[str]:
    single = [repr(label) for label, n in zip(*_count(target), strict=True) if n == 1]
    if not single:
        return []
    named = f"class {single[0]} has" if len(single) == 1 else f"classes {', '.join(single)} have"
    return [
        f"Note: {named} a single case: while that is held out no model knows the class, so every answer to it is wrong"
    ]


def _count(target: Any) -> tuple[list[Any], list[int]]:
    import numpy as np

    labels, counts = np.unique(target, return_counts=True)
    return labels.tolist(), counts.tolist()


def _as_dict(interval: Any) -> dict[str, float] | None:
    return None if interval is None else dict(interval._asdict())
