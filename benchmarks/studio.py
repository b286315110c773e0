"""How long pages of the studio take with many pictures: milliseconds, median and worst of several requests.

    python benchmarks/studio.py FOLDER [--project PROJECT] [--rounds 9]

FOLDER holds pictures in one subfolder per class. PROJECT may hold a fitted model, for the pages about it; without one,
a new project is made, and only pages that need no model are measured.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from fastapi.testclient import TestClient

from memclf.studio import Project, create_studio

HOST = "http://localhost"
WITHOUT_MODEL = (
    "/data",
    "/data?label={label}",
    "/data?after={key}",
    "/thumbnail/{row}",
    "/picture/{row}",
    "/teach",
    "/numbers",
)
WITH_MODEL = ("/memories", "/memories/0", "/why", "/why/case/{row}", "/stress", "/edit", "/unknown")


def measure(client: TestClient, address: str, rounds: int) -> tuple[float, float, float, int]:
    """The first request, the median and the worst of the others, in milliseconds, and the status."""
    times = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        answer = client.get(address)
        times.append(1000 * (time.perf_counter() - started))
    return times[0], statistics.median(times[1:]), max(times[1:]), answer.status_code


def main() -> None:
    """Print one line per address."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--project", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        project = Project(given.project or Path(temporary) / "project")
        data = project.set_data(given.folder)
        words = {"label": data.classes[0], "key": data.keys[len(data) // 2], "row": len(data) // 3}
        addresses = WITHOUT_MODEL + (WITH_MODEL if project.model else ())
        print(f"{len(data):,} pictures; address, first, median and worst of {given.rounds} more, in ms")
        with TestClient(create_studio(project), base_url=HOST) as client:
            for address in addresses:
                first, median, worst, status = measure(client, address.format(**words), given.rounds)
                print(f"{address:24} {first:8.0f} {median:8.0f} {worst:8.0f}   {status}")


if __name__ == "__main__":
    main()
