"""Print what the data sets are: sizes, classes, majorities and how far similarities fall off in training."""

import sys

import numpy as np

from . import DATASETS


def majority(y: np.ndarray) -> str:
    """The share of the most frequent class."""
    return f"{np.unique(y, return_counts=True)[1].max() / len(y):.2f}"


def median_similarity(data, X_train, y_train) -> float:
    """The median similarity of pairs among at most 500 training cases."""
    some = np.sort(np.random.default_rng(0).permutation(len(X_train))[:500])
    similarity = data.similarity().fit(X_train, y_train)
    Z = similarity.describe(X_train.iloc[some] if hasattr(X_train, "iloc") else X_train[some])
    return float(np.median(similarity.compare(Z, Z)[np.triu_indices(len(some), 1)]))


def main() -> None:
    names = sys.argv[1:] or list(DATASETS)
    heads = [
        "name",
        "train",
        "test",
        "shifted",
        "unseen",
        "columns",
        "classes",
        "largest class in each",
        "median similarity",
    ]
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for name in names:
        data = DATASETS[name]
        if data.find_missing():  # the folders of images are given to earn.py alone
            continue
        s = data.load(0)
        sizes = [len(s.y_train), len(s.y_test), len(s.y_shifted), 0 if s.X_unseen is None else len(s.X_unseen)]
        same = ", ".join(majority(y) for y in (s.y_train, s.y_test, s.y_shifted))
        columns = "" if data.kind == "images" else s.X_train.shape[1]
        alike = f"{median_similarity(data, s.X_train, s.y_train):.2f}"
        cells = [name, *sizes, columns, len(np.unique(s.y_train)), same, alike]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    for name in names:
        data = DATASETS[name]
        print(f"\n{name}: {data.title} ({data.kind}). {data.source}.\n  Shift: {data.shift}.\n  Alike: {data.reason}")


if __name__ == "__main__":
    main()
