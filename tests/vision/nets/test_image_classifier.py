"""ImageClassifier: a network that keeps scikit-learn's promises."""

import pickle
import threading
import time

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from skorch.callbacks import Callback
from torch import nn

from memclf import MemoryClassifier
from memclf.exceptions import TrainingError
from memclf.local import pool
from memclf.similarity import TreeSimilarity
from memclf.vision import ImageClassifier, ImageCollection
from memclf.vision.features import ImageFeatures, PatchColour
from memclf.vision.nets.data import Examples, prefetch, resize
from memclf.vision.nets.run import weigh_classes
from memclf.vision.nets.schedules import SCHEDULES
from memclf.vision.nets.whitened_head import NORM, WhitenedHead
from pictures import passes, squares, tiny

X, Y = squares()


def quick(**settings):
    defaults = {"backbone": tiny, "image_size": 24, "epochs": 8, "batch_size": 8, "lr": 0.05, "random_state": 0}
    return ImageClassifier(**{**defaults, **settings})


def same_weights(a, b):
    return all(
        torch.equal(p, q)
        for p, q in zip(a.network_.state_dict().values(), b.network_.state_dict().values(), strict=True)
    )


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(X, Y)


class Stop(Callback):
    """Ctrl-C at the end of an epoch, before anything is saved."""

    def __init__(self, epoch):
        self.epoch = epoch

    def on_epoch_end(self, net, **kwargs):
        if len(net.history) == self.epoch:
            raise KeyboardInterrupt


# ------------------------------------------------------------------------------------------------ as an estimator


def test_it_learns_and_its_probabilities_are_probabilities(fitted):
    images, labels = squares(seed=5)
    assert fitted.score(images, labels) > 0.9
    proba = fitted.predict_proba(images)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (fitted.classes_[proba.argmax(axis=1)] == fitted.predict(images)).all()
    assert fitted.classes_.tolist() == ["blue", "green", "red"]
    scores = fitted.decision_function(images)
    np.testing.assert_allclose(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True), proba, atol=1e-12)


def test_it_takes_collections_lists_and_images_of_different_sizes(fitted):
    expected = fitted.predict(X)
    assert (fitted.predict(ImageCollection(X)) == expected).all()
    assert (fitted.predict(list(X)) == expected).all()
    larger = [np.kron(image, np.ones((2 + i % 2, 2, 1), dtype=np.uint8)) for i, image in enumerate(X)]
    assert (fitted.predict(larger) == expected).mean() > 0.9


def test_answers_do_not_depend_on_the_batch(fitted):
    one_by_one = np.concatenate([fitted.predict_proba(X[i : i + 1]) for i in range(6)])
    np.testing.assert_allclose(one_by_one, fitted.predict_proba(X)[:6], atol=1e-5)


def test_the_same_seed_gives_the_same_weights_and_leaves_the_global_generator_alone():
    torch.manual_seed(7)
    before = torch.get_rng_state()
    first = quick(epochs=2, recipe="augmix").fit(X, Y)
    assert torch.equal(before, torch.get_rng_state())
    torch.rand(3)
    assert same_weights(first, quick(epochs=2, recipe="augmix").fit(X, Y))
    assert not same_weights(first, quick(epochs=2, recipe="augmix", random_state=1).fit(X, Y))


def test_it_can_be_cloned_pickled_and_cross_validated(fitted):
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict_proba(X), fitted.predict_proba(X))
    assert not hasattr(clone(fitted), "network_")
    assert cross_val_score(quick(epochs=12), ImageCollection(X), Y, cv=3).mean() > 0.7


def test_embeddings_are_the_penultimate_layer(fitted):
    E = fitted.embed(X)
    assert E.shape == (len(X), 12)
    np.testing.assert_array_equal(fitted.predict_embedded(E, X), fitted.predict(X))
    np.testing.assert_array_equal(fitted.predict_proba_embedded(E, X), fitted.predict_proba(X))


