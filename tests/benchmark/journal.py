"""What the journal costs for each call: `python tests/benchmark/journal.py sqlite:////tmp/journal.db`."""

from __future__ import annotations

import asyncio
import os
import sys
import time
import uuid
from datetime import timedelta

from isolith.journal import Delivery, Journal, Lease, NewCall, Order

LASTS = timedelta(minutes=10)
CASES = (
    ("repeatable, one after the other", True, 1),
    ("with effects, one after the other", False, 1),
    ("repeatable, 16 at once", True, 16),
    ("with effects, 16 at once", False, 16),
)
CALLS = 320


async def one(journal: Journal, lease: Lease, number: int, *, repeatable: bool) -> None:
    """A call as the host makes it."""
    call = NewCall(number, "crm", "list", '{"limit":3}', occurrence=number, repeatable=repeatable)
    await journal.calls.start(lease, [call])
    await journal.calls.end(lease, number, "completed", outcome='[{"id":1,"name":"Ann"}]')
    journal.story.deliver(lease, Delivery(number, 1, (number,), None))


async def main(url: str) -> None:
    async with await Journal.open(url) as journal:
        lease = await journal.executions.create(Order(uuid.uuid4().hex, "1"), "benchmark", LASTS)
        number = 0
        for name, repeatable, at_once in CASES:
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(CALLS // at_once):
                await asyncio.gather(
                    *[one(journal, lease, number + index, repeatable=repeatable) for index in range(at_once)]
                )
                number += at_once
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            print(f"{name}: {wall / CALLS * 1e3:.2f} ms wall, {cpu / CALLS * 1e3:.2f} ms CPU a call")
        blob, begun = os.urandom(2_200_000), time.perf_counter()
        await journal.hibernations.put(lease, blob, image_digest="", pass_number=1)
        print(f"an isolate of 2.2 MB put to rest: {(time.perf_counter() - begun) * 1e3:.0f} ms")
        begun = time.perf_counter()
        found = await journal.records.verify()
        took = (time.perf_counter() - begun) * 1e3
        print(f"{found.records} records verified: {took:.0f} ms")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
