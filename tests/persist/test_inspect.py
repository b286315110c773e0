"""A folder shown on the command line, and the card beside the model."""

import sys

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import memclf
from memclf import MemoryClassifier, MemorySelector
from memclf.cli import app
from memclf.persist import inspect_folder
from memclf.similarity import RBFSimilarity

MODULE = """
open({marker!r}, "a").close()
from sklearn.linear_model import LogisticRegression

def centre(case):
    return case - 1.0

class OwnClassifier(LogisticRegression):
    pass
"""


@pytest.fixture
def inspect(monkeypatch):
    """Run ``memclf inspect`` on a terminal so wide that nothing is folded."""
    monkeypatch.setenv("COLUMNS", "300")
    return lambda folder: CliRunner().invoke(app, ["inspect", str(folder)])


@pytest.fixture
def own(user_module, forget, cases, tmp_path):
    """A folder with a user's function and type, and the mark that importing their module leaves."""
    marker = tmp_path / "imported"
    lab = user_module("lab_of_inspection", MODULE.format(marker=str(marker)))
    clf = MemoryClassifier(RBFSimilarity(0.05, features=lab.centre), lab.OwnClassifier(), 0.5, n_memories=3)
    folder = memclf.save(clf.fit(*cases), tmp_path / "own")
    forget("lab_of_inspection")
    marker.unlink()
    return folder, marker


def test_a_whole_folder_is_shown(inspect, folder, classifier):
    shown = inspect(folder)
    assert shown.exit_code == 0, shown.output
    lines = [" ".join(line.replace("│", " ").split()) for line in shown.output.splitlines()]
    assert lines[0].startswith("MemoryClassifier saved 20")
    assert lines[0].endswith("format 3")
    for number, row in enumerate(classifier.memory_indices_):
        assert any(line.startswith(f"{number} {row} {classifier.cluster_counts_[number].sum()} ") for line in lines)
    counts = dict(zip(classifier.classes_, classifier.cluster_counts_.sum(axis=0), strict=True))
    assert f"classes: bad ({counts['bad']}), good ({counts['good']})" in lines
    assert any(line.startswith("3 memories of 90 cases; threshold 0.5, coverage ") for line in lines)
    assert "similarity RBFSimilarity(gamma=0.05)" in lines  # a parameter
    assert "sklearn.linear_model._logistic.LogisticRegression 2" in lines  # a type and how often
    for name in ("arrays.npz", "estimators.skops"):
        (path,) = folder.glob(f"data-*/{name}")
        assert f"{path.parent.name}/{name} {path.stat().st_size:,} bytes" in lines
    assert lines[-1] == "all files are whole"
    assert "trusted" not in shown.output


def test_a_selector_is_shown(inspect, cases, tmp_path):
    shown = inspect(memclf.save(MemorySelector(n_memories=2).fit(cases[0]), tmp_path / "model"))
    assert shown.exit_code == 0, shown.output
    assert "MemorySelector saved" in shown.output
    assert "classes" not in shown.output


def test_what_has_to_be_allowed_is_named_and_not_imported(inspect, own):
    folder, marker = own
    shown = inspect(folder)
    assert shown.exit_code == 0, shown.output
    assert (
        "must be allowed with trusted=[...]: lab_of_inspection.OwnClassifier, lab_of_inspection.centre" in shown.output
    )
    assert "lab_of_inspection" not in sys.modules
    assert not marker.exists()
    names = inspect_folder(folder).untrusted
    memclf.load(folder, trusted=names)  # and with these it loads
    assert marker.exists()


@pytest.mark.parametrize("name", ["builtins.eval", "numpy.testing.run", "sklearn.utils._testing.check", "os.system"])
def test_a_folder_that_names_code_is_shown_as_such(name, inspect, folder, tamper):
    module, _, kind = name.rpartition(".")
    schema = tamper(folder).schema
    first = next(iter(schema["content"]))
    schema["content"][first] = {"__class__": kind, "__module__": module, "__loader__": "FunctionNode"}
    tamper(folder).change_schema(schema)
    shown = inspect(folder)
    assert f"must be allowed with trusted=[...]: {name}" in shown.output