def test_two_classes_have_one_score_as_scikit_learn_wants_it():
    two = Y != "blue"
    clf = quick().fit(X[two], Y[two])
    scores = clf.decision_function(X[two])
    assert scores.shape == (two.sum(),)
    np.testing.assert_array_equal(clf.classes_[(scores > 0).astype(int)], clf.predict(X[two]))
    assert cross_val_score(quick(), X[two], Y[two] == "red", cv=2, scoring="roc_auc").mean() > 0.5


def test_an_unfitted_or_interrupted_classifier_says_so():
    with pytest.raises(NotFittedError):
        quick().predict(X)
    clf = quick(callbacks=[Stop(2)])
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_training_that_diverges_says_so():
    with pytest.raises(TrainingError, match="training diverged in epoch .*lower learning rate"):
        quick(lr=1e30).fit(X, Y)


def test_no_gradients_are_kept(fitted):
    assert all(parameter.grad is None for parameter in fitted.network_.parameters())


def test_early_stopping_has_nothing_to_go_by_with_a_handful_of_cases():
    clf = quick(early_stopping=2, epochs=3).fit(X[:4], Y[:4])
    assert len(clf.history_) == 3
    assert "valid_loss" not in clf.history_[0]
    with pytest.raises(ValueError, match="one image is not enough to train a network"):
        quick().fit(X[:2], Y[:2], sample_weight=[1.0, 0.0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"train": "tail"}, "The 'train' parameter of ImageClassifier must be a str among {"),
        (
            {"optimizer": "lion"},
            "'optimizer' parameter of ImageClassifier must be a str among {",
        ),
        ({"schedule": "warm"}, "} or None. Got 'warm'"),
        ({"epochs": 0}, "'epochs' parameter of ImageClassifier must be an int in the range [1, inf). Got 0"),
        ({"epochs": None}, "'epochs' parameter of ImageClassifier must be an int in the range [1, inf). Got None"),
        ({"lr": "0.1"}, "'lr' parameter of ImageClassifier must be a float in the range (0.0, inf). Got '0.1'"),
        ({"momentum": "x"}, "'momentum' parameter of ImageClassifier must be a float in the range [0.0, inf). Got 'x'"),
        ({"weight_decay": -1}, "'weight_decay' parameter of ImageClassifier must be a float in the range [0.0, inf)"),
        ({"label_smoothing": 2}, "'label_smoothing' parameter of ImageClassifier must be a float in the range [0.0, 1"),
        ({"validation_fraction": 2}, "'validation_fraction' parameter of ImageClassifier must be a float in the range"),
        ({"class_weight": "balancd"}, "'class_weight' parameter of ImageClassifier must be an instance of 'dict'"),
        (
            {"features": "x"},
            "'features' parameter of ImageClassifier must be an object implementing 'fit' ",
        ),
        ({"callbacks": 3}, "'callbacks' parameter of ImageClassifier must be an instance of 'list'"),
        ({"device": "gpu"}, "device must be 'auto' or one of torch ('cpu', 'cuda', 'cuda:1', 'mps'); got 'gpu'"),
        ({"device": "cuda:77"}, "device='cuda:77' needs a GPU"),
        ({"predict_batch_size": 0}, "'predict_batch_size' parameter of ImageClassifier must be an int in the range [1"),
        ({"early_stopping": True}, "early_stopping is a number of epochs, or None; got True"),
        ({"local_epochs": 0}, "'local_epochs' parameter of ImageClassifier must be an int in the range [1, inf)"),
        ({"image_size": None}, "image_size must be a number of pixels or (height, width)"),
        ({"image_size": (24,)}, "image_size must be a number of pixels or (height, width)"),
        ({"image_size": 4}, "at least 8; got 4"),
        ({"backbone": "resnet81"}, "neither torchvision nor timm knows a backbone 'resnet81'; did you mean 'resnet18'"),
        ({"backbone": lambda: nn.Conv2d(3, 2, 3)}, "must return one row of numbers per image; Conv2d returned (1, 2, "),
        ({"backbone": lambda: 3}, "must return a torch module, got int"),
        ({"backbone": 3}, "backbone must be a name, a torch module or a function that makes one, got 3"),
        ({"backbone": lambda: nn.Sequential(nn.Flatten(), nn.Linear(12, 3))}, "cannot take images of 24 x 24 pixels"),
        ({"recipe": "mixup"}, "manifold_mixup"),
    ],
)
def test_wrong_settings_say_what_is_wrong(settings, message):
    with pytest.raises((ValueError, TypeError)) as raised:
        quick(**settings).fit(X, Y)
    assert message in str(raised.value)


