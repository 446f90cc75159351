"""A run that asks about five calls at once, in parts that are each a process: begun, decided by people, gone on with."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from isolith import CodeMode, Outcome, Policy, Rule, connector
from isolith.journal.errors import AlreadyDecided

if TYPE_CHECKING:
    from isolith_bindings.policy import Preset

SCRIPT = """
import asyncio
async def careful(n):
    print("about to pay", n)
    got = await bank.pay(amount=n)
    await asyncio.sleep(0.001 * (6 - n))
    return [got, await bank.balance(account=n)]
paid = await asyncio.gather(*[careful(n) for n in range(1, 6)], bank.balance(account=0))
print("paid", len(paid))
paid
"""
ASKS = Policy(preset="trusted", rules=(Rule(action="ask", match=("bank.pay",)),))


def bank_of(paid: Path) -> object:
    @connector("bank")
    class Bank:
        async def balance(self, account: int) -> int:
            return account * 100

        async def pay(self, amount: int) -> str:
            with paid.open("a") as file:
                file.write(f"{amount}\n")
            return f"paid {amount}"

    return Bank


def code_mode(url: str, paid: Path, policy: Policy | Preset = ASKS) -> CodeMode:
    return CodeMode([bank_of(paid)], policy=policy, journal=url, tend=False)


async def begin(url: str, paid: Path) -> Outcome:
    async with code_mode(url, paid) as host:
        return await host.execute(SCRIPT)


async def decide(url: str, paid: Path, who: str, order: str) -> None:
    """What waits, in this order, as far as nobody else was faster; nothing is gone on with here."""
    async with code_mode(url, paid) as host:
        runs = await host.runs()
        waiting = {str(call.arguments["amount"]): call for call in await runs.pending()}
        for call in [waiting[amount] for amount in order.split() if amount in waiting]:
            execution_id = call.call_id.rpartition(".")[0]
            with contextlib.suppress(AlreadyDecided):
                await runs.decide(execution_id, call.call_id, "approve", who=who, digest=call.digest, go_on=False)


async def go_on(url: str, paid: Path) -> Outcome:
    async with code_mode(url, paid) as host:
        runs = await host.runs()
        [found] = await runs.journal.executions.find()
        return await runs.resume(found.execution_id)


def main(part: str, url: str, paid: str, *more: str) -> None:
    """One part of it, in a process of its own."""
    if part == "begin":
        assert asyncio.run(begin(url, Path(paid))).status == "paused"
    elif part == "decide":
        asyncio.run(decide(url, Path(paid), *more))
    else:
        Path(*more).write_text(asyncio.run(go_on(url, Path(paid))).to_json_text())
