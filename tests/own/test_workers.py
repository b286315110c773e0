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

from counting import CountingMeasure, count, note
from memclf.cases.executors import name_worker
from memclf.cli import app, cluster
from memclf.cli.cluster import open_cluster
from memclf.data import CaseFile
from memclf.data import cases as reading
from memclf.exceptions import DataError, ImageError
from memclf.own import fit_data, predict_file
from memclf.own.part import PartFile
from memclf.vision import files, images

distributed = pytest.importorskip("distributed")

# Workers that are threads of this process share its warning filters, and `catch_warnings` is not for threads: whoever
# leaves it first undoes what the others ignore. What pytest ignores from the start stays ignored.
pytestmark = pytest.mark.filterwarnings("ignore:no case is unknown for being far:UserWarning")


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


class MeasureOnWorkers(CountingMeasure):
    """Notes where it measures, too."""

    def measure(self, image, info):
        note(self.log, "in this process" if name_worker() is None else "on a worker")
        return super().measure(image, info)


def look(pictures, log, **options):
    """A fit of images whose descriptions are counted; all that it found but for the model folder."""
    features = MeasureOnWorkers(log)
    return fit_data(
        pictures, features=features, estimator="forest", folds=2, **{"answer": "local", **options}
    ).as_dict()


@pytest.mark.parametrize("answer", ["local", "product"])
def test_fit_data__images_on_workers__are_described_once_for_the_fit_and_all_folds(
    client, pictures, tmp_path, monkeypatch, answer
):
    """And there, also where the folder is named from another one. Changed versions are images of their own."""
    log = tmp_path / "log"
    here = look(pictures, log, answer=answer)
    expected = count(log)
    n = expected.pop("in this process")
    assert n == (20 if answer == "local" else 60)  # as they are, and two mildly changed versions
    monkeypatch.chdir(pictures.parent)
    with client.as_current():
        there = look(pictures.name, log, answer=answer)
    found = count(log)
    assert found.pop("on a worker") == n
    assert found == expected
    assert {**there, "data": here["data"]} == here


def test_fit_data__images_on_workers_with_a_cache__second_fit_describes_nothing(client, pictures, tmp_path):
    log, cache = tmp_path / "log", tmp_path / "cache"
    with client.as_current():
        look(pictures, log, cache=cache)
        assert count(log).pop("on a worker") == 20
        look(pictures, log, cache=cache, seed=1)
    look(pictures, log, cache=cache, seed=2)
    assert not count(log)


def test_fit_data__image_that_a_worker_loses__error_names_both(client, pictures, tmp_path, monkeypatch):
    """When it was read to see whether it can be, it was there."""
    read = files.read_image

    def lose(self, image, info):
        monkeypatch.setattr(images, "read_image", fail)
        return measure(self, image, info)

    def fail(path, **limits):
        return read(f"{path}.lost", **limits)

    measure = MeasureOnWorkers.measure
    monkeypatch.setattr(MeasureOnWorkers, "measure", lose)
    told = r"\.png\.lost cannot be read: No such file or directory. That happened on the worker inproc://"
    with client.as_current(), pytest.raises(ImageError, match=told):
        look(pictures, tmp_path / "log")


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
def test_workers_option__processes__describe_images_once_and_find_the_same(pictures, tmp_path):
    """With the bundled network, which embeds them there."""
    log, found = tmp_path / "log", {}
    for name in ("here", "there"):
        with open_cluster(workers=2 if name == "there" else None):
            made = fit_data(pictures, features=CountingMeasure(log), answer="local", folds=2)
        found[name] = {**made.as_dict(), "answers": made.classifier.predict(made.data.cases).tolist()}
        assert set(count(log).values()) == {2}  # once for the fit, once for these answers
    assert found["there"] == found["here"]


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
