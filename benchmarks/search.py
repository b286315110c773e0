"""The search of memclf beside the k-medoids programs a user would otherwise pick: time, memory, objective.

Data: `make_blobs` in 16 dimensions with as many true centres as memories are asked for, centres drawn from the
box (-5, 5), standard deviation 1 ("separated") or 3 ("overlapping"). A seed fixes the data and every method's
own random numbers. Objective, for everybody: the sum over all cases of exp(-gamma d^2) to the nearest of the q
medoids, computed here from the medoids that a method returned; gamma comes from the median heuristic on a sample
and is the same for all. Cost is n minus the objective: what FasterPAM and OneBatchPAM minimise.

How each method is run:

memclf       MemorySelector(RBFSimilarity(gamma), 0.7, n_memories=q, random_state=seed).fit(X), all else default.
             With a fixed number of memories the threshold only serves the coverage report.
FasterPAM    kmedoids.fasterpam on the full matrix 1 - rbf, init="random", default threads. The matrix is part of its
             time. It is float32 and made in place: half the memory of float64 and faster.
OneBatchPAM  onebatch.OneBatchPAM, defaults. Its `distance` may be a function of two blocks (X, batch, n_jobs), so it
             gets 1 - rbf itself, in float32, which is what it would convert to. Its own batch of distances is part
             of its time, as it is of the method; no full matrix is made.
KMedoids     scikit-learn-extra, method="alternate", metric="precomputed" on the same matrix as FasterPAM, matrix
             included in the time, init="k-medoids++" (the default "heuristic" takes neighbours of one another).
CLARA        scikit-learn-extra, metric="sqeuclidean": it takes no blocks, and a function of pairs would be called
             n q times from Python. So it optimises another distance, to which 1 - rbf is proportional for near cases.

A method that does not import is left out, with a word on why. Nothing is ever installed from here.

Every fit runs in a process of its own, one after the other. Memory is the peak resident size of that process less
the resident size right before the fit, in units of 2^20 bytes; imports, data and a warm-up fit on 500 rows come
before. Time is the wall clock around the fit alone.

`--modes` measures something else: the three modes of memclf, MemorySelector(RBFSimilarity(gamma), 0.7, mode=mode,
random_state=seed), beside each other. The number of memories is theirs to find, so `q` is only the number of true
centres in the data. All fits run in one process; time is that of the processor, which suffers less from others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

# numpy and the methods are imported in the child processes only: the peak memory that the system reports for a
# child is never below that of the process that started it, so the parent has to stay small.

DIMENSIONS = 16
BOX = (-5.0, 5.0)
SPREADS = {"separated": 1.0, "overlapping": 3.0}
SIZES = (2000, 5000, 10000)
MEMORIES = (10, 50)
SEEDS = 3
THRESHOLD = 0.7
SAMPLE = 1000  # cases in the median heuristic
WARM_UP = 500  # rows
CHUNK = 2000  # rows of the objective at a time
MB = 2**20
MODES = ("paper", "clarans", "corrected")

REFERENCE = "FasterPAM"
AIM_AT = (10000, 50)  # n, q
AIM_OBJECTIVE, AIM_TIME, AIM_MEMORY = 0.995, 0.1, 64.0


# --- the child: one fit -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    method: str
    n: int
    q: int
    spread: str
    seed: int


@dataclass(frozen=True)
class Found:
    medoids: Any  # rows of X
    matrix_seconds: float | None = None  # the part of the time spent on a full distance matrix


def fit_memclf(X: Any, q: int, gamma: float, seed: int) -> Found:
    from memclf import MemorySelector
    from memclf.similarity import RBFSimilarity

    selector = MemorySelector(RBFSimilarity(gamma), THRESHOLD, n_memories=q, random_state=seed).fit(X)
    return Found(X[selector.memory_indices_])


def fit_fasterpam(X: Any, q: int, gamma: float, seed: int) -> Found:
    import kmedoids

    distances, seconds = timed(lambda: rbf_distances(X, X, gamma))
    result = kmedoids.fasterpam(distances, q, init="random", random_state=seed)
    return Found(X[result.medoids.astype(int)], seconds)


def fit_onebatch(X: Any, q: int, gamma: float, seed: int) -> Found:
    from onebatch import OneBatchPAM

    def distance(A: Any, B: Any, n_jobs: int | None) -> Any:
        return rbf_distances(A, B, gamma)

    model = OneBatchPAM(n_medoids=q, distance=distance, random_state=seed).fit(X)
    return Found(X[list(model.medoid_indices_)])


def fit_kmedoids(X: Any, q: int, gamma: float, seed: int) -> Found:
    from sklearn_extra.cluster import KMedoids

    distances, seconds = timed(lambda: rbf_distances(X, X, gamma))
    model = KMedoids(q, metric="precomputed", method="alternate", init="k-medoids++", random_state=seed)
    return Found(X[model.fit(distances).medoid_indices_], seconds)


def fit_clara(X: Any, q: int, gamma: float, seed: int) -> Found:
    from sklearn_extra.cluster import CLARA

    return Found(X[CLARA(q, metric="sqeuclidean", random_state=seed).fit(X).medoid_indices_])


Fit = Callable[[Any, int, float, int], Found]

# method: the module it needs, how to run it
METHODS: dict[str, tuple[str, Fit]] = {
    "memclf": ("memclf", fit_memclf),
    "FasterPAM": ("kmedoids", fit_fasterpam),
    "OneBatchPAM": ("onebatch", fit_onebatch),
    "KMedoids": ("sklearn_extra.cluster", fit_kmedoids),
    "CLARA (sqeuclidean)": ("sklearn_extra.cluster", fit_clara),
}


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def rbf_distances(A: Any, B: Any, gamma: float) -> Any:
    """1 - exp(-gamma d^2) in float32, without a second array of that size."""
    import numpy as np
    from sklearn.metrics.pairwise import rbf_kernel

    same = A is B
    A = A.astype(np.float32)
    distances = rbf_kernel(A, A if same else B.astype(np.float32), gamma=gamma)
    return np.subtract(1, distances, out=distances)


def make_data(job: Job) -> Any:
    from sklearn.datasets import make_blobs

    X, _ = make_blobs(
        job.n, DIMENSIONS, centers=job.q, cluster_std=SPREADS[job.spread], center_box=BOX, random_state=job.seed
    )
    return X


def median_gamma(X: Any, seed: int) -> float:
    import numpy as np
    from scipy.spatial.distance import pdist

    sample = np.random.default_rng(seed).choice(len(X), min(SAMPLE, len(X)), replace=False)
    return float(1 / (2 * np.median(pdist(X[sample], "sqeuclidean"))))


def objective(X: Any, medoids: Any, gamma: float) -> float:
    import numpy as np
    from scipy.spatial.distance import cdist

    parts = (X[start : start + CHUNK] for start in range(0, len(X), CHUNK))
    return float(sum(np.exp(-gamma * cdist(part, medoids, "sqeuclidean").min(axis=1)).sum() for part in parts))


def compare_modes(options: argparse.Namespace) -> str:
    """A table of what each mode of the search gives on the same data, medians over the seeds."""
    lines = [["n", "centres", "spread", "mode", "memories", "coverage %", "mean similarity", "processor s"]]
    for n, q, spread in product(options.n, options.q, options.spread):
        found: dict[str, list[list[float]]] = {mode: [] for mode in MODES}
        for seed in range(options.seeds):
            X = make_data(Job("memclf", n, q, spread, seed))
            gamma = median_gamma(X, seed)
            for mode in MODES:
                start = time.process_time()
                result = fit_mode(X, gamma, seed, mode)
                seconds = time.process_time() - start
                found[mode].append([result.n_memories, 100 * result.coverage, result.objective / n, seconds])
        for mode in MODES:
            forms = ("g", ".1f", ".3f", ".2f")
            values = [statistics.median(column) for column in zip(*found[mode], strict=True)]
            lines.append([f"{n}", f"{q}", spread, mode, *map(format, values, forms)])
    return aligned(lines, left={2, 3})


def fit_mode(X: Any, gamma: float, seed: int, mode: str) -> Any:
    from memclf import MemorySelector
    from memclf.similarity import RBFSimilarity

    return MemorySelector(RBFSimilarity(gamma), THRESHOLD, mode=mode, random_state=seed).fit(X).search_result_


def peak_memory() -> float:
    """Largest resident size of this process so far, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MB


