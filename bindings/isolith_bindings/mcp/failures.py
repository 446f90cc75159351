"""What can go wrong with a server, told apart: it cannot be reached, it went away, it answered an error, or nonsense."""

from __future__ import annotations

from dataclasses import dataclass

from isolith_bindings.errors import BindingError, CallError


class StartFailed(BindingError):
    """A server could not be reached or did not answer as one. The message says why and what to do."""

    def __init__(self, message: str, *, needs_auth: bool = False) -> None:
        super().__init__(message)
        self.needs_auth = needs_auth


class ConnectionBroke(BindingError):
    """A server went away while it owed an answer.

    `sent`: whether it may have received the request; if not, asking again repeats nothing.
    """

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


@dataclass
class ProtocolError(BindingError):
    """A server answered a request with a JSON-RPC error."""

    code: int
    message: str
    data: object = None

    def __str__(self) -> str:
        return self.message


class BadAnswer(BindingError):
    """A server answered what is no result of the protocol, or more than is taken."""


def unavailable(connector: str, why: str) -> CallError:
    """The error of a call to a server that is not there."""
    return CallError(
        "tool_unavailable", f"{connector} is not available: {why}", retriable=True, hint="isolith connectors status"
    )
