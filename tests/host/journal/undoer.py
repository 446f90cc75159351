"""A rollback, from wherever it is; and a process that is killed on the way. What is really undone is a line in a file."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tests.host.journal.crasher import Killer

from isolith import CodeMode, connector, method
from isolith.durable.ledger import LEASE
from isolith.journal import Journal, NewCall, Order

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith import Outcome

EXECUTION = "taken-back"
CALLS = ("reserve", "log", "order")
"""`order` is undone by a function, `reserve` by a method that is idempotent, `log` by nothing."""


def shop_of(undone: Path) -> object:
    def note(what: str, n: int) -> None:
        with undone.open("a") as file:
            file.write(f"{what}{n}\n")
            file.flush()
            os.fsync(file.fileno())

    def take_back(*, arguments: dict[str, int], result: object) -> None:
        del result
        note("order", arguments["n"])

    revert: Callable[..., object] = take_back

    @connector("shop")
    class Shop:
        @method(revert=revert)
        async def order(self, n: int) -> int:
            return n

        @method(revert="release")
        async def reserve(self, n: int) -> int:
            return n

        @method(idempotent=True)
        async def release(self, n: int) -> None:
            note("reserve", n)

        async def log(self, n: int) -> int:
            return n

    return Shop


async def prepare(journal: Journal) -> None:
    """An execution that has ended, with what it did."""
    lease = await journal.executions.create(Order(EXECUTION, "1"), "host/0", LEASE)
    for number, name in enumerate(CALLS, 1):
        await journal.calls.start(lease, [NewCall(number, "shop", name, f'{{"n":{number}}}', revertible=True)])
        await journal.calls.end(lease, number, "completed", outcome=str(number))
    await journal.executions.move(lease, "completed")


async def undo(journal: str | Journal, undone: Path, killer: Killer | None = None, *, again: bool = False) -> Outcome:
    async with CodeMode([shop_of(undone)], journal=journal, tend=False) as code_mode:
        await code_mode.runs()
        if killer is not None:
            killer.arm()
        return await code_mode.rollback(EXECUTION, again=again)


def main(url: str, undone: str, at: str, side: str) -> None:
    """Take it back, and be killed at the write number `at`, before or after the commit; unless there are fewer."""
    outcome = asyncio.run(undo(url, Path(undone), Killer(int(at), side)))
    assert outcome.status == "rolled_back", outcome
