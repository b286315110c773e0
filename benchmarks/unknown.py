"""Does a memory classifier say unknown to what it has never seen? Leaves to the acne model, skin to the leaf model.

The careful variant is trained as in the studies. Then come its own test images and images of other kinds: AUROC of
several scores for telling them apart, the share of strange images that is unknown when 95 % of the own ones are
known, and what the classifier itself decides. Last, at the coverage that it has under each corruption, its selective
accuracy beside that of the network which answers where its temperature-scaled confidence is highest.

    python benchmarks/unknown.py --leaf ../shared/data/leaf --acne ../shared/data/acne
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from memclf.evaluate.controls import TEMPERATURE
from memclf.studies import find_study, load_study, settings_for
from memclf.studies.generated import colour_patches
from memclf.studies.training import CellTrainer
from memclf.studies.variants import CAREFUL, make_variant
from memclf.vision import ImageCollection

KEPT = 0.95


def photographs() -> ImageCollection:
    """Photographs that come with scikit-image, cut into pieces."""
    from skimage import data

    found = []
    for name in ("astronaut", "coffee", "chelsea", "rocket", "immunohistochemistry"):
        try:
            image = np.asarray(getattr(data, name)())[:, :, :3]
        except Exception as error:  # some are fetched from the network on first use
            print(f"without {name}: {type(error).__name__}")
            continue
        found += [image[r : r + 192, c : c + 192] for r in range(0, 250, 96) for c in range(0, 250, 96)]
    return ImageCollection([piece for piece in found if piece.shape[:2] == (192, 192)])


def strange_images(study: str, others: dict[str, ImageCollection]) -> dict[str, ImageCollection]:
    rng = np.random.default_rng(0)
    side = (256, 512) if study == "leaf" else (128, 128)
    smooth = rng.integers(0, 256, (60, 4, 4, 3), dtype=np.uint8)
    return {
        **{f"{name} images": images for name, images in others.items() if name != study},
        "photographs": photographs(),
        "colour patches": colour_patches(60, 128, seed=5),
        "noise": ImageCollection(rng.integers(0, 256, (60, *side, 3), dtype=np.uint8)),
        "blocks of colour": ImageCollection(smooth.repeat(side[0] // 4, axis=1).repeat(side[1] // 4, axis=2)),
    }


def scores_of(clf, images):
    """How little each image is like the training data: higher is stranger."""
    images = images.remembered()
    strange = clf.answer_.calibration_.excess(clf.answers(images).routes.strangeness)
    trust = clf.similarity_.trust(images)
    doubt = np.zeros(len(images)) if trust is None else 1 - trust
    sure = clf.global_.predict_proba(images).max(axis=1)
    return {
        "both": strange + 10 * doubt,
        "competence alone": strange,
        "trust alone": doubt,
        "network's confidence": -sure,
        "unknown": (clf.predict(images) == clf.unknown_label_).astype(float),
    }


def out_of_distribution(name, clf, study, others):
    own = scores_of(clf, study.test)
    print(f"\n{name}: {100 * own['unknown'].mean():.1f} % of {len(study.test)} test images unknown (promised: 5 %)")
    kinds = [key for key in own if key != "unknown" and np.ptp(own[key])]
    print(f"{'':20s}{'n':>5s}  " + "".join(f"{kind:>30s}" for kind in kinds) + "   unknown by itself")
    pooled = []
    for what, images in strange_images(name, others).items():
        found = scores_of(clf, images)
        pooled.append(found)
        _line(what, len(images), own, found, kinds)
    everything = {key: np.concatenate([each[key] for each in pooled]) for key in pooled[0]}
    _line("all of them", len(everything["both"]), own, everything, kinds)


def _line(what, n, own, found, kinds):
    cells = []
    for kind in kinds:
        truth = np.repeat([0, 1], [len(own[kind]), n])
        auroc = roc_auc_score(truth, np.concatenate([own[kind], found[kind]]))
        rate = np.mean(found[kind] > np.quantile(own[kind], KEPT))
        cells.append(f"{f'AUROC {auroc:.3f}, {100 * rate:.0f} %':>30s}")
    print(f"{what:20s}{n:5d}  " + "".join(cells) + f"{100 * found['unknown'].mean():15.1f} %", flush=True)


def abstention(name, clf, study, settings, severity):
    """Selective accuracy at the careful classifier's coverage, beside the network's, condition by condition."""
    y = np.asarray(study.test.labels)
    rows = []
    for corruption in settings.corruptions:
        images = study.make(corruption, severity).remembered()
        said = clf.predict(images)
        answered = said != clf.unknown_label_
        P = clf.global_.predict_proba(images) ** (1 / TEMPERATURE)
        P /= P.sum(axis=1, keepdims=True)
        order = np.argsort(-P.max(axis=1), kind="stable")[: int(answered.sum())]
        network = clf.classes_[P.argmax(axis=1)]
        if answered.sum() >= 10:
            rows.append(
                [answered.mean(), np.mean(said[answered] == y[answered]), np.mean(network[order] == y[order])]
                + [_balanced(y[k], s[k]) for k, s in ((answered, said), (order, network))]
            )
    coverage, ours, theirs, ours_balanced, theirs_balanced = 100 * np.mean(rows, axis=0)
    print(
        f"{name}, severity {severity}, {len(rows)} corruptions: coverage {coverage:.1f} %; selective accuracy / "
        f"balanced: careful {ours:.1f} / {ours_balanced:.1f}, the network's surest at the same coverage "
        f"{theirs:.1f} / {theirs_balanced:.1f}",
        flush=True,
    )


def _balanced(truth, said):
    import warnings

    with warnings.catch_warnings():  # a class may be answered that is not among the answered cases
        warnings.simplefilter("ignore")
        return balanced_accuracy_score(truth, said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leaf", help="folder of the coffee leaves; without it leaves are generated")
    parser.add_argument("--acne", help="folder of the lesions; without it skin is generated")
    parser.add_argument("--scale", default="quick", help="of the leaf study; the acne model has a frozen backbone")
    parser.add_argument("--networks", type=Path, help="folder in which trained networks are kept")
    parser.add_argument("--severity", type=int, default=3)
    parser.add_argument("--model", nargs="+", choices=("leaf", "acne"), default=["leaf", "acne"], help="which to judge")
    asked = parser.parse_args()
    chosen = {
        "leaf": settings_for("leaf", asked.scale, data=asked.leaf),
        "acne": settings_for("acne", data=asked.acne),
    }
    studies = {name: load_study(settings) for name, settings in chosen.items()}
    others = {name: study.test[np.arange(0, len(study.test), 2)] for name, study in studies.items()}
    for name in asked.model:
        study, settings = studies[name], chosen[name]
        with tempfile.TemporaryDirectory() as folder:
            train, cell = study.train.remembered(), ("vanilla", settings.backbones[0], 0)
            trainer = CellTrainer(find_study(name), train, settings, Path(folder), *cell, networks=asked.networks)
            clf = make_variant(CAREFUL, trainer.study, trainer.make_network(), settings, 0, len(train))
            clf.fit(train, train.labels, groups=trainer.groups)
        out_of_distribution(name, clf, study, others)
        abstention(name, clf, study, settings, asked.severity)


if __name__ == "__main__":
    main()