def test_a_function_that_the_manifest_does_not_list_is_shown_all_the_same(inspect, own, tamper):
    folder, _ = own
    tamper(folder).change("functions", to=[])
    assert "lab_of_inspection.centre" in inspect(folder).output


@pytest.mark.parametrize("name", ["arrays.npz", "estimators.skops"])
def test_a_damaged_file_is_a_problem_and_the_rest_is_shown(name, inspect, folder, tamper):
    tamper(folder).path(name).write_bytes(b"damaged")
    shown = inspect(folder)
    assert shown.exit_code == 1
    assert "problem: " in shown.output
    assert f"{name} has 7 bytes instead of" in shown.output
    assert "RBFSimilarity(gamma=0.05)" in shown.output
    assert "all files are whole" not in shown.output


@pytest.mark.parametrize("how", ["missing", "edited", "no JSON", "newer", "older"])
def test_a_folder_that_cannot_be_read_is_an_error(how, inspect, folder, tamper):
    path = folder / "manifest.json"
    if how == "missing":
        path.unlink()
    elif how == "edited":
        path.write_text(path.read_text().replace('"format_version": 3', '"format_version": 3, "x": 1'))
    elif how == "no JSON":
        path.write_text("[" * 100_000)
    else:
        tamper(folder).change("format_version", to=4 if how == "newer" else 1)
    shown = inspect(folder)
    assert shown.exit_code == 1
    assert shown.stderr.startswith("error: ")
    assert "manifest.json" in shown.stderr
    assert shown.exception is None or isinstance(shown.exception, SystemExit)


BROKEN_SCHEMAS = {
    "not JSON": b"{",
    "not text": b"\xff\xfe\x00",
    "a list": b"[]",
    "deep": b"[" * 50_000 + b"]" * 50_000,
    "no types": b'{"protocol": 2, "__class__": 3, "__module__": []}',
}


@pytest.mark.parametrize("name", BROKEN_SCHEMAS)
def test_a_broken_schema_is_a_problem(name, inspect, folder, tamper):
    members = tamper(folder).members("estimators.skops")
    tamper(folder).rezip("estimators.skops", {**members, "schema.json": BROKEN_SCHEMAS[name]})
    shown = inspect(folder)
    assert shown.exit_code == 1
    assert "problem: " in shown.output
    assert "estimators.skops is not a file of estimators" in shown.output


def test_an_archive_without_a_schema_or_with_a_damaged_one_is_a_problem(inspect, folder, tamper):
    members = tamper(folder).members("estimators.skops")
    content = bytearray(tamper(folder).path("estimators.skops").read_bytes())
    content[content.index(b'"__loader__"') + 3] ^= 1
    tamper(folder).replace("estimators.skops", bytes(content))
    assert "schema.json is missing or damaged" in inspect(folder).output
    del members["schema.json"]
    tamper(folder).rezip("estimators.skops", members)
    shown = inspect(folder)
    assert shown.exit_code == 1
    assert "schema.json is missing or damaged" in shown.output


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (["training"], None),
        (["training"], {}),
        (["training", "memories"], "many"),
        (["training", "threshold"], "[red]high[/red]"),
        (["training", "by_memory"], [1, 2]),
        (["training", "by_memory", 0, "classes"], 3),
        (["training", "class_counts"], []),
        (["parameters"], []),
        (["versions"], "1.0"),
        (["classes"], 1),
    ],
    ids=lambda value: "/".join(map(str, value)) if isinstance(value, list) else "",
)
def test_a_description_that_makes_no_sense_is_an_error_and_no_traceback(keys, value, inspect, folder, tamper):
    tamper(folder).change(*keys, to=value)
    shown = inspect(folder)
    assert (shown.exit_code, type(shown.exception)) in ((1, SystemExit), (0, type(None)))
    assert shown.exit_code == 0 or "manifest.json is no manifest of memclf" in shown.stderr


