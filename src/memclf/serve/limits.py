"""How much the service takes: of one request, and of all together."""

from __future__ import annotations

from dataclasses import dataclass, fields

SECONDS = ("batch_wait", "wait", "read")


@dataclass(frozen=True)
class Limits:
    """What the service accepts; beyond each limit it answers with a problem of its own.

    Attributes
    ----------
    batch_size : int
        Cases that the classifier answers at once; 1: no batches.
    batch_wait : float
        Seconds that the first case of a batch waits for others, at most. It does not wait where requests come one at
        a time.
    body : int
        Bytes of a request. All requests that are being read or answered hold at most eight times as many.
    pixels : int
        Of an image, and of all images of a batch.
    cases : int
        Of a request.
    queue : int
        Cases that wait for their answers.
    wait : float
        Seconds until a request must be answered.
    read : float
        Seconds until a request must have arrived.
    """

    batch_size: int = 32
    batch_wait: float = 0.005
    body: int = 16 * 2**20
    pixels: int = 50_000_000
    cases: int = 256
    queue: int = 1024
    wait: float = 30.0
    read: float = 60.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value, least = getattr(self, each.name), 0 if each.name in SECONDS else 1
            if not value >= least:
                raise ValueError(f"{each.name} must be at least {least}, got {value}")
        if self.queue < self.cases:
            raise ValueError(
                f"the queue must have room for one request: queue={self.queue} is less than cases={self.cases}"
            )
