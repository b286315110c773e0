"""PreActResNet18, the network of the Manifold Mixup experiments, without pretrained weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn

SMALL = 64  # images up to this side keep their full resolution through the stem


class PreActBlock(nn.Module):
    """Batch norm, ReLU and 3x3 convolution, twice.

    The shortcut leaves after the first ReLU if the shape changes.
    """

    def __init__(self, n_in: int, n_out: int, stride: int = 1):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(n_in)
        self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(n_out)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, padding=1, bias=False)
        same_shape = stride == 1 and n_in == n_out
        self.shortcut = None if same_shape else nn.Conv2d(n_in, n_out, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        activated = torch.relu(self.bn1(x))
        shortcut: Tensor = x if self.shortcut is None else self.shortcut(activated)
        return self.conv2(torch.relu(self.bn2(self.conv1(activated)))) + shortcut


class PreActResNet18(nn.Module):
    """He et al., Identity Mappings (ECCV 2016), in the form of the Manifold Mixup code.

    A 3x3 stem without pooling, stages of 64, 128, 256 and 512 channels with two blocks each and strides 1, 2, 2, 2,
    no batch norm or ReLU after the last, global average pooling, one linear layer: 11.2 million weights.

    Parameters
    ----------
    num_classes : int
    stem_stride : int
        1 for small images, 2 for larger ones; `for_size` chooses.

    Attributes
    ----------
    stages : list of Module
        Modules whose outputs are the features after stages 1, 2 and 3, where recipes may mix.
    num_features : int
        Length of the embedding, the input of the head `fc`.
    """

    num_features = 512

    def __init__(self, num_classes: int, stem_stride: int = 1):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, stem_stride, padding=1, bias=False)
        self.layer1 = _stage(64, 64, stride=1)
        self.layer2 = _stage(64, 128, stride=2)
        self.layer3 = _stage(128, 256, stride=2)
        self.layer4 = _stage(256, 512, stride=2)
        self.fc: nn.Module = nn.Linear(self.num_features, num_classes)

    @classmethod
    def for_size(cls, num_classes: int, height: int, width: int) -> PreActResNet18:
        """Stem stride 1 for images up to 64 pixels in their longer side, 2 beyond."""
        return cls(num_classes, stem_stride=1 if max(height, width) <= SMALL else 2)

    @property
    def stages(self) -> list[nn.Module]:
        return [self.layer1, self.layer2, self.layer3]

    def forward_features(self, x: Tensor) -> Tensor:
        """The feature map (N, 512, h, w) after the last stage."""
        return self.layer4(self.layer3(self.layer2(self.layer1(self.conv1(x)))))

    def forward_head(self, features: Tensor, pre_logits: bool = False) -> Tensor:
        """Logits from a feature map, or with `pre_logits` the embedding (N, 512) before the head."""
        embedding = features.mean(dim=(2, 3))
        return embedding if pre_logits else self.fc(embedding)

    def forward(self, x: Tensor) -> Tensor:
        return self.forward_head(self.forward_features(x))


def _stage(n_in: int, n_out: int, stride: int) -> nn.Sequential:
    return nn.Sequential(PreActBlock(n_in, n_out, stride), PreActBlock(n_out, n_out))
