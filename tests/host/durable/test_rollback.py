"""What an execution did is undone: in reverse, once, and with the truth about what nobody knows."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import pytest
from tests.host.journal.support import Clock, created

from isolith import CodeMode, Revert, UsageError
from isolith.calling.call_frames import error_of
from isolith.durable.ledger import LEASE
from isolith.journal.errors import Leased, WrongStatus
from isolith.journal.model import NewCall
from isolith_bindings.connector import Annotations, CallContext, Hook, Method
from isolith_bindings.testing import a_method
from isolith_runtime.guest import codec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isolith.journal import Journal, Lease
    from isolith.journal.statuses import ExecutionStatus

pytestmark = pytest.mark.anyio


@dataclass
class Shop:
    """A connector whose methods are undone in different ways, and what was undone."""

    name: str = "shop"
    description: str = ""
    excluded: Mapping[str, str] = field(default_factory=dict[str, str])
    undone: list[object] = field(default_factory=list[object])
    methods: dict[str, Method] = field(default_factory=dict[str, Method])
    answer: Callable[[dict[str, object]], object] = lambda _: None

    def add(self, name: str, *parameters: str, revert: Hook | None = None, idempotent: bool = False) -> None:
        properties: dict[str, object] = {parameter: {} for parameter in parameters}
        made = a_method(name)
        schema: dict[str, object] = {"type": "object", "properties": properties}
        self.methods[name] = replace(made, parameters=schema, revert=revert, idempotent=idempotent)

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        self.undone.append((method.name, dict(arguments), context.call_id.rpartition(".")[0].rpartition(".")[2]))
        return self.answer(dict(arguments))

    async def start(self) -> None: ...

    async def aclose(self) -> None: ...

    def take_back(self, *, arguments: dict[str, object], result: object) -> None:
        self.undone.append((arguments, result))


@pytest.fixture
def shop() -> Shop:
    made = Shop()
    made.add("order", revert=made.take_back)
    made.add("look", "n")
    return made


async def call(journal: Journal, lease: Lease, number: int, method: str, outcome: str | None = None) -> None:
    new = NewCall(number, "shop", method, codec.dumps({"n": number}), revertible=True)
    await journal.calls.start(lease, [new])
    if outcome is not None:
        await journal.calls.end(lease, number, "completed", outcome=outcome)


async def ended(journal: Journal, lease: Lease, status: ExecutionStatus = "completed") -> str:
    await journal.executions.move(lease, status)
    return lease.execution_id


async def statuses(journal: Journal, execution_id: str) -> list[str]:
    return [found.status for found in await journal.calls.of(execution_id)]


async def test_the_last_call_is_undone_first(journal: Journal, shop: Shop) -> None:
    lease = await created(journal)
    for number in (1, 2, 3):
        await call(journal, lease, number, "order", f'"r{number}"')
    await call(journal, lease, 4, "look", "1")
    execution_id = await ended(journal, lease)
    outcome = await CodeMode([shop], journal=journal).rollback(execution_id)
    assert shop.undone == [({"n": 3}, "r3"), ({"n": 2}, "r2"), ({"n": 1}, "r1")]
    assert outcome.status == "rolled_back"
    assert [warning.message for warning in outcome.warnings] == [
        "what these did was not undone: shop.look: no `revert` is known"
    ]
    assert await statuses(journal, execution_id) == ["reverted", "reverted", "reverted", "completed"]
    passes = await journal.story.passes(execution_id)
    assert [(made.how, made.ending) for made in passes] == [("rollback", "done")]
    assert (await journal.records.verify(execution_id)).findings == ()
    with pytest.raises(WrongStatus, match="already"):
        await CodeMode([shop], journal=journal).rollback(execution_id)


async def test_by_another_method_of_the_connector(journal: Journal, shop: Shop) -> None:
    shop.add("reserve", revert="release")
    shop.add("release", "n", "result")
    lease = await created(journal)
    await call(journal, lease, 1, "reserve", '{"id":7}')
    execution_id = await ended(journal, lease)
    await CodeMode([shop], journal=journal).rollback(execution_id)
    assert shop.undone == [("release", {"n": 1, "result": {"id": 7}}, "1")]


async def test_by_configuration(journal: Journal, shop: Shop) -> None:
    shop.add("close", "id", "why", "price")
    lease = await created(journal)
    await call(journal, lease, 1, "look", '{"ticket":{"ids":[5,6]}}')
    execution_id = await ended(journal, lease)
    arguments = {"id": "$result.ticket.ids.1", "why": {"n": "$arguments.n"}, "price": "$$5"}
    reverts: dict[str, Revert | str] = {"shop.look": Revert(method="shop.close", arguments=arguments)}
    outcome = await CodeMode([shop], journal=journal, reverts=reverts).rollback(execution_id)
    assert outcome.status == "rolled_back"
    assert shop.undone == [("close", {"id": 6, "why": {"n": 1}, "price": "$5"}, "1")]


async def test_what_is_not_connected_any_more_is_said(journal: Journal, shop: Shop) -> None:
    lease = await created(journal)
    await call(journal, lease, 1, "order", "1")
    await journal.calls.start(lease, [NewCall(2, "gone", "add", "{}")])
    await journal.calls.end(lease, 2, "completed", outcome="2")
    execution_id = await ended(journal, lease)
    outcome = await CodeMode([shop], journal=journal, reverts={"gone.add": "gone.remove"}).rollback(execution_id)
    assert outcome.status == "completed"
    assert await statuses(journal, execution_id) == ["reverted", "revert_failed"]


async def test_what_fails_is_said_and_the_rest_goes_on(journal: Journal, shop: Shop) -> None:
    async def refuse(*, arguments: object, result: object) -> None:
        raise ValueError(f"no {arguments} {result}")

    shop.add("pay", revert=refuse)
    shop.add("send", revert="missing")
    lease = await created(journal)
    await call(journal, lease, 1, "order", "1")
    await call(journal, lease, 2, "pay", "2")
    await call(journal, lease, 3, "send", "3")
    execution_id = await ended(journal, lease)
    code_mode = CodeMode([shop], journal=journal)
    outcome = await code_mode.rollback(execution_id)
    assert outcome.status == "completed"
    assert (await journal.executions.get(execution_id)).rollback == "partial"
    assert await statuses(journal, execution_id) == ["reverted", "revert_failed", "revert_failed"]
    told = (await journal.calls.get(execution_id, 2)).error
    assert "no {'n': 2} 2" in str(error_of(cast("str", told)))
    # Once they can be undone, a second rollback undoes these and no other.
    shop.add("pay", revert=shop.take_back)
    shop.add("send", revert=shop.take_back)
    shop.undone.clear()
    assert (await code_mode.rollback(execution_id)).status == "rolled_back"
    assert shop.undone == [({"n": 3}, 3), ({"n": 2}, 2)]


async def test_what_nobody_knows_is_unknown(journal: Journal, shop: Shop) -> None:
    lease = await created(journal)
    await call(journal, lease, 1, "order")
    await call(journal, lease, 2, "order")
    await journal.calls.end(lease, 2, "failed", error=codec.dumps({"kind": "tool_timeout", "message": "slow"}))
    await call(journal, lease, 3, "order")
    await journal.calls.end(lease, 3, "failed", error=codec.dumps({"kind": "tool_error", "message": "no"}))
    await call(journal, lease, 4, "order")
    await journal.calls.end(lease, 4, "cancelled")
    await call(journal, lease, 5, "order")
    await journal.calls.end(lease, 5, "cancelled")
    execution_id = await ended(journal, lease, "failed")
    await journal.calls.arrive_late(execution_id, 5, '"came late"')
    outcome = await CodeMode([shop], journal=journal).rollback(execution_id)
    assert outcome.status == "failed"
    assert shop.undone == [({"n": 5}, "came late")]
    assert await statuses(journal, execution_id) == [
        "revert_unknown",
        "revert_unknown",
        "failed",
        "revert_unknown",
        "reverted",
    ]


async def test_a_function_that_asks_for_the_status_decides(journal: Journal, shop: Shop) -> None:
    def settle(*, arguments: object, result: object, status: str) -> None:
        shop.undone.append((arguments, result, status))

    shop.add("order", revert=settle)
    lease = await created(journal)
    await call(journal, lease, 1, "order")
    await call(journal, lease, 2, "order", "null")
    execution_id = await ended(journal, lease)
    assert (await CodeMode([shop], journal=journal).rollback(execution_id)).status == "rolled_back"
    assert shop.undone == [({"n": 2}, None, "completed"), ({"n": 1}, None, "unknown")]


async def test_two_at_once_undo_once(journal: Journal, other: Journal, shop: Shop) -> None:
    started, go = asyncio.Event(), asyncio.Event()

    async def wait(*, arguments: object, result: object) -> None:
        shop.undone.append((arguments, result))
        started.set()
        await go.wait()

    shop.add("order", revert=wait)
    lease = await created(journal)
    await call(journal, lease, 1, "order", "1")
    execution_id = await ended(journal, lease)
    first = asyncio.create_task(CodeMode([shop], journal=journal).rollback(execution_id))
    await started.wait()
    with pytest.raises(Leased):
        await CodeMode([shop], journal=other).rollback(execution_id)
    go.set()
    assert (await first).status == "rolled_back"
    assert len(shop.undone) == 1


@pytest.mark.parametrize("idempotent", [False, True])
async def test_a_host_that_stops_in_the_middle(
    journal: Journal, other: Journal, shop: Shop, clock: Clock, *, idempotent: bool
) -> None:
    shop.add("reserve", revert="release")
    shop.add("release", "n", idempotent=idempotent)
    lease = await created(journal)
    for number in (1, 2):
        await call(journal, lease, number, "reserve", str(number))
    execution_id = await ended(journal, lease, "failed")
    # What a host leaves behind that was killed while it undid the second call.
    held = await journal.leases.acquire(execution_id, "gone/1", LEASE)
    await journal.executions.roll_back(held, "under_way")
    await journal.calls.revert(held, 2)
    clock.advance(minutes=5)
    code_mode = CodeMode([shop], journal=other)
    [outcome] = await (await code_mode.runs()).recover()
    if idempotent:
        assert await statuses(other, execution_id) == ["reverted", "reverted"]
        assert outcome.status == "rolled_back"
        return
    assert await statuses(other, execution_id) == ["reverted", "revert_unknown"]
    assert outcome.status == "failed"
    with pytest.raises(WrongStatus, match="rollback"):
        await (await code_mode.runs()).retry(execution_id)
    assert (await code_mode.rollback(execution_id, again=True)).status == "rolled_back"
    assert [made[1] for made in cast("list[tuple[str, dict[str, object], str]]", shop.undone)] == [{"n": 1}, {"n": 2}]


async def test_what_only_reads_and_what_was_never_made_is_left_alone(journal: Journal, shop: Shop) -> None:
    reads = Annotations(read_only=True, trusted=True)
    shop.methods["look"] = replace(shop.methods["look"], annotations=reads, revert=shop.take_back)
    lease = await created(journal)
    await call(journal, lease, 1, "order", "1")
    await call(journal, lease, 2, "look", "2")
    asked = NewCall(3, "shop", "order", codec.dumps({"n": 3}))
    await journal.calls.ask(lease, asked, reason="policy")
    execution_id = await ended(journal, lease, "cancelled")
    outcome = await CodeMode([shop], journal=journal).rollback(execution_id)
    assert shop.undone == [({"n": 1}, 1)]
    assert (outcome.status, outcome.warnings) == ("rolled_back", ())


async def test_only_what_has_ended(journal: Journal, shop: Shop) -> None:
    lease = await created(journal)
    code_mode = CodeMode([shop], journal=journal)
    with pytest.raises(WrongStatus, match="cancel it first"):
        await code_mode.rollback(lease.execution_id)
    await call(journal, lease, 1, "look", "1")
    await ended(journal, lease)
    with pytest.raises(UsageError, match="no call"):
        await code_mode.rollback(lease.execution_id)
    assert (await journal.executions.get(lease.execution_id)).rollback is None