def test_wrong_labels_say_what_is_wrong():
    with pytest.raises(ValueError, match="y holds one class only, 'red'"):
        quick().fit(X[:3], ["red"] * 3)
    with pytest.raises(ValueError, match="requires y to be passed"):
        quick().fit(X, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        quick().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="there are no images to learn from"):
        quick().fit([], [])


# ------------------------------------------------------------------------------------------------------- training


def test_fit__head_alone__embeds_images_once_and_leaves_the_backbone():
    backbone = tiny()
    clf = quick(backbone=backbone, train="head", epochs=5)
    start = clf.fit(X, Y).backbone_.state_dict()
    assert all(torch.equal(start[name], value) for name, value in backbone.state_dict().items())
    seen, handle = passes(clf.backbone_)
    again = clf.continued(X, Y)
    handle.remove()
    assert sum(seen) == len(X)
    assert again.history_[-1]["train_loss"] < clf.history_[0]["train_loss"]


def test_the_head_is_trained_in_coordinates_of_its_own_and_turned_back():
    rng = np.random.default_rng(0)
    E = (rng.normal(size=(30, 5)) * [1e-3, 2, 50, 0, 1] + [5, 0, -100, 3, 0]).astype(np.float32)
    F = rng.normal(size=(30, 2)).astype(np.float32)
    layer = nn.Linear(7, 3)
    plain = layer(torch.tensor(np.hstack([E, F]))).detach()
    head = WhitenedHead(layer, E)
    scaled = head.whiten(E)
    assert np.linalg.norm(scaled, axis=1).mean() == pytest.approx(NORM * (4 / 5) ** 0.5, rel=0.15)  # one never varies
    torch.testing.assert_close(head(torch.tensor(scaled), torch.tensor(F)), plain, rtol=1e-3, atol=1e-2)
    head.fold()
    torch.testing.assert_close(layer(torch.tensor(np.hstack([E, F]))), plain, rtol=1e-3, atol=1e-2)


def test_a_named_backbone_with_random_weights_is_no_ground_for_a_head():
    with pytest.warns(UserWarning, match="the embeddings of resnet34 with random weights"):
        quick(backbone="resnet34", train="head", epochs=1).fit(X, Y)


def test_fit__head_with_a_recipe_of_views__trains_with_frozen_backbone():
    backbone = tiny()
    clf = quick(backbone=backbone, train="head", recipe="cutmix", epochs=3).fit(X, Y)
    assert all(torch.equal(clf.backbone_.state_dict()[n], v) for n, v in backbone.state_dict().items())
    start = quick(backbone=backbone, train="head", recipe="cutmix", epochs=1, lr=1e-30).fit(X, Y)
    assert not torch.equal(clf.network_.head.weight, start.network_.head.weight)
    assert all(parameter.requires_grad for parameter in clf.network_.parameters())


def test_fine_tuning_changes_everything(fitted):
    start = dict(tiny().named_parameters())
    for name, value in fitted.backbone_.named_parameters():
        assert value.shape == start[name].shape
    untrained = quick(lr=1e-30, epochs=1).fit(X, Y)
    for (name, new), (_, old) in zip(
        fitted.backbone_.named_parameters(), untrained.backbone_.named_parameters(), strict=True
    ):
        assert not torch.equal(new, old), name


