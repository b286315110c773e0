import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn


class SmallNet(nn.Module):
    """A convolutional network with batch norm and three stages to mix after, one view at a time."""

    def __init__(self, n_classes=3, channels=8):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, 2, padding=1)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU())
            for _ in range(3)
        )
        self.fc = nn.Linear(channels, n_classes)

    @property
    def stages(self):
        return list(self.blocks)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.fc(x.mean(dim=(2, 3)))


class SmallNetOfViews(SmallNet):
    """The same, taking all views in one pass."""

    def forward_views(self, views):
        return list(self(torch.cat(views)).chunk(len(views)))


@pytest.fixture(autouse=True)
def one_thread():
    """Networks this small gain nothing from several threads, and lose much on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def cross_entropy(logits, targets):
    return F.cross_entropy(logits, targets, reduction="none")


@pytest.fixture
def criterion():
    return cross_entropy


@pytest.fixture(params=[SmallNet, SmallNetOfViews], ids=["view by view", "views in one pass"])
def network(request):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return request.param().train()


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(0)


@pytest.fixture
def batch():
    """24 images in [0, 1] whose brightest channel is their class."""
    g = np.random.default_rng(0)
    targets = np.arange(24) % 3
    images = g.integers(0, 120, (24, 16, 16, 3), dtype=np.uint8)
    images[np.arange(24), :, :, targets] += 100
    return torch.from_numpy(images).permute(0, 3, 1, 2) / 255, torch.from_numpy(targets)


@pytest.fixture
def photograph():
    """A smooth colourful image that is not square, without pixels near black."""
    y, x = np.mgrid[0:48, 0:32] / 48
    waves = [np.sin(7 * x + 3 * y), np.cos(5 * y - 2 * x), np.sin(4 * x * y + 1)]
    return (140 + 70 * np.stack(waves, axis=-1)).astype(np.uint8)
