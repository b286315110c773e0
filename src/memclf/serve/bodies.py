"""From the bytes of a request to its cases."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from python_multipart.multipart import MultipartParser, parse_options_header

from memclf.serve.limits import Limits
from memclf.serve.problems import Problem

FIELD = "images"  # of a form; all files have this name
MEMBER = "cases"  # of a JSON object


def read_json(body: bytes, limits: Limits) -> list[Any]:
    """The cases of ``{"cases": [...]}``."""
    try:
        found = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:  # bytes that are no text are a ValueError, too
        raise Problem("malformed", f"the body must be JSON: {_first_line(error)}") from None
    if not isinstance(found, dict) or found.keys() != {MEMBER} or not isinstance(found[MEMBER], list):
        raise Problem("malformed", f'the body must be an object with one member, {{"{MEMBER}": [...]}}')
    _check_number(len(found[MEMBER]), limits)
    return list(found[MEMBER])


def read_form(content_type: str, body: bytes, limits: Limits) -> list[tuple[bytes, int]]:
    """The files of a form and their positions; every field must be a file named "images"."""
    _, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if not boundary:
        raise Problem("malformed", "the header Content-Type must name the boundary of the form")
    form = _Form(limits)
    try:
        parser = MultipartParser(boundary, form.callbacks())  # type: ignore[arg-type]
        parser.write(body)
        parser.finalize()
    except Problem:
        raise
    except Exception as error:  # the parser fails in many ways on broken forms
        raise Problem("malformed", f"the body must be a form: {_first_line(error)}") from None
    if not form.ended:
        raise Problem("malformed", "the form is cut off: its last boundary is missing")
    _check_number(len(form.files), limits)
    return [(content, position) for position, content in enumerate(form.files)]


class _Form:
    """What the parser of a form calls; it keeps the contents of files in memory."""

    def __init__(self, limits: Limits):
        self._limits = limits
        self.files: list[bytes] = []
        self.ended = False
        self._header, self._value, self._disposition, self._content = bytearray(), bytearray(), b"", bytearray()

    def callbacks(self) -> dict[str, Any]:
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._header.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._end_header,
            "on_headers_finished": self._check_headers,
            "on_part_data": lambda data, start, end: self._content.extend(data[start:end]),
            "on_part_end": lambda: self.files.append(bytes(self._content)),
            "on_end": self._end,
        }

    def _begin(self) -> None:
        _check_number(len(self.files) + 1, self._limits)
        self._disposition, self._content = b"", bytearray()

    def _end_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._header, self._value = bytearray(), bytearray()

    def _check_headers(self) -> None:
        _, options = parse_options_header(self._disposition)
        if options.get(b"name") != FIELD.encode() or b"filename" not in options:
            raise Problem("malformed", f'each field of the form must be a file named "{FIELD}"')

    def _end(self) -> None:
        self.ended = True


def _check_number(n: int, limits: Limits) -> None:
    if n > limits.cases:
        raise Problem("many-cases", f"a request has at most {limits.cases} cases; send the others in further requests")
    if not n:
        raise Problem("malformed", "the request holds no case")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON; a gap is null")


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
