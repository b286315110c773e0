"""Networks and images in model folders: safetensors and JSON, a shared backbone once, nothing hostile."""

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from memclf import MemoryClassifier, load
from memclf import save as save_model
from memclf.cli import app
from memclf.exceptions import ModelFolderError, UntrustedTypeError
from memclf.persist import inspect_folder
from memclf.persist.manifest import hash_manifest
from memclf.similarity import FunctionSimilarity, TreeSimilarity
from memclf.vision import ImageClassifier, ImageCollection
from memclf.vision.features import PatchColour, same_colour
from memclf.vision.nets.recipes import AugMix, Recipe
from pictures import squares, tiny

X, Y = squares(45, size=48, seed=1, wrong=0.3)


def fitted(estimator, **settings):
    tree = TreeSimilarity(features=PatchColour())
    clf = MemoryClassifier(similarity=tree, estimator=estimator, start="global", random_state=0, **settings)
    return clf.fit(ImageCollection(X), Y)


def network(**settings):
    defaults = {"backbone": tiny, "image_size": 24, "epochs": 1}
    return ImageClassifier(**{**defaults, **settings})


def tensors_in(folder):
    [file] = folder.glob("data-*/networks.safetensors")
    return load_file(file)


@pytest.mark.parametrize("share", [False, True])
def test_networks_come_back_as_they_were(tmp_path, share):
    clf = fitted(network(share_backbone=share, recipe=AugMix(severity=2)))
    save_model(clf, tmp_path / "model")
    with pytest.raises(UntrustedTypeError, match="pictures.tiny"):
        load(tmp_path / "model")
    back = load(tmp_path / "model", trusted=["pictures.tiny"])
    np.testing.assert_array_equal(back.predict_proba(X), clf.predict_proba(X))
    assert back.estimators_[0].recipe == AugMix(severity=2)
    assert back.estimators_[0] is back.pool_.estimators[0]
    assert back.estimators_[0].history_ == clf.estimators_[0].history_
    np.testing.assert_array_equal(back.memories_[0], clf.memories_[0])
    assert isinstance(back.memories_, ImageCollection)
    assert len({id(each.backbone_) for each in back.estimators_}) == (1 if share else 3)
    convolutions = [name for name in tensors_in(tmp_path / "model") if name.endswith(".0.weight")]
    assert len(convolutions) == (1 if share else 4)  # one for each memory, and the global classifier's


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """A classifier with a backbone that has a name, and its folder."""
    clf = fitted(ImageClassifier(image_size=32, epochs=1, share_backbone=True))
    return clf, save_model(clf, tmp_path_factory.mktemp("named") / "model")


def test_a_named_backbone_needs_no_trust_and_can_be_trained_on(named):
    clf, folder = named
    back = load(folder)
    np.testing.assert_allclose(back.predict_proba(X), clf.predict_proba(X), atol=1e-6)
    more = back.global_.continued(X, Y)
    assert more.history_[-1]["train_loss"] < 5
    assert not inspect_folder(folder).problems


@pytest.mark.parametrize("backbone", ["regnet_y_400mf", "mnasnet0_5"])
def test_backbones_with_peculiar_ways_come_back_too(tmp_path, backbone):
    clf = ImageClassifier(backbone, image_size=32, epochs=1, random_state=0).fit(X, Y)
    save_model(clf, tmp_path / "model")
    np.testing.assert_allclose(load(tmp_path / "model").predict_proba(X), clf.predict_proba(X), atol=1e-6)


def test_a_network_by_itself_can_be_saved(tmp_path):
    clf = network(features=PatchColour()).fit(X, Y)
    save_model(clf, tmp_path / "model")
    back = load(tmp_path / "model", trusted=[tiny])
    np.testing.assert_array_equal(back.predict_proba(X), clf.predict_proba(X))
    assert "classifies images of 24 x 24 pixels" in (tmp_path / "model" / "MODEL_CARD.md").read_text()
    shown = CliRunner().invoke(app, ["inspect", str(tmp_path / "model")])
    assert shown.exit_code == 0
    assert "trained for 1 epochs" in shown.output
    assert "pictures.tiny" in shown.output


