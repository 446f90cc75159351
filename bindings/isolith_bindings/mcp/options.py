"""What can be chosen of a server beside where it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from isolith_bindings.mcp.descriptions import Server
    from isolith_bindings.mcp.scopes import Sharing

Sampling = Callable[[dict[str, object]], Awaitable[Mapping[str, object]]]
"""A model's answer to a server's `sampling/createMessage`, both in the JSON form of the protocol."""

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


@dataclass(frozen=True)
class Options:
    """`start_s`: seconds until a server must have answered as one. `log_level`: what it may log, None for nothing.

    `sampling` and `roots` (file URIs) are offered to it where they are given. `identify`: tell it, with each call, for
    whom that is made, by names that mean nothing to anyone else. `legacy`: do not look for 2026-07-28.
    """

    start_s: float = 30.0
    log_level: LogLevel | None = "info"
    sampling: Sampling | None = None
    roots: tuple[str, ...] = ()
    identify: bool = False
    legacy: bool = False


@dataclass(frozen=True)
class Plan:
    """Everything about one connector that does not change."""

    server: Server
    sharing: Sharing
    options: Options
    trusted: bool
