"""One estimator per memory: fitting each on its cluster, and predicting with them.

The pool receives plain index arrays and does not depend on similarities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from memclf._numbers import Array, first_largest
from memclf._progress import track
from memclf.cases import Cases, containers
from memclf.cases.chunks import Chunks
from memclf.cases.collection import Collection
from memclf.cases.steps import repeats_known, skip_known
from memclf.local import one
from memclf.local.on_chunks import fit_jobs_on_chunks, fit_whole_on_chunks
from memclf.local.one import Job, fit_one, name_steps
from memclf.protocols import DecidesFromEmbeddings, Fits, SharesParts, gives_probabilities

STARTS = ("fresh", "global")
GLOBAL = -1  # in place of a memory's number: the global classifier
AHEAD = 64  # cases that are embedded at a time, while they are described


@dataclass(frozen=True)
class Pool:
    """The local classifiers of all memories.

    Attributes
    ----------
    estimators : list
        One per memory. Memories that share a classifier hold the same object.
    trained_with : ndarray of int
        For each memory the memory whose classifier answers for it: itself, the one its small cluster was
        merged into, or -1 for the global classifier.
    origins : list of str
        How each classifier came about: "fresh", "global" (started from the global classifier), "constant",
        "merged", "handed to global" or "labels" (a constant that gives the label distribution of the cluster).
    seeds : ndarray of int or None
        With which each was fitted; None: left to chance.
    """

    estimators: list[Any]
    trained_with: Array
    origins: list[str]
    seeds: Array | None = None


def default_estimator() -> Any:
    """The local classifier where the user gives none."""
    return LogisticRegression(max_iter=1000)


def assign(members: list[Array], likeness: Array, least: int) -> Array:
    """For each cluster the memory whose training set it joins: its own if it is large enough.

    Smaller clusters join the most similar memory, the smallest first.

    Parameters
    ----------
    members : list of arrays
        Rows of each cluster.
    likeness : ndarray of shape (q, q)
        Similarities of the memories among themselves.
    least : int
        Clusters smaller than this are merged.

    Examples
    --------
    >>> likeness = np.array([[1.0, 0.1, 0.8], [0.1, 1.0, 0.2], [0.8, 0.2, 1.0]])
    >>> assign([np.arange(9), np.arange(9), np.arange(2)], likeness, 5)
    array([0, 1, 0])
    """
    q = len(members)
    home = np.arange(q)
    sizes = np.array([len(rows) for rows in members])
    while True:
        heads = np.flatnonzero(home == np.arange(q))
        too_small = heads[sizes[heads] < least]
        if not len(too_small):
            return home
        if len(heads) == 1:
            return np.full(q, GLOBAL)  # all cases together are fewer than the minimum
        loser = too_small[sizes[too_small].argmin()]
        others = heads[heads != loser]
        winner = others[first_largest(likeness[others, loser])]
        home[home == loser] = winner
        sizes[winner] += sizes[loser]


def fit_pool(
    cases: Cases | Chunks,
    y: Array,
    members: list[Array],
    home: Array,
    templates: list[Any],
    global_estimator: Any,
    *,
    continued: Any,
    seeds: Array | None,
    params: dict[str, Any],
    rows_of_memories: Array,
    n_jobs: int | None,
    verbose: int | None,
    known: Mapping[int, tuple[Any, str]] | None = None,
) -> Pool:
    """Fit one estimator per memory, on its own cluster and those that joined it.

    Memories whose template is `continued` go on from the global classifier, if they can. Those in `known` have a
    classifier already: it is given with its origin.
    """
    q = len(members)
    known = {} if known is None else known
    heads = [k for k in range(q) if home[k] == k and k not in known]
    if continued is None and any(_shares_backbone(template) for template in templates):
        raise ValueError("share_backbone=True shares the global classifier's backbone; it needs start='global'")
    jobs = []
    for k in heads:
        rows = gather_rows(members, home, k)
        own = {name: containers.take_if_per_case(value, rows, len(y)) for name, value in params.items()}
        begin = global_estimator if continued is not None and templates[k] is continued else None
        seed = None if seeds is None else int(seeds[k])
        where = f"memory {k} (row {rows_of_memories[k]} of the training data)"
        jobs.append(Job(rows, templates[k], y[rows], own, begin, seed, where))
    shares = _shares(global_estimator)
    if isinstance(cases, Chunks):
        if shares:
            raise ValueError(
                "local networks that share a backbone are one object and must be trained in one process; give X in "
                "memory, or train='all' and share_backbone=False"
            )
        done = fit_jobs_on_chunks(cases, jobs, verbose)
    else:
        least = min((rows for rows in members if len(rows)), key=len)  # enough to see whether a transformer learns
        sharing = set() if name_steps(params) else _find_sharing(templates, cases.take(least), y[least])
        # What several classifiers share must be one object afterwards too, and is not for two threads to train around.
        # Steps that they share with the similarity are not trained; threads see the one cache of the cases.
        workers, memory = 1 if shares else n_jobs, "sharedmem" if sharing else None
        run = Parallel(n_jobs=workers, return_as="generator", require=memory)
        calls = (delayed(fit_one)(job, _cases_for(job, cases, sharing)) for job in jobs)
        done = list(track(run(calls), total=len(jobs), what="fitting local classifiers", verbose=verbose))
    fitted = dict(known) | dict(zip(heads, done, strict=True))
    estimators, origins = [], []
    for k in range(q):
        if home[k] == GLOBAL:
            estimators.append(global_estimator)
            origins.append("handed to global")
        else:
            estimators.append(fitted[home[k]][0])
            origins.append(fitted[k][1] if home[k] == k else "merged")
    return Pool(estimators=estimators, trained_with=home, origins=origins, seeds=seeds)


def gather_rows(members: list[Array], home: Array, k: int) -> Array:
    """Rows that memory k's classifier learns from: its cluster and those that joined it."""
    return np.sort(np.concatenate([members[j] for j in range(len(members)) if home[j] == k]))


