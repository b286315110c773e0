import inspect
import subprocess
import sys
from importlib import import_module

import pytest
from typer.testing import CliRunner

import memclf
from memclf.cli import app
from memclf.cli.main import COMMANDS


def test_app__help_and_version__are_printed():
    shown = CliRunner().invoke(app, ["--help"])
    assert shown.exit_code == 0
    assert "inspect" in shown.output
    assert CliRunner().invoke(app, ["version"]).output.strip() == memclf.__version__


def test_inspect__folder_without_model__is_named(tmp_path):
    shown = CliRunner().invoke(app, ["inspect", str(tmp_path / "nothing")])
    assert shown.exit_code == 1
    assert "is no model folder" in shown.output


def document(name):
    module, function, _ = COMMANDS[name]
    return inspect.cleandoc(getattr(import_module(module), function).__doc__)


@pytest.mark.parametrize("name", COMMANDS)
def test_help__paragraphs_of_a_command__break_only_at_the_edge(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    shown = CliRunner().invoke(app, [name, "--help"]).output
    for paragraph in document(name).split("\n\n"):
        assert " ".join(paragraph.split()) in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_commands__sentence_in_the_list__is_the_first_of_the_help(name):
    assert COMMANDS[name][2] == document(name).splitlines()[0]


def test_help__of_all_commands__loads_none_of_them():
    code = "import sys; from memclf.cli import app; app(['--help'], standalone_mode=False); print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = set(shown.splitlines()[-1].split())
    assert "memclf.cli.main" in loaded
    assert not loaded & {"numpy", "sklearn", "torch", "cv2", "matplotlib", "memclf.studies"}


def test_command__unknown_name__exit_code_2():
    assert CliRunner().invoke(app, ["stduy"]).exit_code == 2
