"""Where in the request and in the document something is, in words for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isolith_bindings.openapi.model import Operation


def place_of(operation: Operation, argument: str = "") -> str:
    """`query parameter `q` of GET /things, #/paths/~1things/get/parameters/0`; without an argument, the operation."""
    for parameter in operation.parameters:
        if parameter.argument == argument:
            return f"{parameter.location} parameter `{parameter.name}` of {operation.key}, {parameter.where}"
    body = operation.body
    if body is not None and argument and argument in (body.argument, body.chooser):
        what = "body" if argument == body.argument else "media type of the body"
        return f"{what} of {operation.key}, {body.where}"
    if body is not None and argument in body.fields:
        return f"body field `{body.fields[argument]}` of {operation.key}, {body.where}"
    return f"{operation.key}, {operation.where}"


def said(operation: Operation, argument: str, path: str = "") -> str:
    """An argument in a message, or `path` within it: what it is called, what it is, and where that is written."""
    return f"`{path or argument}` ({place_of(operation, argument)})"
