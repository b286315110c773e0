"""Running the service: on which address, and how it stops."""

from __future__ import annotations

import gc
import ipaddress
import logging
import signal
import socket
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from memclf.serve.app import create_app
from memclf.serve.gate import State
from memclf.serve.limits import Limits

LEAST_TOKEN = 16  # characters
KEEP_ALIVE = 75  # seconds; longer than proxies keep theirs (60 is common), so that none is closed under a request
GRACE = 5  # seconds for connections to close after the last answer

logger = logging.getLogger("memclf.serve")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def read_token(path: Path) -> str:
    """The token in a file: one line of printable characters without spaces."""
    token = path.read_text(encoding="utf-8").strip()
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError(
            f"{path} must hold one line with a token of at least {LEAST_TOKEN} printable characters, as from: openssl "
            "rand -hex 32"
        )
    return token


def run(clf: Any, host: str, port: int, *, limits: Limits, token: str | None = None) -> None:
    """Serve until SIGTERM or SIGINT; then finish what was accepted, and take nothing new."""
    warnings.simplefilter("ignore")  # those of scikit-learn quote values of a request
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    app = create_app(clf, limits=limits, token=token)
    gc.collect()
    gc.freeze()  # the model and its libraries stay: looking through them would hold up requests now and then
    config = uvicorn.Config(
        app,
        http="h11",  # it limits the size of headers
        ws="none",
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
    )
    with _listen(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        logger.info("serving on http://%s:%d (documentation: /docs)", shown, listening.getsockname()[1])
        server = _Server(config, app.state.memclf)
        server.run([listening])
    gc.unfreeze()  # extensions complain about objects that outlive the interpreter
    logger.info("stopped%s", " at once" if server.force_exit else "; every accepted request was answered")


def _listen(host: str, port: int) -> socket.socket:
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    return socket.create_server((host, port), family=family, backlog=2048)


class _Server(uvicorn.Server):
    """Stops when the last accepted request is answered; a second signal stops it at once."""

    def __init__(self, config: uvicorn.Config, state: State):
        super().__init__(config)
        self._state = state

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._state.stopping:
            self.should_exit = self.force_exit = True
            return
        self._state.stopping = True
        logger.info("%s: finishing %d requests", signal.Signals(sig).name, self._state.open)

    async def on_tick(self, counter: int) -> bool:
        if self._state.stopping and not self._state.open:
            self.should_exit = True
        return await super().on_tick(counter)
