"""Jobs: work in a process of its own."""

import os
import signal
import time

import pytest

from memclf._progress import say, track
from memclf.studio.jobs import Jobs


def add(a, b):
    say("adding", None)
    return a + sum(1 for _ in track(range(b), total=b, what="counting", verbose=None))


def fail():
    raise ValueError("the pictures are too small")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def wait(pid_file):
    pid_file.write_text(str(os.getpid()))
    time.sleep(600)


@pytest.fixture
def jobs():
    found = Jobs()
    yield found
    found.close()


def until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.02)


def test_a_job_returns_what_its_function_returns(jobs):
    got = []
    job = jobs.start("sum", "Adding", add, 2, 3, then=got.append)
    until(lambda: not job.running)
    assert (job.state, job.result, got) == ("done", 5, [5])
    assert jobs.last("sum") is job


def test_a_job_that_fails_says_why(jobs):
    job = jobs.start("fail", "Failing", fail)
    until(lambda: not job.running)
    assert (job.state, job.error) == ("failed", "the pictures are too small")


def test_a_job_whose_process_is_killed_fails(jobs):
    job = jobs.start("die", "Dying", die)
    until(lambda: not job.running)
    assert job.state == "failed"
    assert "memory" in job.error


def test_what_follows_a_job_may_fail_too(jobs):
    job = jobs.start("sum", "Adding", add, 1, 1, then=lambda found: 1 / 0)
    until(lambda: not job.running)
    assert (job.state, job.error) == ("failed", "ZeroDivisionError: division by zero")


def test_one_job_of_a_name_runs_at_a_time_and_can_be_stopped(jobs, tmp_path):
    job = jobs.start("wait", "Waiting", wait, tmp_path / "pid")
    assert jobs.start("wait", "Waiting", wait, tmp_path / "pid") is job
    until((tmp_path / "pid").exists)
    jobs.stop(job.number)
    assert job.state == "stopped"
    until(lambda: not _is_alive(int((tmp_path / "pid").read_text())))


def _is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