def test_early_stopping_stops_and_puts_the_best_weights_back():
    images, labels = squares(90, seed=3, wrong=0.5)  # nothing to gain from learning these by heart
    clf = quick(early_stopping=3, epochs=200, lr=0.3, validation_fraction=0.3).fit(images, labels)
    losses = [row["valid_loss"] for row in clf.history_]
    assert len(losses) < 200
    assert len(losses) - 1 - int(np.argmin(losses)) == 3
    stopped_at_best = quick(early_stopping=3, epochs=int(np.argmin(losses)) + 1, lr=0.3, validation_fraction=0.3)
    assert same_weights(clf, stopped_at_best.fit(images, labels))


@pytest.mark.parametrize("name", [name for name in SCHEDULES if name])
def test_the_learning_rate_follows_its_schedule(name):
    rates = []

    class Watch(Callback):
        def on_batch_end(self, net, **kwargs):
            rates.append(net.optimizer_.param_groups[0]["lr"])

    quick(schedule=name, epochs=4, lr=0.1, batch_size=48, callbacks=[Watch()]).fit(X, Y)
    expected = {
        "cosine": [0.1, 0.1 * (1 + 2**-0.5) / 2, 0.05, 0.1 * (1 - 2**-0.5) / 2],
        "linear": [0.1, 0.075, 0.05, 0.025],
        "step": [0.1, 0.1, 0.01, 0.01],
    }[name]
    np.testing.assert_allclose(rates, expected)


def test_class_weights_are_those_of_scikit_learn():
    labels = np.array(["a"] * 30 + ["b"] * 15 + ["c"] * 3)
    classes, codes = np.unique(labels, return_inverse=True)
    np.testing.assert_allclose(weigh_classes("balanced", classes, codes), [48 / 90, 48 / 45, 48 / 9])
    only_two = np.array([0, 0, 0, 2])  # a cluster without "b"
    np.testing.assert_allclose(weigh_classes("balanced", classes, only_two), [4 / 6, 1, 4 / 2])
    np.testing.assert_allclose(weigh_classes({"c": 5.0, "a": 2.0}, classes, np.array([0, 1, 2])), [2, 1, 5])
    np.testing.assert_allclose(weigh_classes({"c": 5.0, "a": 2.0}, classes, np.array([1, 0])), [2, 1, 5])
    with pytest.raises(ValueError, match="class_weight names pink; the classes are .'blue', 'green', 'red'."):
        quick(class_weight={"pink": 2.0}).fit(X, Y)


def test_a_heavy_class_is_answered_more_often():
    images, labels = squares(60, wrong=0.6)
    heavy = quick(class_weight={"red": 30.0}, epochs=3).fit(images, labels)
    light = quick(class_weight={"red": 1 / 30}, epochs=3).fit(images, labels)
    assert (heavy.predict(images) == "red").sum() > (light.predict(images) == "red").sum() + 10


@pytest.mark.parametrize("recipe", ["vanilla", "manifold_mixup"])
def test_a_case_without_weight_is_absent(recipe):
    wrong = Y.copy()
    wrong[24:] = np.roll(Y[24:], 1)
    backbone = tiny()  # the same start, whatever is drawn before it
    weighted = quick(backbone=backbone, recipe=recipe, epochs=2).fit(X, wrong, sample_weight=np.repeat([1.0, 0.0], 24))
    assert same_weights(weighted, quick(backbone=backbone, recipe=recipe, epochs=2).fit(X[:24], Y[:24]))


def test_weights_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="at least one non-zero number|zero for every case"):
        quick().fit(X, Y, sample_weight=np.zeros(len(Y)))
    with pytest.raises(ValueError, match="[Nn]egative"):
        quick().fit(X, Y, sample_weight=-np.ones(len(Y)))


