"""The signatures of a document. Those of a large one take seconds to write: each is written when it is first read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_bindings.openapi.schemas import closed
from isolith_bindings.schema.stubs import signature

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isolith_bindings.openapi.model import Api, Operation

    Keep = Callable[[Mapping[str, str]], None]


class Signatures:
    """Signatures by the id of their operation. `known`: from the time before; `keep` is given all there are at the end.

    For any thread: what two write at the same time is the same.
    """

    def __init__(self, api: Api, known: Mapping[str, str] | None = None, keep: Keep | None = None) -> None:
        self._api, self._keep = api, keep
        self._known = dict(known or {})
        self._kept = len(self._known)

    def of(self, operation: Operation) -> str:
        """The signature of one operation."""
        if operation.id not in self._known:
            self._known[operation.id] = self._written(operation)
        return self._known[operation.id]

    def close(self) -> None:
        """Keep what was written since it was read."""
        if self._keep is not None and len(self._known) > self._kept:
            self._keep(dict(self._known))
            self._kept = len(self._known)

    def _written(self, operation: Operation) -> str:
        definitions, uses = self._api.definitions, self._api.uses
        arguments = closed(operation.arguments, definitions, uses)
        returns = None if operation.returns is None else closed(operation.returns, definitions, uses)
        return signature(operation.name, arguments if isinstance(arguments, dict) else {}, returns)
