"""How a connector is, in the words that every view of it uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from isolith_bindings.policy import ungoverned

if TYPE_CHECKING:
    from isolith_bindings.connector import Connector

READY = "ready"
"""Of a connector that has nothing to be connected to."""


@dataclass(frozen=True)
class Health:
    """`state` is a word or two; `reason` says why it is not well."""

    state: str = READY
    reason: str | None = None

    def __str__(self) -> str:
        return f"{self.state}: {self.reason}" if self.reason else self.state


class _State(Protocol):
    @property
    def state(self) -> str: ...

    @property
    def reason(self) -> str | None: ...


@runtime_checkable
class _Told(Protocol):
    def status(self) -> _State: ...


def health(connector: Connector) -> Health:
    """What a connector says of itself. Starts nothing and waits for nothing."""
    connector = ungoverned(connector)
    if not isinstance(connector, _Told):
        return Health()
    status = connector.status()
    return Health(status.state.replace("_", " "), status.reason)
