"""`snippets.NAME(...)`: the script that was read runs in an isolate of its own, for the same principal and session.

To the script around it, it is one call: in its journal, under its policy, within its time. The run within is an
execution by itself, named as the call, with a journal of its own. It reaches the methods that were reviewed and no
others, spends the calls of the run around it, and is denied what is denied. Where one of its methods wants a person's
answer, the person is asked about the call of the snippet, with its exact input, before anything of it has run: what was
read and is approved so may then make its calls.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from isolith.budgets import UNLIMITED
from isolith.durable.durability import Durable
from isolith.durable.durable_runs import Doors, DurableRuns
from isolith.durable.ledger import LEASE, Ledger
from isolith.journal.errors import JournalError, Leased, UnknownEntry
from isolith.run import gradual
from isolith.run.artifacts import ArtifactStore, with_references
from isolith.run.order import Order
from isolith.snippets.content import methods_of, schema_of
from isolith.snippets.library import changes
from isolith.snippets.methods import narrowed
from isolith_bindings.errors import CallError
from isolith_bindings.schema.validate import Validator

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from isolith.budgets import Budgets
    from isolith.durable.history import History
    from isolith.journal.journal import Journal
    from isolith.journal.snippet_model import Snippet
    from isolith.outcome import Outcome
    from isolith.run.execution import Execution
    from isolith_bindings.catalog import Catalog
    from isolith_bindings.connector import ArtifactRef, CallContext
    from isolith_runtime.driver import Supply

_KEPT = frozenset({"denied", "rejected", "expired", "calls_exceeded", "tool_timeout", "tool_unavailable"})
"""Kinds of failures that the script around it may handle as its own."""
_TRIES = 5


@dataclass(frozen=True)
class Nesting:
    """What a run within a run needs of whoever holds the connectors."""

    journal: Callable[[], Awaitable[Journal]]
    find: Callable[[str], Execution | None]
    begin: Callable[[Order], Execution]
    supply: Callable[[Budgets], Awaitable[Supply]]
    owner: str


class Nested:
    """One call of a snippet. `catalog`: all that is connected."""

    def __init__(self, nesting: Nesting, catalog: Catalog, name: str, context: CallContext) -> None:
        self._nesting = nesting
        self._catalog = catalog
        self._name = name
        self._context = context
        self._started: Execution | None = None

    async def value(self, arguments: Mapping[str, object]) -> object:
        """What it comes to. Raises CallError."""
        around = self._nesting.find(self._context.execution_id)
        if around is None or self._name not in around.order.snippets:
            raise CallError("unknown_tool", f"this run knows no snippet `{self._name}`")
        try:
            journal = await self._nesting.journal()
            snippet = await journal.snippets.get(self._name, around.order.snippets[self._name])
            paths = " ".join(methods_of(snippet))
            await gradual.known(self._catalog.connectors, paths, around.order.budgets.call_s)
            self._refuse(snippet, arguments)
            outcome = await self._counted(journal, snippet, arguments, around)
        except JournalError as error:
            raise CallError("tool_unavailable", f"snippets.{self._name}: {error}", retriable=True) from error
        return self._result(outcome)

    async def _counted(
        self, journal: Journal, snippet: Snippet, arguments: Mapping[str, object], around: Execution
    ) -> Outcome:
        """Its outcome. What it used is counted also where it is given up, or a script would give up each in turn."""
        budgets, allowance = _within(around), around.allowance
        allowance.nested_runs += 1
        try:
            outcome = await self._outcome(journal, snippet, arguments, around, budgets)
        except asyncio.CancelledError:
            if self._started is not None:
                self._started.cancel()
                given_up = await asyncio.shield(self._started.outcome())
                allowance.spend_cpu(given_up.usage.cpu_ms)
            raise
        finally:
            allowance.nested_runs -= 1
        allowance.spend_cpu(outcome.usage.cpu_ms)
        return outcome

    def _refuse(self, snippet: Snippet, arguments: Mapping[str, object]) -> None:
        path = f"snippets.{snippet.name}"
        if snippet.state != "approved":
            by = f" by {snippet.reviewed_by}" if snippet.reviewed_by else ""
            raise CallError("denied", f"version {snippet.version} of {path} was {snippet.state}{by}")
        found = changes(snippet, self._catalog)
        if found:
            message = f"version {snippet.version} of {path} is not what was approved: {'; '.join(found)}"
            raise CallError("denied", message, hint="have it proposed and reviewed again")
        problems = Validator(schema_of(snippet)).problems(dict(arguments))
        if problems:
            raise CallError("invalid_arguments", f"{path}: {'; '.join(map(str, problems))}")

    async def _outcome(
        self, journal: Journal, snippet: Snippet, arguments: Mapping[str, object], around: Execution, budgets: Budgets
    ) -> Outcome:
        catalog = narrowed(self._catalog, snippet)

        def begin(history: History | None, budgets: Budgets, durable: Durable) -> Execution:
            order = self._order(snippet, arguments, around, catalog, budgets)
            given = order.input if history is None else history.input
            self._started = self._nesting.begin(replace(order, input=given, durable=durable))
            return self._started

        doors = Doors(begin, self._nesting.find, self._nesting.supply, within=True)
        runs = DurableRuns(journal, doors, self._nesting.owner)
        try:
            await journal.executions.get(self._context.call_id)
        except UnknownEntry:
            # Begins as `journal.executions.WITHIN` says.
            origin = json.dumps({"within": self._context.execution_id, "snippet": [snippet.name, snippet.version]})
            durable = Durable(Ledger(journal, self._nesting.owner), runs.keep_on, None, origin)
            return await self._followed(begin(None, budgets, durable))
        return await self._gone_on(runs)

    def _order(
        self,
        snippet: Snippet,
        arguments: Mapping[str, object],
        around: Execution,
        catalog: Catalog,
        budgets: Budgets,
    ) -> Order:
        return Order(
            snippet.code,
            dict(arguments),
            budgets,
            (),
            catalog,
            lambda: self._nesting.supply(budgets),
            self._context.principal,
            self._context.session,
            check="off",
            execution_id=self._context.call_id,
            around=around.allowance,
        )

    async def _followed(self, execution: Execution) -> Outcome:
        """Its outcome; whatever happens in it counts as progress of the call."""
        done = 0
        async for _ in execution.events():
            done += 1
            self._context.progress(done)
        return await execution.outcome()

    async def _gone_on(self, runs: DurableRuns) -> Outcome:
        """One that was begun by a host that stopped, or failed before: its journal goes on."""
        for _ in range(_TRIES):
            outcome = await runs.outcome(self._context.call_id)
            try:
                if outcome.status in {"failed", "cancelled", "running"}:
                    return await runs.retry(self._context.call_id)
                if outcome.status == "paused" and not outcome.pending:
                    return await runs.resume(self._context.call_id)
            except Leased:
                self._context.progress(0)
                await asyncio.sleep(LEASE.total_seconds() / (_TRIES - 1))  # who had it has stopped
            else:
                return outcome
        raise CallError("tool_unavailable", f"another host is at work on snippets.{self._name}", retriable=True)

    def _result(self, outcome: Outcome) -> object:
        path, execution_id = f"snippets.{self._name}", self._context.call_id
        if outcome.status == "completed":
            handed = _Handed(self._started, self._context)
            return with_references(outcome.value, handed)
        if outcome.status == "paused":
            message = f"{path} waits for a person, in execution {execution_id}: what it did before is not known"
            raise CallError("tool_unavailable", message, hint="have it decided there, then retry this run")
        error = outcome.error
        if error is None:
            raise CallError("tool_error", f"{path} ended as {outcome.status}")
        kind = error.kind if error.kind in _KEPT else "tool_error"
        line = f", line {error.line}" if error.line else ""
        raise CallError(kind, f"{path}{line}: {error.message}", hint=error.hint)


class _Handed(ArtifactStore):
    """The artifacts of the run within, kept by the one around it where its value names them."""

    def __init__(self, within: Execution | None, context: CallContext) -> None:
        super().__init__()
        self._within, self._context = within, context

    def known(self, handle: str) -> ArtifactRef:
        if self._within is None:
            raise CallError("invalid_result", f"the artifact `{handle:.60}` is not there any more")
        try:
            kept = self._within.artifacts.kept(handle)
        except KeyError as error:
            raise CallError("invalid_result", f"there is no artifact `{handle:.60}`") from error
        return self._context.artifacts.keep(kept.content, mime=kept.record.mime, name=kept.record.name)


def _within(around: Execution) -> Budgets:
    """What the run within may spend. Raises CallError where nothing is left."""
    budgets = around.order.budgets
    left = around.allowance.share_of_cpu()
    if left < 1:
        raise CallError("calls_exceeded", "the snippets of this run have spent its `cpu_ms`")
    return budgets.model_copy(
        update={
            "cpu_ms": left,
            "value_tokens": UNLIMITED,
            "input_bytes": max(budgets.input_bytes, budgets.argument_bytes),
        }
    )
