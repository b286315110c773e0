"""Several runs joined into one: each fills some cells of recipe, backbone and seed.

The tables of the report read the joined run as they read a single one, so cells that several seeds fill are averaged by
the same code. Runs join the first one. A run on other data or other conditions is left out, and the reasons are named.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memclf.evaluate.store import BASELINE, CLEAN, Condition, ModelId, Row, Store
from memclf.report import formats
from memclf.report.contents import show_setting
from memclf.report.labels import UNSET
from memclf.report.run import Run

Cell = tuple[str, str, int]  # recipe, backbone, seed

# Settings without which the same cell of a table would be another number, and what they are called.
SAME = {
    "image_size": "image size",
    "corruptions": "corruptions",
    "severities": "severities",
    "preset": "table of severities (preset)",
    "corrupt_at": "size at which corruptions act (corrupt_at)",
    "n_train": "number of generated training images",
    "n_test": "number of generated test images",
    "patch_size": "patch size",
}
# Settings that only say which cells a run fills, or where files are.
FILLING = ("seeds", "recipes", "backbones", "augmented", "sturdy", "careful", "ablate", "ensemble", "folds")
PLACES = ("data", "split")
MANY = 5  # values that are written out
FIRST = "0.1.0"  # the way of training and measuring of runs that note none
JUDGED = ("features", "literal", "textures")  # by `find_other_features` and `have_other_textures`


@dataclass
class Joined:
    """Runs as one run, where each part comes from, and what must be said about it.

    Attributes
    ----------
    run : Run
        The joined run; its `sources` say which run a contender is from.
    names : list of str
        The runs that are joined.
    refused : dict
        Run that is left out -> the reasons.
    cautions : list of str
        Settings that differ, cells that are in two runs, cells that are not finished.
    """

    run: Run
    names: list[str]
    refused: dict[str, list[str]]
    cautions: list[str] = field(default_factory=list)


def join_runs(runs: Mapping[str, Run]) -> Joined:
    """Join runs to the first one, and to those that were joined before.

    A cell that is in several runs is taken from the first of them. Models of a later run are added to it if the
    baselines of both gave the same answers: then it is the same network.
    """
    fitting: dict[str, Run] = {}
    refused: dict[str, list[str]] = {}
    for name, run in runs.items():
        if reasons := next((each for fits in fitting.values() if (each := find_differences(fits, run))), []):
            refused[name] = reasons
        else:
            fitting[name] = run
    first = next(iter(fitting.values()))
    cautions = name_other_settings(fitting)
    store = _new_store(fitting)
    taken: dict[ModelId, str] = {}
    clashing: dict[tuple[str, str], list[str]] = {}
    for name, run in fitting.items():
        finished, begun = _find_cells(run)
        if begun:
            cautions.append(f"{name}: not finished, so left out: {'; '.join(begun)}.")
        for cell, models in finished.items():
            if not _has_same_baseline(cell, taken, fitting, run):
                clashing.setdefault((name, taken[ModelId(BASELINE, *cell)]), []).append(_name_cell(run, cell))
                continue
            for model in (each for each in models if each not in taken):
                taken[model] = name
                _copy(run, model, store)
    for (name, earlier), cells in clashing.items():
        told = formats.join_words(cells)
        cautions.append(f"{told}: the answers in {earlier} and {name} differ; those of {earlier} count.")
    joined = Run(first.folder, store)
    joined.sources = taken
    store.close()
    return Joined(joined, list(fitting), refused, cautions)


# ---------------------------------------------------------------------------------------------- what may be joined


def find_differences(first: Run, other: Run) -> list[str]:
    """Why a run cannot be joined to another one, as parts of a sentence; [] if it can."""
    if first.study != other.study:
        return [f"another study ({other.study or 'none'}, not {first.study or 'none'})"]
    found = []
    if first.about["source"] != other.about["source"]:
        found.append(f"other data ({other.about['source']}, not {first.about['source']})")
    elif not _same_cases(first, other):
        found.append("other test cases (data or split)")
    elif _differ(first.about["data_digest"], other.about["data_digest"]):
        found.append("other images or another split")
    mine, theirs = (run.about["goes_on_from"] or FIRST for run in (first, other))
    if mine != theirs:
        found.append(f"another way of training or measuring (that of memclf {theirs}, not {mine})")
    for key, label in SAME.items():
        mine, theirs = (run.settings.get(key) for run in (first, other))
        if mine != theirs and not (isinstance(mine, list) and isinstance(theirs, list) and set(mine) == set(theirs)):
            found.append(f"other {label} ({_show(key, theirs)}, not {_show(key, mine)})")
    if have_other_textures(first, other):
        mine, theirs = (_show("textures", run.settings.get("textures")) for run in (first, other))
        found.append("other frost textures" + (f" ({theirs}, not {mine})" if mine != theirs else ""))
    return found + find_other_features(first, other)


def have_other_textures(first: Run, other: Run) -> bool:
    """Whether frost is made of other photographs.

    Where a run noted no hash of them, the names of the folders are compared.
    """
    one, two = (run.about["textures_digest"] for run in (first, other))
    if one is None or two is None:
        one, two = (run.settings.get("textures") for run in (first, other))
    return bool(one != two)


def find_other_features(first: Run, other: Run) -> list[str]:
    """Contenders that have the same name in both runs and another expert feature, in words."""
    mine, theirs = _name_features(first), _name_features(other)
    shared = [name for name in mine if name in theirs and mine[name] != theirs[name]]
    return [f"another expert feature of {name} ({theirs[name]}, not {mine[name]})" for name in shared]


def _name_features(run: Run) -> dict[str, str]:
    """The expert features of the paper's memory classifiers; all others have that of memory."""
    printed = " as printed" if run.settings.get("literal") else ""
    names = [f"{name}{printed}" if name == "paper" else str(name) for name in run.settings.get("features") or ()]
    return {"memory" if not k else f"memory-{name.split()[0]}": name for k, name in enumerate(names)}


