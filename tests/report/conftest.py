"""Run folders for the report: written through the real Store, answers drawn by chance, pictures painted."""

import json
import shutil
import zlib

import numpy as np
import pytest
from PIL import Image, ImageDraw

from memclf.bounds import Assumption, Bound, Term
from memclf.evaluate import ModelId, Row, Store, metrics
from memclf.report import bounds, charts
from memclf.report.published import FILE
from memclf.report.run import Run
from memclf.studies.published import table
from memclf.vision import ImageCollection
from memclf.vision.nets.catalogue import CATALOGUE
from memclf.vision.nets.recipes import RECIPES

CLASSES = ["healthy", "mild", "severe"]
PAIR = ("vanilla", "efficientnet_lite0")
# How often a model is right on the clean test set, and what a severity costs it.
SKILL = {
    "baseline": (0.90, 0.09),
    "memory": (0.91, 0.06),
    "augmented": (0.89, 0.085),
    "prior": (0.88, 0.08),
    "random": (0.87, 0.09),
    "majority": (None, 0),
    "stage1": (0.72, 0.03),
}
UNPAIRED = ("majority", "stage1", "stage1-balanced")
TABLES = {
    "color": ("color_augmentation",),
    "leaf": ("leaf_data_augmentation", "leaf_architectures", "leaf_feature_augmentation"),
    "acne": ("acne_data_augmentation", "acne_architectures", "acne_feature_augmentation"),
}
PAPER = ("fog", "brightness", "contrast", "gaussian_noise", "motion_blur", "snow")


def _make_run(
    folder,
    *,
    skill=None,
    pairs=(PAIR,),
    seeds=(0,),
    corruptions=PAPER,
    severities=(1, 2, 3, 4, 5),
    n=120,
    study="leaf",
    source="generated",
    finished=True,
    skip=lambda name, corruption, severity: False,
    exhibits=True,
    bounds=False,
    classes=CLASSES,
    settings=None,
):
    """A plausible run folder; `skip` leaves out rows."""
    rng = np.random.default_rng(5)
    odds = np.arange(len(classes), 0, -1.0) ** 1.6
    labels = rng.choice(len(classes), size=n, p=odds / odds.sum())
    store = Store(folder / "results.sqlite")
    store._db.execute("PRAGMA synchronous = OFF")  # waiting for the disk after every row takes most of these tests
    store.put_cases([f"leaf/{i:03d}.jpg" for i in range(n)], labels, classes)
    asked = {
        "data": "",
        "recipes": list(dict.fromkeys(pair[0] for pair in pairs)),
        "backbones": list(dict.fromkeys(pair[1] for pair in pairs)),
        "seeds": list(seeds),
        "corruptions": list(corruptions),
        "severities": list(severities),
        "scale": "quick",
    }
    about = {
        "study": study,
        "title": "Leaf disease severity",
        "source": source,
        "source_note": f"{n} generated leaves, 128 x 64 pixels; corruptions act at that size, preset imagenet-c.",
        "settings": asked if settings is None else settings,
        "command": "memclf study leaf --out RUN",
        "versions": {"memclf": "0.1.0", "python": "3.12"},
        "started": "2026-11-16T06:00:00",
        "seconds": 184.2,
    }
    about["training_labels"] = {
        "recipes": {name: recipe.label for name, recipe in RECIPES.items()},
        "backbones": {name: entry.label for name, entry in CATALOGUE.items()},
    }
    about["corruption_labels"] = ImageCollection([]).corruption_labels()
    for key, value in about.items():
        store.put(key, value)
    if finished:
        store.put("finished", "2026-11-16T06:03:04")
    for model, (clean, slope) in (skill or SKILL).items():
        for recipe, backbone in [("", "")] if model in UNPAIRED else pairs:
            for seed in [seeds[0]] if model in UNPAIRED else seeds:
                for corruption, severity in [("clean", 0), *((c, s) for c in corruptions for s in severities)]:
                    name = ModelId(model, recipe, backbone, seed)
                    if skip(name, corruption, severity):
                        continue
                    said = _answers(name, clean, slope, corruption, severity, labels, len(classes))
                    store.add(_row(study, name, corruption, severity, labels, said), said)
    store.close()
    (folder / FILE).write_text(json.dumps({"tables": [table(name).as_dict() for name in TABLES.get(study, ())]}))
    if exhibits:
        _paint(folder)
    if bounds:
        models = [model for model in ("memory", "sturdy") if model in (skill or SKILL)]
        _promise(folder, [(model, *pair, seeds[0]) for pair in pairs for model in models])
    return folder


