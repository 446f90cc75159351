"""The calls of one execution as its journal has them: written as they happen, met again in a replay."""

from __future__ import annotations

import collections
import hashlib
from typing import TYPE_CHECKING

from isolith.calling import call_frames
from isolith.calling.use import HOST
from isolith.calling.waiting import take_up
from isolith.durable.ledger import Asked
from isolith.durable.replay import Entry, Replay
from isolith.journal.digests import digest_of_call
from isolith.journal.model import AskedBy, NewCall
from isolith.run.given import MOST_GIVEN
from isolith_bindings.errors import CallError
from isolith_bindings.schema.quoting import one_line
from isolith_runtime.guest import codec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from datetime import datetime

    from isolith.calling.calls import CallDesk
    from isolith.calling.use import Use
    from isolith.durable.history import History
    from isolith.durable.ledger import Ledger
    from isolith.durable.replay import Identification
    from isolith.journal.model import Call
    from isolith.journal.statuses import CallStatus as JournalStatus
    from isolith.outcome import CallStatus
    from isolith_runtime.inputs import Inputs

_SETTLED: dict[JournalStatus, CallStatus] = {
    "completed": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
    "rejected": "rejected",
    "expired": "failed",
}


class CallRecorder:
    """Writes calls, and answers those that were made already.

    `diverged` is told what was asked for, and what is recorded.
    """

    def __init__(
        self,
        ledger: Ledger,
        inputs: Callable[[], Inputs],
        diverged: Callable[[str, str], None],
        history: History | None = None,
    ) -> None:
        self.ledger = ledger
        self.before_outcome: Callable[[], Awaitable[None]] = _nothing
        """Done in front of an outcome that may name it."""
        self._inputs = inputs
        self._diverged = diverged
        known = () if history is None else history.calls
        self._known = {call.number: call for call in known}
        self._rejections = {} if history is None else history.rejections
        self._approvers = {} if history is None else history.approvers
        made = () if history is None else history.all_calls
        self._occurrences = collections.Counter((call.connector, call.method, call.digest) for call in made)
        self._taken = {call.number for call in made}
        self._again = {} if history is None else _keys_of_what_is_made_again(history)
        self.shifted = False
        """Whether the journal has a call under another number than the guest, which then cannot be woken by it."""
        self.replay: Replay | None = None
        if history is not None and history.hibernation is None:
            # The first delivery is the first frame, which begins the replay.
            again = [(call.connector, call.method, call.digest) for call in history.superseded]
            again += [what for clock in history.clocks for what in clock.queued]
            self.replay = Replay([_entry(call) for call in known], history.batches[1:], again)
        self._frames: dict[int, str] = {}
        self._queued: dict[int, Identification] = {}
        self._told: set[int] = set()
        self._unknown = "nothing"
        self._largest = max(self._taken, default=0)

    def so_far(self) -> Asked:
        """What was asked for by now, and what of it was not begun and not told of before."""
        largest = max(self._taken, default=0) + len(self._queued) if self.shifted else self._largest
        new = tuple(what for number, what in self._queued.items() if number not in self._told)
        self._told.update(self._queued)
        return Asked(largest, new)

    # in a replay

    def meet(self, desk: CallDesk, use: Use) -> bool:
        """A call of the script. Whether it has to be decided and made now: not where the journal knows better."""
        self._largest = max(self._largest, use.number)
        what = self._queued[use.number] = self._identified(use)
        if self.replay is None:
            return True
        verdict = self.replay.meet(use.number, *what)
        if verdict.action == "diverge":
            self._diverged(_asked(use), verdict.recorded)
            return False
        if verdict.entry is None:
            if self.replay.owes and self._unknown == "nothing":
                self._unknown = _asked(use)
            return True
        call = self._known[verdict.entry.number]
        self._enter(use, call.number, call.idempotency_key)
        return self.apply(desk, use, call)

    def strayed(self) -> tuple[str, str] | None:
        """Of a script that rests and was given all that the journal has: what it asks for instead of what that has."""
        if self.replay is None or self.replay.under_way or not self.replay.owes:
            return None
        return self._unknown, self.replay.missing()

    def apply(self, desk: CallDesk, use: Use, call: Call) -> bool:
        """What the journal has of a call. Whether it has to be decided anew."""
        if call.status in _SETTLED:
            frame = desk.settle(use, _SETTLED[call.status], call.outcome, self.error_of(call))
            if call.status == "cancelled":
                return False  # the script gave it up itself, and is not told
            if self.replay is not None and self.replay.under_way:
                self._frames[use.number] = frame
            else:
                desk.answer(use.number, frame)
            return False
        use.journalled = True
        if call.status == "approved":
            use.approver = self._approvers.get(call.number)
            desk.approved(use, call)
            return False
        if call.status == "pending_approval":
            desk.wait_for_person(use, call)
            return False
        take_up(use, call)
        desk.make_again(use)
        return False

    def error_of(self, call: Call) -> CallError | None:
        """Why a call of the journal did not come to a result."""
        if call.status == "rejected":
            return rejected(call.connector, call.method, self._rejections.get(call.number))
        if call.status == "expired":
            return expired(call)
        if call.status == "cancelled":
            return CallError("cancelled", f"{call.connector}.{call.method} was given up")
        return None if call.error is None else call_frames.error_of(call.error)

    def take_frame(self, number: int) -> str | None:
        """The frame that delivers a recorded outcome; once."""
        return self._frames.pop(number, None)

    def left(self) -> list[tuple[int, str]]:
        """Outcomes that the journal has and the guest was never given, in the order of their calls."""
        found, self._frames = sorted(self._frames.items()), {}
        return found

    # as they happen

    async def started(self, use: Use) -> None:
        """A call that is about to be made. Raises JournalError."""
        inputs = self._inputs()
        if use.journalled:
            if not use.approved:
                return  # made again: the journal knows that it was started
            take_up(use, await self.ledger.begun(use.entry, inputs))
            return
        use.journalled = True
        await self.ledger.started(self._new(use), inputs)

    async def asked(self, use: Use, reason: str, effect: str | None, expires_at: datetime | None) -> Call:
        """A call that a person must answer. Raises JournalError."""
        use.journalled = True
        return await self.ledger.asked(
            self._new(use), self._inputs(), reason=reason, effect=effect, expires_at=expires_at
        )

    async def asked_again(self, use: Use, reason: str, effect: str | None, expires_at: datetime | None) -> Call:
        """A call that a person must answer again, because another policy asks now. Raises JournalError."""
        by = AskedBy(use.policy, use.on_rejection)
        return await self.ledger.asked_again(use.entry, by, reason=reason, effect=effect, expires_at=expires_at)

    async def put_off(self, use: Use, reason: str, question: str, expires_at: datetime) -> Call:
        """It was made, and its server asks a person. Raises JournalError."""
        return await self.ledger.put_off(use.entry, reason=reason, question=question, expires_at=expires_at)

    async def completed(self, use: Use, outcome: str) -> str:
        """Its result; gives what the script is to be given. Raises JournalError."""
        await self.before_outcome()
        use.journalled = False  # from here on, whoever gives it up comes too late
        call = await self.ledger.ended(use.entry, "completed", outcome=outcome)
        return call.outcome or "null"

    async def failed(self, use: Use, error: str) -> None:
        """Its failure. Raises JournalError."""
        use.journalled = False
        await self.ledger.ended(use.entry, "failed", error=error)

    def refused(self, use: Use, error: str) -> Coroutine[object, object, None]:
        """It was not made. What it was is read at once, for nobody else needs its arguments any more."""
        return self.ledger.refused(self._new(use), error)

    async def cancelled(self, use: Use) -> None:
        """The script, or whoever ended the run, gave it up."""
        if not self.ledger.left:  # else it is the next host's to say what became of it
            await self.ledger.ended(use.entry, "cancelled")

    async def came_late(self, use: Use, outcome: str) -> None:
        """Its result, after it had been given up. Raises JournalError."""
        await self.ledger.came_late(use.entry, outcome)

    def _new(self, use: Use) -> NewCall:
        what = self._queued.get(use.number) or (use.names[0], use.method_used, self._digest(use))
        occurrence = self._occurrences[what]
        self._occurrences[what] += 1
        again = self._again.get(what)
        entry = use.number if use.number not in self._taken else max(self._taken) + 1
        self._enter(use, entry, again.popleft() if again else None)
        method = use.method
        repeatable = method is None or (method.annotations.trusted and method.annotations.read_only is True)
        idempotent = method is not None and method.idempotent
        return NewCall(
            number=use.entry,
            connector=use.names[0],
            method=use.method_used,
            arguments=_arguments(use),
            occurrence=occurrence,
            pass_number=self.ledger.pass_number,
            line=use.frame.line,
            idempotency_key=(use.key or use.call_id) if idempotent else None,
            repeatable=repeatable or idempotent,
            revertible=method is not None and method.revert is not None,
            on_rejection=use.on_rejection,
            policy=use.policy,
        )

    def _enter(self, use: Use, entry: int, key: str | None) -> None:
        self._taken.add(entry)
        self._queued.pop(use.number, None)
        self.shifted |= entry != use.number
        use.enter(entry, key)

    def _digest(self, use: Use) -> str:
        return digest_of_call(use.names[0], use.method_used, _arguments(use))

    def _identified(self, use: Use) -> Identification:
        """As the replay knows it: what is refused now may have been let through then, or the other way round."""
        what = use.names[0], use.method_used, self._digest(use)
        if self.replay is None:
            return what
        text = _text(use)
        if len(text) <= _MOST_OF_REFUSED or self.replay.knows(*what):
            return what
        others = ((*what[:2], digest_of_call(*what[:2], form)) for form in (text, _left_out(text)))
        return next((other for other in others if self.replay.knows(*other)), what)


