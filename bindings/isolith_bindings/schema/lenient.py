"""Types of arguments for a type checker: all that a schema allows, where those that a model reads say what is meant.

A checker infers `list[str]` where a script has a list of two words, and a list of whole numbers is no list of numbers
to it. What it is told is wide enough for that. What is written out is held against the schema itself, see `check`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isolith_bindings.schema.nodes import ANY, DictOf, ListOf, ManyOf, MappingOf, Node, TupleOf, union
from isolith_bindings.schema.parts import mapping
from isolith_bindings.schema.reader import NATIVE, Limits, Place, Reader
from isolith_bindings.schema.typenames import TypeNames

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

_AS_TEXT_AS_WELL = {name: f"{kind} | str" for name, kind in NATIVE.items()}


class LenientReader(Reader):
    """Reads what is taken. It declares nothing: of an object with named keys any mapping is taken."""

    def __init__(self, root: object, limits: Limits, *, native: bool = False) -> None:
        # With no room for values each of them is its type.
        super().__init__(root, TypeNames(), replace(limits, values=0, records=0))
        self._formats = _AS_TEXT_AS_WELL if native else {}

    def _typed(self, schema: JsonSchema, at: Place) -> Node:
        # `properties` without a `type` say nothing of what is no object.
        return super()._typed(schema, at) if schema.get("type") is not None else ANY

    def _of_type(self, name: object, schema: JsonSchema, at: Place) -> Node:
        node = super()._of_type(name, schema, at)
        match node:
            case ListOf(item):
                return ManyOf(item)
            case TupleOf(items, rest):  # no type says of a list what stands where
                return ManyOf(union([*items, *([] if rest is None else [rest])]))
            case DictOf(item):
                return MappingOf(ANY if "patternProperties" in schema or mapping(schema.get("properties")) else item)
            case _:
                return node
