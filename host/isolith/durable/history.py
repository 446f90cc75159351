"""All that the journal has of one execution: enough to go on with it, in this process or in another."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from isolith.durable.ledger import Position
from isolith.outcome import Diagnostic, LogRecord
from isolith_bindings.files import compact
from isolith_runtime.guest import codec
from isolith_runtime.hibernation import Hibernation
from isolith_runtime.inputs import Recording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isolith.durable.replay import Identification
    from isolith.journal.journal import Journal
    from isolith.journal.model import Artifact, Call, Delivery, Order
    from isolith_bindings.files import Stored


@dataclass(frozen=True)
class Clock:
    """How the clock moved in the step that a delivery began, and how often it had been read by the end of it.

    `asked` and `queued`: see `ledger.Asked`, by the time it was given; older journals do not say.
    """

    moves: tuple[tuple[int, int], ...]
    readings: int
    asked: int | None = None
    queued: tuple[Identification, ...] = ()


@dataclass(frozen=True)
class History:
    """One execution up to now. `batches`: what was delivered, in order; `recording`: its clock and its entropy."""

    order: Order
    calls: tuple[Call, ...]
    rejections: dict[int, str | None]
    """Why a person said no, by call."""
    approvers: dict[int, str]
    """Who said yes last, by call."""
    batches: tuple[tuple[int, ...], ...]
    recording: Recording
    hibernation: Hibernation | None
    artifacts: tuple[tuple[Artifact, Stored], ...]
    logs: tuple[LogRecord, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    truncated: bool = False
    """Whether what it said was cut already."""
    clocks: tuple[Clock, ...] = ()
    """One for each of `batches`."""
    deliveries: int = 0
    """How many the journal has, those included that are not followed any more."""
    retried: bool = False
    superseded: tuple[Call, ...] = ()
    """Calls that failed and are made again under numbers of their own."""
    wall_ms: float = 0
    """Time that passes before this one took."""

    @property
    def input(self) -> object:
        """What the script was given."""
        return codec.loads(self.order.input)

    @property
    def all_calls(self) -> tuple[Call, ...]:
        """Also those that are made again."""
        return (*self.calls, *self.superseded)

    @property
    def position(self) -> Position:
        """Where it goes on."""
        recording = self.recording
        followed = len(self.batches) if self.retried else None
        return Position(self.deliveries, len(recording.clock), recording.readings, followed, bool(self.batches))

    def without_hibernation(self) -> History:
        """The same, to be replayed."""
        return replace(self, hibernation=None)

    def for_retry(self) -> History:
        """Without the failures that the script did nothing after: those calls are made again.

        A failure counts as the end of the run where nothing that succeeded was asked for after it was told.
        """
        last = max((call.number for call in self.calls if call.status == "completed"), default=0)
        failed = {call.number for call in self.calls if call.status in {"failed", "cancelled"}}
        told = enumerate(zip(self.batches, self.clocks, strict=True))
        ends = (
            i
            for i, (batch, clock) in told
            if any(n in failed and (n if clock.asked is None else clock.asked) >= last for n in batch)
        )
        followed = next(ends, len(self.batches))
        return replace(self.followed_by(followed, self.clocks), retried=True)

    @property
    def superseded_late(self) -> tuple[Call, ...]:
        """Calls that would be made again, and came to a result after they had been given up."""
        return tuple(c for c in self.superseded if self.retried and c.late is not None and not self._made_again(c))

    def _made_again(self, call: Call) -> bool:
        """Whether a retry before this one made it again, by the time its result came."""
        what = (call.connector, call.method, call.digest)
        same = [other for other in self.all_calls if (other.connector, other.method, other.digest) == what]
        return any(other.pass_number > call.pass_number for other in same)

    def with_late(self) -> History:
        """Those count as made, and are not made again."""
        late = self.superseded_late
        superseded = tuple(call for call in self.superseded if call not in late)
        return replace(self, calls=tuple(sorted((*self.calls, *late), key=_number)), superseded=superseded)

    def followed_by(self, count: int, clocks: tuple[Clock, ...]) -> History:
        """Only the first deliveries; what failed and was not delivered by then is made again."""
        batches = self.batches[:count]
        delivered = {number for batch in batches for number in batch}
        kept = tuple(
            call for call in self.calls if call.status not in {"failed", "cancelled"} or call.number in delivered
        )
        superseded = tuple(call for call in self.calls if call not in kept)
        recording = recorded(self.order, clocks[:count])
        return replace(
            self,
            calls=kept,
            superseded=(*self.superseded, *superseded),
            batches=batches,
            clocks=clocks[:count],
            recording=recording,
            hibernation=None,
        )


def _number(call: Call) -> int:
    return call.number


async def load_history(journal: Journal, execution_id: str, *, awake: bool = False) -> History:
    """Read it; `awake` leaves out the guest that was put away. Raises UnknownEntry, JournalError, HibernationError."""
    order = await journal.executions.order(execution_id)
    deliveries = await journal.story.deliveries(execution_id)
    kept = await journal.hibernations.get(execution_id)
    told = await journal.executions.outcome(execution_id)
    outcome = cast("dict[str, Any]", json.loads(told)) if told else {}
    decisions = await journal.approvals.decisions(execution_id)
    artifacts = [
        (each, compact(await journal.artifacts.read(execution_id, each.handle)))
        for each in await journal.artifacts.of(execution_id)
    ]
    calls = tuple(sorted(await journal.calls.of(execution_id, whole=True), key=_number))
    if [call.number for call in calls] != [*range(1, len(calls) + 1)]:
        kept = None  # a guest is woken by its own numbers, of which journals once had others
    history = History(
        order=order,
        calls=calls,
        rejections={decision.number: decision.reason for decision in decisions if decision.verdict == "reject"},
        approvers={decision.number: decision.who for decision in decisions if decision.verdict == "approve"},
        batches=(),
        recording=recorded(order, ()),
        hibernation=None if kept is None or awake else Hibernation.of_bytes(kept.blob),
        artifacts=tuple(artifacts),
        logs=tuple(LogRecord.model_validate(line) for line in outcome.get("logs", ())),
        warnings=tuple(Diagnostic.model_validate(warning) for warning in outcome.get("warnings", ())),
        truncated=bool(outcome.get("truncated")),
        wall_ms=float(outcome.get("usage", {}).get("wall_ms", 0)),
    )
    return follow(history, deliveries)


def recorded(order: Order, clocks: Sequence[Clock]) -> Recording:
    """The inputs as the deliveries noted them."""
    moves = tuple(move for clock in clocks for move in clock.moves)
    return Recording(order.seed, order.started_ns, moves, clocks[-1].readings if clocks else 0)


def follow(history: History, deliveries: Sequence[Delivery]) -> History:
    """The deliveries in order. One that says how many are followed puts those between it and them out of force."""
    found, readings = history, 0
    for delivery in deliveries:
        told = cast("dict[str, Any]", json.loads(delivery.clock)) if delivery.clock else {}
        readings = int(told.get("readings", readings))
        if "followed" in told:
            before = replace(found, calls=tuple(c for c in found.calls if c.pass_number < delivery.pass_number))
            after = tuple(c for c in found.calls if c.pass_number >= delivery.pass_number)
            cut = before.followed_by(int(told["followed"]), before.clocks)
            found = replace(cut, calls=(*cut.calls, *after))
            continue
        queued = tuple((str(a), str(b), str(c)) for a, b, c in told.get("queued", ()))
        clock = Clock(tuple((int(a), int(b)) for a, b in told.get("moves", ())), readings, told.get("asked"), queued)
        found = replace(found, batches=(*found.batches, delivery.calls), clocks=(*found.clocks, clock))
    return replace(found, recording=recorded(history.order, found.clocks), deliveries=len(deliveries))
