"""Operations as methods: what a script sees of each, and what the host must know to decide on its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isolith_bindings.connector import Annotations, Method, Policy, Variant
from isolith_bindings.openapi import pagination, paging_body
from isolith_bindings.openapi.places import place_of
from isolith_bindings.openapi.plan import IDEMPOTENT, SAFE
from isolith_bindings.openapi.schemas import closed

if TYPE_CHECKING:
    from isolith_bindings.connector import Hook, JsonSchema
    from isolith_bindings.openapi.model import Api, Operation, Schema
    from isolith_bindings.openapi.signatures import Signatures


class OperationMethod(Method):
    """The method of an operation. Its signature is written when it is first read: see `signatures`."""

    _operation: Operation
    _signatures: Signatures

    @classmethod
    def of(cls, operation: Operation, api: Api, signatures: Signatures, preview: Hook) -> OperationMethod:
        """What HTTP says of it is believed: whoever connected the document answers for it."""
        paged = pagination.pageable(operation) or paging_body.cursor_argument(operation, api.definitions)
        variants: set[Variant] = {"raw", "pages"} if paged else {"raw"}
        made = cls(
            name=operation.name,
            original=operation.id,
            description=operation.description,
            parameters=_whole(operation.arguments, api),
            returns=None if operation.returns is None else _whole(operation.returns, api),
            signature="",
            policy=cast("Policy", operation.policy or "allow"),
            idempotent=operation.method in IDEMPOTENT,
            preview=None if operation.method in SAFE else preview,
            annotations=annotations_of(operation.method),
            tags=operation.tags,
            deprecated=operation.deprecated,
            variants=frozenset(variants),
        )
        # What is not there is asked of `__getattr__`, once.
        del made.__dict__["signature"]
        made.__dict__.update(_operation=operation, _signatures=signatures)
        return made

    # To compare all of two methods would be to write both their signatures: one that was read again is another one.
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def source(self, argument: str = "") -> str:
        """What an argument is in the request, and where the document says so."""
        return place_of(self._operation, argument)

    def __getattr__(self, name: str) -> str:
        """The signature, before it was written."""
        if name != "signature":
            raise AttributeError(name)
        written = self._signatures.of(self._operation)
        self.__dict__["signature"] = written
        return written


def annotations_of(method: str) -> Annotations:
    """What RFC 9110 (section 9.2) says of an HTTP method."""
    safe = method in SAFE
    destructive = False if safe or method == "POST" else True if method == "DELETE" else None
    return Annotations(
        read_only=safe, destructive=destructive, idempotent=method in IDEMPOTENT, open_world=True, trusted=True
    )


def _whole(schema: Schema, api: Api) -> JsonSchema:
    found = closed(schema, api.definitions, api.uses)
    return found if isinstance(found, dict) else {} if found else {"not": {}}
