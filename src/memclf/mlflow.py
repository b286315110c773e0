"""Models in MLflow: `save_model`, `log_model` and `load_model` around a model folder.

Needs the extra ``mlflow``. The folder that `memclf.save` writes becomes the data of a generic Python function
("pyfunc"), so that ``mlflow.pyfunc.load_model`` and ``mlflow models serve`` work. They load only models that need no
trust: nothing in the folder can allow a type. Where a model holds a user's own types or functions, the caller of
`load_model` allows them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memclf._version import __version__
from memclf.cases import Collection, containers
from memclf.classifier import MemoryClassifier
from memclf.exceptions import MissingExtraError, ModelFolderError
from memclf.explain import answer_rows
from memclf.persist import load, save

DATA = "model"  # the model folder, below "data" in that of MLflow


def save_model(model: MemoryClassifier, path: str | os.PathLike[str], **options: Any) -> None:
    """Save a fitted memory classifier as a model of MLflow.

    Parameters
    ----------
    model : MemoryClassifier
    path : path
        A folder that does not exist yet.
    **options
        Go to ``mlflow.pyfunc.save_model``. By default the signature is that of the training table, the example is the
        first memory, and `pip_requirements` asks for this version of memclf. MLflow then refuses gaps in columns of
        whole numbers; a signature of your own can call them doubles.
    """
    with _prepared(model, options) as arguments:
        _pyfunc().save_model(path=os.fspath(path), **arguments)


def log_model(model: MemoryClassifier, name: str, **options: Any) -> Any:
    """Log a fitted memory classifier to the current run; returns what MLflow says about it.

    Parameters
    ----------
    model : MemoryClassifier
    name : str
        Of the logged model.
    **options
        Go to ``mlflow.pyfunc.log_model``, as ``registered_model_name="parts"``; see `save_model` for the defaults.
    """
    with _prepared(model, options) as arguments:
        return _pyfunc().log_model(name=name, **arguments)


def load_model(
    model_uri: str | os.PathLike[str], *, trusted: Iterable[Any] = (), functions: Mapping[str, Any] | None = None
) -> Any:
    """Load a model that `save_model` or `log_model` wrote, as the classifier that it was.

    Parameters
    ----------
    model_uri : str
        A folder, or an address of MLflow as ``models:/parts/1``.
    trusted, functions
        What loading may use; see `memclf.load`. No other file of the folder is read, and no module that it names is
        imported.
    """
    _pyfunc()
    import mlflow.artifacts

    uri = os.fspath(model_uri)
    folder = Path(uri) if Path(uri).is_dir() else Path(mlflow.artifacts.download_artifacts(artifact_uri=uri))
    if not (folder / "data" / DATA).is_dir():
        raise ModelFolderError(f"{folder} holds no model that memclf.mlflow saved: there is no data/{DATA} in it")
    return load(folder / "data" / DATA, trusted=trusted, functions=functions)


class _Answers:
    """What ``mlflow.pyfunc.load_model`` wraps: cases in, one row of a table per answer out."""

    def __init__(self, clf: MemoryClassifier):
        self.clf = clf

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        import pandas as pd

        from memclf.data import match_columns

        table = containers.is_table(model_input)
        X = match_columns(self.clf, model_input, "model_input") if table else model_input
        return pd.DataFrame([row.as_dict() for row in answer_rows(self.clf, X)])


def _load_pyfunc(path: str, model_config: dict[str, Any] | None = None) -> _Answers:
    """Called by MLflow. `model_config` may come from the folder, so it decides nothing."""
    return _Answers(load(path))


@contextmanager
def _prepared(model: Any, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The arguments for MLflow, with the model in a temporary folder."""
    if not isinstance(model, MemoryClassifier):
        raise TypeError(f"memclf.mlflow takes a MemoryClassifier, got {type(model).__name__}")
    extra = "[vision]" if isinstance(model.memories_, Collection) else "[tables]"
    defaults: dict[str, Any] = {"pip_requirements": [f"memclf{extra}=={__version__}"]}
    if containers.is_table(model.memories_) and "signature" not in options:
        defaults |= _describe_input(model)
    with TemporaryDirectory() as folder:
        data = save(model, Path(folder) / DATA)
        yield {**defaults, **options, "loader_module": __name__, "data_path": os.fspath(data)}


def _describe_input(model: MemoryClassifier) -> dict[str, Any]:
    _pyfunc()
    from mlflow.models import infer_signature

    memories = model.memories_
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*integer column", category=UserWarning)  # see `save_model`
        signature = infer_signature(memories, _Answers(model).predict(memories))
    return {"signature": signature, "input_example": memories[:1]}


def _pyfunc() -> Any:
    try:
        import mlflow.pyfunc
    except ImportError as error:
        raise MissingExtraError(f'memclf.mlflow needs {error.name}: pip install "memclf[mlflow]"') from error
    return mlflow.pyfunc
