"""Which running server a call may use: decided by what the request says, never by a process or a connection."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from isolith_bindings.connector import CallContext

Scope = Literal["shared", "principal", "session", "execution", "call"]
"""Who shares one running server: everyone, a principal, a session of one, an execution, or nobody."""

Key = tuple[str, ...]
"""The calls of one key share a server. The first part is the scope that it was made for."""

SHARED: Key = ("shared",)
SPARE: Key = ("spare",)
"""Of a server that has not been used by anyone, and may become anyone's."""


@dataclass(frozen=True)
class Sharing:
    """How running servers are shared out.

    `exclusive`: one call at a time in each. `least`: how many stay although nobody uses them; `most`: how many run at a
    time, beyond which calls wait in order. `idle_s`: seconds without a call until one is stopped.
    """

    scope: Scope = "shared"
    exclusive: bool = False
    least: int = 0
    most: int = 8
    idle_s: float = 900.0

    @property
    def most_of_a_key(self) -> int:
        """A pool of workers is for the exclusive servers that everyone may use; any other key has one server."""
        return self.most if self.exclusive and self.scope == "shared" else 1


def key_of(scope: Scope, context: CallContext) -> Key:
    """The key of a call. Where what the scope asks for is not said, the call's execution shares with no other."""
    if scope == "shared":
        return SHARED
    if scope == "principal" and context.principal is not None:
        return ("principal", context.principal)
    if scope == "session" and context.session is not None:
        return ("session", context.principal or "", context.session)
    if scope == "call":
        return ("call", context.execution_id, context.call_id)
    return ("execution", context.execution_id)


@dataclass(frozen=True)
class Identity:
    """Tells a server for whom a call is made, in `_meta`, by names that mean nothing to anyone else.

    Two servers cannot tell that they serve the same principal: each name is an HMAC under a secret of its connector.
    """

    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def meta(self, context: CallContext) -> dict[str, object]:
        """What is sent along with a call."""
        parts = {
            "principal": context.principal,
            "session": context.session and f"{context.principal or ''}\0{context.session}",
            "execution": context.execution_id,
            "call": context.call_id,
        }
        return {f"io.isolith/{name}": self._opaque(name, value) for name, value in parts.items() if value is not None}

    def _opaque(self, name: str, value: str) -> str:
        return hmac.new(self.secret, f"{name}\0{value}".encode(), hashlib.sha256).hexdigest()[:32]
