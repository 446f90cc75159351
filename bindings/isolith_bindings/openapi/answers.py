"""An answer as a value: by its status and its media type, checked against the document where that is asked for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qsl

from isolith_bindings import json_text
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.bodies import kind_of
from isolith_bindings.openapi.items import Items, of_names, of_several
from isolith_bindings.openapi.media import SEQUENCES, covers, essence, is_range, kind, text_of
from isolith_bindings.openapi.partition import filename
from isolith_bindings.openapi.parts import is_binary
from isolith_bindings.openapi.plan import IDEMPOTENT
from isolith_bindings.openapi.received import kept
from isolith_bindings.openapi.responses import match, successful
from isolith_bindings.openapi.tree import is_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.connector import ArtifactRef, Artifacts
    from isolith_bindings.egress import Response
    from isolith_bindings.openapi.checking import Checker
    from isolith_bindings.openapi.model import Media, Operation, Schema

PREVIEW = 2_000
"""Characters of an answer that is kept for its length that are shown beside it."""
BESIDE = 256 * 1024
"""Bytes of a list that are read at once."""
EMPTY_STATUSES = frozenset({204, 205, 304})
_DEFAULT = "application/octet-stream"
_END_MARK = {"data": "[DONE]"}
"""The last event of a stream where an API does as OpenAI's: no document has it as one of its items."""
_CARELESS = frozenset({"text/plain", _DEFAULT})
"""What servers say that were told nothing better."""


async def value_of(
    operation: Operation, response: Response, artifacts: Artifacts, definitions: Mapping[str, Schema]
) -> object:
    """What a successful answer holds: data, text, or the artifact that its bytes are kept as; None where it is empty.

    Text and data that are too long for a value are whole in an artifact: `{"artifact": ..., "truncated": True,
    "preview": ...}`. What is longer than is read at all is `invalid_result`, with the beginning as an artifact in its
    `data`. So is what does not hold what it says it holds, with its text, or an artifact of what is multipart. What has
    no end (`cut`) is `tool_timeout` or `tool_unavailable`, with the items that came in its `data`. Raises CallError.
    """
    if operation.method == "HEAD":
        return dict(response.headers)
    if response.status in EMPTY_STATUSES or (not response.content and not response.cut):
        return _of_nothing(operation, response, artifacts)
    told = _told(operation, response)
    if response.truncated:
        raise _too_long(operation, response, artifacts, told)
    media = _media(operation, response.status, told)
    several = of_several(media, told)
    if response.cut:
        items = Items(media, definitions, cut=True) if several else None
        raise await _endless(operation, response, artifacts, told, items)
    apart = several or of_names(media, told)
    if not apart and (kind(told) in {"binary", "multipart"} or (media is not None and is_binary(media.schema))):
        return _kept(response, artifacts, told)
    if response.file is not None:
        preview = text_of(response.content[: 4 * PREVIEW], told)[:PREVIEW]
        return {"artifact": _kept(response, artifacts, told), "truncated": True, "preview": preview}
    if apart:
        return await _items(operation, response, told, Items(media, definitions), artifacts)
    return _data(operation, response, told)


def _of_nothing(operation: Operation, response: Response, artifacts: Artifacts) -> object:
    """No bytes: no items, an empty text or file where the answer says that it is one, else nothing."""
    told = response.header("content-type") or ""
    media = _media(operation, response.status, told)
    if response.status in EMPTY_STATUSES or not told:
        return None
    if kind(told) in SEQUENCES and of_several(media, told):
        return []
    if media is None:
        return None
    if is_binary(media.schema) or kind(told) == "binary":
        return _kept(response, artifacts, told)
    return "" if kind(told) in {"text", "events"} else None


def _told(operation: Operation, response: Response) -> str:
    """The media type of an answer. JSON that is called a text or bytes is JSON, where the document has nothing else."""
    told = response.header("content-type") or _documented_type(operation, response.status)
    answer = match(operation.answers, response.status)
    if essence(told) not in _CARELESS or answer is None or not answer.media or documented(answer.media, told):
        return told
    if response.file is not None or response.cut or any(kind_of(media) != "json" for media in answer.media):
        return told
    try:
        json_text.loads(response.content)
    except (ValueError, RecursionError):
        return told
    return "application/json"


def as_data(operation: Operation, response: Response, value: object) -> object:
    """The same value, where it is the data itself: what goes on with it cannot go on with a file. Raises CallError."""
    if response.file is None or not isinstance(value, dict):
        return value
    raise CallError(
        "invalid_result",
        f"{operation.name}: {response.file.size:,} bytes are too long for a value; they are kept as an artifact",
        data=cast("dict[str, object]", value)["artifact"],
        hint="ask for smaller pages, or read the artifact of the error's `.data` in pieces: `.read(offset, size)`",
    )


def _kept(response: Response, artifacts: Artifacts, told: str) -> ArtifactRef:
    content = response.content if response.file is None else response.file
    name = filename(response.header("content-disposition") or "")
    return artifacts.keep(content, mime=essence(told) or _DEFAULT, name=name)


def _data(operation: Operation, response: Response, told: str) -> object:
    found, text = kind(told), text_of(response.content, told)
    if found == "json":
        return _json(operation, text, told)
    return dict(parse_qsl(text, keep_blank_values=True)) if found == "form" else text