def _cases_for(job: Job, cases: Cases, sharing: set[int]) -> Any:
    own = cases.take(job.rows)
    return own if id(job.template) in sharing else own.given_to(job.template)


def _find_sharing(templates: list[Any], cases: Cases, y: Array) -> set[int]:
    """Ids of the templates that begin with what has computed rows about the cases already."""
    return {number for number, each in {id(each): each for each in templates}.items() if repeats_known(each, cases, y)}


def _last(estimator: Any) -> Any:
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def _shares_backbone(estimator: Any) -> bool:
    last = _last(estimator)
    return isinstance(last, SharesParts) and bool(last.share_backbone)


def _shares(estimator: Any) -> bool:
    """Whether classifiers continued from this one share its backbone."""
    last = _last(estimator)
    return isinstance(last, SharesParts) and (bool(last.share_backbone) or last.train == "head")


def fit_whole(
    estimator: Any, cases: Cases | Chunks, y: Array, rows: Array, params: dict[str, Any], seed: int | None
) -> Any:
    """The estimator trained on everything that counts: the global classifier."""
    if isinstance(cases, Chunks):
        return fit_whole_on_chunks(estimator, cases, y, rows, params, seed)
    return one.fit_whole(estimator, cases, y, rows, params, seed)


def templates_for(estimator: Any, q: int) -> list[Any]:
    """The unfitted estimator of each memory, from one for all or a mapping with a default."""
    if not isinstance(estimator, Mapping):
        return [estimator] * q
    strange = sorted(map(str, set(estimator) - set(range(q)) - {"default"}))
    if strange:
        raise ValueError(
            f"estimator names the memories {strange}, but the memories are numbered 0 to {q - 1} "
            "(and 'default' stands for all others)"
        )
    if missing := [k for k in range(q) if k not in estimator and "default" not in estimator]:
        raise ValueError(f"estimator gives nothing for the memories {missing}; add them or a 'default'")
    return [estimator[k] if k in estimator else estimator["default"] for k in range(q)]


def check_estimators(estimator: Any) -> None:
    """Refuse what is no classifier, and no mapping from numbers of memories to classifiers."""
    if not isinstance(estimator, Mapping):
        return check_classifier(estimator)
    for key, each in estimator.items():
        check_classifier(each, f"estimator[{key!r}]")


def check_classifier(estimator: Any, name: str = "estimator") -> None:
    """Refuse what is no classifier."""
    if isinstance(estimator, type) or not isinstance(estimator, Fits):
        hint = ""
        if isinstance(estimator, str):
            hint = "; give the classifier itself, as LogisticRegression(), not a name"
        elif isinstance(estimator, (list, tuple)):
            hint = "; for classifiers of different kinds give a mapping {0: ..., 'default': ...}"
        elif isinstance(estimator, type):
            hint = f"; give an instance, {estimator.__name__}()"
        raise TypeError(f"{name} must be a classifier with fit and predict, got {estimator!r}{hint}")
    if not is_classifier(estimator):
        raise TypeError(f"{name} must be a classifier, got the {type(estimator).__name__} {estimator!r}")


