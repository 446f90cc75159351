"""The contract that every connector keeps, whatever is behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

JsonSchema = dict[str, object]

Policy = Literal["allow", "ask", "deny"]
"""`allow`: called at once. `ask`: a person decides on each call. `deny`: a script neither sees nor calls it."""

Hook = Callable[..., object] | str
"""A function, or the name of another method of the same connector."""


class Progress(Protocol):
    """How a call says that it is still at work, which also extends its time. From any thread, until the call ends."""

    def __call__(self, done: float, total: float | None = None, text: str | None = None) -> None:
        """`done` of `total` in any unit; `text` is for people."""


@dataclass(frozen=True)
class Method:
    """One method as scripts see it, and what the host must know to make the call.

    `name` is the Python identifier, `original` the name on the other side. `signature` is text for a model to read.
    """

    name: str
    original: str
    description: str
    parameters: JsonSchema
    returns: JsonSchema | None
    signature: str
    policy: Policy = "allow"
    idempotent: bool = False
    revert: Hook | None = None
    preview: Hook | None = None


@dataclass(frozen=True)
class CallContext:
    """For whom and within what a call is made. Valid until the call ends; later progress is dropped."""

    execution_id: str
    call_id: str
    principal: str | None
    session: str | None
    deadline_s: float
    progress: Progress


@runtime_checkable
class Connector(Protocol):
    """Something with methods that a script can call.

    `methods` is by Python name and may change between calls. `excluded`: what is not bound, by original name, and why.
    """

    @property
    def name(self) -> str:
        """The global that scripts use: a Python identifier."""
        ...

    @property
    def description(self) -> str:
        """What it is for, in the words of who wrote it; may be empty."""
        ...

    @property
    def methods(self) -> Mapping[str, Method]:
        """By Python name."""
        ...

    @property
    def excluded(self) -> Mapping[str, str]:
        """Original name of what could not be bound, and why."""
        ...

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        """Make one call. Raises CallError and nothing else; cancellation passes through."""

    async def start(self) -> None:
        """Make ready. Idempotent."""

    async def aclose(self) -> None:
        """Let go of what it holds. Idempotent."""


def offered(connector: Connector) -> dict[str, Method]:
    """The methods that scripts may know of: all but the denied, which exist for no script."""
    return {name: method for name, method in connector.methods.items() if method.policy != "deny"}