async def _items(operation: Operation, response: Response, told: str, items: Items, artifacts: Artifacts) -> object:
    """The items, or the parts by their names; those of a long answer are read beside the event loop."""
    try:
        if len(response.content) > BESIDE:
            found = await asyncio.to_thread(items.read, response.content, told)
        else:
            found = items.read(response.content, told)
        return kept(found, artifacts)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        as_it_came: object = text_of(response.content, told)
        if kind(told) == "multipart":  # in which there may be bytes
            as_it_came = _kept(response, artifacts, told)
        raise _invalid(operation, f"the answer says it is {essence(told)} and is not: {why}", as_it_came) from None


async def check(operation: Operation, response: Response, value: object, checker: Checker) -> None:
    """Raises CallError `invalid_result`, with the value in its `data`, where the document promised something else."""
    why = await asyncio.to_thread(_broken_promise, operation, response, value, checker)
    if why is not None:
        raise _invalid(operation, why, value)


async def doubt(operation: Operation, response: Response, value: object, checker: Checker) -> str | None:
    """What `check` would refuse, of an answer that is believed all the same; None where it is as was promised.

    JSON by another name (`application/hal+json`) is what was promised, as long as its schema fits, and another status
    where the document has no content for any.
    """
    if response.file is not None:
        return None
    return await asyncio.to_thread(_broken_promise, operation, response, value, checker, alike=True)


def _broken_promise(
    operation: Operation, response: Response, value: object, checker: Checker, *, alike: bool = False
) -> str | None:
    """What is not as the document has it, and where it has that. Reading a large schema, once, takes a while."""
    answer = match(operation.answers, response.status)
    if answer is None:
        return _unknown_status(operation, response.status, alike=alike)
    if operation.method == "HEAD" or response.status in EMPTY_STATUSES or not answer.media:
        return None
    told = response.header("content-type") or ""
    media = documented(answer.media, told)
    if media is None and alike and kind(told) == "json":
        media = next((each for each in answer.media if kind_of(each) == "json"), None)
    if media is None:
        listed = ", ".join(item.type for item in answer.media)
        return f"{essence(told) or 'no media type'} was answered; documented: {listed}"
    apart = of_several(media, told) or of_names(media, told)
    if media.schema is None or not (apart or (kind(told) == "json" and not is_binary(media.schema))):
        return None
    if is_list(value) and value[-1:] == [_END_MARK]:
        value = value[:-1]
    problems = checker.problems_of(operation, answer.status, media.type, value)
    return f"{'; '.join(problems[:5])} ({answer.where})" if problems else None


def _unknown_status(operation: Operation, status: int, *, alike: bool) -> str | None:
    if any(item.status.startswith("3") for item in operation.answers):
        return None  # it was redirected, to what may answer as it likes
    if alike and not any(item.media for item in successful(operation.answers)):
        return None  # nothing was promised but a status
    known = ", ".join(item.status for item in operation.answers) or "none"
    return f"status {status} is not in the document, which has {known}"


def documented(media: tuple[Media, ...], told: str) -> Media | None:
    """The documented media type that an answer's is: the same, or the narrowest range that it is in."""
    by_width = sorted(media, key=lambda item: (is_range(item.type), essence(item.type) == "*/*"))
    return next((item for item in by_width if covers(item.type, told)), None)


def _documented_type(operation: Operation, status: int) -> str:
    """What an answer that does not say its media type is taken for."""
    answer = match(operation.answers, status)
    media = answer.media[0] if answer and answer.media else None
    if media is None or is_range(media.type):
        return "application/json" if media and kind_of(media) == "json" else _DEFAULT
    return media.type


def _media(operation: Operation, status: int, told: str) -> Media | None:
    """What the document says of an answer of this media type."""
    answer = match(operation.answers, status)
    return documented(answer.media, told) if answer else None


def _json(operation: Operation, text: str, told: str) -> object:
    try:
        return json_text.loads(text)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise _invalid(operation, f"the answer says it is {essence(told)} and is not: {why}", text) from None


def _too_long(operation: Operation, response: Response, artifacts: Artifacts, told: str) -> CallError:
    kept = _kept(response, artifacts, told)
    why = f"the answer is longer than the {kept.size:,} bytes that are read; these are kept as an artifact"
    return CallError(
        "invalid_result",
        f"{operation.name}: {why}",
        data=kept,
        hint="ask for less: a page, a filter or fewer fields; the artifact of the error's `.data` holds the beginning",
    )


async def _endless(
    operation: Operation, response: Response, artifacts: Artifacts, told: str, items: Items | None
) -> CallError:
    """The answer has no end: an error, since what came is not all of it, with what came."""
    data: object
    if items is None or response.file is not None:
        data = whole = _kept(response, artifacts, told)
        what = f"{whole.size:,} bytes"
    else:
        data = await _items(operation, response, told, items, artifacts)
        what = f"{len(cast('list[object]', data))} whole items"
    late = response.cut == "late"
    why = "had not ended when the time of the call was over" if late else "broke off before its end"
    return CallError(
        "tool_timeout" if late else "tool_unavailable",
        f"{operation.name}: the answer {why}; {what} came until then",
        data=data,
        exception="TimeoutError" if late else "ConnectionError",
        retriable=operation.method in IDEMPOTENT,
        hint="what came is the `.data` of the error: `except ToolError as error: items = error.data`",
    )


def _invalid(operation: Operation, why: str, value: object) -> CallError:
    return CallError("invalid_result", f"{operation.name}: {why}", data=value)
