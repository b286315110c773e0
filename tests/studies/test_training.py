"""Training the contenders of one recipe, backbone and seed."""

from functools import wraps

import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GroupKFold

from memclf import MemoryClassifier
from memclf.cases.executors import name_worker
from memclf.studies import find_study, load_study, settings_for
from memclf.studies.training import CellTrainer, train
from memclf.studies.variants import ABLATION, STURDY, make_variant
from memclf.vision.features import LeafColours
from memclf.vision.nets.recipes import Adversarial


def trainer_of(name, folder, asked=None, **options):
    settings = settings_for(name, n_train=20, n_test=8, folds=2, **(asked or {}))
    images = load_study(settings).train
    return CellTrainer(find_study(name), images, settings, folder, "vanilla", "efficientnet_lite0", 0, **options)


@pytest.mark.slow
def test_train__paper_feature__replaces_the_robust_one_everywhere(tmp_path):
    asked = {"features": ["paper"], "literal": True, "sturdy": False, "image_size": (32, 32), "epochs": 1}
    found = {each.model: each.estimator for each in trainer_of("leaf", tmp_path, asked).train()}
    assert set(found) == {"baseline", "memory", "random", "augmented", "prior", "majority", "stage1"}
    assert found["memory"].similarity_.features_.names == found["augmented"].features_.names == ("F_d", "F_b")
    assert found["memory"].similarity_.features_.literal
    assert found["augmented"].features_.literal
    masks = found["memory"].similarity_.features_.masks(load_study(settings_for("leaf", n_train=20, n_test=8)).test[0])
    assert set(masks) == {"leaf", "affected", "green", "brown", "discoloured"}


@pytest.mark.parametrize(
    ("features", "models"),
    [
        (["robust"], {"robust": "memory"}),
        (["paper"], {"paper": "memory"}),
        (["both"], {"robust": "memory", "paper": "memory-paper"}),
    ],
)
def test_models__features__the_first_is_the_memory_classifier(tmp_path, features, models):
    assert trainer_of("leaf", tmp_path, {"features": features}).models == models


@pytest.mark.parametrize("literal", [False, True])
def test_leaf_study__literal__is_so_for_memories_graded_ones_and_feature(literal):
    settings = settings_for("leaf", "quick" if not literal else "paper", features=["paper"])
    study = find_study("leaf")
    made = [make_variant(each, study, DummyClassifier(), settings, 0, 50) for each in (STURDY, *ABLATION[:1])]
    found = [each.similarity.features for each in made]
    found += [study.features("paper", settings.literal), study.similarity("paper", settings.literal).features]
    assert [each.literal for each in found] == [literal] * 4
    assert not study.features("robust", literal).literal  # which has no thresholds of the paper


def test_make_network__settings__are_its_parameters(tmp_path):
    trainer = trainer_of("leaf", tmp_path)
    network, settings = trainer.make_network(), trainer.settings
    assert (network.epochs, network.image_size, network.lr) == (settings.epochs, settings.image_size, settings.lr)
    assert (network.share_backbone, network.pretrained, network.train) == (True, "auto", "head")


def test_make_network__manifold_mixup_at_scale_paper__starts_without_weights(tmp_path):
    settings = settings_for("leaf", "paper", n_train=20, n_test=8)
    images = load_study(settings).train
    for cell, pretrained in ((("manifold_mixup", "preact_resnet18"), None), (("vanilla", "resnet50"), True)):
        assert cell in settings.cells()
        network = CellTrainer(find_study("leaf"), images, settings, tmp_path, *cell, 0).make_network()
        assert (network.recipe, network.backbone, network.pretrained) == (*cell, pretrained)


def test_make_network__recipe_settings__are_fields_of_its_recipe(tmp_path):
    settings = settings_for("leaf", recipes=["adversarial"], recipe_settings=["adversarial.steps=1"], n_train=20)
    images = load_study(settings).train
    trainer = CellTrainer(find_study("leaf"), images, settings, tmp_path, *settings.cells()[0], 0)
    assert trainer.make_network().recipe == Adversarial(steps=1)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_make_network__networks_folder__keeps_checkpoints(tmp_path, elsewhere):
    networks = tmp_path / "shared" if elsewhere else None
    trainer = trainer_of("leaf", tmp_path, networks=networks)
    assert trainer.make_network().checkpoint == (networks or tmp_path / ".training")


def test_fit_or_load__lesions_of_one_face__are_on_one_side_of_a_fold(tmp_path):
    trainer = trainer_of("acne", tmp_path)
    assert trainer.groups.tolist() == [row["face"] for row in trainer.images.info]
    similarity = trainer.study.similarity("robust")
    clf = MemoryClassifier(similarity, DummyClassifier(), cv=GroupKFold(3), unknown_rate=0.05)
    trainer.fit_or_load("by face", clf)  # this splitter fails without groups


def test_fit_or_load__saved_model__is_not_fitted_again(tmp_path):
    trainer = trainer_of("acne", tmp_path)
    clf = MemoryClassifier(trainer.study.similarity("robust"), DummyClassifier(), verbose=1)
    fitted = trainer.fit_or_load("plain", clf)
    assert fitted.verbose == fitted.similarity_.verbose == 0
    loaded = trainer.fit_or_load("plain", "not an estimator")
    assert loaded.memory_indices_.tolist() == fitted.memory_indices_.tolist()


def test_groups__leaves__are_independent(tmp_path):
    assert trainer_of("leaf", tmp_path).groups is None


@pytest.mark.parametrize("cached", [False, True])
def test_train__with_a_cluster__workers_describe_the_training_images_once(tmp_path, monkeypatch, cached):
    distributed = pytest.importorskip("distributed")
    settings = settings_for("leaf", n_train=20, n_test=8, image_size=(32, 32), epochs=1)
    data, measure, places = load_study(settings), LeafColours._measure_all, []
    data = data.cached(tmp_path / "cache") if cached else data

    @wraps(measure)  # it travels by its name
    def note_place(self, images):  # in the thread of the task; threads of joblib do not know their worker
        places.extend([name_worker()] * len(images))
        return measure(self, images)

    monkeypatch.setattr(LeafColours, "_measure_all", note_place)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "processes": False}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client, client.as_current():
        baseline = next(train(find_study("leaf"), data.train, settings, tmp_path / "models"))
    assert baseline.model == "baseline"
    assert len(places) == 20
    assert None not in places
