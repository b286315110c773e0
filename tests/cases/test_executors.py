"""Workers are asked for their memclf, also while one of them is lost."""

import pytest

from memclf._version import __version__
from memclf.cases import executors
from memclf.cases.computation import digest_package
from memclf.cases.executors import check_workers
from memclf.exceptions import ClusterError

CommClosedError = pytest.importorskip("distributed.comm").CommClosedError
CODE = (__version__, digest_package())
LOST = CommClosedError("Stream is closed")


class FakeClient:
    """A client whose workers answer each question with the next of these; the last one stays."""

    def __init__(self, *answers):
        self.answers, self.asked = answers, 0

    def run(self, work, on_error="raise"):
        found = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        for error in found.values():
            if on_error == "raise" and isinstance(error, Exception):
                raise error
        return dict(found)


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    found = []
    monkeypatch.setattr(executors.time, "sleep", found.append)
    return found


@pytest.mark.parametrize("error", [LOST, OSError("Stream is closed")])
def test_check_workers__worker_lost_while_asked__others_are_asked_again(error, pauses):
    client = FakeClient({"a": CODE, "b": error}, {"a": CODE})
    check_workers(client)
    assert client.asked == 2
    assert pauses == [0, 0.2]


def test_check_workers__only_worker_lost__the_one_that_starts_anew_is_awaited():
    client = FakeClient({"a": LOST}, {}, {}, {"b": CODE})
    check_workers(client)
    assert client.asked == 4


def test_check_workers__other_code_beside_a_lost_worker__is_refused_after_all():
    with pytest.raises(ClusterError, match="workers and client must have the same memclf.* but c has no memclf"):
        check_workers(FakeClient({"a": CODE, "b": LOST}, {"a": CODE, "c": None}))


@pytest.mark.parametrize("then", [{"a": LOST}, {}], ids=["again", "none comes"])
def test_check_workers__workers_lost_every_time__error_names_them_and_says_what_to_do(then):
    client = FakeClient({"a": LOST}, then)
    told = (
        r"^workers were lost while they were asked for their memclf, 6 times in 6 seconds: "
        r"a \(CommClosedError: Stream is closed\)\. Look into their logs, and start them anew$"
    )
    with pytest.raises(ClusterError, match=told):
        check_workers(client)
    assert client.asked == 6


def test_check_workers__error_on_a_worker__is_raised_at_once():
    client = FakeClient({"a": CODE, "b": ZeroDivisionError("of the worker")})
    with pytest.raises(ZeroDivisionError, match="of the worker"):
        check_workers(client)
    assert client.asked == 1
