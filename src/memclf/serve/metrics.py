"""What the service counts, for Prometheus: what one needs to see drift and load."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from memclf._version import __version__
from memclf.explain import AnswerRow

LAST = 1000  # answers that the unknown rate is about
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
COMPETENCE = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 0.8, 1.0)
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
CASES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The numbers behind ``/metrics``."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own: dict[str, Any] = {"registry": self.registry}
        self._answers = Counter(
            "memclf_answers", "Answers by label, and whether a memory knew.", ["answer", "known"], **own
        )
        self._memories = Counter("memclf_memory_answers", "Known cases by the memory that answered.", ["memory"], **own)
        self._similarity = Histogram("memclf_similarity", "Similarity to the memory.", buckets=SHARES, **own)
        self._competence = Histogram(
            "memclf_competence",
            "Share of held-out training cases at least as strange to the classifier, if the model measures it.",
            buckets=COMPETENCE,
            **own,
        )
        self._last: deque[bool] = deque(maxlen=LAST)
        rate = Gauge("memclf_unknown_rate", f"Share of the last {LAST} cases that no memory knew.", **own)
        rate.set_function(lambda: 1 - sum(self._last) / len(self._last) if self._last else float("nan"))
        self.requests = Counter("memclf_requests", "Requests by address and status.", ["path", "status"], **own)
        self.seconds = Histogram(
            "memclf_request_seconds", "Seconds from the request's head to its answer.", ["path"], buckets=SECONDS, **own
        )
        self._batch_cases = Histogram("memclf_batch_cases", "Cases of a batch.", buckets=CASES, **own)
        self._batch_seconds = Histogram("memclf_batch_seconds", "Seconds to answer a batch.", buckets=SECONDS, **own)
        self.failures = Counter("memclf_failures", "Cases and requests on which the service failed.", **own)
        self.queue = Gauge("memclf_queue_cases", "Cases that wait for their answers.", **own)
        self.open = Gauge("memclf_open_requests", "Requests that have arrived and are not answered yet.", **own)
        Gauge("memclf_info", "The version of memclf.", ["version"], **own).labels(__version__).set(1)

    def count_answers(self, rows: list[AnswerRow], competence: Iterable[float] | None) -> None:
        """Count the answers of a batch."""
        for row in rows:
            self._answers.labels(str(row.answer), str(row.known).lower()).inc()
            self._similarity.observe(row.similarity)
            self._last.append(row.known)
            if row.known:
                self._memories.labels(row.memory).inc()
        for value in () if competence is None else competence:
            if value == value:  # there is none for cases that no classifier answered
                self._competence.observe(value)

    def count_batch(self, cases: int, seconds: float) -> None:
        """Count a batch."""
        self._batch_cases.observe(cases)
        self._batch_seconds.observe(seconds)

    def page(self) -> bytes:
        """The text that Prometheus reads."""
        return generate_latest(self.registry)
