"""What search and routing cost as cases grow: time, memory, objective and comparisons, beside the peers.

Data: 100 clusters in 16 dimensions, centres from the box (-5, 5), standard deviation 1, as a memory map of single
precision in a temporary folder. gamma is that of the median heuristic. Every fit runs in a process of its own. Time is
that of the processor, all threads together, which suffers less when others use the machine (wall clock beside it).
Memory is the peak resident size of the process less that right before the fit; mapped pages of the file count.

search    memclf: MemorySelector(RBFSimilarity(gamma), 0.7, n_memories=q).fit(memory map). OneBatchPAM and FasterPAM as
          in search.py. FastCLARANS of scikit-clarans, metric="sqeuclidean". FAISS: k-means, 20 iterations; the case
          next to each centre is its medoid, so that objectives are comparable. Peers run up to the sizes in LIMITS.
cover     memclf with n_memories=None beside RadiusClustering (an approximate minimum dominating set of all pairs) with
          the radius at which the similarity is the threshold: memories needed.
routing   route_all of described cases to 100 memories, beside the bare product of the two matrices: in small blocks
          into one buffer that stays in the cache, in blocks of 2^21 numbers, and as a whole. Wall clock and processor
          time, medians of the ratios of repeats that take turns. With OMP_NUM_THREADS=1 everything has one thread.
function  A user's function of two cases: how often it is called, and the objective that is reached.

`--json FILE` keeps all rows, `--plot FILE` draws the cost of the search against n.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from search import DIMENSIONS, aligned, peak_memory, rbf_distances, resident_memory

CENTRES = 100
SIZES = (10_000, 100_000, 1_000_000)
LIMITS = {"memclf": 10**8, "FAISS": 10**6, "OneBatchPAM": 10**5, "FasterPAM": 10**4, "FastCLARANS": 10**4}
TEN_MILLION = 10_000_000
THRESHOLD = 0.7
ROUTED, REPEATS = 1_000_000, 5
FUNCTION_CASES, FUNCTION_MEMORIES = 3000, 20
COVER_CASES = (2000, 5000)
PART = 2**18


def write_data(path: Path, n: int, seed: int) -> None:
    """Clusters of cases, a part at a time."""
    import numpy as np

    rng = np.random.default_rng(seed)
    centres = rng.uniform(-5, 5, (CENTRES, DIMENSIONS))
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, DIMENSIONS))
    for start in range(0, n, PART):
        some = X[start : start + PART]
        some[:] = centres[rng.integers(CENTRES, size=len(some))] + rng.normal(size=some.shape)
    X.flush()


def median_gamma(X: Any) -> float:
    import numpy as np
    from scipy.spatial.distance import pdist

    sample = np.sort(np.random.default_rng(0).choice(len(X), 1000, replace=False))
    return float(1 / (2 * np.median(pdist(X[sample].astype(np.float64), "sqeuclidean"))))


def objective(X: Any, medoids: Any, gamma: float) -> float:
    """Mean similarity of a case to its medoid."""
    import numpy as np
    from scipy.spatial.distance import cdist

    total = 0.0
    for start in range(0, len(X), PART // 16):
        part = X[start : start + PART // 16].astype(np.float64)
        total += float(np.exp(-gamma * cdist(part, medoids, "sqeuclidean").min(axis=1)).sum())
    return total / len(X)


def fit_memclf(X: Any, q: int, gamma: float, seed: int) -> tuple[Any, dict[str, Any]]:
    from memclf import MemorySelector
    from memclf.similarity import RBFSimilarity

    found = MemorySelector(RBFSimilarity(gamma), THRESHOLD, n_memories=q, random_state=seed).fit(X).search_result_
    return X[found.indices], {"comparisons": found.n_evaluations, "way": found.way}


def fit_onebatch(X: Any, q: int, gamma: float, seed: int) -> tuple[Any, dict[str, Any]]:
    from onebatch import OneBatchPAM

    def distance(A: Any, B: Any, n_jobs: int | None) -> Any:
        return rbf_distances(A, B, gamma)

    model = OneBatchPAM(n_medoids=q, distance=distance, random_state=seed).fit(X)
    return X[list(model.medoid_indices_)], {}


def fit_fasterpam(X: Any, q: int, gamma: float, seed: int) -> tuple[Any, dict[str, Any]]:
    import kmedoids

    found = kmedoids.fasterpam(rbf_distances(X, X, gamma), q, init="random", random_state=seed)
    return X[found.medoids.astype(int)], {}


def fit_clarans(X: Any, q: int, gamma: float, seed: int) -> tuple[Any, dict[str, Any]]:
    from clarans import FastCLARANS

    model = FastCLARANS(n_clusters=q, metric="sqeuclidean", random_state=seed).fit(X)
    return X[model.medoid_indices_], {}


def fit_faiss(X: Any, q: int, gamma: float, seed: int) -> tuple[Any, dict[str, Any]]:
    import faiss
    import numpy as np

    model = faiss.Kmeans(DIMENSIONS, q, niter=20, seed=seed)
    model.train(np.ascontiguousarray(X))
    index = faiss.IndexFlatL2(DIMENSIONS)
    index.add(np.ascontiguousarray(X))
    return X[index.search(model.centroids, 1)[1][:, 0]], {}


FITS: dict[str, Callable[[Any, int, float, int], tuple[Any, dict[str, Any]]]] = {
    "memclf": fit_memclf,
    "OneBatchPAM": fit_onebatch,
    "FasterPAM": fit_fasterpam,
    "FastCLARANS": fit_clarans,
    "FAISS": fit_faiss,
}


def run_search(method: str, path: str, q: int, seed: int) -> dict[str, Any]:
    import numpy as np

    X = np.load(path, mmap_mode="r")
    gamma = median_gamma(X)
    FITS[method](np.array(X[:1000]), min(q, 100), gamma, seed)  # imports, and what is set up once
    before = resident_memory()
    start, processor = time.perf_counter(), time.process_time()
    medoids, more = FITS[method](X if method == "memclf" else np.array(X), q, gamma, seed)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    memory = peak_memory() - before
    return {
        **{"method": method, "n": len(X), "q": q, "seconds": seconds, "processor_seconds": processor},
        **{"extra_mb": memory, "peak_mb": peak_memory(), "objective": objective(X, medoids, gamma), **more},
    }


def run_cover(n: int, seed: int) -> list[dict[str, Any]]:
    import numpy as np
    from radius_clustering import RadiusClustering

    from memclf import MemorySelector
    from memclf.similarity import RBFSimilarity

    rng = np.random.default_rng(seed)
    X = rng.uniform(-5, 5, (10, DIMENSIONS))[rng.integers(10, size=n)] + rng.normal(0, 3, (n, DIMENSIONS))
    gamma = median_gamma(X)
    rows = []
    for method in ("memclf", "RadiusClustering"):
        start = time.process_time()
        if method == "memclf":
            q = MemorySelector(RBFSimilarity(gamma), THRESHOLD, random_state=seed).fit(X).search_result_.n_memories
        else:
            radius = float(np.sqrt(-np.log(THRESHOLD) / gamma))
            q = len(RadiusClustering(manner="approx", radius=radius, random_state=seed).fit(X).centers_)
        rows.append({"method": method, "n": n, "memories": int(q), "processor_seconds": time.process_time() - start})
    return rows


def run_routing(n: int) -> dict[str, Any]:
    import numpy as np

    from memclf.routing import route_all
    from memclf.routing.route import BLOCK
    from memclf.similarity import RBFSimilarity

    rng = np.random.default_rng(0)
    centres = rng.uniform(-5, 5, (CENTRES, DIMENSIONS))
    X = centres[rng.integers(CENTRES, size=n)] + rng.normal(size=(n, DIMENSIONS))
    similarity = RBFSimilarity(median_gamma(X)).fit(X[:1000])
    Z = similarity.describe(X)
    M, size = np.ascontiguousarray(Z[:CENTRES]), BLOCK // CENTRES
    small = 2**18 // CENTRES
    buffer, turned = np.empty((small, CENTRES)), np.ascontiguousarray(M.T)

    def product_in_cache() -> None:
        for start in range(0, n, small):
            some = Z[start : start + small]
            np.matmul(some, turned, out=buffer[: len(some)])

    ways: dict[str, Callable[[], Any]] = {
        "routing": lambda: route_all(similarity, M, np.arange(CENTRES), np.full(CENTRES, 0.7), "argmax_then_check", Z),
        "product_in_cache": product_in_cache,
        "product_in_blocks": lambda: [M @ Z[start : start + size].T for start in range(0, n, size)],
        "product_as_a_whole": lambda: M @ Z.T,
    }
    found: dict[str, Any] = {"n": n, "q": CENTRES}
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(REPEATS):
        for name, way in ways.items():
            wall, processor = time.perf_counter(), time.process_time()
            way()
            spent[name].append((time.perf_counter() - wall, time.process_time() - processor))
    for clock, label in enumerate(("wall", "processor")):
        for name, times in spent.items():
            pairs = zip(spent["routing"], times, strict=True)
            found[f"{label}_seconds_{name}"] = statistics.median(each[clock] for each in times)
            found[f"{label}_ratio_to_{name}"] = statistics.median(a[clock] / b[clock] for a, b in pairs)
    return found


def run_function(method: str, seed: int) -> dict[str, Any]:
    import numpy as np
    from sklearn.datasets import make_blobs

    X, _ = make_blobs(FUNCTION_CASES, 4, centers=FUNCTION_MEMORIES, center_box=(-10, 10), random_state=seed)
    gamma = median_gamma(X)
    calls = 0

    def alike(a: Any, b: Any) -> float:
        nonlocal calls
        calls += 1
        d = a - b
        return float(np.exp(-gamma * (d @ d)))

    if method == "memclf":
        from memclf import MemorySelector
        from memclf.similarity import FunctionSimilarity

        found = MemorySelector(FunctionSimilarity(alike), 0.7, n_memories=FUNCTION_MEMORIES, random_state=seed).fit(X)
        medoids = X[found.memory_indices_]
    elif method == "OneBatchPAM":
        from onebatch import OneBatchPAM

        def distance(A: Any, B: Any, n_jobs: int | None) -> Any:
            nonlocal calls
            calls += len(A) * len(B)  # it asks for whole blocks, which are computed faster here
            return rbf_distances(A, B, gamma)

        medoids = X[list(OneBatchPAM(FUNCTION_MEMORIES, distance=distance, random_state=seed).fit(X).medoid_indices_)]
    else:
        from clarans import FastCLARANS

        model = FastCLARANS(n_clusters=FUNCTION_MEMORIES, metric=lambda a, b: 1 - alike(a, b), random_state=seed)
        medoids = X[model.fit(X).medoid_indices_]
    return {"method": method, "seed": seed, "calls": calls, "objective": objective(X, medoids, gamma)}


RUNS = {"search": run_search, "cover": run_cover, "routing": run_routing, "function": run_function}


def in_child(what: str, *arguments: Any) -> Any:
    """What a fresh process answers; a row with "error" if it fails."""
    command = [sys.executable, str(Path(__file__).resolve()), "--child", json.dumps([what, *arguments])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"what": what, "arguments": arguments, "error": (done.stderr.strip().splitlines() or ["?"])[-1]}
    found = json.loads(done.stdout.strip().splitlines()[-1])
    print(what, found, file=sys.stderr, flush=True)
    return found


def measure(options: argparse.Namespace) -> dict[str, Any]:
    rows: dict[str, Any] = {"search": [], "cover": [], "function": []}
    with tempfile.TemporaryDirectory() as folder:
        for n in [*options.n, *([TEN_MILLION] if options.ten_million else [])]:
            path = Path(folder) / "cases.npy"
            subprocess.run([sys.executable, __file__, "--write", str(path), str(n)], check=True)
            q = 50 if n <= 10_000 else CENTRES
            for seed in range(options.seeds if n < 10**6 else 1):
                rows["search"] += [in_child("search", m, str(path), q, seed) for m, most in LIMITS.items() if n <= most]
    for n in COVER_CASES:
        found = in_child("cover", n, 0)
        rows["cover"] += found if isinstance(found, list) else [found]
    rows["routing"] = in_child("routing", ROUTED)
    for seed in range(options.seeds):
        rows["function"] += [in_child("function", method, seed) for method in ("memclf", "OneBatchPAM", "FastCLARANS")]
    return rows


def table(rows: list[dict[str, Any]], by: list[str], shown: list[str]) -> str:
    """Medians over the seeds, one line per combination of `by`."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if "error" not in row:
            groups.setdefault(tuple(row[name] for name in by), []).append(row)
    lines = [[*by, *shown]]
    for key, group in groups.items():
        values = [[row[name] for row in group if name in row] for name in shown]
        lines.append([*map(str, key), *(f"{statistics.median(each):.5g}" if each else "-" for each in values)])
    return aligned(lines, left={by.index("method")})


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    for axis, name, label in zip(
        axes, ("processor_seconds", "extra_mb"), ("processor time (s)", "peak memory of the fit (MB)"), strict=True
    ):
        for method in LIMITS:
            sizes = sorted({row["n"] for row in rows if row.get("method") == method})
            middle = [
                statistics.median(r[name] for r in rows if r.get("method") == method and r["n"] == n) for n in sizes
            ]
            if sizes:
                axis.loglog(sizes, middle, "o-", label=method)
        axis.set(xlabel="cases n", ylabel=label)
        axis.grid(alpha=0.3, which="both")
    axes[0].legend()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description="What search and routing cost as cases grow.")
    parser.add_argument("--n", type=int, nargs="+", default=list(SIZES), help=f"numbers of cases (default {SIZES})")
    parser.add_argument("--ten-million", action="store_true", help="ten million cases as well (memclf alone)")
    parser.add_argument("--seeds", type=int, default=3, help="below a million cases (default 3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all rows to FILE")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw cost against n")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write_data(Path(options.write[0]), int(options.write[1]), seed=0)
    elif options.child:
        what, *arguments = json.loads(options.child)
        print(json.dumps(RUNS[what](*arguments)))
    else:
        rows = measure(options)
        if options.json:
            options.json.parent.mkdir(parents=True, exist_ok=True)
            options.json.write_text(json.dumps(rows, indent=1) + "\n")
        if options.plot:
            draw(rows["search"], options.plot)
        shown = ["processor_seconds", "seconds", "extra_mb", "peak_mb", "objective", "comparisons"]
        print(table(rows["search"], ["n", "q", "method"], shown))
        print("\n" + table(rows["cover"], ["n", "method"], ["memories", "processor_seconds"]))
        print("\n" + table(rows["function"], ["method"], ["calls", "objective"]))
        print("\nrouting: " + json.dumps(rows["routing"]))


if __name__ == "__main__":
    main()
