"""The signature of a tool as text, until the stubs say it better."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isolith_bindings.names import sanitise

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "array": "list",
    "object": "dict",
}


def signature(name: str, parameters: JsonSchema, returns: JsonSchema | None) -> str:
    """`async def add(*, a: int, b: int = ...) -> int`."""
    given, required = parameters.get("properties"), parameters.get("required")
    properties = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    needed = cast("list[object]", required) if isinstance(required, list) else []
    parts = [f"{sanitise(key)}: {_type(schema)}" for key, schema in properties.items() if key in needed]
    parts += [f"{sanitise(key)}: {_type(schema)} = ..." for key, schema in properties.items() if key not in needed]
    arrow = "" if returns is None else f" -> {_type(returns)}"
    return f"async def {name}({'*, ' if parts else ''}{', '.join(parts)}){arrow}"


def _type(schema: object) -> str:
    kind = cast("JsonSchema", schema).get("type") if isinstance(schema, dict) else None
    return _TYPES.get(kind, "object") if isinstance(kind, str) else "object"
