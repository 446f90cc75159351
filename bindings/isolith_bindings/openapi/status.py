"""How a connector of a document is, for whoever looks after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class DocumentStatus:
    """What was made of a document. `excluded`: what is left out, and why.

    `problems`: credentials that are not set, what is called otherwise, or seldom meant. `reason`: why there is nothing
    of it, or none can be called.
    """

    connector: str
    place: str
    state: Literal["ready", "no address", "failed", "not started"]
    tools: int
    scope: str = "this process"
    reason: str | None = None
    problems: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reread:
    """What reading a document again came to. Where `ok` is False nothing has changed, and `reason` says why."""

    ok: bool
    tools: int
    reason: str | None = None
    connection_id: str | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
