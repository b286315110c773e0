"""What a cluster costs: time against workers, bytes that move, the scheduler; and what 10^8 images would need.

Each run is a process of its own that starts a local cluster of one or two worker processes with one thread each. The
workers make their own cases: 100 clusters in 16 dimensions, in chunks of 25,000, so that none goes through the client.

fit        MemoryClassifier(RBFSimilarity(gamma), n_memories=50).fit(Dask array), with the calls of its stages counted
predict    .predict(Dask array), summed up on the workers
describe   LeafColours of drawn leaves of 256 x 128 pixels, a few on each worker
scheduler  empty tasks, one after the other through the same client

Time is wall clock, and processor time of the workers and of the client (which holds the scheduler). Bytes: what the
client gets and sends, as the size of the objects, and what the workers fetch from each other, as they count it.

`--json FILE` keeps the figures. `--plan FILE` reads them and prints what 10^8 images need, as in docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memclf.memory.budget import PER_CASE

DIMENSIONS, CENTRES, MEMORIES, GAMMA = 16, 100, 50, 0.01
CHUNK = 25_000
CASES = (100_000, 400_000)
WORKERS = (1, 2)
IMAGES, EMPTY_TASKS = 24, 1000

# What the plan assumes beside the figures.
PLAN_CASES, PLAN_CORES, PLAN_MACHINES = 10**8, 16, (1, 10, 100)
IMAGE_BYTES, PRICE, NETWORK = 100_000, 0.05, 1.25e9  # of a JPEG; dollars per core and hour; bytes a second
PLAN_CHUNK, CLIENT_MEMORY, WORKER_MEMORY = 10_000, 64e9, 4e9  # images in a chunk; bytes; bytes per core
PATIENCE = 3600  # seconds that a scheduler may be busy with tasks alone, to count as a limit


def make_chunk(number: int) -> Any:
    """The cases of one chunk: every worker draws the same centres."""
    import numpy as np

    centres = np.random.default_rng(0).uniform(-5, 5, (CENTRES, DIMENSIONS))
    rng = np.random.default_rng(number + 1)
    return centres[rng.integers(CENTRES, size=CHUNK)] + rng.normal(size=(CHUNK, DIMENSIONS))


def cases_on_workers(n: int) -> Any:
    import dask.array as da
    from dask import delayed

    make = delayed(make_chunk, pure=True)
    return da.concatenate([da.from_delayed(make(i), (CHUNK, DIMENSIONS), dtype=float) for i in range(n // CHUNK)])


class Count:
    """Calls and bytes that go through the client of an executor."""

    def __init__(self) -> None:
        from dask.sizeof import sizeof

        from memclf.cases.executors import OnCluster

        self.tasks = self.gets = self.received = self.sent = 0
        start, get, put = OnCluster.start, OnCluster.get, OnCluster.put

        def counted_start(executor: Any, work: Any, calls: Any) -> Any:
            self.tasks += len(calls)
            self.sent += sum(sizeof(each) for call in calls for each in call if hasattr(each, "dtype"))
            return start(executor, work, calls)

        def counted_get(executor: Any, handles: Any, **how: Any) -> Any:
            found = get(executor, handles, **how)
            self.gets += 1
            self.received += sizeof(found)
            return found

        def counted_put(executor: Any, value: Any) -> Any:
            self.tasks += 1
            self.sent += len(_dumped(value))
            return put(executor, value)

        OnCluster.start, OnCluster.get, OnCluster.put = counted_start, counted_get, counted_put


def _dumped(value: Any) -> bytes:
    import cloudpickle

    return cloudpickle.dumps(value)


def fetched(dask_worker: Any) -> int:
    return int(sum(each["total"] for each in dask_worker.transfer_incoming_log))


class Clock:
    """Seconds, processor seconds of workers and client, and bytes between workers since it was started."""

    def __init__(self, client: Any):
        self.client, self.before = client, self._read(client)

    def _read(self, client: Any) -> tuple[float, float, float, int]:
        workers = sum(client.run(time.process_time).values())
        return time.perf_counter(), workers, time.process_time(), sum(client.run(fetched).values())

    def read(self) -> dict[str, float]:
        names = ("seconds", "worker_seconds", "client_seconds", "bytes_between_workers")
        now = self._read(self.client)
        return {name: after - before for name, after, before in zip(names, now, self.before, strict=True)}


def describe_images(n: int, seed: int) -> tuple[float, int]:
    """Processor seconds for describing drawn leaves, and the length of a description."""
    from memclf.studies.generated.leaves import leaf_pictures
    from memclf.vision.features import LeafColours

    images = list(leaf_pictures(n, height=128, width=256, seed=seed))
    features = LeafColours().fit(images)
    features.transform(images[:2])
    began = time.process_time()
    found = features.transform(images)
    return time.process_time() - began, int(found.shape[1])


def measure(workers: int, n: int) -> dict[str, Any]:
    """One run, in this process."""
    import numpy as np

    from memclf import MemoryClassifier
    from memclf.cli.cluster import open_cluster
    from memclf.similarity import RBFSimilarity

    with open_cluster(workers=workers) as client:
        client.run(__import__, "memclf.classifier")
        X = cases_on_workers(n)
        y = (np.arange(n) * 7919 % 1000 < 500).astype(int)
        clf = MemoryClassifier(RBFSimilarity(GAMMA), n_memories=MEMORIES, answer="labels", random_state=0)
        MemoryClassifier(RBFSimilarity(GAMMA), n_memories=2, random_state=0).fit(X[:2000], y[:2000])  # imports all
        count, clock = Count(), Clock(client)
        clf.fit(X, y)
        found = {"stage": "fit", **clock.read(), "tasks": count.tasks, "round_trips": count.gets}
        rows = [found | {"bytes_to_client": count.received, "bytes_from_client": count.sent}]
        clock = Clock(client)
        clf.predict(X).sum().compute()
        rows.append({"stage": "predict", **clock.read()})
        if n == min(CASES):
            rows += [describing(client, workers), scheduling(client)]
        rows[0]["objective"] = clf.search_result_.objective / n
    return {"workers": workers, "cases": n, "load": os.getloadavg()[0], "rows": rows}


def describing(client: Any, workers: int) -> dict[str, Any]:
    futures = client.map(describe_images, [IMAGES] * workers, range(workers), pure=False)
    told = client.gather(futures)
    seconds = sum(each[0] for each in told) / (IMAGES * workers)
    return {"stage": "describe", "seconds_per_image": seconds, "numbers": told[0][1]}


def scheduling(client: Any) -> dict[str, Any]:
    """Processor time of client and scheduler for an empty task, and wall clock of a round trip."""
    client.gather(client.map(abs, range(100), pure=False))
    began = time.process_time()
    client.gather(client.map(abs, range(EMPTY_TASKS), pure=False))
    each = (time.process_time() - began) / EMPTY_TASKS
    began = time.perf_counter()
    for i in range(20):
        client.submit(abs, i, pure=False).result()
    return {
        "stage": "scheduler",
        "seconds_per_task": each,
        "seconds_per_round_trip": (time.perf_counter() - began) / 20,
    }


# ------------------------------------------------------------------------------------------------------------ reading


def row(runs: list[dict[str, Any]], stage: str, workers: int, cases: int) -> dict[str, Any]:
    (run,) = [each for each in runs if (each["workers"], each["cases"]) == (workers, cases)]
    (found,) = [each for each in run["rows"] if each["stage"] == stage]
    return found


def print_measured(runs: list[dict[str, Any]]) -> None:
    """The figures as tables."""
    print("| stage | cases | workers | seconds | of the workers | of client and scheduler | tasks | round trips |")
    print("|---|---|---|---|---|---|---|---|")
    for run, each in stages(runs):
        numbers = [f"{each[name]:.1f}" for name in ("seconds", "worker_seconds", "client_seconds")]
        counts = [f"{each[name]:,}" if name in each else "" for name in ("tasks", "round_trips")]
        print("|", " | ".join([each["stage"], f"{run['cases']:,}", str(run["workers"]), *numbers, *counts]), "|")
    print("\n| stage | cases | workers | bytes per case to the client | from the client | between workers |")
    print("|---|---|---|---|---|---|")
    for run, each in stages(runs):
        moved = [each.get(name) for name in ("bytes_to_client", "bytes_from_client", "bytes_between_workers")]
        moved = ["" if value is None else f"{value / run['cases']:.0f}" for value in moved]
        print("|", " | ".join([each["stage"], f"{run['cases']:,}", str(run["workers"]), *moved]), "|")
    describe, scheduler = (row(runs, stage, WORKERS[0], CASES[0]) for stage in ("describe", "scheduler"))
    print(
        f"\nDescribing a leaf takes {1000 * describe['seconds_per_image']:.0f} ms of a processor. Client and scheduler "
        f"need {1000 * scheduler['seconds_per_task']:.2f} ms of a processor per task. A round trip took "
        f"{1000 * scheduler['seconds_per_round_trip']:.0f} ms. Load of the machine with {os.cpu_count()} cores: "
        f"{min(each['load'] for each in runs):.0f} to {max(each['load'] for each in runs):.0f}."
    )


def stages(runs: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The runs and their stages that were timed."""
    return ((run, each) for run in runs for each in run["rows"] if "seconds" in each)


