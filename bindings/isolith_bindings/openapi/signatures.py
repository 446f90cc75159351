"""Signatures for a whole document. They take a while for a large one, which is why they are kept with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isolith_bindings.openapi.schemas import closed
from isolith_bindings.schema.stubs import signature

if TYPE_CHECKING:
    from isolith_bindings.openapi.model import Api, Operation


def with_signatures(api: Api) -> Api:
    """The same, each operation with its signature."""
    return replace(api, operations=tuple(_signed(operation, api) for operation in api.operations))


def _signed(operation: Operation, api: Api) -> Operation:
    arguments = closed(operation.arguments, api.definitions, api.uses)
    returns = None if operation.returns is None else closed(operation.returns, api.definitions, api.uses)
    made = signature(operation.name, arguments if isinstance(arguments, dict) else {}, returns)
    return replace(operation, signature=made)
