"""What can go wrong with a server, told apart: not reached, gone, an error for an answer, or nonsense."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_types import INVALID_PARAMS

from isolith_bindings.errors import BindingError, CallError


class StartFailed(BindingError):
    """A server could not be reached or did not answer as one. The message says why and what to do.

    `words`: what it wrote beside the protocol, which is for whoever runs it and for no script.
    """

    def __init__(self, message: str, *, needs_auth: bool = False, words: str = "") -> None:
        super().__init__(message)
        self.needs_auth = needs_auth
        self.words = words

    @property
    def whole(self) -> str:
        """The message, and what the server wrote."""
        return f"{self}; it wrote: {self.words}" if self.words else str(self)


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
    hint = f"`isolith connectors status {connector}`, with the --connect or --config of this run, says more"
    return CallError("tool_unavailable", f"{connector} is not available: {why}", retriable=True, hint=hint)


def call_error(tool: str, error: ProtocolError | BadAnswer) -> CallError:
    """What the caller sees of a server's error, or of an answer that is none."""
    if isinstance(error, BadAnswer):
        return CallError("invalid_result", f"{tool}: {error}")
    kind = "invalid_arguments" if error.code == INVALID_PARAMS else "tool_error"
    message = error.message or f"{tool} was refused with the error {error.code}"
    return CallError(kind, message, data={"code": error.code, "data": error.data})