def _answers(name, clean, slope, corruption, severity, labels, k):
    rng = np.random.default_rng(zlib.crc32(repr((tuple(name[1:]), corruption, severity)).encode()))
    luck, other, unsure = (rng.random(len(labels)) for _ in range(3))  # the same luck for all models of a training
    if clean is None:
        return np.zeros(len(labels), dtype=int)
    hard = 0.4 + 1.2 * (zlib.crc32(corruption.encode()) % 97) / 97
    right = luck < clean - slope * severity * hard
    wrong = (labels + 1 + (other * (k - 1)).astype(int)) % k
    said = np.where(right, labels, wrong)
    return np.where((unsure < 0.02 * severity) & (name.model in ("memory", "stage1")), -1, said)


def _row(study, name, corruption, severity, labels, said):
    routed = name.model in ("memory", "stage1", "random")
    selective = metrics.selective_accuracy(labels, said)
    return Row(
        study=study,
        **name._asdict(),
        corruption=corruption,
        severity=severity,
        n=len(labels),
        accuracy=metrics.accuracy(labels, said),
        balanced_accuracy=metrics.balanced_accuracy(labels, said),
        coverage=metrics.coverage(labels, said),
        selective_accuracy=None if np.isnan(selective) else selective,
        routing_stability=1 - 0.06 * severity if routed else None,
        oracle_accuracy=0.85 if routed else None,
    )


def _leaf(number, noise=0):
    rng = np.random.default_rng(number)
    image = Image.new("RGB", (256, 128), (222, 219, 209))
    draw = ImageDraw.Draw(image)
    draw.ellipse((14, 16, 242, 112), fill=(66, 122 + number % 40, 58))
    for x, y in rng.uniform((40, 36), (210, 88), size=(1 + number % 6, 2)):
        draw.ellipse((x - 9, y - 7, x + 9, y + 7), fill=(139, 96, 48))
    pixels = np.asarray(image).astype(float)
    return Image.fromarray(np.clip(pixels + rng.normal(0, 1, pixels.shape) * noise, 0, 255).astype(np.uint8))


def _paint(folder):
    (folder / "exhibits").mkdir(parents=True, exist_ok=True)

    def kept(name, number, noise=0):
        _leaf(number, noise).save(folder / "exhibits" / name, quality=80)
        return {"picture": f"exhibits/{name}"}

    memories = [
        {
            "model": "memory",
            "number": k,
            "case": kept(f"memory_{k}.jpg", 10 * k),
            "key": f"train/{k}.jpg",
            "label": label,
            "cases": 60 - 15 * k,
            "threshold": 0.7,
            "classes": {label: 50 - 15 * k, CLASSES[(k + 1) % 3]: 10},
            "members": [kept(f"member_{k}_{i}.jpg", 10 * k + i) for i in range(6)],
            "classifier": {"who": "global" if k == 2 else "own", "estimator": "ImageClassifier"},
        }
        for k, label in enumerate(CLASSES)
    ]
    noisy = ["clean", "clean", "gaussian_noise 3", "gaussian_noise 5", "fog 3", "snow 5"]
    routes = [
        {
            "model": "memory",
            "condition": condition,
            "case": kept(f"route_{i}.jpg", 40 + i, noise=0 if condition == "clean" else 50),
            "key": f"leaf/{i:03d}.jpg",
            "truth": CLASSES[i % 3],
            "memory": i % 3 if i != 5 else -1,
            "nearest": i % 3,
            "similarity": 0.95 - 0.1 * i,
            "threshold": 0.7,
            "answer": CLASSES[i % 3] if i != 5 else "unknown",
            "baseline_answer": CLASSES[(i + (i > 2)) % 3],
        }
        for i, condition in enumerate(noisy)
    ]
    found = {
        "opening": {
            "condition": "gaussian_noise 5",
            "key": "leaf/003.jpg",
            "truth": "mild",
            "clean": kept("opening_clean.jpg", 3),
            "corrupted": kept("opening_corrupted.jpg", 3, noise=70),
            "answers": [
                {"model": m, "recipe": PAIR[0], "backbone": PAIR[1], "clean": "mild", "corrupted": c, "accuracy": a}
                for m, c, a in (("baseline", "severe", 0.42), ("memory", "mild", 0.71), ("prior", "healthy", 0.44))
            ],
        },
        "samples": [
            {
                "label": label,
                "cases": 30,
                "of": "training",
                "samples": [kept(f"sample_{k}_{i}.jpg", 80 + 10 * k + i) for i in range(3)],
            }
            for k, label in enumerate(CLASSES)
        ],
        "memories": memories,
        "routes": routes,
        "masks": [
            {
                "condition": condition,
                "key": "leaf/009.jpg",
                "truth": "mild",
                "case": kept(f"masks_{i}.jpg", 9, noise=60 * i),
                "painted": kept(f"masks_{i}_painted.jpg", 9),
                "colours": {"green": "#2e8b3d", "brown": "#7a3b0c"},
                "numbers": {"F_d": 0.031, "F_b": 0.125},
            }
            for i, condition in enumerate(("clean", "fog 3"))
        ],
        "overlays": [
            {
                "condition": condition,
                "key": "leaf/007.jpg",
                "case": kept(f"overlay_{i}.jpg", 7, noise=40 * i),
                "numbers": {"affected_share": 0.12 + 0.01 * i},
            }
            for i, condition in enumerate(("clean", "gaussian_noise 3", "fog 3"))
        ],
        "hardest": [
            {
                "key": f"leaf/{i:03d}.jpg",
                "case": kept(f"hard_{i}.jpg", 60 + i),
                "truth": "mild",
                "wrong_share": 0.95 - 0.05 * i,
                "mostly_answered": "severe",
            }
            for i in range(4)
        ],
    }
    (folder / "exhibits.json").write_text(json.dumps(found))


