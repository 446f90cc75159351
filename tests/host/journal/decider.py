"""A reviewer in a process of its own: answers every call it is given, and says how that went."""

from __future__ import annotations

import asyncio
import json
import sys

from isolith.journal import AlreadyDecided, Answer, Journal


async def main(url: str, who: str, verdict: str) -> None:
    async with await Journal.open(url) as journal:
        print("ready", flush=True)
        orders = [json.loads(line) for line in await asyncio.to_thread(sys.stdin.readlines)]
        for execution_id, number, digest in orders:
            answer = Answer(execution_id, number, digest, verdict, who)  # type: ignore[arg-type]
            try:
                decided = await journal.approvals.decide(answer)
                told: list[str | None] = ["won", decided.decision.who, decided.call.status]
            except AlreadyDecided as error:
                told = ["lost", error.decision.who if error.decision else None, error.call.status]
            print(json.dumps([number, *told]), flush=True)


asyncio.run(main(*sys.argv[1:]))
