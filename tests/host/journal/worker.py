"""A host in a process of its own: takes over every execution that nobody works on, and makes one call in each."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta

from isolith.journal import Journal, Leased, LeaseLost, NewCall, WrongStatus

LASTS = timedelta(seconds=60)


async def main(url: str, owner: str) -> None:
    async with await Journal.open(url) as journal:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        while found := await journal.leases.abandoned():
            for execution_id in found:
                try:
                    lease = await journal.leases.acquire(execution_id, owner, LASTS)
                    await journal.calls.start(lease, [NewCall(1, "mail", "send", "{}")])
                    print(execution_id, flush=True)
                    await journal.calls.end(lease, 1, "completed", outcome=f'"{owner}"')
                    await journal.executions.move(lease, "completed", outcome=f'"{owner}"')
                except (Leased, LeaseLost, WrongStatus):
                    continue  # the other host has it


asyncio.run(main(*sys.argv[1:]))
