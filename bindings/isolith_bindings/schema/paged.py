"""What stands in the list of a page, as a type: `.pages(...)` gives that, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_bindings.schema.nodes import ANY, ListOf, Node, Plain, Record

if TYPE_CHECKING:
    from collections.abc import Mapping

ITEMS = ("items", "data", "results", "result", "values", "value", "entries", "records", "rows", "objects", "list")
"""What APIs call the list of a page; the first that is there is it."""


def item_of(result: Node, records: Mapping[str, Record]) -> Node:
    """The type of the items of an answer; `Any` where it does not say for certain where they stand."""
    if isinstance(result, ListOf):
        return result.item
    record = records.get(result.name) if isinstance(result, Plain) else None
    fields = {field.name: field for field in record.fields} if record else {}
    first = next((fields[key] for key in ITEMS if key in fields), None)
    return first.node.item if first and first.required and isinstance(first.node, ListOf) else ANY
