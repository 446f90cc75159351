"""Which keys an object needs together, and what they may be called, in a few words: no type of Python says that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_bindings.schema.merging import NARROWED
from isolith_bindings.schema.parts import items, mapping, text, texts
from isolith_bindings.schema.quoting import one_line

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

MORE = "not everything that fits the type"
"""Of what cannot be said in a few words."""
_UNSAID = ("if", "not", "contains", "dependentSchemas")
_MAX_SHOWN, _MAX_PAIRS = 6, 3
_MAX_NAME = 40


def conditions(schema: JsonSchema) -> list[str]:
    """What is said of the keys of an object, and that there is more, where there is."""
    found = [*_needed_with(schema), _names(mapping(schema.get("propertyNames")))]
    unsaid = (
        any(schema.get(word) for word in _UNSAID) or "if" in schema or schema.get("unevaluatedItems", True) is not True
    )
    unsaid |= any(mapping(says) for says in mapping(schema.get("dependencies")).values())
    for options in items(schema.get(NARROWED)):
        said = _alternatives(items(options))
        found.append(said)
        unsaid |= not said
    return list(dict.fromkeys([*filter(None, found), *([MORE] if unsaid else [])]))


def _needed_with(schema: JsonSchema) -> list[str]:
    """`with card also cvc`: draft 4 calls them `dependencies`, and there one may be a text."""
    needs = {**mapping(schema.get("dependencies")), **mapping(schema.get("dependentRequired"))}
    named = {name: [says] if isinstance(says, str) else texts(says) for name, says in needs.items()}
    listed = [f"with {_shown([name])} also {_shown(others)}" for name, others in named.items() if others]
    return [*listed[:_MAX_PAIRS], *([MORE] if len(listed) > _MAX_PAIRS else [])]


def _alternatives(options: list[object]) -> str:
    """`needs id or name`, where each option is only a list of keys."""
    needed = [texts(mapping(option).get("required")) for option in options]
    plain = all(needed) and all(mapping(option).keys() <= {"required", "title", "description"} for option in options)
    return f"needs {' or '.join(map(_shown, needed))}" if plain and len(needed) <= _MAX_SHOWN else ""


def _names(names: JsonSchema) -> str:
    """What keys may be called."""
    listed = texts(names.get("enum"))
    if listed:
        return f"keys: {', '.join(one_line(name, _MAX_NAME) for name in listed[:_MAX_SHOWN])}{_cut(listed)}"
    if text(names.get("pattern")):
        return f"keys: pattern {one_line(text(names['pattern']), 60)}"
    return MORE if names.keys() - {"type", "title", "description"} else ""


def _shown(names: list[str]) -> str:
    return f"{' and '.join(one_line(name, _MAX_NAME) for name in names[:_MAX_SHOWN])}{_cut(names)}"


def _cut(names: list[str]) -> str:
    return ", ..." if len(names) > _MAX_SHOWN else ""
