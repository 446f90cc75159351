"""Waiting for what connectors offer: side by side, and said where in vain."""

from __future__ import annotations

import asyncio

import pytest

from isolith.readiness import started, wait_ready
from isolith_bindings.policy import Policy, govern
from isolith_bindings.testing import RecordingConnector

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
