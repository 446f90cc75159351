"""Parts of a schema as what they should be, whatever they are: a stranger's keyword may hold anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema


def mapping(value: object) -> JsonSchema:
    """What is under names; nothing of what is no object."""
    if not isinstance(value, Mapping):
        return {}
    items = cast("Mapping[object, object]", value).items()
    return {name: says for name, says in items if isinstance(name, str)}


def items(value: object) -> list[object]:
    """What is in a list; nothing of what is none."""
    return cast("list[object]", value) if isinstance(value, list) else []


def texts(value: object) -> list[str]:
    """The texts in a list."""
    return [item for item in items(value) if isinstance(item, str)]


def text(value: object) -> str:
    """A text; an empty one for what is none."""
    return value if isinstance(value, str) else ""


def type_names(schema: JsonSchema) -> list[object]:
    """What `type` says, as a list: `[None]` where it says nothing."""
    said = schema.get("type")
    return cast("list[object]", said) if isinstance(said, list) else [said]
