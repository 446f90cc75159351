"""What a client sends, read once: bounded in bytes and time, of one media type, JSON and nothing beyond it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar

from pydantic import BaseModel
from starlette.requests import ClientDisconnect

from isolith.http.problems import Problem
from isolith_bindings import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

Model = TypeVar("Model", bound=BaseModel)

MAX_BODY: Final = 8 * 1024 * 1024
"""Bytes of one body: a script and its input."""
BODY_S: Final = 20.0
"""Seconds that a whole body may take to arrive."""


async def read_body(request: Request, model: type[Model]) -> Model:
    """The body as what the operation takes; none counts as `{}` where nothing has to be in it.

    Raises Problem, and ValidationError for JSON of another shape.
    """
    if needs_body(model):
        _check_type(request)  # before it is read
    content = await arrived(request)
    if not content and not needs_body(model):
        return model()
    _check_type(request)
    return model.model_validate(_json(content))


def needs_body(model: type[BaseModel]) -> bool:
    """Whether something has to be in it."""
    return any(field.is_required() for field in model.model_fields.values())


async def arrived(request: Request) -> bytes:
    """The whole body, whatever it is. Raises Problem for one that is too long, takes too long, or does not end."""
    try:
        async with asyncio.timeout(BODY_S):
            return await _bounded(request)
    except TimeoutError:
        detail = f"the body took more than {BODY_S:g} seconds to arrive"
        raise Problem(408, "too-slow", detail, headers={"Connection": "close"}) from None
    except ClientDisconnect:
        raise Problem(400, "malformed", "the client went before its body had arrived") from None


def read_query(request: Request, model: type[Model]) -> Model:
    """The query as what the operation takes. Raises Problem, and ValidationError."""
    values: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in values:
            raise Problem(422, "invalid", f"`{name[:60]}` is given twice")
        values[name] = value
    _refuse_unknown(values, model)
    return model.model_validate(values)


def _refuse_unknown(values: Mapping[str, str], model: type[BaseModel]) -> None:
    """Raises Problem, which says what there is: of a word as short as `q` nobody can tell what it is like."""
    for name in values:
        if name not in model.model_fields:
            known = ", ".join(f"`{each}`" for each in model.model_fields) or "nothing"
            raise Problem(422, "invalid", f"there is no `{name[:60]}` in a query here: it takes {known}")


def _check_type(request: Request) -> None:
    given = request.headers.get("content-type", "")
    media, _, parameters = given.partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if media.strip().lower() != "application/json" or charset not in {"", "charset=utf-8"}:
        raise Problem(415, "wrong-media-type", "the body has to be application/json, in UTF-8")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem(415, "wrong-media-type", "the body must not be compressed")


async def _bounded(request: Request) -> bytes:
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and len(declared) < 16 and int(declared) > MAX_BODY:
        raise _too_large()
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > MAX_BODY:
            raise _too_large()
    return bytes(content)


def _too_large() -> Problem:
    return Problem(413, "too-large", f"a body is at most {MAX_BODY:,} bytes", headers={"Connection": "close"})


def _json(content: bytes) -> object:
    try:
        return json_text.loads(content.decode(), parse_constant=_refuse, object_pairs_hook=_once)
    except RecursionError:
        raise Problem(400, "malformed", "the body is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise Problem(400, "malformed", f"the body is no UTF-8: byte {error.start + 1:,}") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno:,}, column {error.colno:,}: {error.msg}"
        raise Problem(400, "malformed", f"the body is no JSON: {where}") from None
    except ValueError as error:
        told = str(error) if isinstance(error, _NoJson) else "a number is too long"
        raise Problem(400, "malformed", f"the body is no JSON: {told}") from None


class _NoJson(ValueError):
    """What Python's own reader would let through."""


def _refuse(name: str) -> NoReturn:
    raise _NoJson(f"{name} is no number of it")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object. Of two members with one name readers disagree which counts, so neither does."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _NoJson("an object has a name twice")
    return made
