"""Waiting for what connectors offer: side by side, only for those that a script could reach, and said where in vain."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from isolith.readiness import named_in, started, wait_ready, why_not
from isolith_bindings.policy import Policy, govern
from isolith_bindings.testing import RecordingConnector

pytestmark = pytest.mark.anyio


@dataclass
class Status:
    reason: str | None


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

    def status(self) -> Status:
        return Status(self._reason)


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


async def test_why_one_is_not_there() -> None:
    assert why_not(govern(Lazy("a", None, "gone"), Policy())) == "gone"
    assert why_not(RecordingConnector("a", {})) == "it has not said what it offers"


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ("await crm.get()", ["crm"]),
        ("crm_old.get(docs.x)", ["docs"]),
        ("tools['crm']", ["crm", "docs"]),
        ("search('x')", ["crm", "docs"]),
        ("1 + 1", []),
    ],
)
async def test_those_that_a_script_could_reach(script: str, names: list[str]) -> None:
    both = [RecordingConnector("crm", {}), RecordingConnector("docs", {})]
    assert [connector.name for connector in named_in(script, both)] == names
