"""Measure cases as they are, mildly changed and corrupted, and score every measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, train_test_split
from sklearn.utils.validation import check_is_fitted, column_or_1d

from memclf._numbers import Array
from memclf._progress import track
from memclf.cases import Cases, Collection
from memclf.cases.shifts import can_shift_rows, list_kinds, perturb_rows, shift_rows
from memclf.evaluate.inspection import scores
from memclf.evaluate.inspection.result import (
    REPEATS,
    STEADY,
    TELLS,
    TELLS_BESIDE,
    FeatureInspection,
    Inspected,
    Verdict,
    worth,
)
from memclf.protocols import Inspects, transforms
from memclf.similarity.features import list_steps

MOST, MOST_ROWS = 200, 2000  # cases: of collections, which take long to measure, and of others
CORRUPTED = 40  # cases of a collection under each corruption
TIMES = 2  # how often each case is changed mildly
FOLDS = 5


def inspect_features(
    features: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    severity: int = 3,
    random_state: int = 0,
    verbose: int | None = None,
) -> FeatureInspection:
    """Find out which measurements will survive the field.

    For each: how well it tells the classes apart by itself, how steady it is when the cases change a little, and how
    much it has in common with the others. Choose by these three. How steady it is under each corruption is reported as
    well, but is no ground to choose by: what is chosen on the corruptions that it is judged by later looks better than
    it is.

    Separation is the balanced accuracy of a small tree on this measurement alone, on held-out cases, rescaled so that 0
    is chance. A tree, since a measurement may say most in the middle of its range, which a rank statistic (AUC) does
    not see; and since it is how `TreeSimilarity` would use it. Its interval, 95 %, says how far it may be off with so
    few cases; where it may be luck, among as many measurements as there are, the verdict is "unsure". Steadiness is how
    far a case moves beside how far two cases are apart. Unlike a correlation it sees when all cases move the same way,
    which no threshold survives.

    Parameters
    ----------
    features : transformer or None
        Expert features, a column transformer, an embedding of texts, a pipeline. If it is not fitted, a copy is fitted
        on the cases. None: the columns of X themselves.
    X, y : cases and their classes
        Images (an `ImageCollection`, arrays, paths), a table, an array, a sparse matrix; texts and other objects have
        no steadiness. At most 200 images (40 of them under each corruption) or 2,000 other cases are drawn from them,
        with all classes in proportion.
    groups : array or None
        Cases of one group (a face, a plant) are never on both sides of a fold.
    severity : int
        Of the corruptions, 1 to 5.
    random_state : int
        For the draw of cases, folds and changes.
    verbose : int or None
        Show a progress bar.

    Examples
    --------
    >>> from memclf import inspect_features
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["a", "b"], 50)
    >>> X = np.column_stack([rng.normal(3 * (y == "b"), 1), rng.normal(size=100), rng.normal(size=100)])
    >>> found = inspect_features(None, X, y)
    >>> [each.verdict for each in found.measurements]
    ['good', 'says little', 'says little']
    """
    classes, codes = _check_classes(y)
    cases = Cases.of(X)
    if len(cases) != len(codes):
        raise ValueError(f"there are {len(cases)} cases and {len(codes)} classes; each case needs one")
    first = None if features is None else list_steps(features)[0]
    data = cases.given_to(first)
    images = isinstance(data, Collection)
    rows = _draw(codes, MOST if images else MOST_ROWS, random_state)
    codes, data = codes[rows], Cases.of(data).take(rows).data
    fitted = _fitted(features, data, codes)
    groups = None if groups is None else np.asarray(groups)[rows]
    folds = _make_folds(codes, groups, random_state)

    some = _draw(codes, CORRUPTED, random_state + 1) if images else np.arange(len(codes))
    mild, corrupted, labels = _changes(data, some, severity, random_state)
    conditions = [data, *mild, *corrupted.values()]
    measured = [
        _measure(fitted, each)
        for each in track(conditions, total=len(conditions), what="measuring under conditions", verbose=verbose)
    ]
    values = measured[0]
    names = _names(fitted, values.shape[1])
    if not values.shape[1]:
        raise ValueError("the features give no numbers, so there is nothing to inspect")
    measured = [scores.fill_gaps(each, values) for each in measured]
    values, gentle, rough = measured[0], measured[1 : 1 + len(mild)], measured[1 + len(mild) :]

    shared, predictable = scores.overlap(values)
    found, sure = [], []
    for j, name in enumerate(names):
        column = values[:, j]
        versions = []
        for each in rough:
            version = np.full(len(codes), np.nan)
            version[some] = each[:, j]
            versions.append(version)
        said, *under = scores.classify(column, codes, folds, versions)
        steady = {
            kind: scores.steadiness(column[some], [each[:, j]], column)
            for kind, each in zip(corrupted, rough, strict=True)
        }
        found.append(
            Inspected(
                name=name,
                separation=scores.separation(said, codes),
                interval=scores.separation_interval(said, codes, groups),
                steadiness=scores.steadiness(column, [each[:, j] for each in gentle], column) if gentle else None,
                corrupted=steady,
                corrupted_separation=float(np.mean([scores.separation(each, codes) for each in under]))
                if under
                else None,
                overlap=float(shared[j].max()),
                overlaps_with=names[int(shared[j].argmax())] if shared[j].any() else "",
                predictable=float(predictable[j]),
            )
        )
        sure.append(scores.separation_interval(said, codes, groups, len(names))[0] > 0)
    return FeatureInspection(
        tuple(replace(each, verdict=_judge(found, sure, shared, j)) for j, each in enumerate(found)),
        n_cases=len(codes),
        n_corrupted=len(some) if corrupted else 0,
        classes=tuple(map(str, classes)),
        severity=severity if images and corrupted else None,
        labels=labels,
    )


def _check_classes(y: Any) -> tuple[Array, Array]:
    classes, codes = np.unique(column_or_1d(y), return_inverse=True)
    counts = np.bincount(codes) if len(codes) else np.zeros(1)
    if len(classes) < 2 or counts.min() < 2:
        raise ValueError(
            f"inspect_features needs at least two classes with two cases each, got "
            f"{', '.join(f'{n} of {name}' for name, n in zip(classes, counts, strict=False)) or 'no cases'}"
        )
    return classes, codes


def _draw(codes: Array, most: int, seed: int) -> Array:
    """So many cases at most, with all classes in proportion and at least two cases of each."""
    classes = len(np.unique(codes))
    most = max(most, classes)
    if len(codes) <= most + classes:  # too few would be left out to leave some of each class out
        return np.arange(len(codes))
    kept, left = train_test_split(np.arange(len(codes)), train_size=most, stratify=codes, random_state=seed)
    for code in np.unique(codes):
        short = 2 - np.count_nonzero(codes[kept] == code)
        if short > 0:
            kept = np.concatenate([kept, left[codes[left] == code][:short]])
    return np.sort(kept)


def _make_folds(codes: Array, groups: Array | None, seed: int) -> list[tuple[Array, Array]]:
    count = int(min(FOLDS, np.bincount(codes).min()))
    if groups is None:
        return list(StratifiedKFold(count, shuffle=True, random_state=seed).split(codes[:, None], codes))
    count = min(count, len(np.unique(groups)))
    if count < 2:
        raise ValueError("all cases are of one group, so none can be held out; leave groups out or give more of them")
    return list(StratifiedGroupKFold(count, shuffle=True, random_state=seed).split(codes[:, None], codes, groups))


def _fitted(features: Any, data: Any, codes: Array) -> Any:
    """The features, fitted: as they are where they are fitted already, else a fitted copy."""
    if features is None:
        return None
    if not transforms(features):
        raise TypeError(
            f"features must be a transformer, got {features!r}; for a function of one image: "
            "memclf.vision.features.measure(f), for columns of a table: sklearn's ColumnTransformer"
        )
    try:
        check_is_fitted(features)
    except NotFittedError:
        return clone(features).fit(data, codes)
    return features


def _changes(data: Any, some: Array, severity: int, seed: int) -> tuple[list[Any], dict[str, Any], dict[str, str]]:
    """Mildly changed versions of all cases, corrupted ones of some, and what these are called."""
    if isinstance(data, Collection):
        labels = {name: str(about["label"]) for name, about in data.corruption_labels().items()}
        mild = [data.perturbed(seed=seed + number) for number in range(TIMES)]
        return mild, {name: data[some].corrupted(name, severity) for name in labels}, labels
    if not can_shift_rows(data):
        return [], {}, {}
    mild = [perturb_rows(data, seed + number) for number in range(TIMES)]
    corrupted = {kind: shift_rows(data, seed, [kind]) for kind in list_kinds(data)}
    names = {"noise": "Noise", "scale": "Scale error", "another": "Values of other cases", "gap": "Gaps"}
    return mild, corrupted, {kind: names[kind] for kind in corrupted}


def _measure(features: Any, data: Any) -> Array:
    """One row of numbers per case; of expert features with their details."""
    if features is None:
        found = data
    else:
        found = features.inspect(data) if isinstance(features, Inspects) else features.transform(data)
    found = found.toarray() if issparse(found) else found
    try:
        rows = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the features must give numbers ({error}); for words in a table use sklearn's ColumnTransformer with an "
            "encoder"
        ) from error
    if rows.ndim != 2:
        raise ValueError(f"the features must give one row of numbers per case, got shape {rows.shape}")
    return rows


def _names(features: Any, width: int) -> list[str]:
    try:
        more = isinstance(features, Inspects)
        names = [str(name) for name in (*features.get_feature_names_out(), *(features.details if more else ()))]
    except (AttributeError, ValueError):  # not all transformers know the names of their columns
        names = []
    return names if len(names) == width else [f"column {number}" for number in range(width)]


def _judge(found: Sequence[Inspected], sure: Sequence[bool], shared: Array, j: int) -> Verdict:
    """The verdict on one measurement beside the others."""
    each = found[j]
    best = max(other.separation for other in found)
    if each.separation < max(TELLS, TELLS_BESIDE * best):
        return "says little"
    if not sure[j]:
        return "unsure"
    if each.steadiness is not None and each.steadiness < STEADY:
        return "fragile"
    alike = np.flatnonzero(shared[j] >= REPEATS)
    return "repeats" if any((worth(found[k]), -k) > (worth(each), -j) for k in alike.tolist()) else "good"
