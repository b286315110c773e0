"""The OpenAPI document: what is sent and what comes back."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field

from memclf.serve.bodies import FIELD, MEMBER
from memclf.serve.problems import MEDIA_TYPE, PROBLEMS

DESCRIPTION = """Each answer names the memory, a remembered training case, that stands behind it.

A case that does not fit the model fails alone: its place in the answers holds `{"error": {...}}` with a problem (RFC
9457). Where no case of a request can be answered, the request fails with that problem; several are listed in its
member `errors`."""

#: Problems that answering cases may end with.
WORK = (
    *("malformed", "no-token", "slow", "large-body", "wrong-type", "bad-case", "failed"),
    *("full-queue", "late"),
)
MEMORY = {
    "parameters": [{"name": "memory", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 0}}]
}

Label = str | int | float | bool | None


class ProblemDetails(BaseModel):
    """A problem (RFC 9457)."""

    model_config = ConfigDict(extra="allow")
    type: str = Field(examples=["urn:memclf:full-queue"])
    title: str
    status: int
    detail: str


class Failure(BaseModel):
    """In place of an answer: what is wrong with the case."""

    error: ProblemDetails


class Answer(BaseModel):
    """The answer to one case."""

    answer: Label = Field(description="The class, or the label for unknown.")
    probability: float | None = Field(description="Of the answer; null for unknown.")
    memory: int = Field(description="Number of the memory that was considered, for unknown cases too.")
    similarity: float = Field(description="To that memory, from 0 to 1.")
    known: bool = Field(description="Whether that memory answers.")
    reason: str = Field(description="Why, in a few words.")


class Answers(BaseModel):
    """One answer per case, in the order of the cases."""

    answers: list[Answer | Failure]


class RunnerUp(BaseModel):
    """The next most similar memory."""

    memory: int
    row: int
    similarity: float
    margin: float


class ClassShare(BaseModel):
    """A class: its training cases in the memory's cluster, and its probability in the answer."""

    label: Label
    cases: int
    probability: float | None


class Value(BaseModel):
    """A value of the case beside that of its memory, as words."""

    name: str
    case: str
    memory: str


class EvidenceItem(BaseModel):
    """A feature of large weight in the classifier that answered."""

    feature: str
    value: float | None
    memory: float | None
    weight: float | None
    kind: str


class LikenessItem(BaseModel):
    """What a measurement adds to the similarity."""

    name: str
    adds: float | None


class Explained(BaseModel):
    """Why one case got its answer."""

    answer: Label
    probability: float | None
    known: bool
    sentence: str
    answered_by: str
    classifier: str
    memory: int
    row: int = Field(description="Row of the memory in the training data.")
    similarity: float
    threshold: float
    runner_up: RunnerUp | None
    classes: list[ClassShare]
    values: list[Value]
    evidence: list[EvidenceItem]
    likeness: list[LikenessItem]
    competence: float | None
    promise: str | None


class Explanations(BaseModel):
    """One explanation per case, in the order of the cases."""

    explanations: list[Explained | Failure]


class MemoryItem(BaseModel):
    """A memory."""

    memory: int
    row: int = Field(description="Row in the training data.")
    threshold: float
    cases: int = Field(description="Training cases of its cluster.")
    classes: dict[str, int]
    classifier: str
    origin: str
    case: Any = Field(description="Its values; null where it is an image, which has a picture.")


class Memories(BaseModel):
    """All memories, those that stand for most training cases first."""

    memories: list[MemoryItem]


class Status(BaseModel):
    """A word."""

    status: str


def responses(model: type[BaseModel] | None, problems: Iterable[str]) -> dict[int | str, dict[str, Any]]:
    """The answers that an address gives: its own, and the problems by their status."""
    statuses: dict[int, list[str]] = {}
    for name in problems:
        status, title = PROBLEMS[name]
        statuses.setdefault(status, []).append(title)
    found: dict[int | str, dict[str, Any]] = {
        status: {
            "description": "; ".join(titles),
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
        }
        for status, titles in statuses.items()
    }
    for status in {503, 401} & found.keys():
        name = "Retry-After" if status == 503 else "WWW-Authenticate"
        found[status]["headers"] = {name: {"schema": {"type": "string"}}}
    own = {} if model is None else {"model": model}
    return {200: {"description": HTTPStatus(200).phrase, **own}, **found}


def request_body(case: dict[str, Any] | None, most: int) -> dict[str, Any]:
    """What predict and explain take: cases with this schema; None: images."""
    several = {"type": "array", "minItems": 1, "maxItems": most}
    name, media = (FIELD, "multipart/form-data") if case is None else (MEMBER, "application/json")
    item = {"type": "string", "format": "binary"} if case is None else case
    schema = {
        "type": "object",
        "properties": {name: {**several, "items": item}},
        "required": [name],
        "additionalProperties": False,
    }
    return {"requestBody": {"required": True, "content": {media: {"schema": schema}}}}


def secure(app: FastAPI, by_token: bool) -> None:
    """Finish the document: the schema of problems, the token, and no error that is never sent."""
    make = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = make()
            schemas = found["components"]["schemas"]
            schemas["ProblemDetails"] = ProblemDetails.model_json_schema()
            if by_token:
                found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
                found["security"] = [{"token": []}]
                for path in ("/healthz", "/readyz"):
                    found["paths"][path]["get"]["security"] = []
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]
