"""What a contender is, for readers of the report: its kind, its settings, its versions."""

from __future__ import annotations

import inspect
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline

from memclf._version import __version__
from memclf.classifier import MemoryClassifier
from memclf.evaluate.controls import Ensemble, Measured, SoftenedNetwork, StageOne
from memclf.evaluate.kinds import shorten

# Distribution -> module: versions are told of what is in use.
PACKAGES = {
    "numpy": "numpy",
    "scikit-learn": "sklearn",
    "torch": "torch",
    "torchvision": "torchvision",
    "timm": "timm",
    "opencv-contrib-python-headless": "cv2",
}
VALUE = 100  # characters of a setting
# Not settings of the answer, only of how it is computed and shown.
SILENT = ("n_jobs", "verbose", "checkpoint")


def describe_model(estimator: Any) -> str:
    """What a classifier is, in a few words.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> describe_model(make_pipeline(StandardScaler(), LogisticRegression()))
    'StandardScaler + LogisticRegression'
    """
    if isinstance(estimator, MemoryClassifier):
        return _describe_memory_classifier(estimator)
    if isinstance(estimator, StageOne):
        return f"stage 1 of {describe_model(estimator.memory_classifier)}"
    if isinstance(estimator, Measured):
        return f"a classifier on the measurements of {describe_model(estimator.memory_classifier)}"
    if isinstance(estimator, SoftenedNetwork):
        return f"{name_kind(estimator.classifier)}, softened and times the class frequencies"
    if isinstance(estimator, Ensemble):
        return f"{len(estimator.classifiers)} times {name_kind(estimator.classifiers[0])}"
    return name_kind(estimator)


def _describe_memory_classifier(clf: MemoryClassifier) -> str:
    similarity = type(clf.similarity_).__name__
    features = clf.similarity_.get_params(deep=False).get("features") if _has_settings(clf.similarity_) else None
    if features is not None:
        similarity += f" of {_word(features)}"
    local = [each for each in clf.estimators_ if not isinstance(each, DummyClassifier)]
    estimator = name_kind(clf.estimator if clf.estimator is not None else local[0] if local else clf.estimators_[0])
    if "labels" in clf.pool_.origins:
        estimator = "labels alone"
    memories = len(clf.memory_indices_)
    return (
        f"MemoryClassifier({similarity}, {estimator}), {memories:,} {'memory' if memories == 1 else 'memories'} "
        f"of {len(clf.labels_):,} training cases"
    )


def name_kind(estimator: Any) -> str:
    """The name of an estimator's class; of a pipeline, of all its steps."""
    if isinstance(estimator, Pipeline):
        return " + ".join(name_kind(step) for _, step in estimator.steps if step not in (None, "passthrough"))
    if isinstance(estimator, Mapping):
        return ", ".join(dict.fromkeys(name_kind(each) for each in estimator.values()))
    return estimator if isinstance(estimator, str) else type(estimator).__name__


def list_settings(estimator: Any) -> dict[str, str]:
    """The parameters that differ from their defaults, those of parts as ``part__parameter``.

    >>> from sklearn.linear_model import LogisticRegression
    >>> list_settings(LogisticRegression(C=10, n_jobs=2))
    {'C': '10'}
    """
    if isinstance(estimator, (StageOne, Measured, SoftenedNetwork, Ensemble)) or not _has_settings(estimator):
        return {}  # controls are made from other contenders, which have their own settings
    found: dict[str, str] = {}
    for name, value in _changed(estimator).items():
        if isinstance(estimator, Pipeline) and name == "steps":
            for step, part in value:
                found |= {f"{step}__{inner}": text for inner, text in list_settings(part).items()}
            continue
        found[name] = _word(value)
        if not isinstance(value, type):
            found |= {f"{name}__{inner}": text for inner, text in list_settings(value).items()}
    return found


def _has_settings(estimator: Any) -> bool:
    return isinstance(estimator, BaseEstimator)


def _changed(estimator: BaseEstimator) -> dict[str, Any]:
    given = estimator.get_params(deep=False)
    defaults = inspect.signature(type(estimator).__init__).parameters
    return {
        name: value
        for name, value in given.items()
        if name not in SILENT and (name not in defaults or not _same(value, defaults[name].default))
    }


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and repr(value) == repr(default))


def _word(value: Any) -> str:
    """A parameter's value, short."""
    if isinstance(value, BaseEstimator):
        return name_kind(value)
    if isinstance(value, np.ndarray) and value.size > 10:
        return f"array of shape {value.shape}"
    if inspect.isroutine(value):
        return value.__name__
    return shorten(value if isinstance(value, str) else repr(value), VALUE)


def list_versions() -> dict[str, str]:
    """Versions of Python, memclf and the packages in use that answers depend on."""
    found = {"python": platform.python_version(), "memclf": __version__}
    for package in (name for name, module in PACKAGES.items() if module in sys.modules):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
