import json
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import memclf
from memclf import _progress
from memclf.cli import app, main
from memclf.cli.main import COMMANDS, load_command
from memclf.cli.output import as_plain, exit_on_error, split_examples


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
    return split_examples(getattr(import_module(module), function).__doc__)[0]


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


def run(*arguments, **settings):
    return CliRunner().invoke(app, list(arguments), prog_name="memclf", **settings)


def only_line(text):
    (line,) = text.splitlines()
    return line


def test_command__unknown_name__one_line_and_exit_code_2():
    shown = run("stduy")
    assert shown.exit_code == 2
    assert only_line(shown.stderr).startswith("error: No such command 'stduy'")
    assert shown.stderr.strip().endswith("(see memclf --help)")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["cache"], "Missing argument"), (["cache", "--none"], "No such option"), (["--none"], "No such option")],
)
def test_command_line__wrong__one_line_and_exit_code_2(arguments, said):
    shown = run(*arguments)
    assert shown.exit_code == 2
    assert said in only_line(shown.stderr)
    assert "--help)" in shown.stderr


def test_docs__page_of_commands__names_every_command():
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
    assert [name for name in COMMANDS if f"memclf {name}" not in page] == []


def test_memclf__alone__says_in_about_ten_lines_what_one_can_do():
    shown = run()
    assert shown.exit_code == 0
    lines = shown.output.splitlines()
    assert 5 < len(lines) < 15
    assert max(map(len, lines)) <= 80
    called = [line.split()[1] for line in lines if line.startswith("  memclf ")]
    assert called
    assert set(called) <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help__every_command__has_examples_with_options_that_exist(name):
    command = load_command(name)
    assert command.examples
    known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    for example in command.examples:
        words = shlex.split(example, comments=True)
        assert words[:2] == ["memclf", name]
        assert {word for word in words if word.startswith("--")} <= known
        assert f"   {example}\n" in run(name, "--help").output
        assert len(example) <= 77


@pytest.fixture
def failing(monkeypatch):
    """Makes the command `fail` raise an error."""

    def make(error, *expected):
        def fail():
            """Fail."""
            with exit_on_error(*expected):
                raise error

        monkeypatch.setitem(COMMANDS, "fail", ("tests", "fail", "Fail."))
        monkeypatch.setattr(main, "import_module", lambda name: type("Module", (), {"fail": staticmethod(fail)}))

    return make


def test_error__expected__is_one_line_and_exit_code_1(failing):
    failing(ValueError("the table\nis empty"), ValueError)
    shown = run("fail")
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert only_line(shown.stderr) == "error: the table is empty"


def test_error__not_expected__is_called_a_bug(failing):
    failing(KeyError("odd"), ValueError)
    shown = run("fail")
    assert shown.exit_code == 1
    assert only_line(shown.stderr).startswith("error: KeyError: 'odd' (this is a bug, run with --debug")


@pytest.mark.parametrize("expected", [(), (ValueError,)])
@pytest.mark.parametrize("how", ["option", "environment"])
def test_debug__error__shows_the_trace_and_the_line(failing, expected, how):
    failing(ValueError("here"), *expected)
    shown = run("--debug", "fail") if how == "option" else run("fail", env={"MEMCLF_DEBUG": "1"})
    assert shown.exit_code == 1
    assert "Traceback" in shown.stderr
    assert shown.stderr.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in run("fail").stderr


def test_interrupt__exit_code_130_and_no_trace(failing):
    failing(KeyboardInterrupt())
    shown = run("fail")
    assert shown.exit_code == 130
    assert "Traceback" not in shown.output


def test_exit_on_error__closed_pipe__is_left_to_the_caller():
    with pytest.raises(BrokenPipeError), exit_on_error(OSError):
        raise BrokenPipeError


def test_completion__beginning_of_a_command_and_of_an_option__is_completed():
    def complete(words, position):
        env = {"COMP_WORDS": words, "COMP_CWORD": str(position), "_MEMCLF_COMPLETE": "complete_bash"}
        return CliRunner().invoke(app, [], prog_name="memclf", env=env).output.split()

    assert complete("memclf corr", 1) == ["corrupt"]
    assert "--clear" in complete("memclf cache --cl", 2)


def test_as_plain__numbers_of_numpy__are_those_of_json():
    found = as_plain({"a": np.array([1.5, np.nan]), "b": (np.int64(2), np.bool_(True)), "c": None})
    assert json.loads(json.dumps(found)) == {"a": [1.5, None], "b": [2, True], "c": None}


def test_ctrl_c__in_a_command__is_one_sentence_and_exit_code_130(failing):
    failing(KeyboardInterrupt())
    shown = run("fail")
    assert (shown.exit_code, shown.stdout) == (130, "")
    assert only_line(shown.stderr.strip()) == "stopped by Ctrl-C"


def test_progress__no_terminal__is_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(_progress, "EVERY", -1.0)
    run("version")  # any command asks for lines
    for _ in _progress.track(range(2), total=2, what="outer", verbose=None):
        assert list(_progress.track(range(2), total=2, what="inner", verbose=None)) == [0, 1]
    said = capsys.readouterr().err.splitlines()
    assert said == ["outer: 0 of 2", "outer: 1 of 2, about 0 s left"]
    monkeypatch.setattr(_progress, "EVERY", 30.0)
    assert list(_progress.track(range(2), total=2, what="outer", verbose=None)) == [0, 1]
    assert capsys.readouterr().err == ""
