"""Results of servers that bend the protocol, in a form that the SDK accepts. Pure; nothing given is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

_EMPTY: dict[str, dict[str, object]] = {
    "tools/call": {"content": []},
    "resources/read": {"contents": []},
    "prompts/get": {"messages": []},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "prompts/list": {"prompts": []},
}
"""What the SDK is told of results that it has no business with: ours are read as they came."""

_MODERN: dict[str, object] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
"""What 2026-07-28 requires of a result and some servers leave out. Absent means complete and not to be cached."""


def acceptable(method: str, result: Mapping[str, object]) -> dict[str, object]:
    """What the SDK is handed for the result of `method`."""
    if method in _EMPTY:
        return {**_EMPTY[method], **_MODERN}
    if method == "tools/list":
        tools = result.get("tools")
        listed = cast("list[object]", tools) if isinstance(tools, list) else []
        return {"tools": [tool for tool in map(_tool, listed) if tool is not None], **_cursor(result), **_MODERN}
    if method == "server/discover":
        given = {key: value for key, value in result.items() if key not in _MODERN or _fits(key, value)}
        return {**_MODERN, **given}
    return dict(result)


def _tool(tool: object) -> dict[str, object] | None:
    """Name and schema of a tool, which is what the SDK derives request headers from."""
    if not isinstance(tool, dict):
        return None
    entry = cast("dict[str, object]", tool)
    name, schema = entry.get("name"), entry.get("inputSchema")
    if not isinstance(name, str):
        return None
    properties = cast("dict[str, object]", schema) if isinstance(schema, dict) else {}
    return {"name": name, "inputSchema": {**properties, "type": "object"}}


def _cursor(result: Mapping[str, object]) -> dict[str, object]:
    cursor = result.get("nextCursor")
    return {"nextCursor": cursor} if isinstance(cursor, str) else {}


def _fits(key: str, value: object) -> bool:
    if key == "ttlMs":
        return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    if key == "cacheScope":
        return value in {"public", "private"}
    return value == "complete"