def resident_memory() -> float:
    """Resident size of this process now, in MB; where the system does not tell, the largest so far."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return peak_memory()
    return pages * resource.getpagesize() / MB


def source_mark() -> str:
    """A short mark of memclf's source as it is now, to tell when it changed between two fits."""
    import memclf

    folder = Path(memclf.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(file.relative_to(folder).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:10]


def run_job(job: Job) -> dict[str, Any]:
    fit = METHODS[job.method][1]
    X = make_data(job)
    gamma = median_gamma(X, job.seed)
    fit(X[:WARM_UP], min(job.q, WARM_UP), gamma, job.seed)
    before, peak_before = resident_memory(), peak_memory()
    processor = time.process_time()
    found, seconds = timed(lambda: fit(X, job.q, gamma, job.seed))
    processor = time.process_time() - processor
    peak = peak_memory()
    if len({row.tobytes() for row in found.medoids}) != job.q:
        raise RuntimeError(f"{job.method} returned fewer than {job.q} different medoids")
    return {
        **asdict(job),
        "source": source_mark() if job.method == "memclf" else None,
        "gamma": gamma,
        "seconds": seconds,
        "processor_seconds": processor,  # of all threads together; suffers less when others use the machine
        "matrix_seconds": found.matrix_seconds,
        "extra_mb": peak - before,
        "least_mb": peak_before - before,  # the measurement cannot come out below this
        "objective": objective(X, found.medoids, gamma),
    }


def probe() -> dict[str, Any]:
    """Why each method cannot be run (None if it can), and versions."""
    import importlib
    from importlib.metadata import version

    import numpy as np

    problems: dict[str, str | None] = {}
    for method, (module, _) in METHODS.items():
        try:
            importlib.import_module(module)
            problems[method] = None
        except Exception as error:  # compiled against another numpy, a missing library, anything
            problems[method] = f"{module} does not import ({type(error).__name__}: {error})"
    distributions = ("memclf", "kmedoids", "onebatch", "scikit-learn-extra", "scikit-learn", "scipy")
    versions = {"Python": platform.python_version(), "numpy": np.__version__}
    for name in distributions:
        try:
            versions[name] = version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {"problems": problems, "versions": versions}


# --- the parent: all fits, one after the other --------------------------------------------------------------


def in_child(*arguments: str) -> dict[str, Any]:
    """What a fresh process of this script answers; {"error": ...} if it fails."""
    command = [sys.executable, str(Path(__file__).resolve()), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"error": lines[-1] if lines else f"ended with code {done.returncode}"}
    return json.loads(done.stdout.strip().splitlines()[-1])


def jobs(methods: list[str], options: argparse.Namespace) -> Iterator[Job]:
    """Methods change fastest, so that whatever else the machine does falls on all of them alike."""
    for n in options.n:
        for q in options.q:
            for spread in options.spread:
                for seed in range(options.seeds):
                    for method in methods:
                        yield Job(method, n, q, spread, seed)


def run_all(todo: list[Job]) -> list[dict[str, Any]]:
    rows = []
    for number, job in enumerate(todo, 1):
        head = f"[{number}/{len(todo)}] n={job.n} q={job.q} {job.spread} seed={job.seed} {job.method}"
        print(head, end=": ", file=sys.stderr, flush=True)
        row = in_child("--job", json.dumps(asdict(job)))
        if "error" in row:
            row = {**asdict(job), **row}
            print(f"failed: {row['error']}", file=sys.stderr)
        else:
            print(f"{row['seconds']:.3f} s, {row['extra_mb']:.0f} MB", file=sys.stderr, flush=True)
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Summary:
    """One line of the table. None: not measured."""

    n: int
    q: int
    spread: str
    method: str
    failed: int = 0
    seconds: float | None = None  # medians over the seeds
    fastest: float | None = None
    slowest: float | None = None
    matrix: float | None = None  # the full distance matrix, and the search on it
    search: float | None = None
    extra_mb: float | None = None  # largest over the seeds
    objective: float | None = None  # shares of FasterPAM's on the same data: median, and the worst seed
    worst_objective: float | None = None
    cost: float | None = None
    time: float | None = None


def summarise(rows: list[dict[str, Any]]) -> list[Summary]:
    groups: dict[tuple[int, int, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["n"], row["q"], row["spread"], row["method"]), []).append(row)
    return [summary(*key, group, groups.get((*key[:3], REFERENCE), [])) for key, group in groups.items()]


def summary(
    n: int, q: int, spread: str, method: str, group: list[dict[str, Any]], reference: list[dict[str, Any]]
) -> Summary:
    done = [row for row in group if "error" not in row]
    failed = len(group) - len(done)
    if not done:
        return Summary(n, q, spread, method, failed)
    seconds = [row["seconds"] for row in done]
    on_matrix = [row for row in done if row["matrix_seconds"] is not None]
    theirs = {row["seed"]: row for row in reference if "error" not in row}
    pairs = [(row["objective"], theirs[row["seed"]]["objective"]) for row in done if row["seed"] in theirs]
    objectives = [mine / other for mine, other in pairs]
    costs = [(n - mine) / (n - other) for mine, other in pairs]
    middle = statistics.median
    return Summary(
        n,
        q,
        spread,
        method,
        failed,
        seconds=middle(seconds),
        fastest=min(seconds),
        slowest=max(seconds),
        matrix=middle(row["matrix_seconds"] for row in on_matrix) if on_matrix else None,
        search=middle(row["seconds"] - row["matrix_seconds"] for row in on_matrix) if on_matrix else None,
        extra_mb=max(row["extra_mb"] for row in done),
        objective=middle(objectives) if pairs else None,
        worst_objective=min(objectives) if pairs else None,
        cost=middle(costs) if pairs else None,
        time=middle(seconds) / middle(row["seconds"] for row in theirs.values()) if pairs else None,
    )


HEAD = (
    "n",
    "q",
    "spread",
    "method",
    "seconds",
    "(range)",
    "matrix s",
    "search s",
    "extra MB",
    "objective %",
    "cost %",
    "time",
)


def table(summaries: list[Summary]) -> str:
    return aligned([list(HEAD), *(cells(each) for each in summaries)], left={2, 3})


def cells(each: Summary) -> list[str]:
    return [
        f"{each.n}",
        f"{each.q}",
        each.spread,
        each.method + (f" ({each.failed} failed)" if each.failed else ""),
        shown(each.seconds, ".3f"),
        "-" if each.seconds is None else f"({each.fastest:.3f}-{each.slowest:.3f})",
        shown(each.matrix, ".3f"),
        shown(each.search, ".3f"),
        shown(each.extra_mb, ".1f"),
        shown(each.objective, ".2f", 100),
        shown(each.cost, ".1f", 100),
        shown(each.time, ".2f") + ("" if each.time is None else "x"),
    ]


def shown(value: float | None, form: str, times: float = 1) -> str:
    return "-" if value is None else format(times * value, form)


def aligned(lines: list[list[str]], left: set[int]) -> str:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rule = ["-" * width for width in widths]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in [lines[0], rule, *lines[1:]]
    )


