"""A call that a script gives up just when the journal has its outcome: the journal is right, and the run goes on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode, connector
from isolith.durable.ledger import Ledger

if TYPE_CHECKING:
    from pathlib import Path

    from isolith.journal.model import Call

pytestmark = pytest.mark.anyio

SCRIPT = """
first = asyncio.create_task(desk.{method}())
await asyncio.sleep(0)
while not await desk.is_written():
    pass
first.cancel()
await asyncio.sleep(0)
[await desk.answer(), first.cancelled()]
"""


@connector("desk")
class Desk:
    """Answers, or fails; and knows what the test has seen of the journal."""

    def __init__(self) -> None:
        self.written = asyncio.Event()

    async def answer(self) -> int:
        return 1

    async def fail(self) -> None:
        raise ValueError("no")

    async def is_written(self) -> bool:
        return self.written.is_set()


@pytest.mark.parametrize("method", ["answer", "fail"])
async def test_the_run_goes_on(method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk, ended = Desk(), Ledger.ended

    async def slow(self: Ledger, number: int, status: str, **parts: str | None) -> Call:
        call = await ended(self, number, status, **parts)  # type: ignore[arg-type]
        if number == 1 and status != "cancelled":
            desk.written.set()
            await asyncio.Event().wait()  # what was written is told to nobody
        return call

    monkeypatch.setattr(Ledger, "ended", slow)
    async with CodeMode([desk], journal=tmp_path / "journal.db", tend=False) as code_mode:
        outcome = await code_mode.execute(SCRIPT.format(method=method))
    assert (outcome.error, outcome.value) == (None, [1, True])
    assert outcome.calls[0].status == "cancelled"
