"""Errors as the service sends them: problem details (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

#: Name of a problem -> its status and its title. The name ends its type, as urn:memclf:full-queue.
PROBLEMS = {
    "malformed": (400, "The request cannot be read"),
    "no-token": (401, "The token is missing or wrong"),
    "not-found": (404, "There is nothing at this address"),
    "wrong-method": (405, "This address takes another method"),
    "slow": (408, "The request took too long to arrive"),
    "large-body": (413, "The request has too many bytes"),
    "many-cases": (413, "The request has too many cases"),
    "many-pixels": (413, "The image has too many pixels"),
    "wrong-type": (415, "The request is of a type that this model does not take"),
    "no-image": (415, "The file is no image of a common format"),
    "wrong-host": (421, "The request is addressed to another host"),
    "bad-case": (422, "The case does not fit the model"),
    "no-answer": (422, "No case could be answered"),
    "failed": (500, "The service failed"),
    "full-queue": (503, "Too many cases are waiting"),
    "stopping": (503, "The service is stopping"),
    "late": (504, "The answer took too long"),
}
MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """A request, or one of its cases, cannot be answered.

    `name` is one of `PROBLEMS`. `more` are further members of the problem.
    """

    def __init__(self, name: str, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any):
        super().__init__(detail)
        self.name, self.detail, self.headers, self.more = name, detail, dict(headers or {}), more
        self.status, self.title = PROBLEMS[name]

    def as_dict(self) -> dict[str, Any]:
        """The members of the problem, as they are sent."""
        about = {"type": f"urn:memclf:{self.name}", "title": self.title, "status": self.status}
        return {**about, "detail": self.detail, **self.more}


def join_problems(problems: list[Problem]) -> Problem:
    """The problem of a request none of whose cases could be answered.

    A single one stands for itself. Several are listed in `errors`; they share a status if they can.
    """
    if len(problems) == 1:
        return problems[0]
    errors = [{"case": position, **each.as_dict()} for position, each in enumerate(problems)]
    joined = Problem("no-answer", f"none of the {len(problems)} cases could be answered; see errors", errors=errors)
    statuses = {each.status for each in problems}
    joined.status = statuses.pop() if len(statuses) == 1 else HTTPStatus.UNPROCESSABLE_ENTITY.value
    return joined
