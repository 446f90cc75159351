"""One use of a method by a script, from the moment it was admitted to its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isolith.outcome import CallRecord, CallStatus, Diagnostic, PendingCall
from isolith_runtime import protocol

if TYPE_CHECKING:
    import asyncio

    from isolith_bindings.connector import Connector, Method, Resumed, Variant
    from isolith_bindings.rules import OnRejection

HOST = ""
"""The connector name under which a script reaches the host's own services."""

HOST_SHOWN = "isolith"
"""The same as it is shown."""


@dataclass(frozen=True, slots=True)
class Identity:
    """For whom an execution runs."""

    execution_id: str
    principal: str | None
    session: str | None

    def call_id(self, number: int) -> str:
        """The name of one of its calls."""
        return f"{self.execution_id}.{number}"


@dataclass(slots=True)
class Use:
    """One call. `number`: as the guest counts; `entry`: as the journal does, by which people name it.

    They differ where a run is tried again: what failed keeps its entry, and the call that takes its place has another.
    """

    frame: protocol.Call
    call_id: str
    entry: int
    key: str | None = None
    """By what its connector knows it, where that is the id of the call that it takes the place of."""
    connector: Connector | None = None
    method: Method | None = None
    variant: Variant = ""
    status: CallStatus = "running"
    started: float | None = None
    announced: bool = False
    """Whether who follows the run was told of it: that it began, or waits for a person."""
    duration_ms: float | None = None
    result_bytes: int = 0
    """Of its result, before what is too long was kept elsewhere."""
    kept_bytes: int = 0
    """Of a result that is kept as an artifact, which the script was given in place of it."""
    doubt: str = ""
    """How its result, which the script was given all the same, is not what was promised."""
    error: Diagnostic | None = None
    task: asyncio.Task[None] | None = None
    pending: PendingCall | None = None
    journalled: bool = False
    """Whether the journal has an entry that is not settled."""
    approved: bool = False
    approver: str | None = None
    """The person who let it be made."""
    refused: bool = False
    """Whether it was answered at once, without being made."""
    made: bool = False
    """Whether its connector was asked."""
    on_rejection: OnRejection = "raise"
    policy: str | None = None
    """The version of what asks a person."""
    completed_after_end: bool = False
    """Whether it came to a result after it had been given up."""
    resumed: Resumed | None = None
    """What its server asked, and what was said to that."""
    arguments: dict[str, object] = field(default_factory=dict[str, object])
    """What is sent: what the script gave, or what the approver wrote instead."""

    @property
    def number(self) -> int:
        """Its number, as the guest counts."""
        return self.frame.number

    @property
    def open(self) -> bool:
        """Whether an answer is owed."""
        return self.status in {"running", "pending"}

    @property
    def names(self) -> tuple[str, str]:
        """Connector and method as they are shown."""
        return (self.frame.connector or HOST_SHOWN, self.method.name if self.method else self.frame.method)

    @property
    def path(self) -> str:
        """The same as one text, with the variant."""
        return ".".join(filter(None, (*self.names, self.variant)))

    @property
    def method_used(self) -> str:
        """Method and variant, by which the journal knows it."""
        return ".".join(filter(None, (self.names[1], self.variant)))

    def enter(self, entry: int, key: str | None) -> None:
        """The journal has it under this number; its connector is told this id, or that of its own."""
        self.entry, self.key = entry, key
        self.call_id = f"{self.call_id.rpartition('.')[0]}.{entry}"

    def forget_arguments(self) -> None:
        """They may be large, and nobody reads them again."""
        frame, self.arguments = self.frame, {}
        self.frame = protocol.Call(frame.number, frame.connector, frame.method, {}, frame.line, frame.size)

    def record(self) -> CallRecord:
        """As the outcome lists it."""
        connector, method = self.names
        return CallRecord(
            call_id=self.call_id,
            connector=connector,
            method=method,
            status=self.status,
            duration_ms=self.duration_ms,
            line=self.frame.line,
            error=self.error,
            completed_after_end=self.completed_after_end,
        )
