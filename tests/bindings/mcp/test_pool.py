"""Running servers shared out by key: whose turn it is, who may share, and what is stopped when. No server, no clock."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from typing import TYPE_CHECKING, cast

import pytest

from isolith_bindings.mcp.failures import StartFailed
from isolith_bindings.mcp.pool import Pool
from isolith_bindings.mcp.scopes import SHARED, SPARE, Key, Scope, Sharing

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from isolith_bindings.mcp.connection import Connection

pytestmark = pytest.mark.anyio


class Fake:
    """A connection that can be lost and closed."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.lost: str | None = None
        self.closed = asyncio.Event()

    async def close(self) -> None:
        self.lost = self.lost or "closed"
        self.closed.set()


class Servers:
    """Opens fakes; `gate` holds openings up, `fail` lets the next ones fail."""

    def __init__(self) -> None:
        self.opened: list[Fake] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.fail = False

    async def connect(self, number: int) -> Connection:
        await self.gate.wait()
        if self.fail:
            raise StartFailed("no such server")
        self.opened.append(Fake(number))
        return cast("Connection", self.opened[-1])

    @property
    def running(self) -> int:
        return sum(fake.lost is None for fake in self.opened)


@contextlib.asynccontextmanager
async def pool_of(sharing: Sharing) -> AsyncGenerator[tuple[Pool, Servers]]:
    servers = Servers()
    pool = Pool(sharing, servers.connect)
    try:
        yield pool, servers
    finally:
        await pool.aclose()
        assert servers.running == 0


async def use(pool: Pool, key: Key, until: asyncio.Event | None = None) -> int:
    async with pool.lease(key) as connection:
        if until is not None:
            await until.wait()
        return cast("Fake", connection).number


