"""Where an API is: the addresses that a document gives, with their variables filled in."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from isolith_bindings.openapi import swagger
from isolith_bindings.openapi.refs import DefectError, Node, References
from isolith_bindings.openapi.schemas import texts
from isolith_bindings.openapi.tree import DocumentError, is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isolith_bindings.openapi.document import Family

_VARIABLE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True)
class Whereabouts:
    """What decides where an API is, beside its document: the document's own address, and what the host chose.

    `replaced`: a server was given for every address of the document, and these do not count. `variables` fill in those
    that have some.
    """

    base: str | None = None
    replaced: bool = False
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


def addresses(references: References, family: Family, around: tuple[Node, ...], where: Whereabouts) -> tuple[str, ...]:
    """The addresses of an operation, the nearest that are given; relative ones where the document has no address.

    Raises DefectError for one that no request can be sent to.
    """
    root = references.root
    if where.replaced:
        return ()
    if family == "2.0":
        return tuple(_complete(each, where.base, root.where) for each in swagger.servers(root.mapping(), where.base))
    for node in (*around, root):
        found = [_address(server, where) for server in node.items("servers")]
        if found:
            return tuple(found)
    return (_complete("/", where.base, root.where),)


def check_variables(references: References, where: Whereabouts) -> None:
    """Raises DocumentError for a value that was given for a variable that no server has: it would change nothing."""
    if where.replaced or not where.variables:
        return
    known = dict.fromkeys(name for url in _urls(references) for name in _VARIABLE.findall(url))
    unknown = next((name for name in where.variables if name not in known), None)
    if unknown is not None:
        listed = ", ".join(f"`{name}`" for name in known) or "none"
        raise DocumentError(f"`server_variables` has `{unknown}`: the variables of the servers are: {listed}")


def _urls(references: References) -> Iterator[str]:
    """All addresses that a document gives, wherever it may give some; what is broken there is said elsewhere."""
    root = references.root
    around = [root]
    with suppress(DefectError):
        for _, path in root.entries("paths"):
            with suppress(DefectError):
                item = references.follow(path)
                around += [item, *(item.child(key) for key, value in item.mapping().items() if is_mapping(value))]
    for node in around:
        with suppress(DefectError):
            yield from (server.text("url") for server in node.items("servers"))


def _address(server: Node, where: Whereabouts) -> str:
    told = dict(server.entries("variables"))
    url = server.text("url").strip()
    values = {name: _value(name, told.get(name), server, where) for name in _VARIABLE.findall(url)}
    return _complete(_VARIABLE.sub(lambda match: values[match[1]], url), where.base, server.where)


def _value(name: str, node: Node | None, server: Node, where: Whereabouts) -> str:
    given = where.variables.get(name)
    allowed = texts(node.mapping().get("enum")) if node else []
    usual = node.mapping().get("default") if node else None
    if given is None and usual is None:
        options = f", one of {', '.join(allowed)}" if allowed else ""
        raise DefectError(
            f"`{{{name}}}` of the server at {server.where} has no value: give `server_variables=`{options}"
        )
    if given is not None and allowed and given not in allowed:
        listed = ", ".join(allowed)
        raise DefectError(f"`{name}` of the server at {server.where} is one of {listed}; {given} was given")
    return given if given is not None else str(usual)


def _complete(address: str, base: str | None, where: str) -> str:
    try:
        whole = urljoin(base, address) if base else address
        parts = urlsplit(whole)
    except ValueError as error:  # brackets around what is no address
        raise DefectError(f"the server at {where} is no address: {address!r:.80}") from error
    if parts.scheme and parts.scheme not in {"http", "https"}:
        raise DefectError(f"the server at {where} is {whole:.80}: only http and https are sent to")
    if parts.query or parts.fragment:
        raise DefectError(f"the server at {where} has a query or a fragment")
    return whole.rstrip("/")
