"""Running the studio: on which address, with which token, and how it stops."""

from __future__ import annotations

import logging
import secrets
import socket
import threading
import webbrowser
from contextlib import suppress

import uvicorn

from memclf.serve.server import is_loopback
from memclf.studio.app import create_studio
from memclf.studio.project import Project

logger = logging.getLogger("memclf.studio")


def run(
    project: Project,
    host: str = "127.0.0.1",
    port: int = 8765,
    *,
    browser: bool = True,
    trusted: tuple[str, ...] = (),
) -> None:
    """Show the studio until Ctrl-C. On an address that others can reach, it takes a token."""
    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    app = create_studio(project, token=token, trusted=trusted)
    config = uvicorn.Config(
        app, http="h11", ws="none", access_log=False, log_level="warning", server_header=False, log_config=None
    )
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    with socket.create_server((host, port), family=family) as listening:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listening.getsockname()[1]}/" + (f"?token={token}" if token else "")
        logger.info("the studio is at %s\nproject %s; stop it with Ctrl-C", address, project.folder)
        if browser:
            threading.Timer(0.5, webbrowser.open, [address]).start()
        with suppress(KeyboardInterrupt):  # which is how it is stopped
            uvicorn.Server(config).run([listening])
    logger.info("stopped; the project is in %s", project.folder)
