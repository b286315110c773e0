import os
import signal
import sqlite3
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from memclf.evaluate import Condition, ModelId, Row, Store, open_store
from memclf.exceptions import StoreError

NAME = ModelId("memory", "vanilla", "resnet18", 3)
CLEAN = Condition()


def row(condition=CLEAN, name=NAME, **more):
    measures = {"accuracy": 0.5, "balanced_accuracy": 0.4, "coverage": 1.0, "selective_accuracy": 0.5}
    return Row(study="leaf", **name._asdict(), **condition._asdict(), n=4, **{**measures, **more})


def test_what_is_added_comes_out_again_after_the_file_was_closed(tmp_path):
    store = Store(tmp_path / "deep" / "results.sqlite")
    store.put("settings", {"seeds": [0, 1]})
    store.put_cases(["a", "b", "c", "d"], np.array([0, 1, 1, 0]), np.array(["healthy", "ill"]))
    store.add(row(Condition("fog", 3)), np.array([0, 1, -1, 0]), np.array([2, 2, -1, 0]))
    store.close()
    with open_store(tmp_path / "deep" / "results.sqlite") as again:
        assert again.get("settings") == {"seeds": [0, 1]}
        assert again.cases().keys == ["a", "b", "c", "d"]
        assert again.cases().classes == ["healthy", "ill"]
        assert again.answers()[(*NAME, "fog", 3)].tolist() == [0, 1, -1, 0]
        assert again.routes(NAME, Condition("fog", 3)).tolist() == [2, 2, -1, 0]
        assert again.finished() == {(NAME, Condition("fog", 3))}
        (found,) = again.rows()
    assert found["accuracy"] == 0.5
    assert found["oracle_accuracy"] is None


def test_the_table_of_results_can_be_read_without_memclf(tmp_path):
    store = Store(tmp_path / "results.sqlite")
    store.add(row(Condition("fog", 3), routing_stability=0.75), np.zeros(4))
    store.close()
    with sqlite3.connect(tmp_path / "results.sqlite") as plain:
        cursor = plain.execute("SELECT * FROM results")
        names = [each[0] for each in cursor.description]
        values = dict(zip(names, cursor.fetchone(), strict=True))
    assert names == [
        *("study", "model", "recipe", "backbone", "seed", "corruption", "severity", "n", "accuracy"),
        *("balanced_accuracy", "coverage", "selective_accuracy"),
        *("routing_stability", "stage1_accuracy", "oracle_accuracy"),
    ]
    assert (values["corruption"], values["severity"], values["routing_stability"]) == ("fog", 3, 0.75)


def test_the_same_row_added_twice_is_there_once():
    store = Store()
    store.add(row(accuracy=0.1), np.zeros(4))
    store.add(row(accuracy=0.9), np.ones(4))
    assert [found["accuracy"] for found in store.rows()] == [0.9]
    assert store.answers()[(*NAME, "clean", 0)].tolist() == [1, 1, 1, 1]


def test_other_test_cases_are_refused():
    store = Store()
    store.put_cases(["a", "b"], np.array([0, 1]), ["x", "y"])
    store.put_cases(["a", "b"], np.array([0, 1]), ["x", "y"])
    with pytest.raises(StoreError, match="2 other test cases"):
        store.put_cases(["a", "b"], np.array([1, 1]), ["x", "y"])


def test_a_file_that_is_no_store_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing of the kind, but long enough to be looked at" * 20)
    with pytest.raises(StoreError, match="no file of results"):
        Store(tmp_path / "notes.txt")
    with pytest.raises(StoreError, match="has the study been started"), open_store(tmp_path / "absent.sqlite"):
        pass


def test_a_file_of_another_format_is_refused(tmp_path):
    store = Store(tmp_path / "results.sqlite")
    store.put("format", 99)
    store.close()
    with pytest.raises(StoreError, match="format 99"):
        Store(tmp_path / "results.sqlite")


def test_rows_survive_a_kill_in_the_middle_of_writing(tmp_path):
    script = textwrap.dedent(
        f"""
        import numpy as np
        from memclf.evaluate import Row, Store
        store = Store({str(tmp_path / "results.sqlite")!r})
        number = 0
        while True:
            row = Row("s", "m", "", "", number, "clean", 0, 4, 0.5, 0.5, 1.0, 0.5)
            store.add(row, np.arange(4))
            number += 1
            print(number, flush=True)
        """
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as writer:
        for _ in range(5):
            said = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
    with open_store(tmp_path / "results.sqlite") as store:
        assert len(store.rows()) >= said
        assert len(store.rows()) == len(store.answers())
        assert all(answers.tolist() == [0, 1, 2, 3] for answers in store.answers().values())
