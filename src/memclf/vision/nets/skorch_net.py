"""skorch's training loop with our recipes, schedules, early stopping and checkpoints."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from skorch import NeuralNet
from skorch.callbacks import Callback, EpochTimer, PassthroughScoring
from torch import Tensor, nn

from memclf.exceptions import TrainingError
from memclf.vision.nets.data import Batch, Batches, Examples
from memclf.vision.nets.network import Network, WithFeatures
from memclf.vision.nets.recipes import Recipe

OPTIMIZERS: dict[str, type[torch.optim.Optimizer]] = {
    "sgd": torch.optim.SGD,
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
}


class SkorchNet(NeuralNet):
    """skorch's network, fed with batches of examples and trained by a recipe.

    Parameters
    ----------
    recipe : Recipe
    seed : int
        Every epoch starts its own stream of chance from it, so that a fit that was interrupted goes on as if
        it had not been.
    frozen : bool
        The backbone stays as it is (and in evaluation mode); only the head learns.
    half : torch.dtype or None
        Mixed precision: layers that gain from it compute in this type.

    Attributes
    ----------
    scaler_ : torch.amp.GradScaler or None
        Keeps small gradients of float16 above zero.
    """

    def __init__(
        self,
        *args: Any,
        recipe: Recipe,
        seed: int,
        frozen: bool = False,
        half: torch.dtype | None = None,
        **kwargs: Any,
    ):
        super().__init__(*args, **kwargs)
        self.recipe, self.seed, self.frozen, self.half = recipe, seed, frozen, half
        kind = torch.device(self.device).type
        self.scaler_ = torch.amp.GradScaler(kind) if half is torch.float16 else None

    @property
    def _default_callbacks(self) -> list[Any]:
        return [
            ("epoch_timer", EpochTimer()),
            ("train_loss", PassthroughScoring(name="train_loss", on_train=True)),
            ("valid_loss", PassthroughScoring(name="valid_loss")),
            ("valid_accuracy", PassthroughScoring(name="valid_accuracy", lower_is_better=False)),
        ]

    def get_iterator(self, dataset: Examples, training: bool = False) -> Batches:
        return dataset.batches(self.batch_size, training=training)

    def on_epoch_begin(self, net: Any, dataset_train: Any = None, **kwargs: Any) -> None:
        start = int(np.random.default_rng([self.seed, len(self.history)]).integers(2**62))
        self.rng_ = torch.Generator().manual_seed(start)
        torch.manual_seed(start)  # for layers that draw by themselves, as dropout
        super().on_epoch_begin(net, dataset_train=dataset_train, **kwargs)

    def _set_training(self, training: bool = True) -> None:
        super()._set_training(training)
        if training and self.frozen and isinstance(self.module_, Network):
            self.module_.backbone.eval()

    def train_step_single(self, batch: Batch, **fit_params: Any) -> dict[str, Any]:
        self._set_training(True)
        batch = batch.to(torch.device(self.device))
        network = WithFeatures(self.module_, batch.features)
        with self._precision():
            losses = self.recipe.loss(network, batch.views, batch.targets, self.criterion_, self.rng_)
        loss = (losses * batch.weights).mean()
        if not torch.isfinite(loss):
            raise TrainingError(
                f"training diverged in epoch {len(self.history)}: the loss is {loss.item()}. A lower learning rate "
                "(lr) is what helps most often."
            )
        (loss if self.scaler_ is None else self.scaler_.scale(loss)).backward()
        return {"loss": loss, "y_pred": None}

    def _step_optimizer(self, step_fn: Callable[[], Any]) -> None:
        if self.scaler_ is None:
            super()._step_optimizer(step_fn)
            return
        step_fn()  # it leaves scaled gradients behind, so the scaler takes the step
        self.scaler_.step(self.optimizer_)
        self.scaler_.update()

    def _precision(self) -> AbstractContextManager[Any]:
        if self.half is None:
            return nullcontext()
        return torch.autocast(torch.device(self.device).type, dtype=self.half)

    def validation_step(self, batch: Batch, **fit_params: Any) -> dict[str, Any]:
        self._set_training(False)
        batch = batch.to(torch.device(self.device))
        with torch.inference_mode(), self._precision():
            scores = self.module_(batch.views[0], batch.features)
            loss = (self.criterion_(scores, batch.targets) * batch.weights).mean()
        self.history.record_batch("valid_accuracy", (scores.argmax(1) == batch.targets).float().mean().item())
        return {"loss": loss, "y_pred": None}


class Schedule(Callback):
    """Sets the learning rate of each epoch, and the epoch in the examples."""

    def __init__(self, lr: float, factor: Callable[[float], float], epochs: int, examples: Examples):
        self.lr, self.factor, self.epochs, self.examples = lr, factor, epochs, examples

    def on_epoch_begin(self, net: Any, **kwargs: Any) -> None:
        self.examples.epoch = len(net.history) - 1  # this one has been opened already
        for group in net.optimizer_.param_groups:
            group["lr"] = self.lr * self.factor(self.examples.epoch / self.epochs)


class EarlyStop(Callback):
    """Stops after `patience` epochs without a lower validation loss; keeps the best weights."""

    def __init__(self, patience: int):
        self.patience = patience
        self.loss, self.epoch = math.inf, 0
        self.weights: dict[str, Tensor] = {}

    def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
        loss = float(net.history[-1, "valid_loss"])
        loss = loss if math.isfinite(loss) else math.inf
        if loss < self.loss or not self.weights:
            self.loss, self.epoch = loss, len(net.history)
            self.weights = {name: value.detach().clone() for name, value in net.module_.state_dict().items()}
        elif len(net.history) - self.epoch >= self.patience:
            raise StopTraining

    def state(self) -> dict[str, Any]:
        return {"loss": self.loss, "epoch": self.epoch, "weights": self.weights}

    def restore(self, state: dict[str, Any]) -> None:
        self.loss, self.epoch, self.weights = state["loss"], state["epoch"], state["weights"]


class StopTraining(Exception):
    """Training has stopped getting better."""


class Progress(Callback):
    """A bar with the time left, and the losses of the last epoch."""

    def __init__(self, what: str, epochs: int):
        self.what, self.epochs = what, epochs
        self.bar: Any = None

    def on_train_begin(self, net: Any, X: Any = None, **kwargs: Any) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(10), TimeElapsedColumn(), TextColumn("left"))
        self.bar = Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True))
        per_epoch = len(X.batches(net.batch_size, training=True))
        self.task = self.bar.add_task(self.what, total=per_epoch * self.epochs, completed=per_epoch * len(net.history))
        self.bar.start()

    def on_batch_end(self, net: Any, training: bool = False, **kwargs: Any) -> None:
        if training:
            self.bar.advance(self.task)

    def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
        last = net.history[-1]
        shown = f"{self.what} {len(net.history)}/{self.epochs}, loss {last['train_loss']:.3f}"
        if "valid_accuracy" in last:
            shown += f", held out {last['valid_loss']:.3f}"
        self.bar.update(self.task, description=shown)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


def criterion(class_weights: Tensor | None, smoothing: float) -> nn.Module:
    """Cross-entropy, one loss per case, for class numbers and for probabilities alike."""
    return nn.CrossEntropyLoss(weight=class_weights, reduction="none", label_smoothing=smoothing)
