"""Asking a person about one call: first whether it could be made at all, then what it would do, then the question."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

from isolith.calling.waiting import edited, pending_call, put_down
from isolith.run.artifacts import with_artifacts
from isolith_bindings.beside import beside_where_much
from isolith_bindings.connector import Checks
from isolith_bindings.errors import CallError
from isolith_bindings.policy import ungoverned
from isolith_bindings.secrets import MASK
from isolith_runtime.guest import codec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from isolith.calling.use import Use
    from isolith.durable.record import CallRecorder
    from isolith.journal.model import Call
    from isolith.outcome import PendingCall
    from isolith.run.artifacts import ArtifactStore
    from isolith_bindings.connector import CallContext, Suspended
    from isolith_bindings.policy import Decision

EXPIRY = timedelta(days=7)
"""How long a question waits, where the host does not say otherwise. Nobody's answer ends the run."""

_OTHER_POLICY = "the policy has changed since it was approved"
_OTHER_METHOD = "the method has changed since it was approved, and would refuse it"
_MAX_EFFECT = 4000


class Asker:
    """Asks for one execution. `context` makes what a preview is called with; `expiry`: how long a question waits."""

    def __init__(
        self,
        recorder: CallRecorder,
        context: Callable[[Use], CallContext],
        artifacts: ArtifactStore,
        expiry: timedelta | None = None,
    ) -> None:
        self._recorder = recorder
        self._context = context
        self._artifacts = artifacts
        self._expiry = EXPIRY if expiry is None else expiry

    async def ask(self, use: Use, decision: Decision) -> PendingCall | None:
        """Put the question; None where a grant answers it. Raises CallError for what could not be made anyway."""
        given = await self._given(use)
        await beside_where_much(given, lambda: _check(use, given))
        use.policy, use.on_rejection = decision.version, decision.on_rejection
        effect = await self._effect(use)
        call = await self._recorder.asked(use, decision.reason, effect, datetime.now(UTC) + self._expiry)
        return None if call.status == "approved" else question(use, call)

    async def confirm(self, use: Use, call: Call, asks: Decision | None) -> PendingCall | None:
        """Take a yes for what it was said to; None where it holds, with the arguments that were allowed.

        It is asked for again where the policy asks by something else now (`asks`), or the method would refuse by now
        what it took then: who said yes may give it other arguments, or reject it. Raises JournalError.
        """
        others = edited(call)
        use.arguments = use.arguments if others is None else others
        if asks is not None:
            use.policy, use.on_rejection = asks.version, asks.on_rejection
            return await self._ask_again(use, f"{_OTHER_POLICY}: {asks.reason}", await self._effect(use))
        problem = await self._unfit(use) if call.question is None else None
        if problem is None:
            return None
        use.policy, use.on_rejection = call.policy, call.on_rejection
        return await self._ask_again(use, f"{_OTHER_METHOD}: {problem}", None)

    async def _ask_again(self, use: Use, reason: str, effect: str | None) -> PendingCall:
        return question(use, await self._recorder.asked_again(use, reason, effect, datetime.now(UTC) + self._expiry))

    async def _unfit(self, use: Use) -> CallError | None:
        """Why its method would refuse the arguments. A mask stands for what only the script knows: it is not judged."""
        try:
            given = await self._given(use)
            await beside_where_much(given, lambda: _check(use, given))
        except CallError as error:
            told = error.kind == "invalid_arguments" and MASK not in codec.dumps(use.arguments)
            return error if told else None
        return None

    async def put_off(self, use: Use, suspended: Suspended) -> PendingCall:
        """A call that was made, and whose server asks. Raises JournalError."""
        reason, kept = put_down(use, suspended)
        call = await self._recorder.put_off(use, reason, kept, datetime.now(UTC) + self._expiry)
        return question(use, call)

    async def _given(self, use: Use) -> dict[str, object]:
        """Its arguments as connectors take them. Raises CallError for an artifact of another execution."""
        return await with_artifacts(use.arguments, self._artifacts)

    async def _effect(self, use: Use) -> str | None:
        """What the method's `preview` says it would do. A preview that fails says so, and the person is asked."""
        connector, method = use.connector, use.method
        preview = None if method is None else method.preview
        if connector is None or preview is None:
            return None
        try:
            if callable(preview):
                given = await self._given(use)
                found = await beside_where_much(given, lambda: preview(**given))
                found = await cast("Awaitable[object]", found) if inspect.isawaitable(found) else found
            else:
                other = connector.methods[preview]
                found = await connector.call(other, await self._given(use), self._context(use))
        except Exception as error:  # noqa: BLE001 - the border to the connector's own code
            return f"its preview failed: {error}"[:_MAX_EFFECT]
        return None if found is None else str(found)[:_MAX_EFFECT]


def _check(use: Use, given: Mapping[str, object]) -> None:
    """Refuse what its connector would refuse: no person is asked about a call that cannot be made."""
    if use.connector is None or use.method is None or use.variant == "pages":
        return
    behind = ungoverned(use.connector)
    if isinstance(behind, Checks):
        behind.check(use.method, given)


def question(use: Use, call: Call) -> PendingCall:
    """What waits, as the outcome shows it."""
    return pending_call(use.call_id, use.arguments, call)
