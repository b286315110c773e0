"""Learn background, leaf and symptom from an expert's outlines, with torch."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from memclf._progress import say, track
from memclf._threads import torch_threads
from memclf.vision.features.leaf_augment import Outlined, draw_view, order_of_showing
from memclf.vision.features.leaf_light import BRIGHTNESS, CHANNELS, GLANCE, LOOK, first_look
from memclf.vision.features.leaf_net import look
from memclf.vision.features.taught import Coefficients

BATCH = 8
WITHHELD = 0.3  # share of showings without brightness
WIDTHS = (16, 16, 24, 32)  # channels at a half, a quarter, an eighth and a sixteenth of the size
HIDDEN = 24


def teach(
    cases: list[Outlined], *, steps: int, seed: int, threads: int = 1, verbose: int | None = None
) -> Coefficients:
    """Coefficients for `leaf_net`, learned from outlined images.

    Parameters
    ----------
    cases : list of Outlined
    steps : int
        Batches of eight images that are shown; every showing of an image is turned, mirrored, cropped and lit
        anew (gamma, white balance, hue).
    seed : int
    threads : int
        Of torch. On a busy machine more than one can be slower by far, since they wait for each other.
    """
    rng = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=[]), torch_threads(threads):
        torch.manual_seed(seed)
        coefficients = teach_first_look(cases, rng, min(steps, 600))
        say("first look taught", verbose)
        net = Net()
        _train(net, cases, coefficients, rng, steps, verbose)
    return {**coefficients, **net.export()}


def teach_first_look(cases: list[Outlined], rng: np.random.Generator, steps: int) -> Coefficients:
    """A perceptron that separates leaf from background in the picture of 64 x 32."""
    showings = [draw_view(case, rng) for case in cases for _ in range(max(1, min(3, 900 // len(cases))))]
    seen = np.array([first_look(x)[0].reshape(-1, GLANCE) for x, _ in showings])
    truth = np.array([1 - cv2.resize(shares[0], LOOK, interpolation=cv2.INTER_AREA).ravel() for _, shares in showings])
    given, wanted = torch.from_numpy(seen.reshape(-1, GLANCE)), torch.from_numpy(truth.ravel())
    mean, scale = given.mean(0), given.std(0) + 1e-3
    net = nn.Sequential(nn.Linear(GLANCE, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))
    optimiser = torch.optim.Adam(net.parameters())
    pace = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-2, total_steps=steps)
    for _ in range(steps):
        some = torch.from_numpy(rng.integers(0, len(given), 4096))
        loss = F.binary_cross_entropy_with_logits(net((given[some] - mean) / scale)[:, 0], wanted[some])
        _step(loss, optimiser, pace)
    learned: Coefficients = {}
    layers: Any = net[::2]
    for k, layer in enumerate(layers):
        weight, bias = (value.detach().clone() for value in (layer.weight, layer.bias))
        if k == 0:  # the scaling of its input becomes part of the first layer
            weight = weight / scale
            bias = bias - weight @ mean
        learned |= {f"look{k}.weight": weight.numpy(), f"look{k}.bias": bias.numpy()}
    return learned


def _train(
    net: Net, cases: list[Outlined], first: Coefficients, rng: np.random.Generator, steps: int, verbose: int | None
) -> None:
    optimiser = torch.optim.AdamW(net.parameters(), weight_decay=1e-3)
    pace = torch.optim.lr_scheduler.OneCycleLR(optimiser, 1e-2, total_steps=steps)
    order: list[int] = []
    for _ in track(range(steps), total=steps, what="teaching", verbose=verbose):
        while len(order) < BATCH:
            order += order_of_showing(cases, rng)
        showings = [draw_view(cases[order.pop()], rng) for _ in range(BATCH)]
        seen = torch.from_numpy(np.stack([look(x, first) for x, _ in showings]))
        # Shadow, fog and glare change brightness more than colour: the network must not come to need it.
        seen[torch.from_numpy(rng.random(BATCH) < WITHHELD), BRIGHTNESS] = 0
        truth = torch.from_numpy(np.stack([shares for _, shares in showings]))
        _step(_loss(net(seen.to(memory_format=torch.channels_last)), truth), optimiser, pace)


def _loss(given: Any, truth: Any) -> Any:
    """Cross-entropy, and Dice for the symptoms.

    There are few of them, and they would count for little otherwise.
    """
    logs = F.log_softmax(given, dim=1)
    symptom, wanted = logs[:, 2].exp(), truth[:, 2]
    dice = (2 * (symptom * wanted).sum() + 1) / ((symptom**2).sum() + (wanted**2).sum() + 1)
    return -(logs * truth).sum(dim=1).mean() + 0.3 * (1 - dice)


def _step(loss: Any, optimiser: Any, pace: Any) -> None:
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    pace.step()


class Net(nn.Module):
    """The network of `leaf_net.scores`, in torch."""

    def __init__(self) -> None:
        super().__init__()
        a, b, c, d = WIDTHS
        self.stem = Mix(4 * CHANNELS, a)
        blocks = {"down1": (a, b), "down2": (b, c), "down3": (c, d), "down4": (d, d)}
        blocks |= {"up3": (d + d, c), "up2": (c + c, b), "up1": (b + b, a)}
        self.blocks = nn.ModuleDict({name: Block(*widths) for name, widths in blocks.items()})
        self.hidden = nn.Conv2d(a + 4 * CHANNELS, HIDDEN, 1)
        self.out = nn.Conv2d(HIDDEN, 12, 1)
        self.to(memory_format=torch.channels_last)

    def forward(self, seen: Any) -> Any:
        block = self.blocks
        pixels = F.pixel_unshuffle(seen, 2)
        whole = block["down1"](self.stem(pixels))
        half = block["down2"](F.avg_pool2d(whole, 2))
        quarter = block["down3"](F.avg_pool2d(half, 2))
        up = block["up3"](torch.cat([_double(block["down4"](F.avg_pool2d(quarter, 2))), quarter], 1))
        up = block["up2"](torch.cat([_double(up), half], 1))
        up = block["up1"](torch.cat([_double(up), whole], 1))
        return F.pixel_shuffle(self.out(F.relu(self.hidden(torch.cat([up, pixels], 1)))), 2)

    def export(self) -> Coefficients:
        """Plain arrays under the names that `leaf_net` uses."""
        parts = self.stem.export("stem")
        blocks: Any = self.blocks
        for name, block in blocks.items():
            parts |= block.mixed.export(name) | {f"{name}.kernels": block.kernels.weight[:, 0]}
        for name, layer in (("hidden", self.hidden), ("out", self.out)):
            parts |= {f"{name}.weight": layer.weight[:, :, 0, 0], f"{name}.bias": layer.bias}
        return {name: np.ascontiguousarray(part.detach().numpy(), dtype=np.float32) for name, part in parts.items()}


class Mix(nn.Module):
    """Channels mixed pixel by pixel, normalised over the batch, negative ones made 0."""

    def __init__(self, given: int, made: int):
        super().__init__()
        self.mix = nn.Conv2d(given, made, 1, bias=False)
        self.norm = nn.BatchNorm2d(made)

    def forward(self, x: Any) -> Any:
        return F.relu(self.norm(self.mix(x)))

    def export(self, name: str) -> dict[str, Any]:
        """Once taught, the normalisation is a scale and a shift, which the weights take in."""
        norm: Any = self.norm
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        bias = norm.bias - norm.running_mean * scale
        return {f"{name}.weight": self.mix.weight[:, :, 0, 0] * scale[:, None], f"{name}.bias": bias}


class Block(nn.Module):
    """A kernel of 3 x 3 for each channel, then `Mix`."""

    def __init__(self, given: int, made: int):
        super().__init__()
        self.kernels = nn.Conv2d(given, given, 3, padding=1, groups=given, bias=False)
        self.mixed = Mix(given, made)

    def forward(self, x: Any) -> Any:
        return self.mixed(self.kernels(x))


def _double(x: Any) -> Any:
    return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