def _arguments(use: Use) -> str:
    """As the journal keeps them. What an artifact is made of, it has as the artifact; what is refused, nobody sends."""
    text = _text(use)
    most = _MOST_OF_REFUSED if use.refused else _MOST_OF_HOST if use.frame.connector == HOST else MOST_GIVEN
    return text if len(text) <= most else _left_out(text)


def _text(use: Use) -> str:
    return use.frame.text or codec.dumps(use.frame.arguments)


def _left_out(text: str) -> str:
    return codec.dumps({"left_out": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()})


_MOST_OF_REFUSED = 64 * 1024
"""Characters. A script is refused a thousand calls, of twenty megabytes if it likes."""
_MOST_OF_HOST = 2 * 1024 * 1024
"""Characters. As much of it was kept in full at all times: what was recorded then is found by the same digest."""


async def _nothing() -> None:
    """Nothing to do."""


def key_of(call: Call) -> str:
    """By what its connector knows a call: the same for one that takes the place of another that failed."""
    return call.idempotency_key or f"{call.execution_id}.{call.number}"


def _keys_of_what_is_made_again(history: History) -> dict[tuple[str, str, str], collections.deque[str]]:
    """Of calls that are made again, by what they ask for: in order, and each once."""
    found: dict[tuple[str, str, str], collections.deque[str]] = {}
    used = {key_of(call) for call in history.calls}
    for call in sorted(history.superseded, key=lambda call: call.number):
        key = key_of(call)
        if key not in used:
            used.add(key)
            found.setdefault((call.connector, call.method, call.digest), collections.deque()).append(key)
    return found


def _entry(call: Call) -> Entry:
    settled = call.status in _SETTLED
    return Entry(call.number, call.connector, call.method, call.digest, settled, _shown(call.arguments))


def _asked(use: Use) -> str:
    return f"{use.path}{_shown(codec.dumps(use.frame.arguments))} (call {use.number}, line {use.frame.line})"


def _shown(arguments: str) -> str:
    return f"({one_line(arguments, _MAX_SHOWN)})"


_MAX_SHOWN = 200
"""Characters of the arguments of a call that a script did not ask for again."""


def rejected(connector: str, method: str, reason: str | None) -> CallError:
    """What the script is told where a person said no."""
    why = f": {reason}" if reason else ""
    return CallError("rejected", f"a person rejected {connector}.{method}{why}", hint=_GO_ON)


def expired(call: Call) -> CallError:
    """What is told where nobody answered."""
    until = f", until {call.expires_at:%Y-%m-%d %H:%M} UTC" if call.expires_at else ""
    return CallError("expired", f"nobody answered whether {call.connector}.{call.method} may be called{until}")


_GO_ON = "catch Rejected to go on without it"