def plan(runs: list[dict[str, Any]]) -> None:
    """What 10^8 images need, from the figures and the assumptions at the top."""
    small, large = (row(runs, "fit", 2, n) for n in CASES)
    describe, scheduler = (row(runs, stage, WORKERS[0], CASES[0]) for stage in ("describe", "scheduler"))

    def per_case(name: str) -> float:
        return max(0.0, (large[name] - small[name]) / (CASES[1] - CASES[0]))

    n, image, width = PLAN_CASES, describe["seconds_per_image"], 8 * describe["numbers"]
    search, answer = per_case("worker_seconds"), row(runs, "predict", 2, CASES[1])["worker_seconds"] / CASES[1]
    tasks_per_chunk = large["tasks"] / (CASES[1] / CHUNK)
    per_task = scheduler["seconds_per_task"]
    client = (
        max(0.0, per_case("client_seconds") - per_case("tasks") * per_task) + tasks_per_chunk / PLAN_CHUNK * per_task
    )
    peers = large["bytes_between_workers"] / CASES[1]  # differs from run to run: Dask moves chunks to idle workers
    print_needs(n, image, width, search, answer, client, per_case("bytes_to_client"), peers)
    print(f"| tasks of a fit | {tasks_per_chunk / PLAN_CHUNK:.4f} | {tasks_per_chunk * n / PLAN_CHUNK:,.0f} |\n")
    print(f"| machines of {PLAN_CORES} cores | hours to fit | of which client and scheduler | dollars |")
    print("|---|---|---|---|")
    for machines in PLAN_MACHINES:
        cores = machines * PLAN_CORES
        work = max(n * (image + search) / cores, n * IMAGE_BYTES / (machines * NETWORK))
        hours = (work + n * client) / 3600
        print(f"| {machines} | {hours:,.1f} | {n * client / 3600:,.1f} | {hours * cores * PRICE:,.0f} |")
    room, local = WORKER_MEMORY / 1e9, MEMORIES * WORKER_MEMORY
    limits = [
        (CLIENT_MEMORY / PER_CASE, "memory of the client", f"{PER_CASE} bytes per case"),
        (PATIENCE / client, "an hour of client and scheduler", f"{1e6 * client:.1f} µs per case"),
        (local / IMAGE_BYTES, "a local fit that holds the images", f"n / {MEMORIES} of them in {room:.0f} GB"),
        (local / width, "a local fit on descriptions", f"n / {MEMORIES} of {width} bytes in {room:.0f} GB"),
    ]
    print("\n| what ends first | at | because |")
    print("|---|---|---|")
    for cases, what, why in sorted(limits):
        print(f"| {what} | {cases:,.0f} cases | {why} |")