def name_other_settings(runs: Mapping[str, Run]) -> list[str]:
    """Settings that differ between joined runs and may change numbers, as sentences."""
    known = list(dict.fromkeys(key for run in runs.values() for key in run.settings))
    lines = []
    for key in known:
        values = {name: _show(key, run.settings.get(key)) for name, run in runs.items()}
        if key not in (*SAME, *FILLING, *JUDGED) and len(set(values.values())) > 1:
            told = ", ".join(f"{value} in {name}" for name, value in values.items())
            digests = {run.about["data_digest"] for run in runs.values()}
            if key in PLACES and len(digests) == 1 and None not in digests:
                continue  # the images and their split are the same, wherever they lie
            lines.append(f"The setting {key} differs: {told}.")
    versions = {name: _show("version", (run.about["versions"] or {}).get("memclf")) for name, run in runs.items()}
    if len(set(versions.values())) > 1:
        lines.append(f"The version differs: {', '.join(f'{value} in {name}' for name, value in versions.items())}.")
    return lines


def _same_cases(first: Run, other: Run) -> bool:
    if first.cases is None or other.cases is None:
        return False
    same = first.cases.keys == other.cases.keys and first.cases.classes == other.cases.classes
    return same and np.array_equal(first.cases.labels, other.cases.labels)


def _differ(one: Any, other: Any) -> bool:
    """Whether two notes contradict each other; older runs have none."""
    return one is not None and other is not None and one != other


def _show(name: str, value: Any) -> str:
    """A setting as it is asked for; of many values, their number."""
    if isinstance(value, list) and len(value) > MANY:
        return f"{len(value)} of them"
    return "none" if value in (None, []) and name not in UNSET else show_setting(name, value)


# ------------------------------------------------------------------------------------------------------- the cells


def _find_cells(run: Run) -> tuple[dict[Cell, list[ModelId]], list[str]]:
    """Finished cells with their finished models, and the names of cells that are not finished."""
    wanted = [CLEAN, *(Condition(*each) for each in itertools.product(*_asked(run)))]
    models = dict.fromkeys(ModelId(*key[:4]) for key in run.answers)
    done = [each for each in models if all((*each, *condition) in run.answers for condition in wanted)]
    finished: dict[Cell, list[ModelId]] = {}
    for each in done:
        cell = (each.recipe, each.backbone, int(each.seed or 0))
        if not any(each.training) or each._replace(model=BASELINE) in done:
            finished.setdefault(cell, []).append(each)
    every = dict.fromkeys((each.recipe, each.backbone, int(each.seed or 0)) for each in models)
    return finished, [_name_cell(run, cell) for cell in every if cell not in finished]


def _asked(run: Run) -> tuple[list[str], list[int]]:
    """Corruptions and severities that the run was asked for."""
    names, levels = run.settings.get("corruptions"), run.settings.get("severities")
    if not isinstance(names, list) or not isinstance(levels, list):
        return list(dict.fromkeys(each.corruption for each in run.conditions)), sorted(
            {each.severity for each in run.conditions}
        )
    return names, levels


def _has_same_baseline(cell: Cell, taken: Mapping[ModelId, str], runs: Mapping[str, Run], run: Run) -> bool:
    """Whether a cell is new, or its baseline answers as that of the run it was taken from."""
    baseline = ModelId(BASELINE, *cell)
    if baseline not in taken:
        return True
    earlier = runs[taken[baseline]].answers
    keys = [key for key in earlier if key[:4] == tuple(baseline)]
    return all(key in run.answers and np.array_equal(earlier[key], run.answers[key]) for key in keys)


def _name_cell(run: Run, cell: Cell) -> str:
    training = " · ".join(part for part in (run.labels.recipe(cell[0]), run.labels.backbone(cell[1])) if part)
    return f"{training or 'controls'} seed {cell[2]}"


# ------------------------------------------------------------------------------------------------------- the store


def _new_store(runs: Mapping[str, Run]) -> Store:
    """A store in memory with the notes of the first run and the labels of all."""
    first = next(iter(runs.values()))
    store = Store()
    for key, value in first.about.items():
        store.put(key, value)
    labels: dict[str, dict[str, Any]] = {}
    for run in runs.values():
        for part, names in (run.about["training_labels"] or {}).items():
            labels.setdefault(part, {}).update(names)
    store.put("training_labels", labels)
    if first.cases is not None:
        store.put_cases(first.cases.keys, first.cases.labels, first.cases.classes, first.cases.groups)
    return store


def _copy(run: Run, model: ModelId, store: Store) -> None:
    for row in run.rows:
        if (row["model"], row["recipe"], row["backbone"], row["seed"]) == tuple(model):
            found = Row(**row)
            store.add(found, run.answers[(*model, *found.condition)])
