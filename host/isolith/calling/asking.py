"""Asking a person about one call: first whether it could be made at all, then what it would do, then the question."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

from isolith.calling.waiting import edited, pending_call, put_down
from isolith.run.artifacts import with_references
from isolith_bindings.beside import beside_where_much
from isolith_bindings.connector import Checks
from isolith_bindings.policy import ungoverned

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

_CHANGED = "the policy has changed since it was approved"
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
        given = self._given(use)
        await beside_where_much(given, lambda: _check(use, given))
        use.policy, use.on_rejection = decision.version, decision.on_rejection
        effect = await self._effect(use)
        call = await self._recorder.asked(use, decision.reason, effect, datetime.now(UTC) + self._expiry)
        return None if call.status == "approved" else question(use, call)

    async def ask_again(self, use: Use, call: Call, decision: Decision) -> PendingCall:
        """Put it again to who said yes to another policy, with the arguments that were allowed. Raises JournalError."""
        use.arguments = edited(call) or use.arguments
        use.policy, use.on_rejection = decision.version, decision.on_rejection
        effect = await self._effect(use)
        reason = f"{_CHANGED}: {decision.reason}"
        return question(use, await self._recorder.asked_again(use, reason, effect, datetime.now(UTC) + self._expiry))

    async def put_off(self, use: Use, suspended: Suspended) -> PendingCall:
        """A call that was made, and whose server asks. Raises JournalError."""
        reason, kept = put_down(use, suspended)
        call = await self._recorder.put_off(use, reason, kept, datetime.now(UTC) + self._expiry)
        return question(use, call)

    def _given(self, use: Use) -> dict[str, object]:
        """Its arguments as connectors take them. Raises CallError for an artifact of another execution."""
        return cast("dict[str, object]", with_references(use.arguments, self._artifacts))

    async def _effect(self, use: Use) -> str | None:
        """What the method's `preview` says it would do. A preview that fails says so, and the person is asked."""
        connector, method = use.connector, use.method
        preview = None if method is None else method.preview
        if connector is None or preview is None:
            return None
        try:
            if callable(preview):
                given = self._given(use)
                found = await beside_where_much(given, lambda: preview(**given))
                found = await cast("Awaitable[object]", found) if inspect.isawaitable(found) else found
            else:
                other = connector.methods[preview]
                found = await connector.call(other, self._given(use), self._context(use))
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
