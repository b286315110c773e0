"""Small images with known answers, and a network small enough to be trained in a second."""

import numpy as np
from torch import nn


def squares(n=48, size=24, seed=0, wrong=0.0):
    """Images of one square in red, green or blue on black; labels are the colours, a share of them wrong."""
    rng = np.random.default_rng(seed)
    images = np.zeros((n, size, size, 3), dtype=np.uint8)
    colour = np.arange(n) % 3
    side = size // 3
    for image, channel in zip(images, colour, strict=True):
        top, left = rng.integers(0, size - side, 2)
        image[top : top + side, left : left + side, channel] = rng.integers(180, 256)
    labels = np.array(["red", "green", "blue"])[colour]
    flipped = rng.random(n) < wrong
    labels[flipped] = rng.choice(["red", "green", "blue"], flipped.sum())
    return images, labels


def tiny():
    """A backbone with everything that matters: convolution, batch normalisation, pooling."""
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 12, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )


def passes(module):
    """Counts the images that go through a module, in a list, and how to stop counting."""
    seen = []
    handle = module.register_forward_pre_hook(lambda _, inputs: seen.append(len(inputs[0])))
    return seen, handle
