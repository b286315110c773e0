"""JudgedSimilarity beside the peers that learn a distance from comparisons, with simulated judges.

A judge compares cases by hidden weights of the standardised measurements; one answer in ten is the wrong way round.
Three kinds of weights: "uneven" (exponentially distributed), "few count" (a fifth of the measurements, at least two),
"nearly equal" (from 0.7 to 1.3). Half of the judges add up differences, half squared differences. Contenders:

  equal weights           JudgedSimilarity without judgements
  equal, squared          the same with squared differences: the usual Euclidean distance
  judged, random          JudgedSimilarity, questions drawn at random
  judged, chosen          JudgedSimilarity, its own questions, in batches of 10 or a fifth of those before
  SCML, LSML, ITML        metric-learn on the same random answers, measurements standardised; ITML gets a triplet as a
                          pair that is alike and one that is not

Scores: agreement with the judge, without slips, on 2,000 new triplets; Spearman's correlation of the similarity with
the judge's on 2,000 pairs. metric-learn 0.7 needs scikit-learn before 1.8: install both in an environment of their own.

    python benchmarks/judged.py run --out rows.csv
    python benchmarks/judged.py run --out few.csv --contenders "judged, random" --sizes 10 20 50 --seeds 20
    python benchmarks/judged.py page rows.csv --few few.csv      # the tables of JUDGED.md
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from memclf.similarity import JudgedSimilarity

SIZES = (10, 20, 50, 100, 200, 500)
SLIPS = 0.1
KINDS = ("uneven", "few count", "nearly equal")
TABLES: dict[str, Callable[..., Any]] = {
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "diabetes": load_diabetes,
}
GENERATED = (5, 20, 50)
OWN = ("judged, random", "judged, chosen")
PEERS = ("SCML", "LSML", "ITML")
Rows = list[tuple[int, int, int]]


def load(name: str, rng: np.random.Generator) -> np.ndarray:
    """Standardised measurements: a table of scikit-learn, or correlated normal ones."""
    if name in TABLES:
        X = TABLES[name](return_X_y=True)[0]
    else:
        m = int(name.split()[1])
        X = rng.normal(size=(500, m)) @ (np.eye(m) + 0.3 * rng.normal(size=(m, m)))
    return (X - X.mean(axis=0)) / X.std(axis=0)


def draw_weights(kind: str, m: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "uneven":
        return rng.exponential(size=m)
    if kind == "nearly equal":
        return rng.uniform(0.7, 1.3, m)
    weights, count = np.zeros(m), max(2, m // 5)
    weights[rng.permutation(m)[:count]] = rng.uniform(0.5, 2, count)
    return weights


class Judge:
    """Answers by hidden weights, with slips."""

    def __init__(self, X: np.ndarray, kind: str, power: int, rng: np.random.Generator):
        self.X, self.power, self.rng = X, power, rng
        self.weights = draw_weights(kind, X.shape[1], rng)

    def distances(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.abs(self.X[a] - self.X[b]) ** self.power @ self.weights

    def is_nearer(self, asked: np.ndarray) -> np.ndarray:
        return self.distances(asked[:, 0], asked[:, 1]) < self.distances(asked[:, 0], asked[:, 2])

    def answer(self, asked: np.ndarray) -> Rows:
        said = self.is_nearer(asked) ^ (self.rng.random(len(asked)) < SLIPS)
        return [(i, j, k) if yes else (i, k, j) for (i, j, k), yes in zip(asked.tolist(), said, strict=True)]

    def draw(self, n: int) -> np.ndarray:
        return np.array([self.rng.choice(len(self.X), 3, replace=False) for _ in range(n)])


class Exam:
    """New questions and pairs, the same for all contenders of a run."""

    def __init__(self, judge: Judge):
        self.judge = judge
        self.asked = judge.draw(2000)
        self.truth = judge.is_nearer(self.asked)
        self.pairs = judge.draw(2000)[:, :2]

    def mark(self, distances: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> tuple[float, float]:
        i, j, k = self.asked.T
        agreement = float(((distances(i, j) < distances(i, k)) == self.truth).mean())
        a, b = self.pairs.T
        return agreement, float(spearmanr(distances(a, b), self.judge.distances(a, b)).statistic)


def weighted(X: np.ndarray, similarity: JudgedSimilarity, power: int | None = None) -> Any:
    Z, power = similarity.describe(X), power or similarity.power_
    return lambda a, b: np.abs(Z[a] - Z[b]) ** power @ similarity.weights_


def fit_one(name: str, X: np.ndarray, triplets: Rows, seed: int) -> Any:
    """The distances that a contender learns from random questions."""
    if name == "judged, random":
        return weighted(X, JudgedSimilarity().fit(X).judge(X, triplets=triplets))
    import metric_learn

    rows = np.array(triplets)
    if name == "SCML":
        model = metric_learn.SCML(preprocessor=X, random_state=seed).fit(rows)
    elif name == "LSML":
        model = metric_learn.LSML(preprocessor=X).fit(np.column_stack([rows[:, :2], rows[:, ::2]]))
    else:
        pairs = np.concatenate([rows[:, :2], rows[:, ::2]])
        model = metric_learn.ITML(preprocessor=X, random_state=seed).fit(pairs, np.repeat([1, -1], len(rows)))
    M = model.get_mahalanobis_matrix()
    return lambda a, b: np.einsum("ij,jk,ik->i", X[a] - X[b], M, X[a] - X[b])


def run_one(
    data: str, kind: str, power: int, seed: int, sizes: tuple[int, ...], contenders: tuple[str, ...]
) -> list[Any]:
    """One judge; rows of (data, kind, power, seed, contender, n, agreement, spearman, seconds)."""
    rng = np.random.default_rng([seed, power, KINDS.index(kind), len(data)])
    X = load(data, rng)
    judge = Judge(X, kind, power, rng)
    exam = Exam(judge)
    answers = judge.answer(judge.draw(max(sizes)))
    plain = JudgedSimilarity().fit(X)
    head, rows = (data, kind, power, seed), []
    rows.append((*head, "equal weights", 0, *exam.mark(weighted(X, plain)), 0.0))
    rows.append((*head, "equal, squared", 0, *exam.mark(weighted(X, plain, 2)), 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about answers by a judge who slips, and metric-learn's about scikit-learn
        for name in contenders:
            if name == "judged, chosen":
                rows += [(*head, name, *row) for row in ask_chosen(X, judge, exam, sizes)]
                continue
            for n in sizes:
                start = time.perf_counter()
                try:
                    marks = exam.mark(fit_one(name, X, answers[:n], seed))
                except (ValueError, FloatingPointError, np.linalg.LinAlgError):  # found no metric: as good as a coin
                    marks = (0.5, 0.0)
                rows.append((*head, name, n, *marks, time.perf_counter() - start))
    return rows


def ask_chosen(X: np.ndarray, judge: Judge, exam: Exam, sizes: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    similarity, n = JudgedSimilarity().fit(X), 0
    start = time.perf_counter()
    for size in sizes:
        while n < size:
            batch = min(max(10, n // 5), size - n)
            similarity.judge(X, triplets=judge.answer(np.array(similarity.questions(X, batch))))
            n += batch
        yield size, *exam.mark(weighted(X, similarity)), time.perf_counter() - start


COLUMNS = ("data", "kind", "power", "seed", "contender", "n", "agreement", "spearman", "seconds")


def run(out: Path, seeds: int, sizes: tuple[int, ...], contenders: tuple[str, ...], jobs: int) -> None:
    data = [*(f"generated {m}" for m in GENERATED), *TABLES]
    cells = [(d, k, p, s) for s in range(seeds) for d in data for k in KINDS for p in (1, 2)]
    found = Parallel(jobs, return_as="generator")(delayed(run_one)(*cell, sizes, contenders) for cell in cells)
    with out.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for rows in found:
            writer.writerows(rows)
            stream.flush()


def show(table: pd.DataFrame, title: str, digits: int = 1) -> None:
    print(f"\n{title}\n")
    names = [str(name) for name in table.reset_index().columns]
    print("| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|")
    for row in table.reset_index().itertuples(index=False):
        cells = [f"{value:.{digits}f}" if isinstance(value, float) else str(value) for value in row]
        print("| " + " | ".join("" if cell == "nan" else cell for cell in cells) + " |")


def print_page(rows: list[Path], few: Path) -> None:
    frame = pd.concat([pd.read_csv(each) for each in rows])
    frame = frame.drop_duplicates(["data", "kind", "power", "seed", "contender", "n"])
    frame["agreement"] *= 100
    order = ["equal weights", "equal, squared", *OWN, *PEERS]
    ids = ["data", "kind", "power", "seed"]
    everyone = frame.groupby(ids).contender.transform("nunique") == frame.contender.nunique()
    frame = frame[everyone]  # runs that all contenders have finished
    runs = len(frame.drop_duplicates(ids))

    def table(some: pd.DataFrame, value: str) -> pd.DataFrame:
        wide = some.pivot_table(value, "contender", "n", "mean").reindex([o for o in order if o in set(some.contender)])
        return wide.rename(columns={0: "none"})

    show(table(frame, "agreement"), f"Agreement with the judge in %, mean of {runs} runs")
    show(table(frame, "spearman"), "Spearman's correlation", 3)
    for kind in KINDS:
        show(table(frame[frame.kind == kind], "agreement"), f"Agreement, weights {kind}")
    for power in (1, 2):
        show(table(frame[frame.power == power], "agreement"), f"Agreement, judges with power {power}")
    for data in frame["data"].unique():
        show(table(frame[frame["data"] == data], "agreement"), f"Agreement, {data}")
    wide = frame.pivot_table("agreement", [*ids, "n"], "contender").reset_index()
    gains = []
    for n in sorted(set(wide.n) - {0}):
        at = wide[wide.n == n]
        best = at[[p for p in PEERS if p in at]].mean().idxmax()
        gain = at["judged, random"] - at[best]
        gains.append(
            {
                "n": n,
                "best peer": best,
                "gain": gain.mean(),
                "standard error": gain.sem(),
                "runs ahead, %": 100 * (gain > 0).mean(),
            }
        )
    show(pd.DataFrame(gains).set_index("n"), "judged, random, against the peer that is best on the mean at that n")
    halves = []
    for n, double in ((10, 20), (50, 100), (100, 200)):
        less = wide[wide.n == n].set_index(ids)["judged, chosen"]
        gain = less - wide[wide.n == double].set_index(ids)["judged, random"]
        halves.append({"chosen": n, "random": double, "difference": gain.mean(), "standard error": gain.sem()})
    show(pd.DataFrame(halves).set_index("chosen"), "Half as many chosen questions against random ones")
    show(
        frame.pivot_table("seconds", "contender", "n", "mean"),
        "Seconds to learn (chosen: to ask and learn, from the first)",
        2,
    )
    frame = pd.read_csv(few)
    start = frame[frame.contender == "equal weights"].set_index(ids).agreement
    later = frame[frame.contender.str.startswith("judged")].set_index(ids)
    later["change"] = 100 * (later.agreement - start.reindex(later.index))
    every = pd.concat([later.reset_index(), later.reset_index().assign(kind="all")])
    lines = every.groupby(["contender", "kind", "n"]).change.agg(
        runs="count",
        mean="mean",
        error="sem",
        worse=lambda c: 100 * (c < 0).mean(),
        fifth=lambda c: c.quantile(0.05),
        least="min",
    )
    show(
        lines.rename(columns={"worse": "runs worse, %", "fifth": "5 % of runs below", "error": "standard error"}),
        "Change of agreement by the first judgements, points",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("run")
    measure.add_argument("--out", type=Path, required=True)
    measure.add_argument("--contenders", nargs="+", default=[*OWN, *PEERS])
    measure.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    measure.add_argument("--seeds", type=int, default=1)
    measure.add_argument("--jobs", type=int, default=1)
    page = commands.add_parser("page")
    page.add_argument("rows", type=Path, nargs="+")
    page.add_argument("--few", type=Path, required=True)
    options = parser.parse_args()
    if options.command == "run":
        run(options.out, options.seeds, tuple(options.sizes), tuple(options.contenders), options.jobs)
    else:
        print_page(options.rows, options.few)


if __name__ == "__main__":
    main()
