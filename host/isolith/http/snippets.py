"""`/v1/snippets`: scripts that a person has read, proposed and reviewed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isolith.http.house import json_response
from isolith.http.problems import not_found
from isolith.snippets.view import as_data

if TYPE_CHECKING:
    from starlette.responses import Response

    from isolith.http.models import NewSnippet, SnippetApproval, SnippetRefusal, SnippetsQuery
    from isolith.http.operations import Asked


async def list_(asked: Asked) -> Response:
    """All versions that fit, by name and version."""
    query = cast("SnippetsQuery", asked.query)
    found = await asked.house.code_mode.snippets.find(query.name)
    fitting = [one for one in found if query.state in {None, one.state}]
    return json_response({"snippets": [as_data(one) for one in fitting]})


async def get(asked: Asked) -> Response:
    """One version."""
    name, version = _named(asked)
    return json_response(as_data(await asked.house.code_mode.snippets.get(name, version)))


async def propose(asked: Asked) -> Response:
    """Propose the script of an execution that completed."""
    given = cast("NewSnippet", asked.body)
    await asked.house.seen(asked.access, given.execution_id)
    snippets = asked.house.code_mode.snippets
    made = await snippets.propose(
        given.execution_id, given.name, given.description, who=asked.access.who, tool=given.tool
    )
    return json_response(as_data(made), 201, {"Location": f"/v1/snippets/{made.name}/{made.version}"})


async def approve(asked: Asked) -> Response:
    """Let scripts call it, once its tests have passed."""
    name, version = _named(asked)
    given = cast("SnippetApproval", asked.body)
    snippets = asked.house.code_mode.snippets
    return json_response(
        as_data(
            await snippets.approve(
                name, version, who=asked.access.who, content_hash=given.content_hash, reason=given.reason
            )
        )
    )


async def refuse(asked: Asked) -> Response:
    """Say no to a proposal."""
    name, version = _named(asked)
    reason = cast("SnippetRefusal", asked.body).reason
    return json_response(
        as_data(await asked.house.code_mode.snippets.refuse(name, version, who=asked.access.who, reason=reason))
    )


async def revoke(asked: Asked) -> Response:
    """Take an approval back."""
    name, version = _named(asked)
    reason = cast("SnippetRefusal", asked.body).reason
    return json_response(
        as_data(await asked.house.code_mode.snippets.revoke(name, version, who=asked.access.who, reason=reason))
    )


def _named(asked: Asked) -> tuple[str, int]:
    version = asked.path["version"]
    if not version.isdecimal() or len(version) > 9:
        raise not_found()
    return asked.path["name"], int(version)
