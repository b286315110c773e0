"""The command in a process of its own: addresses, slow clients, and how it stops."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from importlib import import_module

import numpy as np
import pytest
from typer.testing import CliRunner

import memclf
from memclf import MemoryClassifier
from memclf.cli import app
from memclf.similarity import RBFSimilarity

MODULE = """
import time
from sklearn.naive_bayes import GaussianNB

class Slow(GaussianNB):
    def predict_proba(self, X):
        time.sleep(0.15)
        return super().predict_proba(X)
"""
NAME = "slowpoke"
SECRET = "Mrs-Miller"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model whose classifier takes its time, saved with the class in a module of its own."""
    folder = tmp_path_factory.mktemp("slow")
    (folder / f"{NAME}.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        Slow = import_module(NAME).Slow
        X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
        clf = MemoryClassifier(RBFSimilarity(0.01), Slow(), threshold=0.01, n_memories=1, random_state=0).fit(X, y)
        memclf.save(clf, folder / "model")
        yield folder, clf


@pytest.fixture(scope="module")
def server(saved):
    """`memclf serve` on a free port: the process and its port. The last test stops it."""
    folder, _ = saved
    command = [sys.executable, "-m", "memclf.cli", "serve", str(folder / "model"), "--trusted", "slowpoke.Slow"]
    command += ["--port", "0", "--batch-size", "2", "--max-body", "0.5"]
    paths = os.pathsep.join([str(folder), *filter(None, sys.path)])
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    )
    first = process.stderr.readline()
    found = re.search(r"http://127.0.0.1:(\d+)", first)
    assert found, first + process.stderr.read()
    yield process, int(found[1])
    if process.poll() is None:
        process.kill()
    process.stderr.close()
    process.wait()


def ask(port, method="GET", path="/readyz", body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        headers = {"Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def count_open(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return float(re.search(r"^memclf_open_requests (\S+)", text, re.M)[1])


def test_slow_and_large_requests__on_a_real_connection__hold_nobody_up(server):
    _, port = server
    slow = socket.create_connection(("127.0.0.1", port))
    slow.sendall(b"POST /v1/predict HTTP/1.1\r\nHost: loc")
    assert ask(port) == (200, {"status": "ready"})
    status, body = ask(port, "POST", "/v1/predict", {"cases": ["x" * 3 * 2**20]})
    assert (status, body["type"]) == (413, "urn:memclf:large-body")
    assert ask(port, "POST", "/v1/predict", {"cases": [[0, 0]]})[0] == 200
    slow.close()


def test_sigterm__under_load__every_accepted_request_is_answered(server, saved):
    process, port = server
    cases = [[i / 10, SECRET if i == 3 else 0.5] for i in range(16)]
    found = [None] * len(cases)

    def send(i):
        found[i] = ask(port, "POST", "/v1/predict", {"cases": [cases[i]]})

    slow = socket.create_connection(("127.0.0.1", port))  # a client that never finishes its request
    slow.sendall(b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    threads = [threading.Thread(target=send, args=(i,)) for i in range(len(cases))]
    for each in threads:
        each.start()
    end = time.monotonic() + 30
    while count_open(port) < 12 and any(each.is_alive() for each in threads) and time.monotonic() < end:
        time.sleep(0.02)
    waiting = sum(each is None for each in found)
    process.send_signal(signal.SIGTERM)
    slow.close()
    for each in threads:
        each.join()
    printed = process.stderr.read()
    assert process.wait(30) == 0, printed
    assert waiting > 2, "the signal came when all was done"
    right = saved[1].predict([[i / 10, 0.5] for i in range(16)])
    for i, (status, body) in enumerate(found):
        if i == 3:
            assert status in (422, 503)
        elif status == 503:  # it came after the signal
            assert body["type"] == "urn:memclf:stopping"
        else:
            assert (status, body["answers"][0]["answer"]) == (200, right[i])
    assert sum(status == 200 for status, _ in found) >= waiting - 1 - sum(status == 503 for status, _ in found)
    assert "SIGTERM: finishing" in printed
    assert SECRET not in printed


def serve(*options):
    return CliRunner().invoke(app, ["serve", *map(str, options)])


def test_serve__other_address_without_token__exit_code_2_and_says_how(saved, tmp_path):
    shown = serve(saved[0] / "model", "--host", "0.0.0.0")
    assert shown.exit_code == 2
    assert "--token-file FILE" in shown.output
    (tmp_path / "token").write_text("short\n")
    shown = serve(saved[0] / "model", "--host", "0.0.0.0", "--token-file", tmp_path / "token")
    assert shown.exit_code == 2
    assert "at least 16 printable characters" in shown.output
    assert "short" not in shown.output


def test_serve__wrong_limits_models_and_ports__are_one_line(saved, tmp_path):
    assert "less than cases" in serve(saved[0] / "model", "--max-queue", 3).output
    assert serve(saved[0] / "model", "--max-queue", 3).exit_code == 2
    untrusted = serve(saved[0] / "model")
    assert untrusted.exit_code == 1
    assert "--trusted slowpoke.Slow" in untrusted.output
    assert serve(tmp_path / "nothing").exit_code == 1
    with socket.create_server(("127.0.0.1", 0)) as taken:
        shown = serve(saved[0] / "model", "--trusted", "slowpoke.Slow", "--port", taken.getsockname()[1])
    assert shown.exit_code == 2
    assert "cannot listen on 127.0.0.1" in shown.output
