"""Code mode: connectors on one side, scripts on the other. The library's front door."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Self

import anyio.to_thread

from isolith.approvals.grants import Grants
from isolith.approvals.linking import Links, key_of_links
from isolith.budgets import Budgets
from isolith.durable.durability import Durable
from isolith.durable.durable_runs import Doors, DurableRuns
from isolith.durable.handing_over import hand_over
from isolith.durable.journals import Journals
from isolith.durable.ledger import Ledger
from isolith.durable.revert_checks import DeclaredReverts
from isolith.durable.rollback import Undoer
from isolith.durable.tending import tend
from isolith.errors import UsageError
from isolith.idle_rules import IdleRules
from isolith.journal.owners import Owner
from isolith.options import ceilings_given, check_options, connectors_given, policy_given
from isolith.run import gradual
from isolith.run.order import Order
from isolith.run.readiness import PATIENCE_S, may_ask, wait_ready
from isolith.run.supply import get_supply, ready_supply
from isolith.run.type_checker import type_checker
from isolith.run.under_way import UnderWay
from isolith.snippets.calls import Nested, Nesting
from isolith.snippets.library import Snippets
from isolith.snippets.methods import SnippetCatalog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from types import TracebackType

    from isolith.approvals.linking import Key
    from isolith.approvals.terms import GrantTerms
    from isolith.budgets import HostPolicy
    from isolith.calling.questions import Questions
    from isolith.durable.history import History
    from isolith.durable.reverts import Revert
    from isolith.journal.journal import Journal
    from isolith.outcome import Outcome
    from isolith.run.checking import CheckMode
    from isolith.run.execution import Execution
    from isolith.run.type_checker import Types
    from isolith_bindings.connector import CallContext, Connector
    from isolith_bindings.policy import Policy, Preset
    from isolith_runtime.driver import Supply
    from isolith_runtime.engine import Variant
    from isolith_runtime.inputs import Recording


class CodeMode:
    """Runs scripts against a set of connectors, each in an isolate of its own.

    `connectors`: decorated classes, instances, modules, functions or `Connector`s. `policy`: a preset by its name, or a
    `Policy` with rules; what it denies exists for no script, what it asks about pauses the run. `journal`: where runs
    are kept that wait for a person or outlive this process, a file or `postgresql://...`; without one, runs that wait
    are kept until this is closed. `origin`: how the connectors are found again, as JSON of the caller's, kept with each
    run. `tend`: take over runs of this origin whose host stopped, and end those whose questions nobody answered; by
    default where a journal was given. `check`: `strict` refuses what is certainly wrong before it runs; `warn` only
    says so; `off`. `types`: a type checker that looks at each script beside its run, and warns: `auto` for ty where it
    is installed: 0.05 s of CPU for a new script; `ty`, `pyright` or `mypy`, which the end of a run waits for;
    `off`. `ceilings`: how far a caller may raise a budget. `home`: where images are kept, in place of the
    user's cache folder. `reverts`: what undoes methods that do not say so themselves, `connector.method` to a `Revert`
    or to another `connector.method`. `questions`: answers what a server asks a person during a call (MCP's
    elicitation), or `pause`, and the run waits for a person; without it, declined at once. `link_key`: what approval
    links are signed with, 32 bytes or more; without it, a file beside the journal. Use it as `async with`, so that
    connectors are closed; safe for many executions at a time, in one event loop. Servers behind connectors are
    started when a script first needs them; `warm`: all of them with this.
    """

    def __init__(  # noqa: PLR0913 - all are options
        self,
        connectors: Iterable[object] = (),
        *,
        policy: Policy | Preset = "trusted",
        journal: Journal | str | Path | None = None,
        origin: str = "null",
        tend: bool | None = None,
        check: CheckMode = "strict",
        types: Types = "off",
        ceilings: HostPolicy | None = None,
        home: Path | None = None,
        reverts: Mapping[str, Revert | str] | None = None,
        questions: Questions | None = None,
        warm: bool = False,
        link_key: Key | None = None,
    ) -> None:
        check_options(check=check, types=types, questions=questions, origin=origin, journal=journal)
        self._questions: Questions | None = questions
        self.policy = policy_given(policy)
        self.connectors: list[Connector] = connectors_given(connectors, self.policy)
        self.catalog = SnippetCatalog(self.connectors, self.policy, self._call_snippet)
        self._owner = Owner()
        self._journals = Journals(journal)
        self.snippets = Snippets(self._journals.open, self.catalog, self._supply, self._read_snippets)
        self.grants = Grants(self._journals.open, self.catalog)
        self.links = Links(partial(key_of_links, link_key, self._journals), self.runs)
        self._origin = origin
        self._tend = self._journals.given if tend is None else tend
        self._tending: asyncio.Task[None] | None = None
        self._warm = warm
        self._warming: asyncio.Task[list[Connector]] | None = None
        self._check: CheckMode = check
        self._types: Types = types
        type_checker(types)  # one that is named is there
        self.ceilings = ceilings_given(ceilings)
        self._home = home
        self._declared = DeclaredReverts(self.catalog, reverts)
        self._idle_rules = IdleRules(self.policy, self.catalog)
        self._under_way = UnderWay(self._journals.open)
        self._closed = False

    async def __aenter__(self) -> Self:
        self._closed = False
        await asyncio.gather(*(connector.start() for connector in self.connectors))
        self.catalog.follow()
        self._declared.look()
        self._idle_rules.look()
        if self._warm:
            self._warming = asyncio.create_task(self.ready())
        await self._read_snippets()
        if self._tend:
            self._tending = asyncio.create_task(self._tend_runs())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cancel what runs, wait for its outcomes, close the connectors. Idempotent."""
        for task in filter(None, (self._tending, self._warming)):
            task.cancel()
            await asyncio.wait([task])
        await self._under_way.cancel()
        await gradual.left()
        await asyncio.gather(*(connector.aclose() for connector in self.connectors))
        await self._journals.close()
        self._under_way.forget()
        self._closed = True

    def _refuse_closed(self) -> None:
        if self._closed:
            raise UsageError("this CodeMode is closed, and its connectors with it: use it within its `async with`")

    async def leave(self, grace_s: float) -> None:
        """Before `aclose`: let runs go on for some time, then leave what is journalled to whoever has the journal."""
        if self._tending is not None:
            self._tending.cancel()
        await hand_over(self._under_way.running, grace_s)

    async def ready(self, patience_s: float = PATIENCE_S) -> list[Connector]:
        """Start what is not started yet, and wait until it is known what all offer. Gives those that are not there."""
        absent = await wait_ready(self.connectors, patience_s)
        self._idle_rules.look()
        return absent

    async def end_session(self, session: str, principal: str | None = None) -> None:
        """Stop the servers that were running for this session alone: it has ended."""
        await gradual.end_session(self.connectors, principal, session)

    async def _tend_runs(self) -> None:
        await tend(await self.runs(), self._under_way.running, self._origin, self._read_snippets)

    async def rollback(self, execution_id: str, *, again: bool = False) -> Outcome:
        """Undo what a run did that has ended, its last call first: see `DurableRuns.rollback`."""
        return await (await self.runs()).rollback(execution_id, again=again)

    @property
    def origin(self) -> str:
        """How its connectors are found again: runs of another origin are not gone on with here."""
        return self._origin

    async def runs(self) -> DurableRuns:
        """The runs of the journal: what waits for people, and what can be gone on with. UsageError once closed."""
        self._refuse_closed()
        doors = Doors(self._go_on, self.find, self._supply, Undoer(self.catalog, self._declared.reverts), self._let_go)
        return DurableRuns(await self._journals.open(), doors, self._owner.name)

    async def approve(  # noqa: PLR0913 - the parts of one answer
        self,
        execution_id: str,
        call_id: str,
        *,
        who: str = "the host",
        digest: str | None = None,
        arguments: dict[str, object] | None = None,
        answer: dict[str, object] | None = None,
        grant: GrantTerms | None = None,
    ) -> Outcome:
        """Let a pending call be made, with its own arguments or with these; or give the `answer` its server asks for.

        `grant`: let further calls of the same method be made unasked, so many, for so long: `GrantTerms(uses=5)`.
        Where nothing is pending then, the run goes on to its next end, which is the outcome. Raises JournalError:
        AlreadyDecided, DigestMismatch, UnknownEntry; and UsageError for an answer or a grant that does not fit.
        """
        runs = await self.runs()
        return await runs.decide(
            execution_id, call_id, "approve", who=who, digest=digest, arguments=arguments, answer=answer, grant=grant
        )

    async def reject(
        self,
        execution_id: str,
        call_id: str,
        *,
        who: str = "the host",
        digest: str | None = None,
        reason: str | None = None,
    ) -> Outcome:
        """Refuse a pending call: `Rejected` is raised in the script, or the run ends, as the rule that asked says.

        Otherwise as `approve`.
        """
        runs = await self.runs()
        return await runs.decide(execution_id, call_id, "reject", who=who, digest=digest, reason=reason)

    def start(  # noqa: PLR0913 - all but the script are options
        self,
        script: str | bytes,
        *,
        input: object = None,  # noqa: A002 - the contract's name
        budgets: Budgets | None = None,
        result_type: object = None,
        principal: str | None = None,
        session: str | None = None,
        replay: Recording | None = None,
        execution_id: str | None = None,
    ) -> Execution:
        """Begin a script and return at once; in a running event loop. Raises for misuse only: failures are outcomes.

        `execution_id`: a new one, where the caller has to know it before; unguessable, for whoever has it may ask.
        """
        self._refuse_closed()
        granted, warnings = self.ceilings.clamp(budgets or Budgets())
        durable = self._durable()
        types = self._under_way.result_types
        wanted = types.wanted(result_type, may_wait=durable is not None, elsewhere=self._journals.given)
        order = Order(
            script,
            input,
            granted,
            tuple(warnings),
            self.catalog,
            partial(self._supply, granted),
            principal,
            session,
            wanted.validate,
            replay,
            self._check,
            self.policy,
            durable,
            self.catalog.versions if self._journals.given else {},
            result_schema=wanted.schema,
            questions=self._questions,
            execution_id=execution_id,
            types=self._types,
        )
        return self._under_way.begin(order)

    async def artifact(self, execution_id: str, handle: str) -> bytes:
        """The bytes under a handle of `outcome.artifacts`, while the run is under way and after its end.

        A run that is journalled has them there; of others the latest are kept until this is closed, 64 MiB in all.
        Raises UnknownEntry.
        """
        self._refuse_closed()
        return await self._under_way.artifact(execution_id, handle)

    def _durable(self) -> Durable | None:
        """Where a new run is journalled: where there is a journal, and where it may have to wait for a person."""
        if not self._journals.given and self._questions != "pause" and not may_ask(self.connectors, self.policy):
            return None
        return Durable(Ledger(self._journals.open, self._owner.name), self._keep_on, None, self._origin)

    def _go_on(self, history: History, budgets: Budgets, durable: Durable) -> Execution:
        order = history.order
        return self._under_way.begin(
            Order(
                order.script,
                history.input,
                budgets,
                (),
                self.catalog,
                partial(self._supply, budgets),
                order.principal,
                order.session,
                self._under_way.result_types.of(order.execution_id, order.result_schema),
                check="off",
                policy=self.policy,
                durable=durable,
                snippets=json.loads(order.snippets),
                questions=self._questions,
            )
        )

    async def _call_snippet(self, name: str, arguments: Mapping[str, object], context: CallContext) -> object:
        nesting = Nesting(self._journals.open, self.find, self._under_way.begin, self._supply, self._owner.name)
        return await Nested(nesting, self.catalog, name, context).value(arguments)

    async def _read_snippets(self) -> None:
        """Those that are approved now; where no journal was given, there are none."""
        if self._journals.given:
            self.catalog.put(await (await self._journals.open()).snippets.find({"approved"}))

    async def _let_go(self, execution_id: str) -> None:
        await gradual.let_go(self.connectors, execution_id)

    async def _keep_on(self, execution_id: str, ledger: Ledger) -> Outcome:
        return await (await self.runs()).keep_on(execution_id, ledger)

    @property
    def journalled(self) -> bool:
        """Whether runs are kept beyond this process: whether a journal was given."""
        return self._journals.given

    def when_begun(self, callback: Callable[[Execution], object]) -> None:
        """Call back with every run that begins here, also where it goes on from the journal."""
        self._under_way.when_begun(callback)

    def find(self, execution_id: str) -> Execution | None:
        """The execution of this id, where it runs here."""
        return self._under_way.find(execution_id)

    async def _supply(self, budgets: Budgets) -> Supply:
        variant: Variant = "epoch" if budgets.fuel is None else "fuel"
        ready = ready_supply(variant, self._home)
        if ready is None:
            ready = await anyio.to_thread.run_sync(partial(get_supply, variant, self._home))
        return ready

    async def execute(
        self,
        script: str | bytes,
        *,
        input: object = None,  # noqa: A002 - the contract's name
        budgets: Budgets | None = None,
        result_type: object = None,
        principal: str | None = None,
        session: str | None = None,
    ) -> Outcome:
        """Run a script to its end. `result_type` validates its value. Cancelling this cancels the execution."""
        execution = self.start(
            script, input=input, budgets=budgets, result_type=result_type, principal=principal, session=session
        )
        try:
            return await execution.outcome()
        except asyncio.CancelledError:
            execution.cancel()
            await execution.outcome()
            raise

    def execute_sync(
        self,
        script: str | bytes,
        *,
        input: object = None,  # noqa: A002 - the contract's name
        budgets: Budgets | None = None,
        result_type: object = None,
        principal: str | None = None,
        session: str | None = None,
    ) -> Outcome:
        """`execute` without an event loop of the caller's; connectors are started and closed around it."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise UsageError("execute_sync was called in a running event loop: write `await code_mode.execute(...)`")

        async def once() -> Outcome:
            async with self:
                return await self.execute(
                    script, input=input, budgets=budgets, result_type=result_type, principal=principal, session=session
                )

        return asyncio.run(once())