def never_gives_probabilities(estimator: Any) -> bool:
    """Whether it is certain before the fit that a classifier will have no `predict_proba`.

    For scikit-learn's classifiers it is certain, by what they hold. Others may get it in their fit.
    """
    if gives_probabilities(estimator):
        return False
    if isinstance(estimator, Pipeline):
        return never_gives_probabilities(estimator.steps[-1][1])
    if isinstance(estimator, BaseSearchCV):
        return _no_candidate_gives_probabilities(estimator)
    if not any(each.__module__.startswith("sklearn.") and "fit" in vars(each) for each in type(estimator).__mro__):
        return False
    params = estimator.get_params(deep=False)
    if params.get("final_estimator", "") is None:  # a stack takes one with probabilities then
        return False
    held = [params.get(name) for name in ("estimator", "final_estimator")]
    return all(never_gives_probabilities(each) for each in held if isinstance(each, Fits))


def _no_candidate_gives_probabilities(search: Any) -> bool:
    params = search.get_params(deep=False)
    space = params.get("param_grid", params.get("param_distributions"))
    try:
        candidates = [clone(search.estimator).set_params(**each) for each in ParameterGrid(space)]
    except (TypeError, ValueError):  # distributions to draw from, or names that `fit` will complain about
        return False
    return all(map(never_gives_probabilities, candidates))


def ask(estimators: list[Any], branch: Array, cases: Cases, method: str, out: Array, classes: Array) -> Array:
    """Fill `out` with the answers of the estimators that were chosen: one call per estimator.

    `branch` holds for every case the position in `estimators`, or -1 to leave `out` as it is. For
    probabilities, the columns of each estimator are put where `classes` has them.
    """
    # A classifier that memories share is called once.
    number = {id(estimator): k for k, estimator in reversed(list(enumerate(estimators)))}
    shared = np.array([number[id(estimator)] for estimator in estimators], dtype=np.intp)
    chosen = np.where(branch >= 0, shared[branch], -1)
    asked = np.unique(chosen[chosen >= 0])
    embedded = _embed_together(estimators, asked, chosen, cases)
    for k in asked:
        rows = np.flatnonzero(chosen == k)
        estimator, own = skip_known(estimators[k], cases.take(rows))
        if k in embedded:
            answer = getattr(estimator, f"{method}_embedded")(embedded[k], own)
        else:
            answer = getattr(estimator, method)(own)
        if method == "predict_proba":
            columns = np.searchsorted(classes, estimators[k].classes_)
            out[np.ix_(rows, columns)] = answer
        else:
            out[rows] = answer
    return out


@contextmanager
def embed_ahead(estimators: list[Any], cases: Cases) -> Iterator[None]:
    """Embed the cases in another thread within it, for networks that all have one backbone.

    For use while the cases are described. The networks find their embeddings in the cache of the cases afterwards.
    """
    networks = [each for each in estimators if isinstance(each, DecidesFromEmbeddings)]
    alike = len(networks) == len(estimators) and len({id(each.backbone_) for each in networks}) == 1
    own, stopped = cases.given_to(networks[0]) if alike and len(cases) >= AHEAD else None, False
    if not isinstance(own, Collection):  # nothing would keep the embeddings
        yield
        return

    def embed() -> None:
        for part in containers.chunks(len(own), AHEAD):
            if stopped:
                return
            networks[0].embed(own[part])

    with ThreadPoolExecutor(1) as thread:
        embedded = thread.submit(embed)
        try:
            yield
        except BaseException:
            stopped = True
            raise
    embedded.result()


def _embed_together(estimators: list[Any], asked: Array, chosen: Array, cases: Cases) -> dict[int, Array]:
    """Embeddings for the estimators that share a backbone, computed in one call."""
    by_backbone: dict[int, list[int]] = {}
    for k in asked.tolist():
        if isinstance(estimators[k], DecidesFromEmbeddings):
            by_backbone.setdefault(id(estimators[k].backbone_), []).append(k)
    found = {}
    for together in by_backbone.values():
        if len(together) > 1:
            rows = np.flatnonzero(np.isin(chosen, together))
            first = estimators[together[0]]
            E = first.embed(cases.take(rows).given_to(first))
            found.update({k: E[chosen[rows] == k] for k in together})
    return found
