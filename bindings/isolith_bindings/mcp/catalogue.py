"""What a server lists, as methods of a connector: names, schemas, and what it says of its tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

from mcp.shared.inbound import find_invalid_x_mcp_header

from isolith_bindings.connector import Annotations, JsonSchema, Method, Variant
from isolith_bindings.mcp.extras import EXTRAS
from isolith_bindings.names import bind
from isolith_bindings.schema.listed import listed_names
from isolith_bindings.schema.stubs import signature
from isolith_bindings.schema.validate import Validator

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from isolith_bindings.mcp.listing import Entry, Listing

Kind = Literal["tool", "resources/read", "resources/list", "resources/templates/list", "prompts/get", "prompts/list"]

_NO_SCHEMA: JsonSchema = {"type": "object", "additionalProperties": True}
_RAW: frozenset[Variant] = frozenset({"raw"})
_PAGED: frozenset[Variant] = frozenset({"raw", "pages"})


@dataclass(frozen=True)
class Bound:
    """One method and what its calls need. `result` is None where nothing was promised.

    `names`: of all parameters there are, None where a schema says or may say that there are others. `task`: its calls
    ask for a task (2025-11-25).
    """

    method: Method
    kind: Kind
    arguments: Validator
    result: Validator | None = None
    wrapped: bool = False
    names: tuple[str, ...] | None = None
    task: bool = False


@dataclass(frozen=True)
class Catalogue:
    """Everything that one server offers, by Python name. `excluded`: original names and reasons; `about`: its words.

    `changing`: it says that it tells of tools that come and go.
    """

    bound: Mapping[str, Bound] = field(default_factory=dict[str, Bound])
    excluded: Mapping[str, str] = field(default_factory=dict[str, str])
    problems: tuple[str, ...] = ()
    methods: Mapping[str, Method] = field(default_factory=dict[str, Method])
    about: str = ""
    changing: bool = False

    @property
    def tools(self) -> int:
        """How many tools the server has that can be called."""
        return len(self.bound) - self.extras

    @property
    def extras(self) -> int:
        """How many methods there are beside its tools: ours, for its resources and prompts."""
        return sum(bound.kind != "tool" for bound in self.bound.values())


@dataclass(frozen=True)
class Change:
    """The difference between two catalogues, as Python names."""

    added: frozenset[str]
    removed: frozenset[str]
    changed: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def difference(before: Catalogue, after: Catalogue) -> Change:
    """What became different."""
    old, new = before.methods, after.methods
    both = old.keys() & new.keys()
    changed = frozenset(name for name in both if old[name] != new[name])
    return Change(frozenset(new.keys() - old.keys()), frozenset(old.keys() - new.keys()), changed)


def read_catalogue(
    listing: Listing, capabilities: Collection[str], *, modern: bool, trusted: bool = False
) -> Catalogue:
    """The methods of a server: its tools, and what reads its resources and prompts where it has any.

    `capabilities`: `resources` and `prompts` where it declares them, `tasks` where calls of tools may be tasks. One odd
    tool costs at most itself.
    """
    excluded: dict[str, str] = {}
    tools: dict[str, Entry] = {}
    for tool in listing.entries:
        name = str(tool["name"])
        reason = find_invalid_x_mcp_header(_schema(tool.get("inputSchema"))) if modern else None
        if reason is not None:
            excluded[name] = f"its `x-mcp-header` is not valid: {reason}"
        elif _needs_task(tool) and not modern and "tasks" not in capabilities:
            excluded[name] = "it can only be called as a task, and its server does not say that it has tasks"
        else:
            tools[name] = tool
    names, collisions = bind(tools)
    found = {
        python: _tool(python, tools[original], trusted=trusted, task=not modern and _needs_task(tools[original]))
        for python, original in names.items()
    }
    for extra in EXTRAS:
        if extra.capability not in capabilities:
            continue
        if extra.name in found:
            excluded[f"{extra.name} (of the protocol)"] = f"a tool of the server has the name `{extra.name}`"
            continue
        found[extra.name] = _extra(extra.name, trusted=trusted)
    methods = {name: bound.method for name, bound in found.items()}
    return Catalogue(found, excluded | collisions, listing.problems, methods)


def _tool(python: str, tool: Entry, *, trusted: bool, task: bool) -> Bound:
    """One tool. Whether its schemas can be read is found out when it is called: that takes a millisecond for each."""
    parameters = _schema(tool.get("inputSchema"))
    promised = tool.get("outputSchema")
    returns = cast("JsonSchema", promised) if isinstance(promised, dict) else None
    inner = unwrapped(returns, str(tool["name"]))
    shown = inner if inner is not None else returns
    annotations = _annotations(tool.get("annotations"), trusted=trusted)
    method = Method(
        name=python,
        original=str(tool["name"]),
        description=_description(tool),
        parameters=parameters,
        returns=shown,
        signature=signature(python, parameters, shown),
        idempotent=trusted and (annotations.read_only is True or annotations.idempotent is True),
        annotations=annotations,
        variants=_RAW,
    )
    result = None if returns is None else Validator(returns)
    names = listed_names(parameters)
    return Bound(method, "tool", Validator(parameters), result, wrapped=inner is not None, names=names, task=task)


def _extra(name: str, *, trusted: bool) -> Bound:
    extra = next(extra for extra in EXTRAS if extra.name == name)
    method = Method(
        name=name,
        original=name,
        description=extra.description,
        parameters=extra.parameters,
        returns=extra.returns,
        signature=signature(name, extra.parameters, extra.returns),
        idempotent=True,
        annotations=Annotations(read_only=True, destructive=False, idempotent=True, trusted=trusted),
        variants=_PAGED if extra.paged else _RAW,
    )
    return Bound(method, cast("Kind", extra.kind), Validator(extra.parameters))


def unwrapped(schema: JsonSchema | None, tool: str) -> JsonSchema | None:
    """What is inside `{"result": ...}`, if that is a wrapper that a server's library put around a value; else None.

    FastMCP marks it. The SDK's MCPServer wraps whatever is no object and calls the schema `<function>Output`.
    """
    if schema is None or schema.get("type") != "object":
        return None
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict) or properties.keys() != {"result"} or required != ["result"]:
        return None
    inner = cast("dict[str, object]", properties)["result"]
    title = schema.get("title")
    marked = schema.get("x-fastmcp-wrap-result") is True
    # A function's name is mostly its tool's, and always an identifier.
    named = isinstance(title, str) and title.endswith("Output") and title.removesuffix("Output").isidentifier()
    if not isinstance(inner, dict):
        return {} if marked and inner is True else None
    content = cast("JsonSchema", inner)
    made = named and content.get("title") == "Result" and (title == f"{tool}Output" or content.get("type") != "object")
    if not (marked or made):
        return None
    carried: JsonSchema = {key: schema[key] for key in ("$defs", "definitions", "$schema") if key in schema}
    return {**{key: value for key, value in content.items() if key != "title"}, **carried}


def _needs_task(tool: Entry) -> bool:
    execution = tool.get("execution")
    return isinstance(execution, dict) and cast("Entry", execution).get("taskSupport") == "required"


def _schema(given: object) -> JsonSchema:
    return cast("JsonSchema", given) if isinstance(given, dict) else _NO_SCHEMA


def _description(tool: Entry) -> str:
    annotations = tool.get("annotations")
    titles = (tool.get("title"), cast("Entry", annotations).get("title") if isinstance(annotations, dict) else None)
    for text in (tool.get("description"), *titles):
        if isinstance(text, str) and text.strip():
            return text.strip()
    return ""


def _annotations(given: object, *, trusted: bool) -> Annotations:
    hints = cast("Entry", given) if isinstance(given, dict) else {}

    def hint(name: str) -> bool | None:
        value = hints.get(name)
        return value if isinstance(value, bool) else None

    return Annotations(
        read_only=hint("readOnlyHint"),
        destructive=hint("destructiveHint"),
        idempotent=hint("idempotentHint"),
        open_world=hint("openWorldHint"),
        trusted=trusted,
    )