async def turn() -> None:
    """Let everything that can go on go on."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_calls_of_a_key_share_a_server_and_others_have_another() -> None:
    async with pool_of(Sharing("session")) as (pool, servers):
        keys: list[Key] = [("session", "p", "a"), ("session", "p", "b"), ("session", "p", "a"), ("session", "q", "a")]
        assert [await use(pool, key) for key in keys] == [1, 2, 1, 3]
        assert servers.running == 3


async def test_calls_at_the_same_time_open_one_server() -> None:
    async with pool_of(Sharing()) as (pool, servers):
        assert await asyncio.gather(*(use(pool, SHARED) for _ in range(5))) == [1] * 5
        assert len(servers.opened) == 1


async def test_a_server_is_started_in_the_context_of_nobody_who_calls() -> None:
    """A trace, or whatever else belongs to the first caller, is not what a server is told that serves others too."""
    caller = contextvars.ContextVar("caller", default="nobody")
    servers, seen = Servers(), list[str]()

    async def connect(number: int) -> Connection:
        seen.append(caller.get())
        return await servers.connect(number)

    pool = Pool(Sharing(), connect)
    caller.set("the first")
    assert await use(pool, SHARED) == 1
    await pool.aclose()
    assert seen == ["nobody"]


async def test_one_that_was_started_ahead_goes_to_the_first_who_needs_one() -> None:
    async with pool_of(Sharing("session")) as (pool, servers):
        await pool.warm(SPARE)
        assert await use(pool, ("session", "", "a")) == 1
        assert await use(pool, ("session", "", "b")) == 2
        assert await use(pool, ("session", "", "a")) == 1
        assert len(servers.opened) == 2


async def test_an_exclusive_server_serves_one_call_at_a_time_in_order() -> None:
    async with pool_of(Sharing("session", exclusive=True)) as (pool, servers):
        key: Key = ("session", "", "a")
        order: list[int] = []
        release = asyncio.Event()

        async def call(number: int) -> None:
            async with pool.lease(key):
                order.append(number)
                await release.wait()

        tasks = [asyncio.create_task(call(number)) for number in range(4)]
        await turn()
        assert order == [0]
        release.set()
        await asyncio.gather(*tasks)
        assert order == [0, 1, 2, 3]
        assert len(servers.opened) == 1


async def test_a_pool_of_exclusive_workers_has_at_most_so_many() -> None:
    async with pool_of(Sharing(exclusive=True, most=2)) as (pool, servers):
        release = asyncio.Event()
        tasks = [asyncio.create_task(use(pool, SHARED, release)) for _ in range(5)]
        await turn()
        assert servers.running == 2
        assert sum(member.uses for member in pool.members) == 2
        release.set()
        assert set(await asyncio.gather(*tasks)) == {1, 2}
        assert servers.running == 2


async def test_a_session_waits_for_room_and_takes_none_from_another() -> None:
    async with pool_of(Sharing("session", most=1)) as (pool, servers):
        assert await use(pool, ("session", "", "a")) == 1
        waiting = asyncio.create_task(use(pool, ("session", "", "b")))
        await turn()
        assert not waiting.done()
        # The first one still has its server, and its state.
        assert await use(pool, ("session", "", "a")) == 1
        await pool.release(lambda key: key == ("session", "", "a"))
        assert await waiting == 2
        assert servers.running == 1


async def test_who_waits_and_is_cancelled_holds_up_nobody() -> None:
    async with pool_of(Sharing(exclusive=True, most=1)) as (pool, _):
        release = asyncio.Event()
        first = asyncio.create_task(use(pool, SHARED, release))
        await turn()
        second, third = (asyncio.create_task(use(pool, SHARED)) for _ in range(2))
        await turn()
        second.cancel()
        release.set()
        assert list(await asyncio.gather(first, third)) == [1, 1]


async def test_a_call_that_is_cancelled_stops_no_server_that_is_being_started() -> None:
    async with pool_of(Sharing()) as (pool, servers):
        servers.gate.clear()
        first = asyncio.create_task(use(pool, SHARED))
        await turn()
        first.cancel()
        await asyncio.wait({first})
        servers.gate.set()
        assert await use(pool, SHARED) == 1
        assert len(servers.opened) == 1


async def test_who_waits_for_a_server_that_is_stopped_at_its_start_gets_the_one_in_its_place() -> None:
    """They were cancelled, which nobody had done: a script was told nothing and waited, and a keeper kept no more."""
    async with pool_of(Sharing()) as (pool, servers):
        servers.gate.clear()
        call = asyncio.create_task(use(pool, SHARED))
        keeper = asyncio.create_task(pool.warm(SHARED))
        await turn()
        await pool.release(lambda _: True)
        servers.gate.set()
        assert await call == 2
        assert cast("Fake", await keeper).number == 2
        servers.gate.clear()
        await pool.release(lambda _: True)
        late = asyncio.create_task(pool.warm(SHARED))
        await turn()
    with pytest.raises(StartFailed, match="closed"):
        await late


async def test_one_that_cannot_be_started_fails_those_who_wait_and_not_those_who_come() -> None:
    async with pool_of(Sharing()) as (pool, servers):
        servers.fail = True
        results = await asyncio.gather(*(use(pool, SHARED) for _ in range(3)), return_exceptions=True)
        assert [type(result) for result in results] == [StartFailed] * 3
        servers.fail = False
        assert await use(pool, SHARED) == 2


async def test_one_that_was_lost_is_replaced() -> None:
    async with pool_of(Sharing()) as (pool, servers):
        assert await use(pool, SHARED) == 1
        servers.opened[0].lost = "it ended"
        pool.ended()
        assert pool.members == ()
        assert await use(pool, SHARED) == 2


@pytest.mark.parametrize("how", ["ends", "fails", "is cancelled"])
async def test_the_server_of_one_call_ends_with_it(how: str) -> None:
    async with pool_of(Sharing("call")) as (pool, servers):
        never = asyncio.Event()

        async def call() -> None:
            async with pool.lease(("call", "e", "e.1")):
                if how == "fails":
                    raise ValueError(how)
                if how == "is cancelled":
                    await never.wait()

        task = asyncio.create_task(call())
        await turn()
        if how == "is cancelled":
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.wait_for(servers.opened[0].closed.wait(), 120)
        assert pool.members == ()


async def test_what_nobody_uses_is_stopped_down_to_the_least() -> None:
    async with pool_of(Sharing("session", least=1, idle_s=0)) as (pool, servers):
        release = asyncio.Event()
        keys: list[Key] = [("session", "", name) for name in "abc"]
        tasks = [asyncio.create_task(use(pool, key, release)) for key in keys]
        await turn()
        assert servers.running == 3
        release.set()
        await asyncio.gather(*tasks)
        await asyncio.wait_for(asyncio.gather(*(fake.closed.wait() for fake in servers.opened[:2])), 120)
        assert servers.running == 1


async def test_what_is_used_is_not_idle() -> None:
    async with pool_of(Sharing(idle_s=0)) as (pool, servers):
        release = asyncio.Event()
        long = asyncio.create_task(use(pool, SHARED, release))
        await turn()
        await use(pool, SHARED)
        await turn()
        assert servers.running == 1
        release.set()
        await long
        await asyncio.wait_for(servers.opened[0].closed.wait(), 120)


async def test_who_waits_when_it_is_closed_is_told() -> None:
    servers = Servers()
    pool = Pool(Sharing(exclusive=True, most=1), servers.connect)
    release = asyncio.Event()
    holding = asyncio.create_task(use(pool, SHARED, release))
    await turn()
    waiting = asyncio.create_task(use(pool, SHARED))
    await turn()
    await pool.aclose()
    with pytest.raises(StartFailed, match="closed"):
        await waiting
    release.set()
    await holding
    assert servers.running == 0


SCOPES: list[Scope] = ["shared", "principal", "session", "execution", "call"]


@pytest.mark.parametrize("scope", SCOPES)
async def test_nothing_is_left_whatever_happens(scope: Scope) -> None:
    """Ends, failures and cancellations in every order: after the end nothing runs."""
    async with pool_of(Sharing(scope, exclusive=scope != "shared", most=3)) as (pool, servers):
        gate = asyncio.Event()
        keys: list[Key] = [(scope, str(number % 3)) for number in range(12)]
        tasks = [asyncio.create_task(use(pool, key, gate)) for key in keys]
        await turn()
        for task in tasks[::4]:
            task.cancel()
        gate.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        await pool.release(lambda key: key[0] in {"execution", "call", "session"})
        assert all(member.uses == 0 for member in pool.members)
        assert servers.running == len(pool.members)
