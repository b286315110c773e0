"""Where training stands after each epoch, in a file from which an interrupted fit goes on.

The file of a finished fit holds its result. A memory classifier is many fits; when one of them is interrupted, those
before it are not repeated.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from pathlib import Path
from typing import Any

import torch
from skorch.callbacks import Callback

from memclf.vision.nets.skorch_net import EarlyStop

FORMAT = 1


class Checkpoint(Callback):
    """Writes weights, optimiser, history and the state of early stopping after every epoch.

    The file's name holds a fingerprint of data, settings and starting weights, so that several fits may share a
    folder and nothing is ever continued that began differently.
    """

    def __init__(self, folder: str | os.PathLike[str], fingerprint: str, best: EarlyStop | None):
        self.file = Path(folder) / f"{fingerprint}.pt"
        self.best = best

    def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
        best = None if self.best is None else self.best.state()
        scaler = None if net.scaler_ is None else net.scaler_.state_dict()
        self._write(net, optimizer=net.optimizer_.state_dict(), best=best, scaler=scaler, finished=False)

    def finish(self, net: Any) -> None:
        """Keep the result alone."""
        self._write(net, optimizer=None, best=None, finished=True)

    def _write(self, net: Any, **more: Any) -> None:
        state = {"format": FORMAT, "weights": net.module_.state_dict(), "history": epochs_of(net), **more}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.file.with_suffix(f".{os.getpid()}.part")
        try:
            torch.save(state, unfinished)
            os.replace(unfinished, self.file)
        finally:
            unfinished.unlink(missing_ok=True)

    def restore(self, net: Any) -> bool:
        """Put an initialised net where the file left off; whether the fit was finished."""
        if not self.file.is_file():
            return False
        try:
            state = torch.load(self.file, map_location=net.device, weights_only=True)
            if state["format"] != FORMAT:
                raise ValueError(f"format {state['format']}")
        except Exception as error:  # a damaged file fails in many ways; starting anew is always right
            warnings.warn(f"{self.file} cannot be continued from ({error}); starting anew", stacklevel=2)
            return False
        net.module_.load_state_dict(state["weights"])
        for row in state["history"]:
            net.history.new_epoch()
            for name, value in row.items():
                net.history.record(name, value)
        if not state["finished"]:
            net.optimizer_.load_state_dict(state["optimizer"])
            if net.scaler_ is not None:
                net.scaler_.load_state_dict(state["scaler"])
            if self.best is not None:
                self.best.restore(state["best"])
        return bool(state["finished"])


def epochs_of(net: Any) -> list[dict[str, float]]:
    """The history of a net as plain numbers, one entry per epoch."""
    return [{k: v if type(v) is int else float(v) for k, v in row.items() if _is_number(v)} for row in net.history]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def fingerprint(settings: dict[str, Any], data: bytes, weights: dict[str, torch.Tensor]) -> str:
    """A name for a fit: the same for the same settings, data and starting weights."""
    seen = hashlib.blake2b(repr(sorted(settings.items())).encode() + data, digest_size=12)
    for name, value in weights.items():
        seen.update(name.encode() + value.detach().cpu().contiguous().numpy().tobytes())
    return seen.hexdigest()
