"""What went wrong with a request, as problem+json (RFC 9457) with the kinds of every other door.

A script that fails is no problem: its outcome says so, with a status of success.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import Response

from isolith.errors import UsageError
from isolith.internal import internal_error
from isolith.journal.errors import (
    AlreadyDecided,
    DigestMismatch,
    JournalUnavailable,
    Leased,
    TooLarge,
    UnknownEntry,
    WrongStatus,
)
from isolith.outcome import Kind
from isolith.tokens.errors import NotJudged
from isolith_bindings.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MEDIA_TYPE: Final = "application/problem+json"
_MAX_PROBLEMS: Final = 5
_KINDS: Final = frozenset(get_args(Kind))


class ProblemModel(BaseModel):
    """Why a request was not answered otherwise (RFC 9457)."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    type: str
    """`urn:isolith:problem:` and what it is, for programs."""
    title: str
    """What it is, for people; the same for all of its type."""
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    """What happened here, and what to do."""
    kind: Kind
    retriable: bool
    """Whether the same request may be answered later."""
    error_id: str | None = None
    """With `internal` only: the name of this error in the host's log."""


@dataclass
class Problem(Exception):
    """Raised anywhere in the API, answered in one place."""

    status: int
    what: str
    detail: str
    kind: Kind = "invalid_input"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    error_id: str | None = None

    @property
    def retriable(self) -> bool:
        """Whether the same request may be answered later."""
        return self.status in {408, 429, 503} or "Retry-After" in self.headers

    def response(self) -> Response:
        """As it is sent."""
        parts = {
            "type": f"urn:isolith:problem:{self.what}",
            "title": self.what.replace("-", " "),
            "status": self.status,
            "detail": self.detail,
            "kind": self.kind,
            "retriable": self.retriable,
            "error_id": self.error_id,
        }
        text = json.dumps(parts, ensure_ascii=True)
        return Response(text, self.status, {**self.headers, "Cache-Control": "no-store"}, MEDIA_TYPE)


def not_found(what: str = "there is nothing here") -> Problem:
    """Nothing here, or nothing that the asker may know of: the two look the same."""
    return Problem(404, "not-found", what)


def problem_of(error: Exception) -> Problem:
    """What an exception of the host's is for whoever asked; one that nobody foresaw is told by its id."""
    if isinstance(error, Problem):
        return error
    for kind, make in _FORESEEN.items():
        if isinstance(error, kind):
            return make(error)
    told = internal_error(error)
    return Problem(500, "internal", f"{told.message}; {told.hint}", "internal", error_id=told.error_id)


def _of_call(error: Exception) -> Problem:
    assert isinstance(error, CallError)  # noqa: S101 - by the table
    hint = f"; {error.hint}" if error.hint else ""
    kind = error.kind if error.kind in _KINDS else "tool_error"
    return Problem(404 if kind == "unknown_tool" else 422, "not-possible", f"{error}{hint}", cast("Kind", kind))


def _unavailable(_: Exception) -> Problem:
    detail = "the journal cannot be reached just now: ask again"
    return Problem(503, "unavailable", detail, "tool_unavailable", {"Retry-After": "2"})


def _busy(_: Exception) -> Problem:
    detail = "another host works on it just now: ask again, or follow its events"
    return Problem(409, "busy", detail, headers={"Retry-After": "1"})


_FORESEEN: Final[dict[type[Exception], Callable[[Exception], Problem]]] = {
    UnknownEntry: lambda error: not_found(str(error)),
    JournalUnavailable: _unavailable,
    NotJudged: lambda error: Problem(503, "unavailable", str(error), "tool_unavailable", {"Retry-After": "5"}),
    Leased: _busy,
    TooLarge: lambda error: Problem(413, "too-large", str(error)),
    AlreadyDecided: lambda error: Problem(409, "already-decided", str(error)),
    DigestMismatch: lambda error: Problem(409, "other-arguments", str(error)),
    WrongStatus: lambda error: Problem(409, "wrong-status", str(error)),
    CallError: _of_call,
    ValidationError: lambda error: Problem(422, "invalid", _said(error)),
    UsageError: lambda error: Problem(422, "invalid", str(error)),
}


def _said(error: Exception) -> str:
    """What is wrong where. Without the values: they may be long, or secret."""
    assert isinstance(error, ValidationError)  # noqa: S101 - by the table
    found = error.errors(include_url=False, include_input=False, include_context=False)
    parts = [f"{'.'.join(map(str, one['loc'])) or 'the whole'}: {one['msg']}" for one in found[:_MAX_PROBLEMS]]
    more = f"; and {len(found) - _MAX_PROBLEMS} more" if len(found) > _MAX_PROBLEMS else ""
    return "; ".join(parts)[:2000] + more