def aim(summaries: list[Summary]) -> str:
    n, q = AIM_AT
    lines = [
        f"Aim for n={n}, q={q}: at least {AIM_OBJECTIVE:.1%} of {REFERENCE}'s objective in at most {AIM_TIME:.2f}x its "
        f"time, under {AIM_MEMORY:.0f} MB extra"
    ]
    for spread in SPREADS:
        mine = [s for s in summaries if (s.n, s.q, s.spread, s.method) == (n, q, spread, "memclf")]
        lines.append(f"  {spread}: {verdict(mine[0]) if mine else 'not measured'}")
    return "\n".join(lines)


def verdict(mine: Summary) -> str:
    if mine.objective is None or mine.worst_objective is None or mine.time is None or mine.extra_mb is None:
        return "not measured"
    missed = []
    if mine.objective < AIM_OBJECTIVE:
        missed.append(f"{100 * (AIM_OBJECTIVE - mine.objective):.2f} points of objective")
    if mine.time > AIM_TIME:
        missed.append(f"a factor of {mine.time / AIM_TIME:.2f} in time")
    if mine.extra_mb >= AIM_MEMORY:
        missed.append(f"{mine.extra_mb - AIM_MEMORY:.1f} MB")
    got = (
        f"objective {mine.objective:.2%}, in the worst seed {mine.worst_objective:.2%}; time {mine.time:.3f}x; "
        f"{mine.extra_mb:.1f} MB"
    )
    return f"missed by {' and '.join(missed)} ({got})" if missed else f"reached ({got})"


