"""The parameters of an operation outside of its body, as the document says them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast, get_args

from isolith_bindings.openapi import swagger
from isolith_bindings.openapi.model import Location, Parameter, Schema, Style
from isolith_bindings.openapi.refs import DefectError, Node, References
from isolith_bindings.openapi.schemas import meant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isolith_bindings.openapi.document import Family
    from isolith_bindings.openapi.schemas import Schemas

_STYLES: dict[Location, tuple[Style, ...]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form", "cookie"),
    "querystring": ("form",),
}
# The collection formats of 2.0, which may be anywhere.
_DELIMITED: tuple[Style, ...] = ("spaceDelimited", "pipeDelimited", "tabDelimited")
_PLACES = {place.lower(): place for place in (*get_args(Location), "body", "formData")}
_NAMED = frozenset({"query", "header", "cookie", "formData"})
# Section "Parameter Object": these headers are said elsewhere, and a parameter of the name is to be ignored.
_IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})


@dataclass(frozen=True)
class Found:
    """One parameter as it was read: without the name of its argument, with what else is said of it.

    `content`: the media type that it is written in, if any.
    """

    parameter: Parameter
    description: str
    deprecated: bool
    content: Node | None = None


def collect(path: Node, operation: Node, references: References, mended: list[str]) -> list[Node]:
    """The parameters of a path and of an operation, references followed; the latter replace those of the same name.

    `mended` takes what stands twice in one list, and what has no name and need not be sent: the empty row of a form, as
    Postman writes it. Raises DefectError for what is no parameter.
    """
    found: dict[tuple[str, str], Node] = {}
    for around in (path, operation):
        listed: set[tuple[str, str]] = set()
        for node in around.items("parameters"):
            target = _placed(references.follow(node))
            name, location = target.text("name"), target.text("in")
            if not name and location in _NAMED and target.mapping().get("required") is not True:
                mended.append(f"the parameter at {target.where} has no name, and need not be sent: it is left out")
                continue
            if not name or not location:
                raise DefectError(f"the parameter at {target.where} has no `name` or no `in`")
            if (name, location) in listed:
                mended.append(f"the {location} parameter `{name}` stands twice in one list, of which the last counts")
            listed.add((name, location))
            found[name, location] = target
    return list(found.values())


def _placed(node: Node) -> Node:
    """The same with its place in the letters of the specification: some write `Query`."""
    told = node.text("in")
    meant = _PLACES.get(told.lower(), told)
    return node if meant == told else Node({**node.mapping(), "in": meant}, node.document, node.pointer)


def read(nodes: Iterable[Node], family: Family, schemas: Schemas) -> list[Found]:
    """Those outside of the body. Raises DefectError for one that cannot be sent."""
    found: list[Found] = []
    for node in nodes:
        location = node.text("in")
        if location in {"body", "formData"} and family == "2.0":
            continue
        if location not in get_args(Location):
            known = f"{_listed(get_args(Location))} are known"
            more = "; in OpenAPI 3 a body is `requestBody`" if location in {"body", "formData"} else ""
            raise DefectError(f"the parameter at {node.where} is `in: {location}`: {known}{more}")
        if location == "header" and node.text("name").lower() in _IGNORED_HEADERS:
            continue
        place = cast("Location", location)
        styles = _STYLES[place] + (_DELIMITED if family == "2.0" else ())
        if family == "2.0":
            each = _read(swagger.parameter(node), place, styles, schemas)
            found.append(replace(each, parameter=replace(each.parameter, inner=swagger.inner_styles(node))))
        else:
            found.append(_read(swagger.with_schema(node), place, styles, schemas))
    _check_query([each.parameter for each in found])
    return found


def _check_query(found: list[Parameter]) -> None:
    """A parameter for the whole query is the only one in it, and written in a media type (OpenAPI 3.2)."""
    whole = [each for each in found if each.location == "querystring"]
    if not whole:
        return
    if whole[0].media is None:
        raise DefectError(f"the parameter at {whole[0].where} is `in: querystring` and has no `content`")
    other = next((each for each in found if each.location in {"query", "querystring"} and each is not whole[0]), None)
    if other is not None:
        raise DefectError(
            f"the parameter at {whole[0].where} is the whole query, and so cannot stand beside {other.where}"
        )


def header(name: str, node: Node, schemas: Schemas) -> Parameter:
    """A Header Object, which is a parameter without a name and a place. Raises DefectError."""
    named = Node({**node.mapping(), "name": name, "in": "header"}, node.document, node.pointer)
    found = _read(named, "header", _STYLES["header"], schemas)
    schema = meant(found.parameter.schema, schemas.definitions)
    schema = True if schema is None else schema
    told = described(schema, found.description, deprecated=found.deprecated)
    return replace(found.parameter, argument=name, schema=told)


def _read(node: Node, location: Location, styles: tuple[Style, ...], schemas: Schemas) -> Found:
    told = node.mapping()
    media, content, schema_node = _media(node, schemas)
    schema, uses = schemas.convert(schema_node) if schema_node else ({}, frozenset[str]())
    fault = schemas.fault(uses)
    if fault:
        raise DefectError(f"the parameter at {node.where}: {fault}")
    style = told.get("style", styles[0])
    if style not in styles:
        raise DefectError(
            f"the parameter at {node.where} has `style: {style}`: in a {location}, {_listed(styles)} are known"
        )
    if told.get("allowEmptyValue") is True and location == "query":
        schema = cast("Schema", {"anyOf": [schema, {"const": ""}]})
    explode = told.get("explode", style in {"form", "cookie", "deepObject"})
    parameter = Parameter(
        argument="",
        name=node.text("name"),
        location=location,
        required=location == "path" or told.get("required") is True,
        schema=schema,
        style=style,
        explode=explode is True,
        reserved=told.get("allowReserved") is True,
        media=media,
        where=node.where,
    )
    return Found(parameter, node.text("description"), told.get("deprecated") is True, content)


def _media(node: Node, schemas: Schemas) -> tuple[str | None, Node | None, Node | None]:
    """The media type that a parameter is written in, if any, what is said of it, and its schema."""
    for media, entry in node.entries("content"):
        content = schemas.resolve(entry)
        return media, content, content.get("schema")
    return None, None, node.get("schema")


def described(schema: Schema, description: str, *, deprecated: bool) -> Schema:
    """A schema with what is said of the parameter that has it."""
    if isinstance(schema, bool):
        return schema if schema is False or not description else {"description": description}
    told: dict[str, object] = {"description": description} if description else {}
    return {**schema, **told, **({"deprecated": True} if deprecated else {})}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
