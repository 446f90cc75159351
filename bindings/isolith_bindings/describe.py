"""Saying how a thing is called: in one line, with its signature, or with everything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from isolith_bindings.connector import Connector, JsonSchema, Method, offered
from isolith_bindings.rendering import first_paragraph

if TYPE_CHECKING:
    from collections.abc import Iterable

Detail = Literal["summary", "signature", "full"]
"""`summary`: a line. `signature`: how to call it. `full`: the whole description, and JSON Schema as data."""


@dataclass(frozen=True)
class Description:
    """What describe answers. `text` is for a model to read, the rest is the same as data.

    `signature` is None in a summary, the schemas in all but `full`. `members` are what is inside a connector, or the
    connectors of the catalogue.
    """

    path: str
    kind: Literal["catalog", "connector", "method"]
    text: str
    description: str
    signature: str | None = None
    requires_approval: bool = False
    parameters: JsonSchema | None = None
    returns: JsonSchema | None = None
    members: list[Description] = field(default_factory=list["Description"])


def describe_method(connector: Connector, method: Method, detail: Detail) -> Description:
    """One method."""
    path = f"{connector.name}.{method.name}"
    full = detail == "full"
    description = method.description if full else first_paragraph(method.description)
    approval = "  # needs approval" if method.policy == "ask" else ""
    if detail == "summary":
        text = f"{path}{_behind(description)}{approval}"
    else:
        text = "\n".join([method.signature + approval, *_indented(description)])
    return Description(
        path=path,
        kind="method",
        text=text,
        description=description,
        signature=None if detail == "summary" else method.signature,
        requires_approval=method.policy == "ask",
        parameters=method.parameters if full else None,
        returns=method.returns if full else None,
    )


def describe_connector(connector: Connector, detail: Detail) -> Description:
    """A connector with its methods, in the order in which they are written."""
    description = connector.description if detail == "full" else first_paragraph(connector.description)
    members = [describe_method(connector, method, detail) for method in offered(connector).values()]
    lines = [f"{connector.name}{_behind(description)}", *_indented("\n".join(member.text for member in members))]
    lines += [f"    {original!r} is not available: {reason}" for original, reason in connector.excluded.items()]
    return Description(connector.name, "connector", "\n".join(lines), description, members=members)


def describe_all(connectors: Iterable[Connector], detail: Detail) -> Description:
    """The whole catalogue."""
    members = [describe_connector(connector, detail) for connector in connectors]
    text = "\n\n".join(member.text for member in members) or "there are no connectors"
    return Description("", "catalog", text, "", members=members)


def _behind(description: str) -> str:
    return f": {description}" if description else ""


def _indented(text: str) -> list[str]:
    return [f"    {line}" if line else "" for line in text.splitlines()]
