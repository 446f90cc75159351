"""How a connector looks from outside, as data: what it offers, how it is, what connecting anew came to."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from isolith_bindings.availability import why_absent
from isolith_bindings.connector import offered
from isolith_bindings.policy import ungoverned

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from isolith_bindings.connector import Connector

IN_PROCESS = "this process"
"""The scope of what runs here, and is no server."""


@runtime_checkable
class Monitored(Protocol):
    """A connector that can go wrong by itself."""

    def status(self) -> object:
        """How it is: a dataclass with `state`, `scope`, `reason`."""
        ...


@runtime_checkable
class Renewable(Protocol):
    """A connector that can connect anew."""

    async def reconnect(self) -> object:
        """Connect anew: a dataclass with `ok`, `reason`, `tools`, `added`, `removed`."""
        ...


def listed(connector: Connector) -> dict[str, object]:
    """What a connector offers to scripts."""
    offers = offered(connector)
    return {
        "connector": connector.name,
        "description": connector.description.partition("\n")[0],
        "methods": len(offers),
        "asks": sum(method.policy == "ask" for method in offers.values()),
        "denied": len(connector.methods) - len(offers),
        "excluded": dict(connector.excluded),
        "scope": status_of(connector)["scope"],
    }


def status_of(connector: Connector) -> dict[str, object]:
    """How a connector is; what runs in this process is always ready."""
    behind = ungoverned(connector)
    if isinstance(behind, Monitored):
        return as_data(behind.status())
    absent = why_absent(connector)
    return {
        "connector": connector.name,
        "scope": IN_PROCESS,
        "state": "ready" if absent is None else "failed",
        "reason": absent,
        "tools": len(connector.methods),
        "excluded": [f"{name}: {why}" for name, why in connector.excluded.items()],
    }


def as_data(told: object) -> dict[str, object]:
    """A status, or what connecting anew came to."""
    return dataclasses.asdict(cast("DataclassInstance", told))
