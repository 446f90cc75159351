"""What a type cannot say, in a few words: limits, formats, patterns, what is deprecated."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isolith_bindings.schema.conditions import conditions
from isolith_bindings.schema.quoting import clean, one_line

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

_MAX_TEXT = 60
_MAX_NUMBER = 10**18


def notes(schema: JsonSchema) -> tuple[str, ...]:
    """One note for each thing that is worth knowing, shortest first where there are many."""
    found = [
        _range(schema),
        _sizes(schema, "Length", "long"),
        _sizes(schema, "Items", "items"),
        _sizes(schema, "Properties", "keys"),
        _if(schema, "uniqueItems", "no item twice"),
        _step(schema),
        _text(schema, "format", ""),
        _text(schema, "pattern", "pattern "),
        _text(schema, "contentEncoding", ""),
        _text(schema, "contentMediaType", ""),
        _if(schema, "deprecated", "deprecated"),
        _if(schema, "readOnly", "read-only"),
        _if(schema, "writeOnly", "write-only"),
        *conditions(schema),
        _example(schema),
    ]
    return tuple(note for note in found if note)


def _range(schema: JsonSchema) -> str:
    low, high = _limit(schema, "minimum", "exclusiveMinimum", ">"), _limit(schema, "maximum", "exclusiveMaximum", "<")
    if low.startswith(">= ") and high.startswith("<= "):
        return f"{low[3:]} to {high[3:]}"
    return ", ".join(filter(None, (low, high)))


def _limit(schema: JsonSchema, name: str, exclusive: str, sign: str) -> str:
    bound, strict = _number(schema.get(name)), schema.get(exclusive)
    if _number(strict):
        return f"{sign} {_number(strict)}"
    return f"{sign}{'' if strict is True else '='} {bound}" if bound else ""


def _number(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > _MAX_NUMBER:
        return ""
    return repr(value)


def _sizes(schema: JsonSchema, what: str, thing: str) -> str:
    low, high = _number(schema.get(f"min{what}")), _number(schema.get(f"max{what}"))
    low = "" if low in {"0", "0.0"} else low
    if low and low == high:
        return f"{low} {thing}"
    if low and high:
        return f"{low} to {high} {thing}"
    return f"at least {low} {thing}" if low else f"at most {high} {thing}" if high else ""


def _step(schema: JsonSchema) -> str:
    step = _number(schema.get("multipleOf"))
    return f"multiple of {step}" if step and step != "1" else ""


def _text(schema: JsonSchema, name: str, prefix: str) -> str:
    value = schema.get(name)
    return f"{prefix}{one_line(value, _MAX_TEXT)}" if isinstance(value, str) and value else ""


def _if(schema: JsonSchema, name: str, note: str) -> str:
    return note if schema.get(name) is True else ""


def _example(schema: JsonSchema) -> str:
    listed = schema.get("examples")
    examples = cast("list[object]", listed) if isinstance(listed, list) else [schema.get("example")]
    first = examples[0] if examples else None
    plain = isinstance(first, (str, float)) or (isinstance(first, int) and abs(first) < _MAX_NUMBER)
    return f"e.g. {clean(repr(first), _MAX_TEXT)}" if plain and len(str(first)) <= _MAX_TEXT else ""