def sources(rows: list[dict[str, Any]]) -> str:
    """Which source was measured, and a warning if it changed meanwhile."""
    marks = list(dict.fromkeys(row["source"] for row in rows if row.get("source")))
    if len(marks) > 1:
        return f"Warning: memclf's source changed during the run ({', '.join(marks)}): its rows mix versions."
    return f"memclf source {marks[0]}, the same in all fits" if marks else "memclf was not measured"


NOTES = """seconds: median over the seeds (fastest-slowest), of which matrix s for the full distance matrix and search s
for the search on it; extra MB: largest over the seeds; objective %, cost %: of FasterPAM's on the same data, median
over the seeds (cost = n - objective, the stricter look at the same thing); time: seconds over FasterPAM's."""


def options_from(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The search of memclf beside its peers: time, memory, objective.")
    parser.add_argument("--n", type=int, nargs="+", default=None, help=f"numbers of cases (default {SIZES})")
    parser.add_argument("--q", type=int, nargs="+", default=list(MEMORIES), help=f"memories (default {MEMORIES})")
    parser.add_argument("--seeds", type=int, default=None, help=f"how many seeds, from 0 on (default {SEEDS})")
    parser.add_argument("--spread", nargs="+", choices=list(SPREADS), default=list(SPREADS), help="kinds of data")
    parser.add_argument("--quick", action="store_true", help="n=2000 and one seed, unless given")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write one record per fit to FILE")
    parser.add_argument("--modes", action="store_true", help="compare the three modes of the search instead")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.n = options.n or ([2000] if options.quick else list(SIZES))
    options.seeds = (1 if options.quick else SEEDS) if options.seeds is None else options.seeds
    if options.seeds < 1 or min(options.q) < 1 or min(options.n) < max(WARM_UP, *options.q):
        parser.error(f"--seeds and --q must be at least 1, --n at least {WARM_UP} and at least q")
    return options


def main() -> None:
    options = options_from()
    if options.job:
        print(json.dumps(run_job(Job(**json.loads(options.job)))))
        return
    if options.probe:
        print(json.dumps(probe()))
        return
    if options.modes:
        print(compare_modes(options))
        return
    about = in_child("--probe")
    if "error" in about:
        raise SystemExit(f"cannot start: {about['error']}")
    if about["problems"]["memclf"]:
        raise SystemExit(f"cannot start: {about['problems']['memclf']}")
    print(", ".join(f"{name} {number}" for name, number in about["versions"].items()) + f"; {os.cpu_count()} cores")
    for method, problem in about["problems"].items():
        if problem:
            print(f"{method} is skipped: {problem}")
    methods = [method for method, problem in about["problems"].items() if not problem]
    rows = run_all(list(jobs(methods, options)))
    if options.json:
        options.json.write_text(json.dumps({"versions": about["versions"], "rows": rows}, indent=1) + "\n")
    summaries = summarise(rows)
    print(f"\n{table(summaries)}\n\n{NOTES}\n{sources(rows)}\n\n{aim(summaries)}")


if __name__ == "__main__":
    main()
