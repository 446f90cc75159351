"""What crosses the border of the journal, both ways. Frozen; times are aware and UTC.

`Encoded` is JSON text that the caller wrote and will read again, in practice the guest's codec; the journal looks into
it only to redact. What is read back is what was stored: after redaction, and so what the script must be given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from isolith.journal.statuses import CallStatus, ExecutionStatus, RollbackStatus
    from isolith_bindings.rules import OnRejection

Encoded = str
Redact = Callable[[str], str]
"""Text as it would be stored to the same text without secrets. Called on the writer's thread, more than once for some
texts: pure, quick, and what it made must stay as it is. JSON text is given as it is, with its escapes.
"""

CallOutcome = Literal["completed", "failed", "cancelled"]
RevertOutcome = Literal["reverted", "revert_failed", "revert_unknown"]
Verdict = Literal["approve", "reject"]


@dataclass(frozen=True, slots=True)
class Order:
    """What was asked for, written once: enough to run the script again somewhere else."""

    execution_id: str
    script: str
    input: Encoded = "null"
    principal: str | None = None
    session: str | None = None
    budgets: Encoded = "{}"
    catalogue_digest: str = ""
    image_digest: str = ""
    snippets: Encoded = "{}"
    """Versions of snippets that this run is pinned to."""
    origin: Encoded = "null"
    """How to find its connectors again: the door it came through, its `--connect`s."""
    seed: bytes = b""
    started_ns: int = 0
    """Of its clock, nanoseconds since the epoch."""
    result_schema: Encoded | None = None
    """What its value has to be, as a JSON Schema."""


@dataclass(frozen=True, slots=True)
class Execution:
    """Where one execution stands."""

    execution_id: str
    status: ExecutionStatus
    principal: str | None
    session: str | None
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    reason: str | None
    """Why it came to this status, for people."""
    rollback: RollbackStatus | None
    pending: int
    """Calls that wait for a person."""
    owner: str | None
    """Who works on it, or did and never let go: see `leased_until`."""
    leased_until: datetime | None

    @property
    def duration(self) -> timedelta | None:
        """From its creation to its end."""
        return None if self.ended_at is None else self.ended_at - self.created_at


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one execution. A later lease has a larger fence, and what carries a smaller is refused."""

    execution_id: str
    owner: str
    fence: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Pass:
    """One run of the guest within an execution."""

    number: int
    how: Literal["start", "wake", "replay", "retry", "rollback"]
    started_at: datetime
    ended_at: datetime | None = None
    ending: str | None = None
    usage: Encoded | None = None


@dataclass(frozen=True, slots=True)
class NewCall:
    """A call that is about to be made, or to be asked about."""

    number: int
    """As the guest counts: unique in the execution, the same in a replay."""
    connector: str
    method: str
    arguments: Encoded
    occurrence: int = 0
    """How many calls of the same digest the execution made before this one."""
    pass_number: int = 1
    line: int | None = None
    idempotency_key: str | None = None
    repeatable: bool = False
    """The method is idempotent or only reads: to make it again harms nobody, so `started` need not reach the disk."""
    revertible: bool = False
    on_rejection: OnRejection = "raise"
    """What a person's no comes to: it is raised in the script, or ends the run."""
    policy: str | None = None
    """The version of what asks a person: an answer holds for no other. None where no policy asks."""


@dataclass(frozen=True, slots=True)
class AskedBy:
    """What asks a person again: see `NewCall`."""

    policy: str | None
    on_rejection: OnRejection


@dataclass(frozen=True, slots=True)
class Call:
    """One call as the journal has it."""

    execution_id: str
    number: int
    connector: str
    method: str
    arguments: Encoded
    digest: str
    occurrence: int
    pass_number: int
    status: CallStatus
    line: int | None
    idempotency_key: str | None
    repeatable: bool
    revertible: bool
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    outcome: Encoded | None
    """Of a completed call."""
    error: Encoded | None
    """Of one that failed, was rejected or could not be reverted."""
    attempts: int
    """How often it was started."""
    reason: str | None
    """Why a person is asked."""
    effect: str | None
    """What the method's `preview` says it would do."""
    expires_at: datetime | None
    """When nobody's answer is an answer."""
    edited_arguments: Encoded | None
    """What the approver wrote instead: to be sent in place of `arguments`."""
    late: Encoded | None
    """What came after the call had been given up."""
    asked: int
    """How often a person was asked: the round that a decision belongs to."""
    on_rejection: OnRejection
    question: Encoded | None = None
    """What its server asks a person, and all that is needed to make it again: `edited_arguments` is the answer then."""
    policy: str | None = None
    """The version of what asks, or asked last."""

    @property
    def duration(self) -> timedelta | None:
        """From its last start to its end."""
        if self.started_at is None or self.ended_at is None:
            return None
        return self.ended_at - self.started_at


@dataclass(frozen=True, slots=True)
class Delivery:
    """One batch of outcomes that the guest was given, in order. An empty one woke it for a timer."""

    number: int
    pass_number: int
    calls: tuple[int, ...]
    clock: Encoded | None
    """Where the guest's clock stood: whatever a replay needs to stand there too."""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line that the script logged."""

    number: int
    pass_number: int
    level: str
    message: str
    attrs: Encoded = "{}"
    line: int | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person (or a grant) says about one pending call, bound to what they saw."""

    execution_id: str
    number: int
    digest: str
    verdict: Verdict
    who: str
    arguments: Encoded | None = None
    """Edited; approval only."""
    reason: str | None = None
    asked: int | None = None
    """The round that was answered, where it must be no other: the call may have been asked about again since."""


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer that counted. Single use: spent when its call is started."""

    execution_id: str
    number: int
    round: int
    digest: str
    verdict: Verdict | Literal["expire"]
    who: str
    at: datetime
    arguments: Encoded | None
    reason: str | None
    grant_id: str | None
    spent_at: datetime | None
    policy: str | None = None
    """The version of what had asked."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What a decision led to, read in the same transaction: exactly one decider sees `pending` reach 0."""

    decision: Decision
    call: Call
    execution: Execution


@dataclass(frozen=True, slots=True)
class NewGrant:
    """A kind of call that need not be asked about, for some time and so many uses."""

    connector: str
    method: str
    """Python name, or `*`."""
    who: str
    uses: int
    lasts: timedelta
    principal: str | None = None
    """For whom; None is everybody."""
    execution_id: str | None = None
    """Within one execution only."""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """A grant as it stands."""

    grant_id: str
    connector: str
    method: str
    who: str
    principal: str | None
    execution_id: str | None
    reason: str | None
    uses_left: int
    created_at: datetime
    expires_at: datetime
    revoked_by: str | None


@dataclass(frozen=True, slots=True)
class Artifact:
    """Bytes kept outside the guest; the content is read by itself."""

    handle: str
    execution_id: str
    mime: str
    name: str | None
    size: int
    sha256: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Hibernation:
    """A resting isolate: what differs from its image."""

    execution_id: str
    pass_number: int
    image_digest: str
    blob: bytes
    at: datetime


@dataclass(frozen=True, slots=True)
class Head:
    """Where a chain of records ends: keep it somewhere else, and `verify` proves that nothing before it changed."""

    stream: str
    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `verify` found wrong."""

    stream: str
    """An execution's id, or `""` for what belongs to none."""
    seq: int | None
    message: str
