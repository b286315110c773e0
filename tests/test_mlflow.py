"""Models in MLflow: what is saved comes back, and nothing in a folder can allow a type."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.naive_bayes import GaussianNB

import memclf.mlflow
from memclf import MemoryClassifier
from memclf.exceptions import ModelFolderError, UntrustedTypeError
from memclf.similarity import GowerSimilarity, RBFSimilarity

# MLflow warns of its own type hints, and of its calls of a newer pandas than it knows.
pytestmark = pytest.mark.filterwarnings("ignore")


class Own(GaussianNB):
    """A type that is not scikit-learn's."""


@pytest.fixture(scope="module", autouse=True)
def mlflow():
    """MLflow, which does not report to its makers that it is imported here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        patch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        yield import_module("mlflow")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(20, 80, 40), "weight": rng.normal(70, 12, 40)})
    y = np.where(X["age"] > 50, "old", "young")
    return MemoryClassifier(GowerSimilarity(), GaussianNB(), threshold=0.6, random_state=0).fit(X, y), X


@pytest.fixture(scope="module")
def saved(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow") / "saved"
    memclf.mlflow.save_model(table[0], folder)
    return folder


def test_load_model__after_save_model__gives_the_same_answers(saved, table):
    clf, X = table
    assert memclf.mlflow.load_model(saved).predict(X).tolist() == clf.predict(X).tolist()


def test_pyfunc__after_save_model__answers_rows_with_memory_and_reason(mlflow, saved, table):
    clf, X = table
    found = mlflow.pyfunc.load_model(str(saved)).predict(X[["weight", "age"]])
    assert list(found.columns) == ["answer", "probability", "memory", "similarity", "known", "reason"]
    assert found["answer"].tolist() == clf.predict(X).tolist()
    columns = mlflow.models.get_model_info(str(saved)).signature.inputs.input_names()
    assert columns == ["age", "weight"]


def test_log_model__to_a_file_store__can_be_loaded_by_its_address(mlflow, table, tmp_path):
    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    try:
        with mlflow.start_run():
            logged = memclf.mlflow.log_model(table[0], "patients")
        loaded = memclf.mlflow.load_model(logged.model_uri)
        assert loaded.predict(table[1]).tolist() == table[0].predict(table[1]).tolist()
    finally:
        mlflow.set_tracking_uri(None)


def test_trust__of_a_users_type__comes_from_the_caller_and_never_from_the_folder(mlflow, tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 2))
    clf = MemoryClassifier(RBFSimilarity(0.1), Own(), threshold=0.3, random_state=0).fit(X, np.arange(20) % 2)
    memclf.mlflow.save_model(clf, tmp_path / "own")
    name = f"{Own.__module__}.Own"
    file = tmp_path / "own" / "MLmodel"
    content = yaml.safe_load(file.read_text())
    assert name not in file.read_text()
    content["flavors"]["python_function"]["config"] = {"trusted": [name]}  # what a hostile folder would like
    file.write_text(yaml.safe_dump(content))
    for load in (mlflow.pyfunc.load_model, memclf.mlflow.load_model):
        with pytest.raises(UntrustedTypeError, match="Own"):
            load(str(tmp_path / "own"))
    loaded = memclf.mlflow.load_model(tmp_path / "own", trusted=[Own])
    assert loaded.predict(X).tolist() == clf.predict(X).tolist()


def test_load_model__folder_of_another_kind__is_named(tmp_path):
    with pytest.raises(ModelFolderError, match="no model that memclf.mlflow saved"):
        memclf.mlflow.load_model(tmp_path)
    with pytest.raises(TypeError, match="takes a MemoryClassifier, got GaussianNB"):
        memclf.mlflow.save_model(GaussianNB(), tmp_path / "x")