def test_weights_count():
    images, labels = squares(60, wrong=0.6)
    heavy = quick(epochs=3).fit(images, labels, sample_weight=np.where(labels == "red", 30.0, 1.0))
    light = quick(epochs=3).fit(images, labels, sample_weight=np.where(labels == "red", 1.0, 30.0))
    assert (heavy.predict(images) == "red").sum() > (light.predict(images) == "red").sum() + 10


# ------------------------------------------------------------------------------------------------------- checkpoints


def test_an_interrupted_fit_goes_on_and_ends_with_the_same_weights(tmp_path):
    whole = quick(recipe="augmix", schedule="cosine", epochs=5).fit(X, Y)
    with pytest.raises(KeyboardInterrupt):
        quick(recipe="augmix", schedule="cosine", epochs=5, checkpoint=tmp_path, callbacks=[Stop(4)]).fit(X, Y)
    assert len(list(tmp_path.iterdir())) == 1
    count = Count()
    settings = {"recipe": "augmix", "schedule": "cosine", "epochs": 5, "checkpoint": tmp_path}
    resumed = quick(**settings, callbacks=[count]).fit(X, Y)
    assert count.epochs == [4, 5]
    assert same_weights(whole, resumed)
    assert len(resumed.history_) == 5


class Count(Callback):
    """The epochs that were run."""

    def __init__(self):
        self.epochs = []

    def on_epoch_begin(self, net, **kwargs):
        self.epochs.append(len(net.history))


def test_a_finished_fit_is_not_repeated(tmp_path):
    first = quick(epochs=3, checkpoint=tmp_path).fit(X, Y)
    count = Count()
    again = quick(epochs=3, checkpoint=tmp_path, callbacks=[count]).fit(X, Y)
    assert count.epochs == []
    assert same_weights(first, again)
    assert again.history_ == first.history_


@pytest.mark.parametrize("settings", [{"train": "head"}, {"train": "head", "recipe": "cutmix"}, {"optimizer": "adam"}])
def test_other_ways_of_training_go_on_too(tmp_path, settings):
    settings = {"epochs": 6, **settings}
    whole = quick(**settings).fit(X, Y)
    with pytest.raises(KeyboardInterrupt):
        quick(**settings, checkpoint=tmp_path, callbacks=[Stop(5)]).fit(X, Y)
    count = Count()
    resumed = quick(**settings, checkpoint=tmp_path, callbacks=[count]).fit(X, Y)
    assert count.epochs == [5, 6]
    assert same_weights(whole, resumed)


def test_an_interrupted_memory_classifier_repeats_one_epoch_at_most(tmp_path):
    images, labels = squares(60, seed=1, wrong=0.3)
    whole = memory_classifier().fit(images, labels)

    class Once(Callback):
        """Ctrl-C in the third fit of a process."""

        fits = 0

        def on_epoch_end(self, net, **kwargs):
            Once.fits += len(net.history) == 1
            if Once.fits == 3 and len(net.history) == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory_classifier(checkpoint=tmp_path, callbacks=[Once()]).fit(images, labels)
    count = Count()
    clf = memory_classifier(checkpoint=tmp_path)
    clf.estimator.callbacks = KeepIdentity([count])
    resumed = clf.fit(images, labels)
    assert count.epochs == [2, 3, 1, 2, 3]
    np.testing.assert_array_equal(resumed.predict_proba(images), whole.predict_proba(images))


class KeepIdentity(list):
    """A list of callbacks that cloning an estimator does not copy."""

    def __deepcopy__(self, memo):
        return self


def test_a_checkpoint_needs_a_seed(tmp_path):
    with pytest.raises(ValueError, match="checkpoint needs a random_state"):
        quick(checkpoint=tmp_path, random_state=None).fit(X, Y)


