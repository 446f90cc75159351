"""Swagger 2.0 in the words of OpenAPI 3: where the two differ in more than their schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isolith_bindings.openapi.refs import DefectError, Node
from isolith_bindings.openapi.schemas import texts
from isolith_bindings.openapi.tree import is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isolith_bindings.openapi.model import Style
    from isolith_bindings.openapi.tree import Tree

MAX_NESTED = 20
"""Levels of lists in lists."""

_KEPT = ("name", "in", "required", "description", "allowEmptyValue")
_OF_A_SCHEMA = frozenset(
    {"type", "format", "items", "default", "enum", "pattern", "minLength", "maxLength", "minItems", "maxItems"}
    | {"uniqueItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)
_FORMATS: dict[str, Style] = {"csv": "simple", "ssv": "spaceDelimited", "pipes": "pipeDelimited", "tsv": "tabDelimited"}
_FLOWS = {"accessCode": "authorizationCode", "application": "clientCredentials"}
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"


def parameter(node: Node) -> Node:
    """A parameter outside of the body: its type is in a schema, its collection format a style."""
    told = node.mapping()
    made: Tree = {key: told[key] for key in _KEPT if key in told}
    made["schema"] = told["schema"] if _has_schema(told) else _schema(told)
    made.update(style_of(node))
    return Node(made, node.document, node.pointer)


def with_schema(node: Node) -> Node:
    """A parameter of OpenAPI 3, in the form of which some write its type beside its name, as in 2.0."""
    told = node.mapping()
    if "type" not in told or _has_schema(told) or "content" in told:
        return node
    return Node({**told, "schema": _schema(told)}, node.document, node.pointer)


def _has_schema(told: Tree) -> bool:
    return is_mapping(told.get("schema"))


def _schema(told: Tree) -> Tree:
    return {key: value for key, value in told.items() if key in _OF_A_SCHEMA}


def style_of(node: Node) -> Tree:
    """`style` and `explode` for a collection format; nothing where there is no list. Raises DefectError."""
    told = node.mapping()
    if told.get("type") != "array":
        return {}
    collection, repeats = told.get("collectionFormat", "csv"), told.get("in") in {"query", "formData"}
    if collection == "multi" and repeats:
        return {"style": "form", "explode": True}
    style = _format(collection, node)
    return {"style": "form" if repeats and style == "simple" else style, "explode": False}


def inner_styles(node: Node) -> tuple[Style, ...]:
    """The styles of the lists in a list, from the outside in: those of its items, of theirs, and so on.

    Raises DefectError for what has none, such as `multi`.
    """
    found: list[Style] = []
    told = node.mapping()
    while told.get("type") == "array" and is_mapping(told.get("items")):
        told = cast("Tree", told["items"])
        if told.get("type") == "array":
            found.append(_format(told.get("collectionFormat", "csv"), node))
        if len(found) > MAX_NESTED:
            raise DefectError(f"the parameter at {node.where} has lists in lists deeper than {MAX_NESTED} levels")
    return tuple(found)


def _format(collection: object, node: Node) -> Style:
    if not isinstance(collection, str) or collection not in _FORMATS:
        raise DefectError(
            f"the parameter at {node.where} has `collectionFormat: {collection!r:.40}`, which it cannot have"
        )
    return _FORMATS[collection]


def body(parameters: Iterable[Node], consumes: list[str], place: Node) -> Node | None:
    """The request body that `in: body` or `in: formData` parameters make. Raises DefectError where both are there."""
    found = list(parameters)
    bodies = [node for node in found if node.text("in") == "body"]
    fields = [node for node in found if node.text("in") == "formData"]
    if len(bodies) > 1 or (bodies and fields):
        raise DefectError(f"{place.where} has more than one body")
    if bodies:
        told = bodies[0].mapping()
        types = [kind for kind in consumes if kind not in {FORM, MULTIPART}] or ["application/json"]
        content = {kind: {"schema": told.get("schema", {})} for kind in types}
        made: Tree = {"required": told.get("required") is True, "content": content}
        return Node(made, bodies[0].document, bodies[0].pointer)
    if not fields:
        return None
    return Node(_form(fields, consumes), place.document, f"{place.pointer}/parameters")


def _form(fields: list[Node], consumes: list[str]) -> Tree:
    files = any(node.mapping().get("type") == "file" for node in fields)
    kinds = [kind for kind in consumes if kind in {FORM, MULTIPART}] or [MULTIPART if files else FORM]
    if files:
        kinds = [MULTIPART]
    properties: Tree = {}
    encoding: Tree = {}
    for node in fields:
        made = parameter(node).mapping()
        properties[node.text("name")] = {**cast("Tree", made["schema"]), "description": node.text("description")}
        if "style" in made:
            styles = {"style": made["style"], "explode": made["explode"], "inner": list(inner_styles(node))}
            encoding[node.text("name")] = styles
    required = [node.text("name") for node in fields if node.mapping().get("required") is True]
    schema: Tree = {"type": "object", "properties": properties, "required": required}
    return {"required": bool(required), "content": {kinds[0]: {"schema": schema, "encoding": encoding}}}


def response(node: Node, produces: list[str]) -> Node:
    """An answer: its schema under each media type that is produced."""
    schema = node.mapping().get("schema")
    if not is_mapping(schema):
        return Node({"content": {}}, node.document, node.pointer)
    kinds = produces or ["application/json"]
    return Node({"content": {kind: {"schema": schema} for kind in kinds}}, node.document, node.pointer)


def servers(tree: Tree, base: str | None) -> list[str]:
    """The addresses of the API. Without a host it is that of the document; without a scheme, https."""
    path = str(tree.get("basePath") or "")
    host = tree.get("host")
    if not isinstance(host, str) or not host:
        return [path or "/"]
    schemes = [scheme.lower() for scheme in texts(tree.get("schemes")) if scheme.lower() in {"http", "https"}]
    # A host has no scheme and no path; some write a whole address.
    written, _, rest = host.strip().rpartition("://")
    schemes = [written.lower()] if written.lower() in {"http", "https"} else schemes
    host, path = rest.rstrip("/"), f"/{path.lstrip('/')}" if path else ""
    mine = base.partition("://")[0] if base else None
    first = "https" if "https" in schemes or not schemes else schemes[0]
    chosen = mine if mine in schemes and first != "https" else first
    return [f"{chosen}://{host}{path}"]


def security_scheme(told: Tree) -> Tree:
    """A security definition in the form of OpenAPI 3."""
    if told.get("type") == "basic":
        return {"type": "http", "scheme": "basic"}
    if told.get("type") != "oauth2":
        return told
    flow = str(told.get("flow"))
    kept = {key: told[key] for key in ("authorizationUrl", "tokenUrl", "scopes") if key in told}
    return {"type": "oauth2", "flows": {_FLOWS.get(flow, flow): kept}}