def print_needs(
    n: int, image: float, width: int, search: float, answer: float, client: float, to_client: float, peers: float
) -> None:
    """A table of what each image costs, and all of them."""
    print("| what | per image | 10^8 images |")
    print("|---|---|---|")
    print(f"| reading the images | {IMAGE_BYTES / 1000:.0f} kB | {n * IMAGE_BYTES / 1e12:.1f} TB |")
    print(f"| describing | {1000 * image:.0f} ms of a core | {n * image / 3600:,.0f} core hours |")
    print(f"| search | {1e6 * search:.0f} µs of a core | {n * search / 3600:,.1f} core hours |")
    print(f"| routing and answering | {1e6 * answer:.1f} µs of a core | {n * answer / 3600:,.2f} core hours |")
    print(f"| client and scheduler | {1e6 * client:.1f} µs | {n * client / 3600:,.2f} hours of one core |")
    print(f"| bytes to the client | {to_client:.0f} | {n * to_client / 1e9:.1f} GB |")
    print(f"| bytes between workers | {peers:.0f} | {n * peers / 1e9:.1f} GB |")
    print(f"| memory of the client | {PER_CASE} bytes | {n * PER_CASE / 1e9:.1f} GB |")
    print(f"| descriptions on the workers | {width} bytes | {width * n / 1e9:.1f} GB |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="keep the figures in this file")
    parser.add_argument("--plan", type=Path, help="read the figures of this file, and plan")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(measure(*json.loads(asked.child))))
        return
    if asked.plan:
        runs = json.loads(asked.plan.read_text())["runs"]
        print_measured(runs)
        print()
        plan(runs)
        return
    runs = []
    for n in CASES:
        for workers in WORKERS:
            run = [sys.executable, __file__, "--child", json.dumps([workers, n])]
            shown = subprocess.run(run, capture_output=True, text=True, check=True).stdout
            runs.append(json.loads(shown.strip().splitlines()[-1]))
            print(f"{n:,} cases, {workers} workers: done", file=sys.stderr)
    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        asked.json.write_text(json.dumps({"runs": runs}, indent=1) + "\n")
    print_measured(runs)


if __name__ == "__main__":
    main()