@pytest.mark.parametrize("change", ["features", "held out", "pixels"])
def test_a_fit_on_other_data_is_another_fit(tmp_path, change, monkeypatch):
    class Number(ImageFeatures):
        names = ("number",)

        def __init__(self, power=1):
            self.power = power

        def measure(self, image, info):
            return [float(image.mean()) ** self.power]

    settings = {"epochs": 4, "features": Number()} if change == "features" else {"epochs": 4}
    others = dict(settings)
    images = X
    if change == "features":
        others["features"] = Number(3)
    elif change == "held out":
        settings.update(early_stopping=2, validation_fraction=0.2)
        others.update(early_stopping=2, validation_fraction=0.25)
    else:
        monkeypatch.setattr("memclf.vision.nets.data.CACHE_BYTES", 0)
        images = X[:, ::-1].copy()
    with pytest.raises(KeyboardInterrupt):
        quick(**settings, checkpoint=tmp_path, callbacks=[Stop(3)]).fit(X, Y)
    count = Count()
    quick(**others, checkpoint=tmp_path, callbacks=[count]).fit(images, Y)
    assert count.epochs[0] == 1


def test_early_stopping_remembers_its_best_through_an_interruption(tmp_path):
    images, labels = squares(90, seed=3, wrong=0.5)
    settings = {"early_stopping": 3, "epochs": 30, "lr": 0.3, "validation_fraction": 0.3}
    whole = quick(**settings).fit(images, labels)
    with pytest.raises(KeyboardInterrupt):
        quick(**settings, checkpoint=tmp_path, callbacks=[Stop(3)]).fit(images, labels)
    count = Count()
    resumed = quick(**settings, checkpoint=tmp_path, callbacks=[count]).fit(images, labels)
    assert count.epochs[0] == 3
    assert same_weights(whole, resumed)
    assert len(whole.history_) == len(resumed.history_)


