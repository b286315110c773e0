"""A whole study at the smallest scale: run, killed, gone on with, changed, interrupted."""

import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import fields

import pytest
from rich.console import Console
from typer.testing import CliRunner

from memclf.bounds import KINDS, Bound
from memclf.cli import app
from memclf.evaluate import Condition, open_store
from memclf.exceptions import StudyError
from memclf.studies.progress import Progress
from memclf.studies.registry import settings_for
from memclf.studies.run import GOES_ON_FROM, _ignore_ctrl_c, conclude, folder_for, name_differences, run_study
from memclf.studies.settings import Settings

TINY = [
    *("study", "color", "--n-train", "24", "--n-test", "6", "--patch-size", "64", "--image-size", "32"),
    *("--epochs", "2", "--severity", "3", "--feature", "robust", "--sturdy", "--folds", "2"),
    *(part for name in ("fog", "contrast", "pixelate", "gaussian_noise") for part in ("--corruption", name)),
]
CONDITIONS = [Condition(), *(Condition(name, 3) for name in ("fog", "contrast", "pixelate", "gaussian_noise"))]
CONTROLS = {"random", "prior", "prior-balanced", "majority", "stage1", "stage1-balanced"}
MODELS = {"baseline", "memory", "sturdy", "auto"} | CONTROLS
PLAIN = [*TINY, "--no-sturdy"]  # which changes nothing about the others
FEW = MODELS - {"sturdy", "auto", "stage1-balanced", "prior-balanced"}


def _obeys_ctrl_c():
    """Shells start background jobs deaf to Ctrl-C, and the tests may be one."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def memclf(*arguments, **options):
    """The command line in a process of its own."""
    command = [sys.executable, "-m", "memclf.cli", *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "120"},
        preexec_fn=_obeys_ctrl_c,
        **options,
    )


def finished(*arguments):
    """What the command prints; in this process, which has loaded torch already."""
    words = list(map(str, arguments))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["memclf", *words])  # noted in the run
        done = CliRunner().invoke(app, words, env={"COLUMNS": "120"})
    assert done.exit_code == 0, done.stderr
    return done.stdout, done.stderr


def rows_of(folder):
    with open_store(folder / "results.sqlite") as store:
        return sorted(map(str, store.rows()))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run, and what it printed."""
    folder = tmp_path_factory.mktemp("study") / "run"
    out, err = finished(*TINY, "--out", folder)
    return folder, out, err


def wait_until(happened):
    until = time.monotonic() + 200
    while not happened():
        assert time.monotonic() < until, "the run did not get there in time"
        time.sleep(0.01)


def wait_for_rows(folder, number):
    def are_there():
        try:
            with sqlite3.connect(f"file:{folder / 'results.sqlite'}?mode=ro", uri=True) as db:
                return db.execute("SELECT count(*) FROM results").fetchone()[0] >= number
        except sqlite3.OperationalError:
            return False  # the file or its tables are just being made

    wait_until(are_there)


def test_run_study__finished__folder_holds_everything(run):
    folder, out, err = run
    assert {"results.sqlite", "summary.json", "report.html", "report.md", "tables", "figures", "models"} <= {
        each.name for each in folder.iterdir()
    }
    with open_store(folder / "results.sqlite") as store:
        rows = store.rows()
        assert store.get("source") == "generated"
        assert store.get("goes_on_from") == GOES_ON_FROM  # by which runs that were measured otherwise are not joined
        assert store.get("command").startswith("memclf study color")
    assert {row["model"] for row in rows} == MODELS
    assert len(rows) == len(MODELS) * len(CONDITIONS)
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["complete"]
    assert {"value", "low", "high"} == set(
        next(each for each in summary["models"] if each["model"] == "memory")["gain"]["mean"]["accuracy"]
    )
    assert f"report: {folder / 'report.html'}" in out
    assert "gain over the baseline" in out
    assert "evaluating gaussian_noise 3 (5 of 5 conditions" in err
    scored = [line.partition(":")[0] for line in err.splitlines() if ": clean accuracy / balanced accuracy " in line]
    assert scored[:2] == ["baseline", "memory"]
    assert set(scored) == MODELS
    assert [table["name"] for table in json.loads((folder / "paper.json").read_text())["tables"]] == [
        "color_augmentation"
    ]
    assert not (folder / "models" / ".training").exists()


def test_run_study__finished__has_bounds(run):
    folder, _, err = run
    assert "bounds of memory vanilla efficientnet_lite0 (1 of 2)" in err
    found = json.loads((folder / "bounds.json").read_text())
    assert found["given"] == ["inputs"]  # the backbone came as it is
    memory, sturdy = found["contenders"]
    assert [(each["model"], each["seed"]) for each in (memory, sturdy)] == [("memory", 0), ("sturdy", 0)]
    kinds = {each["kind"]: Bound.from_dict(each) for each in memory["bounds"]}
    assert {*kinds, *memory["missing"]} == set(KINDS)
    assert kinds["compression"].n == 24
    assert kinds["held-out"].n == 6
    with open_store(folder / "results.sqlite") as store:
        clean = next(row for row in store.rows() if (row["model"], row["corruption"]) == ("memory", "clean"))
    assert kinds["held-out"]["errors on held-out cases"] == pytest.approx(1 - clean["accuracy"])
    assert "What theory promises" in (folder / "report.html").read_text()


def test_conclude__bounds_that_fail__report_is_written(run, tmp_path):
    folder = shutil.copytree(run[0], tmp_path / "run")
    for name in ("bounds.json", "report.html"):
        (folder / name).unlink()
    said = io.StringIO()
    with open_store(folder / "results.sqlite") as store:
        conclude(folder, store, None, None, [], Progress(Console(file=said)))  # neither images nor settings
    assert "no bounds in the report: AttributeError" in said.getvalue()
    assert not (folder / "bounds.json").exists()
    assert "What theory promises" not in (folder / "report.html").read_text()


