"""A script's arguments as the JSON that leaves for a server: nothing added, nothing dropped, no value changed."""

from __future__ import annotations

import base64
import contextlib
import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, cast
from uuid import UUID

from isolith_bindings.beside import beside_where_much
from isolith_bindings.connector import ArtifactRef, Artifacts
from isolith_bindings.errors import CallError
from isolith_bindings.rendering import brief, is_vast, no_argument, signature_as

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isolith_bindings.files import Stored
    from isolith_bindings.mcp.catalogue import Bound

MAX_DEPTH = 100
"""Of nested values: what the other side is likely to read."""


def checked(tool: str, bound: Bound, arguments: Mapping[str, object], artifacts: Artifacts) -> dict[str, object]:
    """The arguments as they leave. Raises CallError `invalid_arguments` that names what is wrong and where."""
    values = as_json(tool, arguments, artifacts)
    hint = signature_as(tool, bound.method.name, bound.method.signature)
    unknown = [name for name in values if bound.names is not None and name not in bound.names]
    if unknown and bound.names is not None:
        # A server may well ignore it, and answer another question than the one that was asked.
        raise CallError("invalid_arguments", no_argument(tool, unknown[0], bound.names), hint=hint)
    required = bound.method.parameters.get("required")
    # None for what may be left out is sent as it is: some servers take it for nothing, and theirs is the last word.
    given = {k: v for k, v in values.items() if v is not None or (isinstance(required, list) and k in required)}
    problems = bound.arguments.problems(given)
    if problems:
        raise CallError("invalid_arguments", f"{tool}: {'; '.join(map(str, problems[:3]))}", hint=hint)
    return values


async def checked_aside(
    tool: str, bound: Bound, arguments: Mapping[str, object], artifacts: Artifacts
) -> dict[str, object]:
    """As `checked`; of much on a thread."""
    return await beside_where_much(arguments, lambda: checked(tool, bound, arguments, artifacts))


def look_at(tool: str, bound: Bound, arguments: Mapping[str, object]) -> None:
    """Raises CallError as `checked`; where an artifact is sent nothing is said, for its content is checked as well."""
    with contextlib.suppress(_Unread):
        checked(tool, bound, arguments, _UNREAD)


class _Unread(Exception):
    """An artifact would have to be read."""


class _Unreadable:
    """The artifacts of a call that is only looked at."""

    def keep(self, content: Stored, *, mime: str, name: str | None = None) -> ArtifactRef:  # noqa: ARG002
        raise _Unread

    def read(self, ref: ArtifactRef) -> bytes:  # noqa: ARG002
        raise _Unread


_UNREAD = _Unreadable()


def as_json(tool: str, arguments: Mapping[str, object], artifacts: Artifacts) -> dict[str, object]:
    """The arguments as JSON values. Times as ISO 8601, bytes and artifacts as base64, text artifacts as text.

    Raises CallError `invalid_arguments`, which names the path, for what has no JSON form or would lose digits in it.
    """
    return {name: _value(f"{tool}: `{name}`", value, artifacts, 0) for name, value in arguments.items()}


def _value(path: str, value: object, artifacts: Artifacts, depth: int) -> object:
    if depth > MAX_DEPTH:
        raise CallError("invalid_arguments", f"{path} is nested more than {MAX_DEPTH} deep")
    if isinstance(value, Enum):
        return _value(path, value.value, artifacts, depth)
    if value is None or isinstance(value, str | bool | int):
        if is_vast(value):
            raise CallError("invalid_arguments", f"{path} is {brief(value)}: send it as text")
        return value
    if isinstance(value, Mapping):
        return _mapping(path, cast("Mapping[object, object]", value), artifacts, depth)
    if isinstance(value, list | tuple | set | frozenset):
        items = cast("Iterable[object]", value)
        return [_value(f"{path}[{i}]", item, artifacts, depth + 1) for i, item in enumerate(items)]
    if isinstance(value, ArtifactRef):
        return _artifact(value, artifacts)
    return _scalar(path, value)


def _scalar(path: str, value: object) -> object:
    if isinstance(value, float | Decimal):
        return _number(path, value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    raise CallError("invalid_arguments", f"{path} has no JSON form: it is a {type(value).__name__}")


def _number(path: str, value: float | Decimal) -> int | float:
    if (isinstance(value, Decimal) and value.is_snan()) or not math.isfinite(value):
        raise CallError("invalid_arguments", f"{path} is {value}, which JSON cannot say: send a finite number or text")
    if not isinstance(value, Decimal):
        return value
    if value == value.to_integral_value():
        return int(value)
    if Decimal(repr(float(value))) == value:
        return float(value)
    raise CallError("invalid_arguments", f"{path} has more digits than a JSON number keeps: send it as text")


def _mapping(path: str, value: Mapping[object, object], artifacts: Artifacts, depth: int) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise CallError("invalid_arguments", f"{path} has the key {brief(key)}: the keys of a JSON object are text")
        result[key] = _value(f"{path}.{key}", item, artifacts, depth + 1)
    return result


def _artifact(ref: ArtifactRef, artifacts: Artifacts) -> str:
    """The content: as text where its type says that it is text and it is, else as base64."""
    content = artifacts.read(ref)
    mime = ref.mime.partition(";")[0].strip().lower()
    if mime.startswith("text/") or mime in {"application/json", "application/xml", "image/svg+xml"}:
        try:
            return content.decode()
        except UnicodeDecodeError:
            pass
    return base64.b64encode(content).decode()
