"""The durable side of one execution: journalled as it goes, put away while people think, gone on with later."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from isolith.calling.call_frames import diagnostic_of
from isolith.calling.call_variants import resolve_call
from isolith.calling.use import HOST, HOST_SHOWN, Identity, Use
from isolith.durable.record import CallRecorder, expired, rejected
from isolith.journal import model
from isolith.journal.errors import JournalUnavailable, LeaseLost, WrongStatus
from isolith.run import ending, gradual
from isolith_bindings.beside import beside_where_much
from isolith_bindings.errors import CallError
from isolith_runtime import protocol
from isolith_runtime.driver import State
from isolith_runtime.guest import codec
from isolith_runtime.limits import Stop

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith.calling.calls import CallDesk
    from isolith.durable.history import History
    from isolith.durable.ledger import Ledger
    from isolith.journal.model import Decided
    from isolith.outcome import Diagnostic, Outcome
    from isolith.run.artifacts import ArtifactStore
    from isolith.run.normalize import Prepared
    from isolith.run.order import Order
    from isolith.run.said import Said
    from isolith_runtime.driver import Guest, Supply
    from isolith_runtime.hibernation import Hibernation
    from isolith_runtime.inputs import Inputs


@dataclass(frozen=True)
class Durable:
    """Where an execution is journalled. With a `history`, `ledger` has its lease already, and the run goes on.

    `go_on`: load it from the journal and run it to its next end. `origin`: how its connectors are found again, as JSON.
    """

    ledger: Ledger
    go_on: Callable[[str, Ledger], Awaitable[Outcome]]
    history: History | None = None
    origin: str = "null"


class Durability:
    """What an execution does beside running where it is to outlive its process."""

    def __init__(
        self,
        durable: Durable,
        order: Order,
        inputs: Inputs,
        artifacts: ArtifactStore,
        diverged: Callable[[str, str], None],
    ) -> None:
        self._durable = durable
        self._order = order
        self._inputs = inputs
        self._artifacts = artifacts
        self._history = durable.history
        self._kept = 0
        self.recorder = CallRecorder(durable.ledger, lambda: inputs, diverged, self._history)
        self.recorder.before_outcome = self._keep_artifacts
        durable.ledger.teller.replaying = lambda: self.replays
        self._image = ""
        self._execution_id = ""
        self._created: asyncio.Task[None] | None = None
        for artifact, content in () if self._history is None else self._history.artifacts:
            artifacts.restore(artifact.handle, content, mime=artifact.mime, name=artifact.name)
            self._kept += 1

    @property
    def asleep(self) -> Hibernation | None:
        """The guest that was put away."""
        return None if self._history is None else self._history.hibernation

    @property
    def wall_s(self) -> float:
        """Seconds that passes before this one took, where they are not run again."""
        return 0.0 if self.asleep is None or self._history is None else self._history.wall_ms / 1e3

    @property
    def passes(self) -> int:
        """Which run of the guest this is."""
        return self._durable.ledger.pass_number

    @property
    def replays(self) -> bool:
        """Whether the journal says what the guest is given next."""
        return self.recorder.replay is not None and self.recorder.replay.under_way

    @property
    def begun_elsewhere(self) -> bool:
        """Whether it was begun in another image than this one."""
        return self._history is not None and self._history.order.image_digest != self._image

    def missing(self) -> str:
        """What the journal has and the script, at its end, never asked for."""
        return "" if self.recorder.replay is None else self.recorder.replay.missing()

    async def begin(self, execution_id: str, supply: Supply, start: str) -> str | None:
        """Make it known to the journal. Gives the first frame; None where the guest is woken. Raises JournalError."""
        self._execution_id, self._image = execution_id, supply.engine.meta.digest
        if self._history is not None:
            return start if self.asleep is None else None
        self._created = asyncio.create_task(self._durable.ledger.create(self._new(execution_id)))
        await asyncio.shield(self._created)
        return start

    def _new(self, execution_id: str, *, begun: bool = True) -> model.Order:
        """What was asked for. What never began is kept without what may be no data, or too large."""
        order, recording = self._order, self._inputs.recording()
        text = order.script if isinstance(order.script, str) else order.script.decode("utf-8", "replace")
        return model.Order(
            execution_id=execution_id,
            script=text if begun else text[:_MAX_REFUSED],
            input=codec.dumps(order.input) if begun else "null",
            principal=order.principal,
            session=order.session,
            budgets=order.budgets.model_dump_json(),
            image_digest=self._image,
            snippets=json.dumps(dict(order.snippets)),
            origin=self._durable.origin,
            seed=recording.seed,
            started_ns=recording.started_ns,
            result_schema=order.result_schema,
        )

    def restore(self, desk: CallDesk, said: Said) -> None:
        """The calls and the logs of a guest that wakes; what was answered since is answered now."""
        history = self._history
        assert history is not None  # noqa: S101 - there is something to wake
        said.restore(history.logs, history.warnings, truncated=history.truncated)
        desk.told(history.warnings)
        delivered = {number for batch in history.batches for number in batch}
        identity = Identity(self._execution_id, self._order.principal, self._order.session)
        for call in sorted(history.calls, key=lambda call: call.number):
            use = _use_of(call, identity, self._order)
            if call.number in delivered or call.status == "cancelled":
                use.status = "failed" if call.status not in _SHOWN else call.status  # type: ignore[assignment]
                _remember(use, call, self.recorder)
                desk.restore(use)
            else:
                desk.restore(use)
                self.recorder.apply(desk, use, call)

    def next_delivery(self) -> list[str] | None:
        """The frames that the guest was given next, in a replay; None where they answer what it never asked for."""
        assert self.recorder.replay is not None  # noqa: S101 - it replays
        numbers = self.recorder.replay.next_batch()
        if numbers is None:
            return None
        frames = [self.recorder.take_frame(number) for number in numbers]
        return None if None in frames else [frame for frame in frames if frame is not None]

    def delivered(self, desk: CallDesk, numbers: tuple[int, ...]) -> None:
        """The guest is given these answers now."""
        uses = [desk.find(number) for number in numbers]
        entries = tuple(use.entry for use in uses if use is not None)
        self._durable.ledger.delivered(entries, self._inputs, self.recorder.so_far())

    def decided(self, desk: CallDesk, decided: Decided) -> None:
        """A person has answered while the run is under way."""
        use = desk.find_entry(decided.call.number)
        if use is None:
            return
        if decided.call.status == "approved":
            use.approver = decided.decision.who
            desk.approved(use, decided.call)
        elif decided.call.status == "rejected":
            desk.reject(use, rejected(decided.call.connector, decided.call.method, decided.decision.reason))
        elif decided.call.status == "expired":
            desk.reject(use, expired(decided.call))

    def final(self, decided: Decided, script: Prepared) -> Diagnostic | None:
        """Why the run ends with this answer; None where it goes on."""
        call = decided.call
        if call.status != "rejected" or call.on_rejection != "end":
            return None
        error = rejected(call.connector, call.method, decided.decision.reason)
        return ending.of_rejection(script, call.line, str(error), f"{call.connector}.{call.method}")

    async def ended_by_people(self, desk: CallDesk, script: Prepared) -> Diagnostic | None:
        """The same of an answer that came from another process. Raises JournalError."""
        for decided in await self._durable.ledger.rejections():
            final = self.final(decided, script)
            if final is not None:
                self.decided(desk, decided)
                return final
        return None

    async def pause(self, guest: Guest, outcome: Outcome) -> bool:
        """Put the guest away. Whether people have answered meanwhile: then `go_on`. Raises JournalError."""
        wakes = guest.state is State.RESTING and not self.recorder.shifted
        asleep = await _put_away(guest) if wakes else None
        await self._keep_artifacts()
        kept = None if asleep is None else (asleep.to_bytes(), asleep.image)
        try:
            await self._durable.ledger.rest(self._inputs, await _text_of(outcome), _spent(outcome), kept)
        except WrongStatus:
            return True
        finally:
            if asleep is None:
                guest.stop(Stop.CANCELLED)
        await self._let_go()
        return False

    async def go_on(self) -> Outcome:
        """Run on from the journal, in an execution of its own, under the same lease."""
        await self._let_go()
        return await self._durable.go_on(self._execution_id, self._durable.ledger)

    async def _let_go(self) -> None:
        await gradual.let_go(self._order.catalog.connectors.values(), self._execution_id, "paused")

    async def end(self, outcome: Outcome) -> Outcome:
        """Write how it ended; `running` where it was left to another host. Raises JournalError.

        Where the journal cannot be written its lease is let go, or at least not renewed: whoever tends the journal goes
        on with it from what is there.
        """
        with contextlib.suppress(LeaseLost):  # it is another host's, which takes it over from the journal
            if not self._durable.ledger.left:
                try:
                    return await self._end(outcome)
                except JournalUnavailable:
                    await self._durable.ledger.leave()
                    raise
        return outcome.model_copy(update={"status": "running", "error": None})

    async def _end(self, outcome: Outcome) -> Outcome:
        if not await self._known():
            if self._created is not None or self._history is not None:
                return outcome
            await self._durable.ledger.create(self._new(outcome.execution_id, begun=False))  # it was refused
        await self._keep_artifacts()
        await self._durable.ledger.end(self._inputs, outcome.status, await _text_of(outcome), _spent(outcome))
        return outcome

    async def _known(self) -> bool:
        """Whether the journal knows of it; where it ends while that is being written, from then on."""
        if self._created is None:
            return self._history is not None and bool(self._execution_id)
        await asyncio.wait([self._created])
        return not self._created.cancelled() and self._created.exception() is None

    async def _keep_artifacts(self) -> None:
        """Bytes are in the journal before an outcome that names them."""
        new = self._artifacts.records()[self._kept :]
        self._kept += len(new)
        for record in new:
            content = self._artifacts.read(record.handle)
            await self._durable.ledger.keep(content, mime=record.mime, name=record.name, handle=record.handle)


async def _put_away(guest: Guest) -> Hibernation:
    kept: asyncio.Future[Hibernation | BaseException] = asyncio.get_running_loop().create_future()

    def put_away(found: Hibernation | BaseException) -> None:
        if not kept.done():
            kept.set_result(found)

    guest.hibernate(put_away)
    found = await kept
    if isinstance(found, BaseException):
        raise found
    return found


_MAX_REFUSED = 256 * 1024
"""Characters of a script that was refused, which may have been for its size."""

_SHOWN = {"completed", "failed", "cancelled", "rejected"}


async def _text_of(outcome: Outcome) -> str:
    """As JSON; written off the event loop where it holds much: a whole value, or the arguments of calls that wait."""
    much = {"value": outcome.value, "pending": [call.arguments for call in outcome.pending]}
    return await beside_where_much(much, outcome.to_json_text)


def _spent(outcome: Outcome) -> str:
    """What a pass and those before it spent."""
    return json.dumps(outcome.usage.model_dump(mode="json"))


def _use_of(call: model.Call, identity: Identity, order: Order) -> Use:
    """A call of the journal, as the desk holds it."""
    connector = HOST if call.connector == HOST_SHOWN else call.connector
    arguments = cast("dict[str, object]", codec.loads(call.arguments))
    frame = protocol.Call(call.number, connector, call.method, arguments, call.line, 0)
    name = identity.call_id(call.number)
    use = Use(frame, name, call.number, call.idempotency_key, arguments=frame.arguments)
    if connector != HOST:
        with contextlib.suppress(CallError):  # it is not there any more: making it will say so
            use.connector, use.method, use.variant = resolve_call(order.catalog, frame)
    return use


def _remember(use: Use, call: model.Call, recorder: CallRecorder) -> None:
    error = recorder.error_of(call)
    use.error = None if error is None or call.status == "cancelled" else diagnostic_of(use, error)
    duration = call.duration
    use.duration_ms = None if duration is None else round(duration.total_seconds() * 1e3, 3)