@pytest.mark.slow
def test_run_study__killed_interrupted_damaged__ends_with_the_same_numbers(run, tmp_path):
    folder = tmp_path / "run"
    # Killed in training: what was trained is not trained again.
    process = memclf(*PLAIN, "--out", folder)
    saved = folder / "models" / "vanilla-efficientnet_lite0-seed0" / "memory" / "manifest.json"
    wait_until(saved.is_file)
    kill(process)
    written = saved.stat().st_mtime_ns
    # Ctrl-C while evaluating: a valid partial report.
    process = memclf(*PLAIN, "--out", folder)
    wait_for_rows(folder, len(FEW))  # the clean ones
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert saved.stat().st_mtime_ns == written
    assert "the same command goes on from here" in err
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["models"]
    assert not summary["complete"]
    assert "partial" in (folder / "report.html").read_text().lower()
    # Killed while evaluating: at most one condition is repeated.
    process = memclf(*PLAIN, "--out", folder)
    wait_for_rows(folder, 3 * len(FEW) + 2)  # in the fourth of five conditions
    kill(process)
    with open_store(folder / "results.sqlite") as store:
        done = store.finished()
    complete = [each for each in CONDITIONS if sum(condition == each for _, condition in done) == len(FEW)]
    assert len(complete) >= 3
    # A damaged model is trained again.
    manifest = saved.parent.with_name("random") / "manifest.json"
    manifest.write_text("garbage")
    _, err = finished(*PLAIN, "--out", folder)
    assert "training it again" in err
    json.loads(manifest.read_text())
    again = [each for each in CONDITIONS if f"evaluating {each} (" in err]
    assert set(again) == set(CONDITIONS) - set(complete)
    assert rows_of(folder) == [row for row in rows_of(run[0]) if not any(f"'{name}'" in row for name in MODELS - FEW)]


def kill(process):
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def test_run_study__other_argument__starts_a_new_run_beside_the_old(run, monkeypatch):
    folder, _, _ = run
    before = rows_of(folder)
    old = json.loads((folder / "settings.json").read_text())
    known = {each.name: old[each.name] for each in fields(Settings)}
    other = Settings(**{**known, "corruptions": tuple(known["corruptions"][:-1])})

    def interrupted(*_, **options):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("memclf.studies.run.train", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_study(other, folder, console=Console(file=io.StringIO()))
    beside = folder.with_name("run-2")
    assert rows_of(folder) == before
    new = json.loads((beside / "settings.json").read_text())
    assert new["corruptions"] == old["corruptions"][:-1]
    assert folder_for(folder, new["fingerprint"]) == beside  # and is found again
    assert folder_for(folder, "0" * 24) == folder.with_name("run-3")


def test_run_study__newer_memclf__goes_on_and_names_both_versions(tmp_path, monkeypatch):
    def interrupted(*_, **options):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("memclf.studies.run.train", interrupted)
    settings = settings_for("color", n_train=20, n_test=6, patch_size=64)
    said = io.StringIO()
    for version in ("0.1.0", "0.2.0", "0.2.0"):
        monkeypatch.setattr("memclf.studies.run.__version__", version)
        with pytest.raises(KeyboardInterrupt):
            run_study(settings, tmp_path / "run", console=Console(file=said, width=200))
    assert [each.name for each in tmp_path.iterdir()] == ["run"]
    assert said.getvalue().count("going on with the run in") == 2
    assert said.getvalue().count("its rows are made with memclf 0.1.0, then 0.2.0\n") == 2
    with open_store(tmp_path / "run" / "results.sqlite") as store:
        assert store.get("versions")["memclf"] == "0.1.0, then 0.2.0"


def test_report_and_compare__finished_run__are_written(run, tmp_path):
    folder, _, _ = run
    (folder / "report.html").unlink()
    shown = CliRunner().invoke(app, ["report", str(folder)])
    assert (folder / "report.html").is_file()
    assert str(folder / "report.html") in shown.output.replace("\n", "")
    other = shutil.copytree(folder, tmp_path / "other")
    shown = CliRunner().invoke(app, ["compare", str(folder), str(other), "--out", str(tmp_path / "both")])
    assert shown.exit_code == 0
    assert (tmp_path / "both").is_dir()


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals go to the main thread")
def test_ignore_ctrl_c__second_ctrl_c__is_ignored():
    before = signal.getsignal(signal.SIGINT)
    with _ignore_ctrl_c():
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_name_differences__settings_or_anything_else__are_told_apart(tmp_path):
    settings = settings_for("leaf")
    (tmp_path / "settings.json").write_text(json.dumps({"fingerprint": "0", **settings.as_dict()}))
    other = settings_for("leaf", epochs=3, seeds=[4])
    assert name_differences(tmp_path, other) == "other settings: seeds (--seed), epochs"
    assert name_differences(tmp_path, settings) == "other data, torch, threads or version"


def test_folder_for__folder_with_other_files__is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("do not touch")
    with pytest.raises(StudyError, match="no run of a study"):
        folder_for(tmp_path, "0" * 24)
    with pytest.raises(StudyError, match=r"thesis.tex is a file; --out names the folder"):
        folder_for(tmp_path / "thesis.tex", "0" * 24)
    assert folder_for(tmp_path / "new", "0" * 24) == tmp_path / "new"


def test_folder_for__killed_before_settings_were_written__is_used_again(tmp_path):
    (tmp_path / "settings.part").write_text("{")
    assert folder_for(tmp_path, "0" * 24) == tmp_path
