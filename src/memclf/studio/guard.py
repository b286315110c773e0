"""What every request passes first (host, token, origin, size), and headers of every answer."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
SAFE = ("GET", "HEAD")
COOKIE = "memclf-studio"
BODY = 64 * 2**20  # bytes of a request
#: Scripts and styles come from files of the package; a page asks this studio alone.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",  # with "no-referrer" browsers call the origin of a form null
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
}

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Refused(Exception):
    """A request that is not answered: its status, and why."""

    def __init__(self, status: int, why: str):
        super().__init__(why)
        self.status, self.why = status, why


TOO_LARGE = Refused(413, f"a request has at most {BODY:,} bytes; send fewer files at once")


class Guard:
    """The outermost layer of the studio (ASGI).

    A page of another site can make the expert's browser send requests here. It cannot read answers, and whatever
    changes something must come from a page of the studio itself: browsers name the origin of such requests.
    """

    def __init__(self, app: Any, token: str | None = None):
        self._app = app
        self._token = None if token is None else _digest(token)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        left, started, over = BODY, False, False

        async def count() -> Message:
            nonlocal left, over
            message = await receive()
            left -= len(message.get("body", b""))
            over = left < 0
            return {"type": "http.disconnect"} if over else message

        async def secure(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                names = {name.lower() for name, _ in message.get("headers", ())}
                more = [(name, value) for name, value in HEADERS.items() if name not in names]
                message["headers"] = [*message.get("headers", ()), *more]
            await send(message)

        async def unless_over(message: Message) -> None:
            if not over:
                await secure(message)
            elif not started:  # whatever the application makes of a body that ends too early
                await _refuse(secure, TOO_LARGE)

        try:
            if entered := self._check(scope):
                await _redirect(secure, *entered)
            else:
                await self._app(scope, count, unless_over)
        except Refused as refused:
            await _refuse(secure, refused)

    def _check(self, scope: Any) -> tuple[str, str] | None:
        """Raise if it is refused; where to go, and the cookie, for one that brings the token."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        if self._token is None and _without_port(host) not in LOOPBACK:
            raise Refused(421, "without a token, only requests to localhost are answered")
        if scope["method"] not in SAFE and urlsplit(headers.get("origin", "")).netloc != host:
            raise Refused(403, "changes are made from pages of the studio alone")
        if headers.get("sec-fetch-site", "none") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            raise Refused(403, "another site may not use this one")
        if headers.get("content-length", "0").isdigit() and int(headers.get("content-length", "0")) > BODY:
            raise TOO_LARGE
        if self._token is None or scope["path"] == "/healthz" or scope["path"].startswith("/static/"):
            return None
        kept = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        if kept is not None and self._is_token(kept.value):
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] == "GET" and self._is_token(given):
            return scope["path"], f"{COOKIE}={given}; HttpOnly; SameSite=Strict; Path=/"
        raise Refused(401, "open the address that the studio printed when it started; it ends in ?token=...")

    def _is_token(self, given: str) -> bool:
        return self._token is not None and hmac.compare_digest(_digest(given), self._token)


async def _refuse(send: Send, refused: Refused) -> None:
    content = f"{refused.why}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(content))]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def _redirect(send: Send, path: str, cookie: str) -> None:
    headers = [
        (b"location", path.encode("latin-1", "replace")),
        (b"set-cookie", cookie.encode()),
        (b"content-length", b"0"),
    ]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def _digest(token: str) -> bytes:
    """Of one length for all tokens, so that comparing takes the same time."""
    return hashlib.sha256(token.encode()).digest()


def _without_port(host: str) -> str:
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0].lower()
