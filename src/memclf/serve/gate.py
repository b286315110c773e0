"""What every request passes before a handler sees it: host, token, size, time, and counting."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from memclf.serve.limits import Limits
from memclf.serve.metrics import Metrics
from memclf.serve.problems import MEDIA_TYPE, Problem

OPEN = ("/healthz", "/readyz", "/docs")  # without a token; so is what lies below /docs
LOOPBACK = ("127.0.0.1", "localhost", "::1")
BODIES = 8  # how many times the largest body all requests together may hold
LINGER = 2.0  # seconds in which the rest of a refused body is read, so that the client sees the answer

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
logger = logging.getLogger("memclf.serve")


@dataclass
class State:
    """How many accepted requests are not answered yet, and whether new ones are refused."""

    open: int = 0
    stopping: bool = False

    @contextmanager
    def accept(self) -> Iterator[None]:
        """Count a request until it is answered; it has arrived as a whole."""
        self.open += 1
        try:
            yield
        finally:
            self.open -= 1


class Gate:
    """The outermost layer of the service (ASGI).

    It logs the kinds of failures, never what a request held.
    """

    def __init__(self, app: Any, state: State, limits: Limits, metrics: Metrics, token: str | None):
        self._app, self._state, self._limits, self._metrics = app, state, limits, metrics
        self._token = None if token is None else _digest(token.encode())
        self._held = 0  # bytes of all bodies

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        loop = asyncio.get_running_loop()
        started, status, body = loop.time(), 0, b""

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-content-type-options", b"nosniff")]
                if self._state.stopping:
                    message["headers"].append((b"connection", b"close"))
            await send(message)

        try:
            self._check(scope)
            body = await self._read(scope, receive)
            self._check_stopping(scope["path"])
            with self._state.accept():
                await self._app(scope, _replay(body, receive), note_status)
        except Problem as problem:
            await send_problem(note_status, problem)
            if problem.name == "large-body":
                await self._discard(receive)
        except Exception as error:
            logger.error("a request failed: %s", type(error).__name__)
            self._metrics.failures.inc()
            if not status:
                await send_problem(note_status, Problem("failed", f"the service failed ({type(error).__name__})"))
        finally:
            self._held -= len(body)
            path = scope["route"].path if "route" in scope else "other"
            self._metrics.requests.labels(path, status).inc()
            self._metrics.seconds.labels(path).observe(loop.time() - started)

    def _check(self, scope: Any) -> None:
        path, headers = scope["path"], dict(scope["headers"])
        if self._token is None:
            host = headers.get(b"host", b"").decode("latin-1")
            if _without_port(host) not in LOOPBACK:
                # A web page can make a browser send requests for its own name to this machine.
                raise Problem("wrong-host", "without a token, only requests to localhost are answered")
        elif path not in OPEN and not path.startswith("/docs/"):
            kind, _, given = headers.get(b"authorization", b"").partition(b" ")
            if kind.lower() != b"bearer" or not hmac.compare_digest(_digest(given.strip()), self._token):
                detail = "send the header Authorization: Bearer TOKEN, with the token that the service was started with"
                raise Problem("no-token", detail, headers={"WWW-Authenticate": "Bearer"})
        self._check_stopping(path)

    def _check_stopping(self, path: str) -> None:
        if self._state.stopping and path.startswith("/v1/"):
            raise Problem("stopping", "the service is stopping; ask another one", headers={"Retry-After": "5"})

    async def _read(self, scope: Any, receive: Receive) -> bytes:
        """The body, if it is neither too large nor too slow."""
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        self._check_length(int(declared) if declared.isdigit() else 0)
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.read):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Problem("malformed", "the client went away")
                    part = message.get("body", b"")
                    self._check_length(len(body) + len(part), len(part))
                    body += part
                    self._held += len(part)
                    if not message.get("more_body"):
                        return bytes(body)
        except BaseException as error:
            self._held -= len(body)
            if isinstance(error, TimeoutError):
                raise Problem("slow", f"the request did not arrive within {self._limits.read:g} s") from None
            raise

    def _check_length(self, length: int, more: int = 0) -> None:
        if length > self._limits.body:
            raise Problem("large-body", f"a request has at most {self._limits.body:,} bytes; send fewer cases at once")
        if self._held + more > BODIES * self._limits.body:
            detail = "the requests that are being answered fill the memory that is set aside; try again later"
            raise Problem("full-queue", detail, headers={"Retry-After": "1"})

    async def _discard(self, receive: Receive) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                while (await receive()).get("more_body"):
                    pass


async def send_problem(send: Send, problem: Problem) -> None:
    """Answer with a problem."""
    content = json.dumps(problem.as_dict()).encode()
    headers = {"content-type": MEDIA_TYPE, "content-length": str(len(content)), **problem.headers}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": encoded})
    await send({"type": "http.response.body", "body": content})


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand on a body that was read already."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _digest(token: bytes) -> bytes:
    """Of one length for all tokens, so that comparing takes the same time."""
    return hashlib.sha256(token).digest()


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()
