"""`memclf fit` and `memclf predict` on the workers of a cluster: what they write is the same."""

import json
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from typer.testing import CliRunner

from memclf.cli import app, cluster
from memclf.data import CaseFile
from memclf.data import cases as reading
from memclf.exceptions import DataError
from memclf.own import fit_data, predict_file
from memclf.own.part import PartFile

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """Of workers that are threads of this process; processes take seconds to start."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "processes": False}
    with (
        distributed.LocalCluster(**options) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        yield client


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_predict_file__on_workers__writes_the_same_file(client, fitted, table, tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(reading, "ROWS", 11)  # more blocks than are started at once
    here, there = tmp_path / f"here{suffix}", tmp_path / f"there{suffix}"
    predict_file(fitted.model, table, here)
    with client.as_current():
        found = predict_file(fitted.model, table, there)
    assert there.read_bytes() == here.read_bytes()
    assert found.answers == 120


@pytest.mark.parametrize("kind", [".parquet", ".feather"])
def test_predict_file__parquet_on_workers__is_read_there(client, fitted, table, tmp_path, monkeypatch, kind):
    """The client reads no row: it knows how many there are, and the workers read their own."""
    cases = pd.read_csv(table)
    path = tmp_path / f"cases{kind}"
    cases.to_parquet(path, row_group_size=50) if kind == ".parquet" else cases.to_feather(path, chunksize=50)
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    predict_file(fitted.model, path, here, id_column="age")
    monkeypatch.setattr(reading, "RANGE", 20)
    monkeypatch.setattr(reading, "ROWS", 11)
    monkeypatch.setattr(CaseFile, "blocks", lambda *_: pytest.fail("read in this process, to be sent"))
    monkeypatch.chdir(tmp_path)
    with client.as_current():
        found = predict_file(fitted.model, path.name, there, id_column="age")
    assert there.read_bytes() == here.read_bytes()
    assert found.answers == len(cases) == 120


def test_predict_file__parquet_on_workers_after_an_interruption__goes_on(client, fitted, table, tmp_path, monkeypatch):
    path, here, there = (tmp_path / name for name in ("cases.parquet", "here.csv", "there.csv"))
    pd.read_csv(table).to_parquet(path, row_group_size=50)
    predict_file(fitted.model, path, here)
    monkeypatch.setattr(reading, "RANGE", 20)
    write, done = PartFile.append, []

    def stop_at_third(self, rows, **more):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(len(rows))
        write(self, rows, **more)

    with client.as_current():
        monkeypatch.setattr(PartFile, "append", stop_at_third)
        with pytest.raises(KeyboardInterrupt):
            predict_file(fitted.model, path, there)
        monkeypatch.setattr(PartFile, "append", write)
        found = predict_file(fitted.model, path, there)
    assert there.read_bytes() == here.read_bytes()
    assert (found.before, found.answers) == (40, 120)


def test_predict_file__error_on_a_worker__is_raised_here_and_names_the_image(client, pictures, tmp_path):
    model = fit_data(pictures, tmp_path / "model", estimator="forest", answer="labels", folds=2).model
    new = tmp_path / "new"
    new.mkdir()
    (new / "a.png").write_bytes((pictures / "red" / "01.png").read_bytes())
    (new / "b.png").write_bytes(b"no picture")
    with client.as_current():
        with pytest.raises(DataError, match=r"b\.png.*--skip-broken leaves them out"):
            predict_file(model, new, tmp_path / "answers.csv")
        assert predict_file(model, new, tmp_path / "answers.csv", skip_broken=True).answers == 1


def test_fit_data__on_workers__finds_the_same(client, fitted, table):
    with client.as_current():
        found = fit_data(table, target="outcome", answer="labels", estimator="logistic")
    assert {**found.as_dict(), "model": None} == {**fitted.as_dict(), "model": None}


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_cluster_option__address_that_does_not_answer__is_one_line(fitted, table, tmp_path, monkeypatch, command):
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    words = {
        "fit": ("fit", table, "--target", "outcome", "--out", tmp_path / "model"),
        "predict": ("predict", fitted.model, table, "--out", tmp_path / "answers.csv"),
    }[command]
    shown = run(*words, "--cluster", "tcp://127.0.0.1:9")
    assert shown.exit_code == 1
    assert shown.stderr.startswith("error: no Dask scheduler answers at 'tcp://127.0.0.1:9' within 1 seconds")
    assert len(shown.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
    assert run(*words, "--workers", "0").exit_code == 2


@pytest.mark.slow
def test_workers_option__processes__write_the_same_answers(fitted, table, tmp_path):
    for name, more in (("here", ()), ("there", ("--workers", 2))):
        shown = run("predict", fitted.model, table, "--out", tmp_path / f"{name}.csv", *more)
        assert shown.exit_code == 0, shown.output
        shown = run(
            "fit", table, "--target", "outcome", "--answer", "labels", "--out", tmp_path / name, "--json", *more
        )
        assert shown.exit_code == 0, shown.output
        (tmp_path / f"{name}.json").write_text(shown.stdout.replace(str(tmp_path / name), "MODEL"))
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
    assert (tmp_path / "there.json").read_text() == (tmp_path / "here.json").read_text()


@pytest.mark.slow
def test_workers_option__interrupt_from_the_terminal__ends_with_one_line(fitted, table, tmp_path):
    """A terminal sends Ctrl-C to all processes of a command."""
    path, out = tmp_path / "cases.parquet", tmp_path / "answers.csv"
    pd.concat([pd.read_csv(table)] * 4000).to_parquet(path, row_group_size=2000)
    command = [sys.executable, "-m", "memclf.cli", "predict", str(fitted.model), str(path), "--out", str(out)]
    process = subprocess.Popen(
        [*command, "--workers", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    note, until = tmp_path / "answers.csv.part.json", time.monotonic() + 120
    while not (note.exists() and json.loads(note.read_text())["done"]) and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.strip().splitlines()[-1:] == ["stopped; the same command goes on from here"]
    assert "Traceback" not in said
    assert "distributed" not in said
    assert not out.exists()
