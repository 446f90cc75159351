"""How a server is, for every view of it: what each of them shows is read from here, at the moment it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["not_started", "starting", "connected", "degraded", "idle", "failed", "needs_auth"]
"""`idle`: stopped because nobody called; the next call starts it. `degraded`: connected, and does not answer."""


@dataclass(frozen=True)
class MemberStatus:
    """One running server. `shared_by`: the scope that its calls have in common; `calls`: under way, and in all."""

    connection_id: str
    shared_by: str
    state: Literal["starting", "connected"]
    pid: int | None
    calls_under_way: int
    calls: int


@dataclass(frozen=True)
class ServerStatus:
    """One connector. `scope` says of what this tells: all running servers of this connector in this process.

    `state` is that of the connection. How calls fare is apart: a server whose own backend is down is connected, and its
    calls fail. `tools` are the server's own; `extras` are the methods beside them, for its resources and prompts.
    """

    connector: str
    scope: str
    place: str
    state: State
    reason: str | None
    tools: int
    extras: int
    era: str | None
    protocol_version: str | None
    server: str | None
    restarts: int
    retry_in_s: float | None
    calls_failed: int
    last_call_error: str | None
    problems: tuple[str, ...]
    excluded: tuple[str, ...]
    members: tuple[MemberStatus, ...]
    logs: tuple[str, ...]


@dataclass(frozen=True)
class Reconnected:
    """What a reconnection came to. `reason` says why not, where `ok` is False; names are Python names."""

    ok: bool
    tools: int
    extras: int = 0
    reason: str | None = None
    connection_id: str | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
