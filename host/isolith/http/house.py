"""What all operations work on: the code mode, what runs in the background of requests, and whether all is to end."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, TypeVar

from starlette.responses import Response

from isolith.errors import IsolithError
from isolith.http.problems import Problem, not_found
from isolith.internal import internal_error
from isolith.journal.errors import UnknownEntry
from isolith.json_form import to_json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from isolith.code_mode import CodeMode
    from isolith.durable.durable_runs import DurableRuns
    from isolith.http.rates import Rates
    from isolith.journal.journal import Journal
    from isolith.journal.model import Execution
    from isolith.outcome import Outcome
    from isolith.tokens import Access

T = TypeVar("T")

_TURN_S: Final = 60.0
_POLL_S: Final = 0.2
"""Seconds between two looks for what another host does."""


class House:
    """Shared by all requests of one app. In one event loop."""

    def __init__(self, code_mode: CodeMode, rates: Rates) -> None:
        self.code_mode = code_mode
        self.rates = rates
        self.stopping = asyncio.Event()
        """Set when the server is to end: what waits answers at once, and nothing new is begun."""
        self._turns = asyncio.Semaphore(rates.limits.host_runs)
        self._work: set[asyncio.Task[object]] = set()

    async def runs(self) -> DurableRuns:
        """The runs of the journal."""
        return await self.code_mode.runs()

    async def journal(self) -> Journal:
        """The journal."""
        return (await self.code_mode.runs()).journal

    async def seen(self, access: Access, execution_id: str) -> Execution:
        """An execution that this access may know of. Raises Problem: others look as if they were not there."""
        with contextlib.suppress(UnknownEntry):
            found = await (await self.journal()).executions.get(execution_id)
            if access.sees_all or found.principal == access.principal:
                return found
        raise not_found(f"there is no execution {execution_id}, or no longer")

    async def turn(self) -> Callable[[], None]:
        """Wait for room for one more run; call what is given at its end. Raises Problem where there is none."""
        try:
            async with asyncio.timeout(_TURN_S):
                await self._turns.acquire()
        except TimeoutError:
            detail = f"for {_TURN_S:g} seconds this host had no room for another run: ask again in 5 s"
            raise Problem(503, "busy", detail, "tool_unavailable", {"Retry-After": "5"}) from None
        return self._turns.release

    async def room(self, principal: str | None) -> Callable[[], None]:
        """Room for one more run, whichever door it comes by; call what is given at its end.

        Raises Problem, which says when to come back: for a principal with too many runs, at a host that is full, and at
        one that is about to stop.
        """
        with ExitStack() as taken:
            taken.callback(self.rates.begin_run(principal))
            taken.callback(await self.turn())
            if self.stopping.is_set():
                raise _stopping()
            return taken.pop_all().close

    def begin(self, work: Coroutine[object, object, T]) -> asyncio.Task[T]:
        """Work that goes on when whoever asked for it has gone. Raises Problem where all is to end."""
        if self.stopping.is_set():
            work.close()
            raise _stopping()
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[object]) -> None:
        self._work.discard(task)
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, IsolithError):
            internal_error(error)

    async def settle(self, execution_id: str, wait_s: float) -> Outcome:
        """How an execution stands when it ends, pauses, or the time is over."""
        runs, deadline = await self.runs(), asyncio.get_running_loop().time() + wait_s
        while True:
            running = self.code_mode.find(execution_id)
            left = deadline - asyncio.get_running_loop().time()
            if running is not None and left > 0 and not self.stopping.is_set():
                await self._until(running.outcome(), left)
            outcome = await runs.outcome(execution_id)
            left = deadline - asyncio.get_running_loop().time()
            if outcome.status != "running" or left <= 0 or self.stopping.is_set():
                return outcome
            if running is None:
                await asyncio.sleep(min(_POLL_S, left))

    async def until(self, task: asyncio.Task[T], made: asyncio.Event) -> None:
        """Wait until work is done, or what was asked for is in the journal. Raises as the work does."""
        waiting = asyncio.create_task(made.wait())
        try:
            await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if task.done():
            await task

    async def after(self, task: asyncio.Task[Outcome], execution_id: str, wait_s: float) -> Response:
        """What work came to, or how its execution stands when the time is over: 202, for it goes on."""
        stopping = asyncio.create_task(self.stopping.wait())
        try:
            await asyncio.wait([task, stopping], timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        outcome = await task if task.done() else await (await self.runs()).outcome(execution_id)
        return outcome_response(outcome, 200 if task.done() else 202)

    async def ours(self, execution_id: str) -> bool:
        """Whether it was begun with the connectors and the policy of this host, so that this host may go on with it."""
        order = await (await self.journal()).executions.order(execution_id)
        return order.origin == self.code_mode.origin

    async def must_be_ours(self, execution_id: str) -> None:
        """Raises Problem for an execution that only another host can go on with."""
        if not await self.ours(execution_id):
            detail = f"execution {execution_id} was begun with other connectors or another policy, elsewhere"
            raise Problem(409, "other-origin", detail)

    async def _until(self, ended: Coroutine[object, object, object], timeout_s: float) -> None:
        waits = [asyncio.ensure_future(ended), asyncio.ensure_future(self.stopping.wait())]
        try:
            await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiting in waits:
                waiting.cancel()


def _stopping() -> Problem:
    detail = "this host is about to stop: ask again in 2 s"
    return Problem(503, "stopping", detail, "tool_unavailable", {"Retry-After": "2"})


def json_response(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A body of JSON by the rules of every other door."""
    return Response(to_json_text(value), status, {**(headers or {}), **_PRIVATE}, "application/json")


def outcome_response(outcome: Outcome, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """The envelope. 202 in place of `status` while it is running."""
    status = 202 if outcome.status == "running" else status
    where = {"Location": f"/v1/executions/{outcome.execution_id}"} if status in {201, 202} else {}
    return json_response(outcome.to_json(), status, {**where, **(headers or {})})


_PRIVATE: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
