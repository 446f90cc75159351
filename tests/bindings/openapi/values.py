"""Values that a schema takes, always the same ones: what drives operations that give no examples."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from isolith_bindings.openapi.model import Schema

MAX_DEPTH = 12

_FORMATS: dict[str, object] = {
    "date-time": "2025-11-29T12:30:00Z",
    "date": "2025-11-29",
    "time": "12:30:00Z",
    "email": "ada@example.org",
    "uri": "https://example.org/a?b=c",
    "url": "https://example.org/a",
    "uuid": "6f1c2f0e-3a0b-4a53-9a0e-1f6f7a6d2c11",
    "ipv4": "192.0.2.7",
    "ipv6": "2001:db8::7",
    "hostname": "example.org",
    "byte": base64.b64encode(b"bytes").decode(),
    "binary": b"\x00bytes",
    "duration": "P1D",
}
_TEXTS = (
    "a b&c=d/e",
    "ada",
    "a",
    "1",
    "2025-11-29",
    "v1.0",
    "a-b",
    "ada@example.org",
    "#0366d6",
    "0123456789abcdef",
    "12:30",
    "sha256:" + 64 * "0",
)
_HARMLESS = "plain"


class NoValueError(Exception):
    """There is no value that this module can think of."""


class Values:
    """Values for the schemas of one document. `wild`: text holds characters that have to be encoded."""

    def __init__(self, definitions: dict[str, Schema], *, wild: bool) -> None:
        self._definitions = definitions
        self._wild = wild

    def of(self, schema: Schema, depth: int = 0) -> object:
        if isinstance(schema, bool):
            if schema:
                return "anything"
            raise NoValueError("false")
        if depth > MAX_DEPTH:
            raise NoValueError("too deep")
        schema = self._flat(schema, 0)
        for key in ("const", "default"):
            if key in schema:
                return schema[key]
        enum = schema.get("enum")
        if isinstance(enum, list) and enum:
            return next((item for item in cast("list[object]", enum) if item not in (None, "")), enum[0])
        for key in ("oneOf", "anyOf"):
            if key in schema:
                return self._first(cast("list[Schema]", schema[key]), schema, depth)
        return self._typed(schema, depth)

    def _first(self, options: list[Schema], schema: dict[str, object], depth: int) -> object:
        base = {key: value for key, value in schema.items() if key not in {"oneOf", "anyOf"}}
        for option in options:
            try:
                flat = self._flat(option, 0) if isinstance(option, dict) else {}
                if flat.get("type") == "null":
                    continue
                merged = _merged(base, flat)
                return self.of(merged, depth + 1)
            except NoValueError:
                continue
        raise NoValueError("no option")

    def _flat(self, schema: dict[str, object], depth: int) -> dict[str, object]:
        """References followed, `allOf` put together."""
        if depth > 30:
            raise NoValueError("circular")
        if "$ref" in schema:
            target = self._definitions[str(schema["$ref"]).removeprefix("#/$defs/")]
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            return _merged(self._flat(target if isinstance(target, dict) else {}, depth + 1), rest)
        parts = schema.get("allOf")
        if not isinstance(parts, list):
            return schema
        whole = {key: value for key, value in schema.items() if key != "allOf"}
        for part in cast("list[Schema]", parts):
            whole = _merged(whole, self._flat(part if isinstance(part, dict) else {}, depth + 1))
        return whole

    def _typed(self, schema: dict[str, object], depth: int) -> object:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((name for name in cast("list[str]", kind) if name != "null"), "null")
        if kind is None:
            kind = "object" if "properties" in schema else "array" if "items" in schema else "string"
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, depth)
        if kind in {"integer", "number"}:
            return _number(schema, whole=kind == "integer")
        return {"boolean": True, "null": None}[str(kind)] if kind != "string" else self._text(schema)

    def _object(self, schema: dict[str, object], depth: int) -> object:
        properties = cast("dict[str, Schema]", schema.get("properties", {}))
        required = cast("list[str]", schema.get("required", []))
        found: dict[str, object] = {}
        for name in required:
            found[name] = self.of(properties.get(name, True), depth + 1)
        least = cast("int", schema.get("minProperties", 0))
        for name, item in properties.items():
            if name not in found and (depth == 0 or len(found) < least) and not _one_way(item):
                try:
                    found[name] = self.of(item, depth + 1)
                except NoValueError:
                    continue
        if not properties and isinstance(schema.get("additionalProperties"), dict):
            found["some"] = self.of(cast("Schema", schema["additionalProperties"]), depth + 1)
        return found

    def _array(self, schema: dict[str, object], depth: int) -> object:
        items = cast("Schema", schema.get("items", True))
        count = max(1, cast("int", schema.get("minItems", 1)))
        if cast("int", schema.get("maxItems", 1)) == 0:
            return []
        value = self.of(items, depth + 1)
        return (
            [value]
            if count == 1
            else [f"{value}{index}" if isinstance(value, str) else value for index in range(count)]
        )

    def _text(self, schema: dict[str, object]) -> object:
        form = schema.get("format")
        pattern = schema.get("pattern")
        least, most = cast("int", schema.get("minLength", 0)), cast("int", schema.get("maxLength", 10_000))
        if form in _FORMATS and not isinstance(pattern, str):
            return _FORMATS[str(form)]
        candidates = _TEXTS if self._wild else (_HARMLESS, *_TEXTS[1:])
        for text in (*candidates, *(_FORMATS[key] for key in ("date-time", "uuid", "uri", "ipv4"))):
            fitted = str(text)[:most].ljust(least, "x")
            if not isinstance(pattern, str) or _matches(pattern, fitted):
                return fitted
        raise NoValueError(f"no text for {pattern}")


def _merged(first: dict[str, object], second: dict[str, object]) -> dict[str, object]:
    whole = {**first, **second}
    if "properties" in first and "properties" in second:
        whole["properties"] = {
            **cast("dict[str, object]", first["properties"]),
            **cast("dict[str, object]", second["properties"]),
        }
    if "required" in first and "required" in second:
        whole["required"] = list(
            dict.fromkeys([*cast("list[str]", first["required"]), *cast("list[str]", second["required"])])
        )
    return whole


def _one_way(schema: Schema) -> bool:
    return isinstance(schema, dict) and (schema.get("readOnly") is True or "$ref" in schema)


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error as error:
        raise NoValueError("no pattern") from error


def _number(schema: dict[str, object], *, whole: bool) -> object:
    low = cast("float", schema.get("minimum", schema.get("exclusiveMinimum", -1)))
    high = cast("float", schema.get("maximum", schema.get("exclusiveMaximum", 1e9)))
    step = cast("float", schema.get("multipleOf", 1))
    value = max(low + (step if "exclusiveMinimum" in schema else 0), min(0, high))
    value = value if value % step == 0 else (value // step + 1) * step
    value = min(value, high)
    return int(value) if whole else float(value)
