"""The convolutions of VGG16 as a backbone: their last maps, averaged."""

from __future__ import annotations

from collections import OrderedDict

from torch import nn
from torchvision.models.vgg import cfgs, make_layers


def make_vgg16_conv() -> nn.Module:
    """VGG16 without its three fully connected layers: 512 numbers for images of any size."""
    features = make_layers(cfgs["D"])
    for part in features:
        if isinstance(part, nn.Conv2d):  # as torchvision's VGG begins; torch's default fades away over 13 layers
            nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")
            nn.init.zeros_(part.bias)  # type: ignore[arg-type]
    return nn.Sequential(OrderedDict(features=features, pool=nn.AdaptiveAvgPool2d(1), flat=nn.Flatten()))
