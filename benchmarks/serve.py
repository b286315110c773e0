"""The service under load: requests per second and latency, with and without batches, beside LitServe.

A client asks, waits for the answer, and asks again; each request holds one case. So many clients run at once in this
process, over connections that are kept. Servers run in processes of their own on 127.0.0.1, with the same model from
the same folder. They take turns: a measurement ends after `--seconds` or `--requests`, whichever comes first, then
comes the next server; after `--rounds` rounds the medians are shown. An answer other than 200 counts as a failure.
"processor ms" is the processor time of all processes of the server per request: on a machine that others use, too, it
says more than the clock. It is read from /proc, so this script needs Linux.

table     Gower similarity over eight columns, logistic regressions; 400 generated cases.
images    Patches of the same colour are similar; local classifiers are last layers on the bundled EfficientNet-Lite0
          (96 x 96 pixels). PNG files of 128 x 128 pixels in a form.

memclf          memclf serve MODEL
memclf, alone   memclf serve MODEL --batch-size 1
LitServe        serve_litserve.py: the same calls of memclf in a LitAPI with max_batch_size=32, batch_timeout=5 ms and
                one worker; with --alone also without batches.

`--soak SECONDS` asks memclf alone with eight clients for so long and prints failures and its resident memory.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

CLIENTS = (1, 8, 32)
BATCH = 32
LITSERVE = Path(__file__).with_name("serve_litserve.py")
SIZE = 128


# -------------------------------------------------------------------------------------------------- models and requests


def make_table(folder: Path) -> list[bytes]:
    """Fit and save the model of a table; returns bodies of requests."""
    import numpy as np
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    import memclf
    from memclf.similarity import GowerSimilarity

    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"number {j}": rng.normal(size=400) for j in range(6)})
    X["shift"], X["machine"] = rng.choice(["day", "night"], 400), rng.choice(list("ABCD"), 400)
    y = np.where(X["number 0"] + X["number 1"] + (X["shift"] == "night") > 0.5, "worn", "fine")
    words = (OneHotEncoder(handle_unknown="ignore"), ["shift", "machine"])
    estimator = make_pipeline(make_column_transformer(words, remainder=StandardScaler()), LogisticRegression())
    memclf.save(memclf.MemoryClassifier(GowerSimilarity(), estimator, threshold=0.7, random_state=0).fit(X, y), folder)
    return [json.dumps({"cases": [case]}).encode() for case in X[:64].to_dict("records")]


def make_images(folder: Path) -> list[bytes]:
    """Fit and save the model of images; returns bodies of requests."""
    import memclf
    from memclf.similarity import FunctionSimilarity
    from memclf.studies.generated.patches import colour_patches
    from memclf.vision import ImageClassifier
    from memclf.vision.features import PatchColour, same_colour
    from memclf.vision.files import encode_png

    images = colour_patches(60, size=SIZE)
    labels = ["left" if image[:, : SIZE // 2].any() else "right" for image in images]
    network = ImageClassifier(image_size=96, train="head", epochs=1, random_state=0)
    similarity = FunctionSimilarity(same_colour, batched=True, features=PatchColour())
    clf = memclf.MemoryClassifier(similarity, network, random_state=0)
    memclf.save(clf.fit(images, labels), folder)
    return [as_form(encode_png(image)) for image in images]


def as_form(content: bytes) -> bytes:
    head = b'--b\r\nContent-Disposition: form-data; name="images"; filename="a.png"\r\n\r\n'
    return head + content + b"\r\n--b--\r\n"


MODELS = {"table": (make_table, "application/json"), "images": (make_images, "multipart/form-data; boundary=b")}


# -------------------------------------------------------------------------------------------------------------- servers


def command(kind: str, folder: Path, port: int) -> list[str]:
    """How a server is started."""
    if kind.startswith("LitServe"):
        batch = 1 if kind.endswith("alone") else BATCH
        return [sys.executable, str(LITSERVE), str(folder), str(port), str(batch)]
    alone = ["--batch-size", "1"] if kind.endswith("alone") else []
    return [sys.executable, "-m", "memclf.cli", "serve", str(folder), "--port", str(port), *alone]


@contextmanager
def running(kind: str, folder: Path) -> Iterator[tuple[int, int]]:
    """A server in a process of its own: its process and its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with open(os.devnull, "wb") as nothing:
        process = subprocess.Popen(command(kind, folder, port), stdout=nothing, stderr=nothing, start_new_session=True)
    try:
        wait_for(port, process)
        yield process.pid, port
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
        with suppress(ProcessLookupError):  # what is left of it and of the processes that it started
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until the server answers."""
    end = time.monotonic() + 240
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError, EOFError):
            if asyncio.run(ask_once(port, request("GET", "/healthz")))[0] == 200:
                return
        time.sleep(0.2)
    raise RuntimeError(f"the server did not start: {process.args}")


# -------------------------------------------------------------------------------------------------------------- clients


def request(method: str, path: str, body: bytes = b"", content_type: str = "text/plain") -> bytes:
    """A request as it goes over the wire."""
    lines = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {content_type}\r\n"
    return f"{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Status and body of an answer that says how long it is."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.split("content-length:")[1].split("\r\n")[0])
    return int(head.split()[1]), await reader.readexactly(length)


async def ask_once(port: int, content: bytes) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(content)
        return await read_answer(reader)
    finally:
        writer.close()


async def load(
    port: int, requests: list[bytes], clients: int, seconds: float, most: int
) -> tuple[list[float], int, float]:
    """Latencies, failures and the time that all clients took."""
    latencies: list[float] = []
    failures = 0
    started = time.perf_counter()
    left = most

    async def be_client(number: int) -> None:
        nonlocal failures, left
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        turn = number
        while left > 0 and time.perf_counter() - started < seconds:
            left -= 1
            begun = time.perf_counter()
            writer.write(requests[turn % len(requests)])
            try:
                status, body = await asyncio.wait_for(read_answer(reader), 60)
                failures += status != 200 or b'"answer"' not in body
            except (OSError, EOFError, TimeoutError):
                failures += 1
                break
            latencies.append(time.perf_counter() - begun)
            turn += clients
        writer.close()

    await asyncio.gather(*(be_client(number) for number in range(clients)))
    return latencies, failures, time.perf_counter() - started


def processor_time(session: int) -> float:
    """Seconds that all processes of a session have used."""
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = file.read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12]) if int(fields[3]) == session else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def quantile(values: list[float], share: float) -> float:
    """In milliseconds."""
    ordered = sorted(values)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def measure(model: str, folder: Path, requests: list[bytes], kinds: list[str], asked: argparse.Namespace) -> None:
    """Print one row per server and number of clients: medians over rounds in which the servers take turns."""
    rows: dict[tuple[int, str], list[tuple[float, ...]]] = defaultdict(list)
    with ExitStack() as started:
        servers = {kind: started.enter_context(running(kind, folder)) for kind in kinds}
        for _, port in servers.values():
            asyncio.run(load(port, requests, 8, min(3.0, asked.seconds), 100))
        for _, clients, kind in itertools.product(range(asked.rounds), CLIENTS, kinds):
            pid, port = servers[kind]
            before = processor_time(pid)
            found, failures, took = asyncio.run(load(port, requests, clients, asked.seconds, asked.requests))
            spent = 1000 * (processor_time(pid) - before) / len(found)
            shown = [quantile(found, share) for share in (0.5, 0.95, 0.99)]
            rows[clients, kind].append((len(found) / took, *shown, spent, failures))
    for (clients, kind), measured in rows.items():
        middle = [statistics.median(column) for column in zip(*measured, strict=True)][:-1]
        failures = sum(row[-1] for row in measured)
        cells = [model, kind, str(clients), f"{middle[0]:.0f}", *(f"{each:.1f}" for each in middle[1:]), str(failures)]
        print(f"| {' | '.join(cells)} |", flush=True)


def soak(model: str, folder: Path, requests: list[bytes], seconds: float) -> None:
    """Ask for long, and look at the memory of the server."""
    with running("memclf", folder) as (pid, port):
        rounds = max(2, round(seconds / 15))
        asyncio.run(load(port, requests, 8, 5, 10**9))
        for _ in range(rounds):
            found, failures, _ = asyncio.run(load(port, requests, 8, seconds / rounds, 10**9))
            text = Path(f"/proc/{pid}/status").read_text()
            resident = int(text.split("VmRSS:")[1].split()[0]) / 1024
            print(f"{model}: {len(found)} requests, {failures} failures, {resident:.1f} MiB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--rounds", type=int, default=5, help="of measurements; medians are shown")
    parser.add_argument("--seconds", type=float, default=4.0, help="of one measurement, at most")
    parser.add_argument("--requests", type=int, default=10_000, help="of one measurement, at most")
    parser.add_argument("--alone", action="store_true", help="LitServe without batches, too")
    parser.add_argument("--soak", type=float, help="seconds of one long measurement")
    asked = parser.parse_args()
    kinds = ["memclf", "memclf, alone", "LitServe", *(["LitServe, alone"] if asked.alone else [])]
    if not asked.soak:
        print(
            "| model | server | clients | requests/s | p50 ms | p95 ms | p99 ms | processor ms | failures |\n|"
            + "---|" * 9
        )
    for model in asked.models:
        make, content_type = MODELS[model]
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "model"
            requests = [request("POST", "/v1/predict", body, content_type) for body in make(folder)]
            if asked.soak:
                soak(model, folder, requests, asked.soak)
                continue
            measure(model, folder, requests, kinds, asked)


if __name__ == "__main__":
    main()
