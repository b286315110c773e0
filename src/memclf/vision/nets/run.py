"""One training run from a plan: what skorch's loop is given, and what it returns."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from sklearn.utils.class_weight import compute_class_weight
from skorch.helper import predefined_split
from torch import Tensor, nn

from memclf._numbers import Array
from memclf._progress import is_shown, say
from memclf.vision.nets.checkpoint import Checkpoint, epochs_of, fingerprint
from memclf.vision.nets.data import Examples
from memclf.vision.nets.devices import reuse_memory
from memclf.vision.nets.network import Network
from memclf.vision.nets.recipes import Recipe
from memclf.vision.nets.schedules import SCHEDULES
from memclf.vision.nets.skorch_net import (
    OPTIMIZERS,
    EarlyStop,
    Progress,
    Schedule,
    SkorchNet,
    StopTraining,
    criterion,
)

_generators = threading.RLock()


@dataclass
class Plan:
    """A module and how to train it; the words are those of `ImageClassifier`."""

    module: nn.Module
    recipe: Recipe
    epochs: int
    batch_size: int
    lr: float
    momentum: float
    weight_decay: float
    optimizer: str
    schedule: str | None
    label_smoothing: float
    class_weights: Tensor | None
    patience: int | None
    frozen: bool
    checkpoint: Any
    device: str
    callbacks: list[Any]
    seed: int
    verbose: int | None
    half: torch.dtype | None = None

    def settings(self) -> dict[str, Any]:
        """What a checkpoint must agree with."""
        left_out = {"module", "checkpoint", "device", "callbacks", "verbose", "class_weights"}
        left_out |= {"half"} if self.half is None else set()  # names of fits in full precision stay as they were
        found = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in left_out}
        found["class_weights"] = None if self.class_weights is None else self.class_weights.tolist()
        return found


def run(plan: Plan, examples: Examples, held_out: Examples | None) -> list[dict[str, Any]]:
    """Train the plan's module in place; returns one entry per epoch.

    The caller's random state stays as it is.
    """
    best = None if held_out is None or plan.patience is None else EarlyStop(plan.patience)
    progress = Progress(f"{len(examples):,} images", plan.epochs) if is_shown(plan.verbose) else None
    checkpoint = None
    if plan.checkpoint is not None:
        data = examples.digest() + (b"" if held_out is None else held_out.digest())
        name = fingerprint(plan.settings(), data, plan.module.state_dict())
        checkpoint = Checkpoint(plan.checkpoint, name, best)
    schedule = Schedule(plan.lr, SCHEDULES[plan.schedule], plan.epochs, examples)
    callbacks = [schedule, *plan.callbacks, *(each for each in (progress, best, checkpoint) if each is not None)]
    momentum = {"optimizer__momentum": plan.momentum} if plan.optimizer == "sgd" else {}
    net = SkorchNet(
        plan.module,
        criterion=criterion(plan.class_weights, plan.label_smoothing),
        optimizer=OPTIMIZERS[plan.optimizer],
        optimizer__weight_decay=plan.weight_decay,
        **momentum,
        lr=plan.lr,
        batch_size=plan.batch_size,
        train_split=None if held_out is None else predefined_split(held_out),
        callbacks=callbacks,
        device=plan.device,
        recipe=plan.recipe,
        seed=plan.seed,
        frozen=plan.frozen,
        half=plan.half,
        verbose=0,
    )
    with own_randomness(plan.device), reuse_memory(plan.device), _freeze_backbone(plan):
        net.initialize()
        finished = checkpoint is not None and checkpoint.restore(net)
        if len(net.history) and not finished:
            say(f"going on after epoch {len(net.history)} of {plan.epochs}", plan.verbose)
        if not finished:
            _train(net, plan, examples, progress, best)
    if best is not None and best.weights:
        plan.module.load_state_dict(best.weights)
    if checkpoint is not None and not finished:
        checkpoint.finish(net)
    plan.module.zero_grad(set_to_none=True)
    plan.module.eval()
    return epochs_of(net)


def _train(net: SkorchNet, plan: Plan, examples: Examples, progress: Progress | None, best: EarlyStop | None) -> None:
    try:
        net.notify("on_train_begin", X=examples, y=None)
        net.fit_loop(examples, None, epochs=plan.epochs - len(net.history))
    except StopTraining:
        say(f"stopped after {len(net.history)} epochs; the best was {best.epoch if best else '?'}", plan.verbose)
    finally:
        if progress is not None:
            progress.close()
    net.notify("on_train_end", X=examples, y=None)


@contextmanager
def own_randomness(device: str) -> Iterator[None]:
    """A context for work that seeds torch's global generators.

    One at a time; afterwards the caller's state is restored.
    """
    gpus = [torch.device(device).index or 0] if device.startswith("cuda") else []
    with _generators, torch.random.fork_rng(devices=gpus):
        yield


@contextmanager
def _freeze_backbone(plan: Plan) -> Iterator[None]:
    """While only the head is trained, the backbone's weights need no gradients."""
    weights = []
    if plan.frozen and isinstance(plan.module, Network):
        weights = [each for each in plan.module.backbone.parameters() if each.requires_grad]
    for each in weights:
        each.requires_grad_(False)
    try:
        yield
    finally:
        for each in weights:
            each.requires_grad_(True)


def weigh_classes(class_weight: Any, classes: Array, codes: Array) -> Tensor | None:
    """One weight per class, from scikit-learn's `class_weight` and the cases' class numbers."""
    if class_weight is None:
        return None
    weights = np.ones(len(classes))
    if isinstance(class_weight, dict):
        if strange := sorted(map(str, set(class_weight) - set(classes.tolist()))):
            raise ValueError(f"class_weight names {', '.join(strange)}; the classes are {classes.tolist()}")
        weights[:] = [class_weight.get(label, 1.0) for label in classes.tolist()]
    else:
        present = np.unique(codes)  # a cluster may lack some
        weights[present] = compute_class_weight(class_weight, classes=present, y=codes)
    return torch.as_tensor(weights, dtype=torch.float32)