def test_a_checkpoint_of_another_fit_or_a_damaged_one_is_not_used(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        quick(epochs=5, checkpoint=tmp_path, callbacks=[Stop(3)]).fit(X, Y)
    [file] = tmp_path.iterdir()
    other = quick(epochs=5, lr=0.01, checkpoint=tmp_path).fit(X, Y)
    assert same_weights(other, quick(epochs=5, lr=0.01).fit(X, Y))
    file.write_bytes(file.read_bytes()[:100])
    with pytest.warns(UserWarning, match="cannot be continued from"):
        again = quick(epochs=5, checkpoint=tmp_path).fit(X, Y)
    assert same_weights(again, quick(epochs=5).fit(X, Y))


# ---------------------------------------------------------------------------------------- expert features, memories


def test_expert_features_are_joined_to_the_penultimate_layer():
    grey = np.repeat(X.max(axis=3, keepdims=True), 3, axis=3)  # colour is gone from the pixels

    class Colour(ImageFeatures):
        """Knows the colour by what is written about the image."""

        names = ("red", "green")

        def measure(self, image, info):
            return [info["colour"] == "red", info["colour"] == "green"]

    images = ImageCollection(grey, info=[{"colour": label} for label in Y])
    plain = quick(epochs=10).fit(images, Y)
    joined = quick(epochs=10, features=Colour()).fit(images, Y)
    assert plain.score(images, Y) < 0.7
    assert joined.score(images, Y) > 0.9
    assert joined.network_.head.in_features == 12 + 2
    E = joined.embed(images)
    np.testing.assert_array_equal(joined.predict_embedded(E, images), joined.predict(images))


def test_features_that_are_not_finite_are_refused_by_image():
    class Broken(ImageFeatures):
        names = ("nothing",)

        def measure(self, image, info):
            return [np.nan]

    with pytest.raises(ValueError, match="NaN or infinity .first: image 0."):
        quick(features=Broken()).fit(X, Y)


def test_a_local_classifier_starts_from_the_global_one_and_keeps_all_classes(fitted):
    some = Y != "blue"
    local = fitted.continued(X[some], Y[some], seed=3)
    assert local.classes_.tolist() == ["blue", "green", "red"]
    assert local.random_state == 3
    assert local.score(X[some], Y[some]) > 0.9
    assert local.backbone_ is not fitted.backbone_
    assert local.history_[0]["train_loss"] < fitted.history_[0]["train_loss"] / 2  # no start from nothing
    with pytest.raises(ValueError, match="not on .'pink'."):
        fitted.continued(X[:2], ["pink", "red"])


def test_local_epochs_are_those_that_were_asked_for():
    clf = quick(local_epochs=2).fit(X, Y)
    assert len(clf.continued(X, Y).history_) == 2
    assert len(clf.history_) == 8


def memory_classifier(**settings):
    tree = TreeSimilarity(features=PatchColour())
    estimator = quick(epochs=3, **settings)
    return MemoryClassifier(similarity=tree, estimator=estimator, start="global", fallback="global", random_state=0)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_memories_that_share_a_backbone_hold_one_and_ask_it_once(n_jobs):
    images, labels = squares(60, seed=1, wrong=0.2)
    clf = memory_classifier(share_backbone=True).set_params(n_jobs=n_jobs).fit(images, labels)
    assert clf.pool_.origins == ["global"] * 3
    assert {id(each.backbone_) for each in clf.estimators_} == {id(clf.global_.backbone_)}
    assert len({id(each.network_.head) for each in clf.estimators_}) == 3
    seen, handle = passes(clf.global_.backbone_)
    together = clf.predict_proba(images)
    handle.remove()
    assert sum(seen) == 60
    assert len(seen) == 4  # full batches of 16, not one call per memory
    branch = clf.route(images).memory
    apart = np.stack([clf.estimators_[k].predict_proba(images[[i]])[0] for i, k in enumerate(branch)])
    np.testing.assert_allclose(together, apart, atol=1e-5)


class Watched(PatchColour):
    """Waits until the network is at work before it measures the first picture, and may fail then."""

    at_work, fails = threading.Event(), False

    def measure(self, image, info):
        assert self.at_work.wait(60)
        if self.fails:
            raise RuntimeError("broken feature")
        return super().measure(image, info)


@pytest.fixture
def watched(monkeypatch):
    """A memory classifier with one backbone, which says when it is asked; and what the backbone has seen."""
    images, labels = squares(60, seed=1, wrong=0.2)
    clf = memory_classifier(share_backbone=True).set_params(similarity=TreeSimilarity(features=Watched()))
    monkeypatch.setattr(Watched, "at_work", threading.Event())
    Watched.at_work.set()
    clf.fit(images, labels)
    Watched.at_work.clear()
    seen, handle = passes(clf.global_.backbone_)
    told = clf.global_.backbone_.register_forward_pre_hook(lambda *_: Watched.at_work.set())
    yield clf, seen
    handle.remove()
    told.remove()


def test_predict__many_images__embeds_them_while_they_are_described(watched, monkeypatch):
    (clf, seen), images = watched, squares(150, seed=2)[0]
    together = clf.predict_proba(images)
    assert sum(seen) == 150
    monkeypatch.setattr(pool, "AHEAD", 1000)
    np.testing.assert_allclose(clf.predict_proba(images), together, atol=1e-6)


def test_predict__feature_fails__the_images_are_not_all_embedded(watched, monkeypatch):
    clf, seen = watched
    monkeypatch.setattr(Watched, "fails", True)
    slow = clf.global_.backbone_.register_forward_hook(lambda *_: time.sleep(0.05))  # all images would take 4 s
    with pytest.raises(RuntimeError, match="broken feature"):
        clf.predict(squares(20 * pool.AHEAD, seed=2)[0])
    slow.remove()
    assert sum(seen) < 10 * pool.AHEAD


@pytest.mark.parametrize("recipe", ["vanilla", "cutmix"])
def test_heads_on_a_shared_backbone_leave_it_alone_whatever_the_workers(recipe):
    images, labels = squares(60, seed=1, wrong=0.3)
    answers = []
    for n_jobs in (1, 2):
        clf = memory_classifier(share_backbone=True, recipe=recipe, local_epochs=4).set_params(n_jobs=n_jobs)
        alone = quick(epochs=3, recipe=recipe)
        answers.append(clf.fit(images, labels).predict_proba(images))
        alone.random_state = clf.global_.random_state
        alone.fit(images, labels)
        assert same_weights(clf.global_, alone)
    np.testing.assert_array_equal(*answers)


def test_sharing_without_a_global_classifier_is_refused():
    clf = memory_classifier(share_backbone=True).set_params(start="fresh")
    with pytest.raises(ValueError, match="it needs start='global'"):
        clf.fit(X, Y)


def test_a_module_given_as_backbone_is_not_copied_along(fitted):
    clf = quick(backbone=tiny(), share_backbone=True).fit(X, Y)
    local = clf.continued(X, Y)
    assert local.network_.architecture["backbone"] is clf.network_.architecture["backbone"]


def test_memories_without_sharing_have_networks_of_their_own():
    images, labels = squares(60, seed=1, wrong=0.2)
    clf = memory_classifier().fit(ImageCollection(images), labels)
    assert len({id(each.backbone_) for each in clf.estimators_}) == 3
    assert clf.score(images, squares(60, seed=1)[1]) > 0.8
    assert isinstance(clf.memories_, ImageCollection)


def test_it_stands_at_the_end_of_a_pipeline(fitted):
    from sklearn.preprocessing import FunctionTransformer

    pipeline = make_pipeline(FunctionTransformer(lambda images: images[:, ::-1]), quick())
    assert pipeline.fit(X, Y).score(X, Y) > 0.9


# ---------------------------------------------------------------------------------------------------------- batches


def test_the_order_of_cases_depends_on_seed_and_epoch_alone():
    examples = Examples(ImageCollection(X), (24, 24), seed=4)
    first = examples.order()
    assert sorted(first) == list(range(len(X)))
    assert (first == examples.order()).all()
    examples.epoch = 1
    assert (first != examples.order()).any()


def test_a_last_batch_of_one_joins_the_one_before():
    examples = Examples(ImageCollection(X[:17]), (24, 24))
    assert [len(batch) for batch in examples.batches(8, training=True)] == [8, 9]
    assert [len(batch) for batch in examples.batches(8, training=False)] == [8, 8, 1]


def test_reading_ahead_keeps_the_order_and_passes_errors_on():
    assert list(prefetch(lambda item: item * item, list(range(20)))) == [i * i for i in range(20)]
    assert list(prefetch(abs, [])) == []
    with pytest.raises(ZeroDivisionError):
        list(prefetch(lambda item: 1 // item, [1, 0, 1]))


def test_views_of_an_image_do_not_depend_on_its_batch():
    from memclf.vision.nets.recipes import get_recipe

    examples = Examples(ImageCollection(X), (24, 24), recipe=get_recipe("augmix"), seed=1)
    rows = np.array([3, 9, 30])
    together = examples.batch(rows, training=True).views
    alone = [examples.batch(rows[[i]], training=True).views for i in range(3)]
    for view in range(3):
        torch.testing.assert_close(together[view], torch.cat([each[view] for each in alone]), rtol=0, atol=0)


def test_resize__right_size_or_smaller__keeps_or_averages():
    image = X[0]
    assert resize(image, (24, 24)) is image
    checks = (np.indices((8, 8)).sum(0) % 2 * 255).astype(np.uint8)[:, :, None].repeat(3, 2)
    assert set(np.unique(resize(checks, (4, 4)))) <= {127, 128}
    assert resize(image, (30, 40)).shape == (30, 40, 3)
