"""Which credentials an operation needs, as the document says it. What is not understood is no permission."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, cast

from isolith_bindings.openapi import swagger
from isolith_bindings.openapi.refs import DefectError, Node, References

if TYPE_CHECKING:
    from isolith_bindings.openapi.document import Family
    from isolith_bindings.openapi.plan import Requirement
    from isolith_bindings.openapi.tree import Tree


def read_schemes(references: References, family: Family) -> dict[str, Tree]:
    """The security schemes by name, in the form of OpenAPI 3. One that cannot be read is left out."""
    root = references.root
    try:
        holder = root if family == "2.0" else root.get("components")
        found = list(holder.entries("securityDefinitions" if family == "2.0" else "securitySchemes")) if holder else []
    except DefectError:
        return {}
    schemes: dict[str, Tree] = {}
    for name, node in found:
        try:
            told = references.follow(node).mapping()
        except DefectError:
            continue
        schemes[name] = swagger.security_scheme(told) if family == "2.0" else told
    return schemes


def requirements(operation: Node, references: References, found: dict[str, Tree]) -> tuple[Requirement, ...] | None:
    """The alternatives of `security`, of the operation or of the document.

    None where nothing is said of credentials, and empty where it is said that none is needed. A scheme that is named by
    its address, as OpenAPI 3.2 allows, is put into `found`.

    Raises DefectError for what cannot be read: to send without the credentials it means would be a guess.
    """
    holder = operation if "security" in operation.mapping() else references.root
    if holder.mapping().get("security") is None:
        return None
    alternatives = tuple(_alternative(node) for node in holder.items("security"))
    for name, _ in (each for alternative in alternatives for each in alternative):
        if "#" in name and name not in found:
            _put_by_address(name, holder, references, found)
    return alternatives


def _put_by_address(name: str, holder: Node, references: References, found: dict[str, Tree]) -> None:
    """What leads nowhere stays a scheme that the document does not define, and no call is made without it."""
    with contextlib.suppress(DefectError):
        found[name] = references.follow(references.target(holder, name)).mapping()


def _alternative(node: Node) -> Requirement:
    found: list[tuple[str, tuple[str, ...]]] = []
    for name, scopes in node.mapping().items():
        listed = cast("list[object]", scopes if isinstance(scopes, list) else [None])
        if not all(isinstance(scope, str) for scope in listed):
            raise DefectError(f"the security requirement at {node.where} should list scopes for `{name}`")
        found.append((name, tuple(str(scope) for scope in listed)))
    return tuple(found)
