"""Print sizes, class frequencies, and how good plain classifiers are on cases like training.

"AUC" is that of the better one, each class against the others.
"""

import sys

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.pipeline import make_pipeline

from . import DATASETS

HEADS = ["name", "train", "test", "shifted", "columns", "classes: training -> shifted, %", "majority"]
HEADS += ["logistic", "forest", "forest, balanced", "AUC"]


def frequencies(y: np.ndarray, classes: np.ndarray) -> str:
    """The shares of the classes in percent."""
    return "/".join(f"{100 * np.mean(y == each):.0f}" for each in classes)


def main() -> None:
    print("| " + " | ".join(HEADS) + " |")
    print("|---" * len(HEADS) + "|")
    for name in sys.argv[1:] or DATASETS:
        data = DATASETS[name]
        data.load(1)
        s = data.load(0)
        classes, counts = np.unique(s.y_train, return_counts=True)
        most = np.mean(s.y_test == classes[counts.argmax()])
        linear = make_pipeline(data.preprocess(), LogisticRegression(max_iter=1_000)).fit(s.X_train, s.y_train)
        forest = data.plain(0).fit(s.X_train, s.y_train)
        rates = [most, linear.score(s.X_test, s.y_test), forest.score(s.X_test, s.y_test)]
        rates.append(balanced_accuracy_score(s.y_test, forest.predict(s.X_test)))
        truth = s.y_test[:, None] == classes
        rates.append(max(roc_auc_score(truth, model.predict_proba(s.X_test)) for model in (linear, forest)))
        moved = f"{', '.join(classes)}: {frequencies(s.y_train, classes)} -> {frequencies(s.y_shifted, classes)}"
        sizes = [len(s.y_train), len(s.y_test), len(s.y_shifted), s.X_train.shape[1]]
        print(
            "| " + " | ".join(map(str, [name, *sizes, moved, *(f"{100 * each:.1f}" for each in rates)])) + " |",
            flush=True,
        )


if __name__ == "__main__":
    main()