def _promise(folder, names):
    """One bound that promises something, one that would if its assumptions were met, one vacuous, one not defined."""
    judge = Assumption("same distribution", "new cases are drawn like the training cases", None)
    broken = Assumption("memories", "the memories come from a pool of their own", False, "fit chooses them")
    errors, held = Term("errors on the training cases", 0.05, "20 of 400"), Term("errors on held-out cases", 0.1)
    kinds = {
        "compression": (errors, Term("local classifiers", 0.1), Term("choice of memories and confidence", 0.2)),
        "direct": (errors, Term("selector", 0.3), Term("confidence", 0.25)),
        "paper": (errors, Term("selector", 12.0), Term("confidence", 4.0)),
        "held-out": (held, Term("confidence", 0.025)),
    }
    found = [
        Bound(
            kind,
            sum(term.value for term in terms),
            0.05,
            120 if kind == "held-out" else 400,
            3,
            terms,
            assumptions=(judge, broken) if kind in ("direct", "paper") else (judge,),
        )
        for kind, terms in kinds.items()
    ]
    entries = [
        {
            **ModelId(*name)._asdict(),
            "bounds": [bound.as_dict() for bound in found],
            "missing": {"cascade": "too few cases"},
        }
        for name in names
    ]
    (folder / "bounds.json").write_text(json.dumps({"given": [], "contenders": entries}))


@pytest.fixture(scope="session")
def make_run(tmp_path_factory):
    """A function that makes a run folder; one of the same kind is made once and then copied."""
    kept = {}

    def make(folder, **kinds):
        if "skip" in kinds:  # a function of the test's own
            return _make_run(folder, **kinds)
        key = repr(sorted(kinds.items()))
        if key not in kept:
            kept[key] = _make_run(tmp_path_factory.mktemp("kept"), **kinds)
        shutil.copytree(kept[key], folder, dirs_exist_ok=True)
        return folder

    return make


@pytest.fixture(scope="session")
def drawn():
    """The charts that were drawn so far, by all that they show."""
    return {}


@pytest.fixture(autouse=True)
def _draw_charts_once(drawn, monkeypatch):
    """A chart of the same numbers and names is drawn once: most tests build a whole report and read its words."""
    draw_anew = charts.save_chart

    def save_chart(name, title, alt, folder, draw, *, caption=""):
        numbers = [cell.cell_contents for cell in draw.__closure__ or () if not isinstance(cell.cell_contents, Run)]
        key = (name, title, alt, caption, repr(numbers))
        file = folder / "figures" / f"{name}.png"
        if key not in drawn:
            drawn[key] = draw_anew(name, title, alt, folder, draw, caption=caption), file.read_bytes()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(drawn[key][1])
        return drawn[key][0]

    for module in (bounds, charts):
        monkeypatch.setattr(module, "save_chart", save_chart)


@pytest.fixture
def made(tmp_path, make_run):
    """A function that makes a run folder under the test's own directory."""

    def make(name="run", **kinds):
        folder = tmp_path / name
        folder.mkdir()
        return make_run(folder, **kinds)

    return make
