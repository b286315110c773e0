"""Requests that arrive slowly, or hold too much together: by the ASGI messages themselves."""

import asyncio
import json

from memclf.serve.gate import BODIES, Gate, State
from memclf.serve.limits import Limits
from memclf.serve.metrics import Metrics


def make_gate(**limits):
    async def answer(scope, receive, send):
        body = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    return Gate(answer, State(), Limits(**limits), Metrics(), None)


async def ask(gate, *parts, after=None, headers=()):
    """Send a body in parts, and before the last one wait for an event; returns status, headers and content."""
    sent, left = [], list(parts)

    async def receive():
        if after is not None and len(left) == 1:
            await after.wait()
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "path": "/v1/predict", "headers": [(b"host", b"localhost"), *headers]}
    await gate(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


def test_body__in_parts__arrives_whole():
    status, _, body = asyncio.run(ask(make_gate(), b"one ", b"", b"two"))
    assert (status, body) == (200, b"one two")


def test_body__slower_than_the_limit__status_408():
    async def scenario():
        return await ask(make_gate(read=0.05), b"one ", b"two", after=asyncio.Event())

    status, _, body = asyncio.run(scenario())
    assert (status, json.loads(body)["type"]) == (408, "urn:memclf:slow")


def test_body__declared_too_large__is_refused_before_it_is_read():
    status, _, body = asyncio.run(ask(make_gate(body=100), b"x", headers=[(b"content-length", b"101")]))
    assert (status, json.loads(body)["type"]) == (413, "urn:memclf:large-body")


def test_bodies__too_much_together__the_last_is_refused_and_later_there_is_room():
    async def scenario():
        gate, all_there = make_gate(body=100), asyncio.Event()
        held = [asyncio.create_task(ask(gate, b"x" * 100, b"", after=all_there)) for _ in range(BODIES)]
        await asyncio.sleep(0)
        refused = await ask(gate, b"x")
        all_there.set()
        return refused, await asyncio.gather(*held), await ask(gate, b"x" * 100)

    (status, headers, body), held, later = asyncio.run(scenario())
    assert (status, json.loads(body)["type"]) == (503, "urn:memclf:full-queue")
    assert b"retry-after" in headers
    assert {each[0] for each in held} == {200}
    assert later[0] == 200