def test_expert_features_inside_a_classifier_come_back(tmp_path):
    clf = fitted(network(features=PatchColour()))
    save_model(clf, tmp_path / "model")
    back = load(tmp_path / "model", trusted=[tiny])
    np.testing.assert_array_equal(back.predict_proba(X), clf.predict_proba(X))


def test_similarities_of_memclfs_own_need_no_trust(tmp_path):
    similarity = FunctionSimilarity(same_colour, features=PatchColour(), batched=True)
    clf = MemoryClassifier(similarity=similarity, estimator=make_pipeline(PatchColour(), LogisticRegression()))
    save_model(clf.fit(ImageCollection(X), Y), tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), clf.predict(X))
    assert inspect_folder(tmp_path / "model").untrusted == []
    assert "trusted" not in (tmp_path / "model" / "MODEL_CARD.md").read_text()


def test_expert_features_in_a_pipeline_need_no_trust(tmp_path):
    clf = MemoryClassifier(
        similarity=TreeSimilarity(features=PatchColour()),
        estimator=make_pipeline(PatchColour(), LogisticRegression()),
        random_state=0,
    ).fit(ImageCollection(X), Y)
    save_model(clf, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), clf.predict(X))


def test_memories_outlive_the_files_they_came_from(tmp_path):
    import cv2

    files = []
    for position, image in enumerate(X):
        files.append(tmp_path / f"{position}.png")
        cv2.imwrite(str(files[-1]), image[:, :, ::-1])
    tree = TreeSimilarity(features=PatchColour())
    clf = MemoryClassifier(similarity=tree, estimator=make_pipeline(PatchColour(), LogisticRegression()))
    clf.fit(ImageCollection(files), Y)
    save_model(clf, tmp_path / "model")
    for file in files:
        file.unlink()
    back = load(tmp_path / "model")
    for k, row in enumerate(clf.memory_indices_):
        np.testing.assert_array_equal(back.memories_[k], X[row])
        assert back.memories_.key(k) == clf.memories_.key(k)


def test_what_cannot_be_stored_safely_is_refused_when_saving(tmp_path):
    with pytest.raises(ModelFolderError, match="is a Sequential, which cannot be saved without pickle"):
        save_model(fitted(network(backbone=tiny())), tmp_path / "model")

    class Mine(Recipe):
        name = "mine"

    with pytest.raises(ModelFolderError, match="a recipe of your own, Mine"):
        save_model(fitted(network(recipe=Mine())), tmp_path / "model")


def rewritten(folder, change):
    """Apply a change to the manifest and give it a right checksum again."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    manifest["sha256"] = hash_manifest(manifest)
    path.write_text(json.dumps(manifest))


def networks_of(node):
    if isinstance(node, dict):
        if node.get("$vision") == "Network":
            yield node
        for value in node.values():
            yield from networks_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from networks_of(value)


@pytest.mark.parametrize("attack", ["larger backbone", "other backbone", "no such backbone", "other head", "bytes"])
def test_networks_that_do_not_fit_their_description_are_refused(named, tmp_path, attack):
    import hashlib

    folder = shutil.copytree(named[1], tmp_path / "model")

    def change(manifest):
        for each in networks_of(manifest):
            if attack == "larger backbone":
                each["architecture"]["backbone"] = "vit_h_14"  # 2.5 GB that must never be made
            elif attack == "other backbone":
                each["architecture"]["backbone"] = "resnet18"
            elif attack == "no such backbone":
                each["architecture"]["backbone"] = "os.system"
            elif attack == "other head":
                each["architecture"]["n_classes"] = 7
        if attack == "bytes":
            [name] = [name for name in manifest["files"] if name.endswith("safetensors")]
            content = save({"x": torch.zeros(3)})
            (folder / name).write_bytes(content)
            manifest["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    rewritten(folder, change)
    with pytest.raises(ModelFolderError, match="does not (fit the architecture|describe a sound model)"):
        load(folder)
