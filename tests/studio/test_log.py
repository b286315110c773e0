"""The log of a project: what was done stays, and can be undone."""

import sqlite3
import subprocess
import sys

import pytest

from memclf.studio.log import Log


@pytest.fixture
def log(tmp_path):
    found = Log(tmp_path / "project.sqlite")
    yield found
    found.close()


def test_events_come_back_in_order_with_time_and_note(log):
    log.append("stroke", {"case": "a"}, "on the rim")
    log.append("name", {"row": 3})
    first, second = log.all()
    assert (first.kind, first.about, first.note, second.kind) == ("stroke", {"case": "a"}, "on the rim", "name")
    assert first.time <= second.time


def test_an_undone_event_does_not_stand_and_redo_brings_it_back(log):
    event = log.append("name", {"row": 3})
    undone = log.undo(event.number)
    assert log.last("name") is None
    log.undo(undone.number)
    assert log.last("name") == event


def test_an_event_cannot_be_undone_twice(log):
    event = log.append("name", {"row": 3})
    log.undo(event.number)
    with pytest.raises(ValueError, match="no event 1 that could be undone"):
        log.undo(event.number)


@pytest.mark.parametrize("command", ["update events set note = 'x'", "delete from events"])
def test_events_are_never_changed_or_deleted(log, tmp_path, command):
    log.append("name", {"row": 3})
    with pytest.raises(sqlite3.DatabaseError, match="never"):
        sqlite3.connect(tmp_path / "project.sqlite").execute(command)


def test_a_log_sees_what_another_process_wrote(log, tmp_path):
    script = (
        "import sys, os; from pathlib import Path; from memclf.studio.log import Log;"
        "Log(Path(sys.argv[1])).append('stroke', {'case': 'b'}); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "project.sqlite")], check=False, timeout=60)
    assert [each.about for each in log.events("stroke")] == [{"case": "b"}]
