import inspect

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


@pytest.mark.parametrize("name", COMMANDS)
def test_help__paragraphs_of_a_command__break_only_at_the_edge(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    shown = CliRunner().invoke(app, [name, "--help"]).output
    for paragraph in inspect.cleandoc(COMMANDS[name].__doc__).split("\n\n"):
        assert " ".join(paragraph.split()) in shown
