"""Frozen backbones with bundled weights and with fresh ones, judged by a linear probe.

    python benchmarks/backbones.py photographs              # what those with a head see in scikit-image's pictures
    python benchmarks/backbones.py probe --leaf FOLDER      # and --acne FOLDER, or both
    python benchmarks/backbones.py statistics FILE          # those that memclf ships for ResNet18

The probe: `--images` (400) training images of the leaf study at 64 x 128 pixels (height, width), to be told apart by
their predominant stress (six classes) and by their severity (five); of the acne study at 96 x 96 pixels, by the kind
of lesion (three). The embeddings of the frozen backbone are standardised and go into a logistic regression with
C = 0.01; 3 folds, three times. Printed is the mean accuracy and, for the severities, most of which are 1, the mean
balanced accuracy. No image of the studies' test parts is used. Everything runs on one thread.

The statistics: ResNet18's batch norms see 168 random crops of photographs (those of scikit-image and scikit-learn
that are in colour and show everyday scenes), cropped as for training on ImageNet, 56 at a time.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import io
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import skimage.data
import timm
import torch
from safetensors.torch import save_file
from sklearn.datasets import load_sample_image
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torchvision.transforms import v2

from memclf.studies.leaf import load_leaves
from memclf.vision import ImageCollection
from memclf.vision.nets.backbones import build
from memclf.vision.nets.bundled import bundled_weights, read_bundled
from memclf.vision.nets.catalogue import BUNDLED, CATALOGUE, IMAGENET, label_of
from memclf.vision.nets.network import Network, create_network, embed_images

WITH_HEAD = {"efficientnet_lite0": 224, "efficientnet_lite1": 240, "efficientnet_lite2": 260}  # and their image sizes
PICTURES = ("cat", "coffee", "camera", "rocket")
CROPS, AT_ONCE = 168, 56
NOT_NORMALISED = ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


def show_photographs(_: argparse.Namespace) -> None:
    """Print the three most probable classes of ImageNet for each picture."""
    describe = timm.data.ImageNetInfo().index_to_description
    for name, size in WITH_HEAD.items():
        network = timm.create_model(f"tf_{name}")
        network.load_state_dict(bundled_weights(name))
        network.eval()
        for picture in PICTURES:
            image = getattr(skimage.data, picture)()
            image = image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2)
            image = cv2.resize(image, (size, size), interpolation=cv2.INTER_AREA)
            pixels = torch.from_numpy(image).permute(2, 0, 1)[None].float() / 255
            with torch.inference_mode():
                best = network((pixels - 0.5) / 0.5).softmax(1)[0].topk(3)
            shown = [f"{describe(int(i)).split(',')[0]} {p:.2f}" for p, i in zip(*best, strict=True)]
            print(f"{label_of(name)}  {picture:7s} {', '.join(shown)}", flush=True)


def probe(asked: argparse.Namespace) -> None:
    """Print one row per backbone and start, one column per task."""
    collections: list[tuple[ImageCollection, tuple[int, int], dict[str, tuple[Any, str]]]] = []
    if asked.leaf:
        leaves = draw(load_leaves(Path(asked.leaf))[0], asked.images)
        stress = [row["predominant_stress"] for row in leaves.info]
        tasks = {"leaf, stress": (stress, "accuracy"), "leaf, severity": (leaves.labels, "balanced_accuracy")}
        collections.append((leaves, (64, 128), tasks))
    if asked.acne:
        listed = ImageCollection.from_csv(Path(asked.acne) / "lesions.csv", label="label", where={"split": "train"})
        lesions = draw(listed, asked.images)
        collections.append((lesions, (96, 96), {"acne": (lesions.labels, "accuracy")}))
    heads = [f"{task:>16s}" for *_, tasks in collections for task in tasks]
    print(f"{'':36s}{''.join(heads)}  ms per image")
    for name in asked.backbones:
        for start in ["fresh", "bundled", *(["its own statistics"] if name == "resnet18" else [])]:
            cells, seconds = [], 0.0
            for images, size, tasks in collections:
                network = prepare(name, start, size)
                began = time.process_time()
                embeddings = embed_images(network, images, "cpu", None).astype(float)
                seconds += time.process_time() - began
                for labels, scoring in tasks.values():
                    judge = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=300))
                    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=3, random_state=0)
                    right = cross_val_score(judge, embeddings, labels, cv=folds, scoring=scoring)
                    cells.append(f"{100 * right.mean():16.1f}")
            per_image = 1000 * seconds / sum(len(images) for images, *_ in collections)
            print(f"{label_of(name) + ', ' + start:36s}{''.join(cells)}{per_image:14.0f}", flush=True)


def draw(images: ImageCollection, n: int) -> ImageCollection:
    return images[np.sort(np.random.default_rng(0).permutation(len(images))[:n])]


def prepare(name: str, start: str, size: tuple[int, int]) -> Network:
    torch.manual_seed(0)
    network = create_network(name, None if start == "fresh" else "bundled", size, n_classes=2, n_features=0)[0]
    if start == "its own statistics":
        network.backbone.load_state_dict(resnet18_as_published())
        network.mean, network.std = (torch.tensor(value).view(1, 3, 1, 1) for value in NOT_NORMALISED)
    return network


def resnet18_as_published() -> dict[str, torch.Tensor]:
    content = io.BytesIO(read_bundled(CATALOGUE["resnet18"].weights, "resnet18"))
    theirs = torch.load(content, map_location="cpu", weights_only=True)
    shorter = {name.removeprefix("layers."): value for name, value in theirs.items()}
    return {name: value for name, value in shorter.items() if not name.startswith("fc.")}


def write_statistics(asked: argparse.Namespace) -> None:
    """Let ResNet18's batch norms see photographs, and keep what they saw."""
    module = build("resnet18", (224, 224)).module
    module.load_state_dict(resnet18_as_published())
    norms = [part for part in module.modules() if isinstance(part, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the mean over all batches
    torch.manual_seed(0)
    crop = v2.Compose([v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip()])
    scenes = [getattr(skimage.data, name)() for name in ("astronaut", "chelsea", "coffee", "rocket")]
    scenes += [skimage.data.stereo_motorcycle()[0], load_sample_image("china.jpg"), load_sample_image("flower.jpg")]
    pixels = [torch.from_numpy(scene.copy()).permute(2, 0, 1) for scene in scenes]
    crops = torch.stack([crop(pixels[number % len(pixels)]) for number in range(CROPS)]).float() / 255
    mean, std = (torch.tensor(value).view(1, 3, 1, 1) for value in IMAGENET)
    with torch.no_grad():
        for batch in crops[torch.randperm(CROPS)].split(AT_ONCE):
            module.train()((batch - mean) / std)
    kept = {name: value for name, value in module.state_dict().items() if name.endswith(("_mean", "_var"))}
    save_file(kept, asked.file)
    print(f"{len(kept)} tensors with {sum(map(torch.numel, kept.values())):,} numbers in {asked.file}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    commands.add_parser("photographs").set_defaults(run=show_photographs)
    judged = commands.add_parser("probe")
    judged.add_argument("--leaf", help="the folder of the leaf study's images")
    judged.add_argument("--acne", help="the folder of the acne study's lesions")
    judged.add_argument("--images", type=int, default=400)
    judged.add_argument("--backbones", nargs="+", default=BUNDLED)
    judged.set_defaults(run=probe)
    written = commands.add_parser("statistics")
    written.add_argument("file")
    written.set_defaults(run=write_statistics)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    asked.run(asked)


if __name__ == "__main__":
    main()
