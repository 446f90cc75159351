"""`/v1/search`, `/v1/describe`, `/v1/catalog`, `/v1/connectors`, `/v1/artifacts`: what is there, and what was made."""

from __future__ import annotations

import dataclasses
import re
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import anyio.to_thread
from starlette.responses import Response

from isolith.connector_views import Renewable, listed, status_of
from isolith.http.house import json_response
from isolith.http.problems import Problem, not_found
from isolith.mcp.starting import still_starting
from isolith.run.gradual import browsed
from isolith_bindings.policy import ungoverned

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from isolith.http.models import CatalogQuery, DescribeQuery, SearchQuery
    from isolith.http.operations import Asked

_MIME: Final = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,100}")


async def search(asked: Asked) -> Response:
    """What fits the words of a query."""
    query = cast("SearchQuery", asked.query)
    await browsed(asked.house.code_mode.connectors)
    page = await anyio.to_thread.run_sync(partial(asked.house.code_mode.catalog.search, **dict(query)))
    return json_response(dataclasses.asdict(page))


async def describe(asked: Asked) -> Response:
    """A connector, a method, a type or a snippet by path; or the whole catalogue."""
    query = cast("DescribeQuery", asked.query)
    await browsed(asked.house.code_mode.connectors)
    found = await anyio.to_thread.run_sync(partial(asked.house.code_mode.catalog.describe, **dict(query)))
    return json_response(dataclasses.asdict(found))


async def catalog(asked: Asked) -> Response:
    """What a model is told before it asks for more."""
    query = cast("CatalogQuery", asked.query)
    await still_starting(asked.house.code_mode.connectors)
    found = await anyio.to_thread.run_sync(partial(asked.house.code_mode.catalog.listing, query.budget_tokens))
    return json_response(
        {
            "text": found.text,
            "tokens": found.tokens,
            "complete": found.complete,
            "tools": found.total,
            "unnamed": found.unnamed,
            "shown": found.shown,
        }
    )


async def connectors(asked: Asked) -> Response:
    """What is connected, what each offers, and how it is."""
    found = asked.house.code_mode.connectors
    return json_response({"connectors": [{**listed(one), **_health(status_of(one))} for one in found]})


async def reconnect(asked: Asked) -> Response:
    """Connect a server anew."""
    name = asked.path["name"]
    connector = next((one for one in asked.house.code_mode.connectors if one.name == name), None)
    if connector is None:
        raise not_found(f"there is no connector `{name}`")
    behind = ungoverned(connector)
    if not isinstance(behind, Renewable):
        raise Problem(409, "wrong-status", f"`{name}` is no server: there is nothing to connect to")
    told = await behind.reconnect()
    scope = status_of(connector)["scope"]
    return json_response({"connector": name, **dataclasses.asdict(cast("DataclassInstance", told)), "scope": scope})


async def artifact(asked: Asked) -> Response:
    """The bytes of an artifact: always a file to keep, never a page of this host."""
    execution_id, handle = asked.path["execution_id"], asked.path["handle"]
    await asked.house.seen(asked.access, execution_id)
    artifacts = (await asked.house.journal()).artifacts
    record = next((one for one in await artifacts.of(execution_id) if one.handle == handle), None)
    if record is None:
        raise not_found("there is no such artifact")
    content = await artifacts.read(execution_id, handle)
    # What a script made is hostile: no browser is to run it as one of our pages.
    headers = {
        "Content-Disposition": "attachment",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-store",
    }
    mime = record.mime if _MIME.fullmatch(record.mime) else "application/octet-stream"
    return Response(content, 200, {**headers, "Content-Type": mime})


def _health(told: dict[str, object]) -> dict[str, object]:
    return {name: told.get(name) for name in ("state", "reason", "tools")}