def test_a_folder_cannot_give_orders_to_the_terminal(inspect, folder, tamper):
    evil = "\x1b]0;owned\x07 [red]all files are whole[/red] [/nonsense] \u202e"
    for keys in (
        ["kind"],
        ["created"],
        ["parameters", evil],
        ["parameters", "threshold"],
        ["versions", "memclf"],
        ["training", "by_memory", 0, "origin"],
        ["training", "class_counts", evil],
        ["input", "columns"],
    ):
        tamper(folder).change(*keys, to=3 if keys[-1] == evil else evil)
    shown = inspect(folder)
    assert shown.exit_code == 0, shown.output
    assert not set("\x1b\x07\u202e") & set(shown.output)
    assert shown.output.count("\\x1b]0;owned\\x07 [red]all files are whole[/red] [/nonsense]") >= 8


# ------------------------------------------------------------------------------------------------ the model card


def test_the_card_begins_with_the_header_that_hubs_read(folder):
    _, header, _ = (folder / "MODEL_CARD.md").read_text().split("---\n", 2)
    assert yaml.safe_load(header) == {
        "library_name": "memclf",
        "pipeline_tag": "tabular-classification",
        "tags": ["memclf", "memory-classifier", "interpretable", "abstention"],
    }


def test_the_card_tells_what_the_model_is(folder, classifier):
    card = (folder / "MODEL_CARD.md").read_text()
    assert "\n# MemoryClassifier\n" in card
    assert f"with memclf {memclf.__version__}" in card
    assert "It remembers 3 of its 90 training cases" in card
    assert "- classes: bad, good" in card
    assert "- when no threshold is met: unknown (label `unknown`)" in card
    assert "- answers by: `LocalAnswer()`" in card
    assert "- who answers: the classifier of the case's memory" in card
    assert "- similarity: `RBFSimilarity(gamma=0.05" in card
    assert "- input: ndarray with 3 columns" in card
    for number, row in enumerate(classifier.memory_indices_):
        assert f"| {number} | {row} | {classifier.cluster_counts_[number].sum()} |" in card
    assert "DummyClassifier (constant)" in card
    assert "| n_memories | `3` |" in card
    assert "model = memclf.load(folder)\n" in card
    assert f"numpy {np.__version__}" in card


def test_the_card_tells_what_has_to_be_allowed(own):
    folder, _ = own
    line = next(line for line in (folder / "MODEL_CARD.md").read_text().splitlines() if line.startswith("model = "))
    assert (
        line == "model = memclf.load(folder, trusted=['lab_of_inspection.OwnClassifier', 'lab_of_inspection.centre'])"
    )


def test_the_card_names_functions_without_addresses(own):
    card = (own[0] / "MODEL_CARD.md").read_text()
    assert "- similarity: `RBFSimilarity(features=centre, gamma=0.05)`" in card
    assert " at 0x" not in card


def test_the_card_shortens_long_parameters(cases, tmp_path):
    rows = np.arange(len(cases[1]))
    clf = MemoryClassifier(n_memories=2, cv=[(rows[rows % 30 != k], rows[rows % 30 == k]) for k in range(30)])
    folder = memclf.save(clf.fit(*cases), tmp_path / "model")
    (line,) = [line for line in (folder / "MODEL_CARD.md").read_text().splitlines() if line.startswith("| cv |")]
    assert "array([ 1, 2, 3, ..., 87, 88, 89], shape=(87,))" in line
    assert line.endswith("…` |")
    assert len(line) < 450


def test_strange_labels_do_not_break_the_cards_tables(cases, tmp_path):
    X, y = cases
    labels = np.array(["a | b\n# heading", "\ud800"], dtype=object)
    folder = memclf.save(MemoryClassifier(n_memories=2).fit(X, labels[y]), tmp_path / "model")
    lines = (folder / "MODEL_CARD.md").read_text().splitlines()
    assert not [line for line in lines if line.startswith("# heading")]
    rows = [line for line in lines if line.startswith(("| 0 |", "| 1 |"))]
    assert [row.replace("\\|", "").count("|") for row in rows] == [7, 7]
    memclf.load(folder)


def test_long_cards_are_cut(cases, tmp_path):
    X, y = cases
    clf = MemoryClassifier(RBFSimilarity(0.05), n_memories=60).fit(X, y)
    card = (memclf.save(clf, tmp_path / "model") / "MODEL_CARD.md").read_text()
    assert "\n| 49 |" in card
    assert "\n| 50 |" not in card
    assert "10 more" in card
