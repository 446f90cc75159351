"""Waiting for what connectors offer: side by side, and said where in vain."""

from __future__ import annotations

import asyncio

import pytest

from isolith.run.readiness import started, wait_ready
from isolith_bindings.connector import Connector
from isolith_bindings.errors import BindError, CallError
from isolith_bindings.policy import Policy, govern
from isolith_bindings.testing import RecordingConnector, a_context

pytestmark = pytest.mark.anyio


class Lazy(RecordingConnector):
    """Is ready when all that wait have come; or never, for a reason."""

    def __init__(self, name: str, together: asyncio.Barrier | None, reason: str | None = None) -> None:
        super().__init__(name, {"get": 1})
        self._together = together
        self._reason = reason

    async def ready(self, timeout_s: float = 30.0) -> bool:
        if self._together is not None:
            await self._together.wait()
        return self._together is not None

    @property
    def unavailable(self) -> str | None:
        return self._reason


async def test_all_are_waited_for_side_by_side() -> None:
    together = asyncio.Barrier(3)
    lazy = [Lazy(name, together) for name in "abc"]
    plain = RecordingConnector("plain", {})
    governed = govern(lazy[0], Policy(preset="careful"))
    assert await wait_ready([governed, *lazy[1:], plain]) == []


async def test_those_that_do_not_come_up_are_said_and_the_rest_is_there() -> None:
    said: list[str] = []
    broken, silent, plain = (
        Lazy("broken", None, "no such program"),
        Lazy("silent", None),
        RecordingConnector("plain", {}),
    )
    async with started([broken, silent, plain], said.append):
        assert said == [
            "isolith: broken is not there: no such program",
            "isolith: silent is not there: it has not said what it offers",
        ]
        assert (broken.started, plain.started, plain.closed) == (1, 1, 0)
    assert (broken.closed, silent.closed, plain.closed) == (1, 1, 1)


class Broken(RecordingConnector):
    async def start(self) -> None:
        raise BindError("the document is no document")


async def test_one_that_cannot_be_started_stands_aside() -> None:
    said: list[str] = []
    broken, plain = Broken("broken", {"get": 1}), RecordingConnector("plain", {"get": 1})
    async with started([broken, plain], said.append) as up:
        assert said == ["isolith: broken is not there: the document is no document"]
        assert up["plain"] is plain
        assert (dict(up["broken"].methods), isinstance(up["broken"], Connector)) == ({}, True)
        with pytest.raises(CallError, match="broken is not there: the document is no document"):
            await up["broken"].call(plain.methods["get"], {}, a_context())
    assert (broken.closed, plain.closed) == (1, 1)


async def test_one_that_is_known_is_given_while_another_is_waited_for() -> None:
    given: list[str] = []
    first_is_known = asyncio.Event()

    class Slow(RecordingConnector):
        async def ready(self, timeout_s: float = 30.0) -> bool:
            del timeout_s
            await first_is_known.wait()
            return True

    def each(connector: Connector) -> None:
        given.append(connector.name)
        if connector.name == "quick":
            first_is_known.set()

    async with started([Slow("slow", {}), RecordingConnector("quick", {})], lambda _: None, each):
        assert given == ["quick", "slow"]
