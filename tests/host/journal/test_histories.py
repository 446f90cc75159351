"""Many hosts and reviewers at once, at random: whatever they did, the record log is a legal history."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import cast

import pytest
from tests.host.journal.support import LASTS, Clock, created

from isolith.journal import Answer, Journal, JournalError, Lease, NewCall, Settings
from isolith.journal.digests import digest_of_call
from isolith.journal.statuses import CALL_MOVES, CallStatus

pytestmark = pytest.mark.anyio

NUMBERS = range(1, 41)


class Host:
    """A host that does whatever comes to its mind, with or without a right to."""

    def __init__(self, journal: Journal, name: str, execution_id: str, dice: random.Random) -> None:
        self.journal, self.name, self.dice, self.execution_id = journal, name, dice, execution_id
        self.lease: Lease | None = None
        self.did: Counter[str] = Counter()

    async def live(self, deeds: int) -> None:
        for _ in range(deeds):
            deed = self.dice.choice(DEEDS)
            try:
                await deed(self)
                self.did[deed.__name__] += 1
            except JournalError:
                self.did["refused"] += 1

    async def pick(self, *statuses: CallStatus) -> int:
        """Mostly a call in one of these statuses, as far as this host knows; else any."""
        fitting = [call.number for call in await self.journal.calls.of(self.execution_id, statuses)]
        return self.dice.choice(fitting if fitting and self.dice.random() < 0.7 else NUMBERS)

    async def acquire(self) -> None:
        self.lease = await self.journal.leases.acquire(self.execution_id, self.name, LASTS)

    async def release(self) -> None:
        await self.journal.leases.release(self.held)

    async def ask(self) -> None:
        number = self.dice.choice(NUMBERS)
        await self.journal.calls.ask(self.held, NewCall(number, "crm", "delete", f"[{number}]"), reason="policy")

    async def start(self) -> None:
        number = self.dice.choice(NUMBERS)
        await self.journal.calls.start(self.held, [NewCall(number, "crm", "delete", f"[{number}]")])

    async def begin(self) -> None:
        await self.journal.calls.begin(self.held, await self.pick("approved"))

    async def end(self) -> None:
        await self.journal.calls.end(self.held, await self.pick("started"), "completed", outcome=f'"{self.name}"')

    async def lose(self) -> None:
        await self.journal.calls.lose(self.held)

    async def ask_again(self) -> None:
        await self.journal.calls.ask_again(self.held, await self.pick("unknown"), reason="unknown")

    async def pause(self) -> None:
        await self.journal.executions.move(self.held, "paused")

    async def go_on(self) -> None:
        await self.journal.executions.move(self.held, "running")

    async def decide(self) -> None:
        number = await self.pick("pending_approval")
        verdict = self.dice.choice(["approve", "approve", "reject"])
        digest = digest_of_call("crm", "delete", f"[{number}]")
        await self.journal.approvals.decide(Answer(self.execution_id, number, digest, verdict, self.name))  # type: ignore[arg-type]

    @property
    def held(self) -> Lease:
        return self.lease or Lease(self.execution_id, self.name, 0, LONG_AGO)


LONG_AGO = Clock().now
WEIGHTS: dict[Callable[[Host], Awaitable[None]], int] = {
    Host.acquire: 6,
    Host.release: 1,
    Host.ask: 5,
    Host.start: 1,
    Host.begin: 5,
    Host.end: 5,
    Host.lose: 1,
    Host.ask_again: 3,
    Host.pause: 1,
    Host.go_on: 4,
    Host.decide: 5,
}
DEEDS = [deed for deed, weight in WEIGHTS.items() for _ in range(weight)]


async def history(journal: Journal, execution_id: str) -> dict[int, list[CallStatus]]:
    """The statuses that each call went through, as the records say."""
    went: dict[int, list[CallStatus]] = {}
    for record in await journal.records.of(execution_id):
        for change in record.changes():
            if change.row[0] == "calls":
                status = {"calls started": "started", "call asked about": "pending_approval"}.get(
                    record.what, record.what.removeprefix("call ")
                )
                went.setdefault(int(change.row[2]), []).append(cast("CallStatus", status))
    return went


@pytest.mark.parametrize("seed", range(3))
async def test_any_history_is_legal(url: str, clock: Clock, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311
    journals = [await Journal.open(url, Settings(clock=clock)) for _ in range(3)]
    lease = await created(journals[0])
    await journals[0].leases.release(lease)
    hosts = [
        Host(journal, f"host/{number}", lease.execution_id, random.Random(dice.random()))  # noqa: S311
        for number, journal in enumerate(journals)
    ]
    rounds, did = 0, Counter[str]()
    # Who of them comes first is the machine's doing, and with it how often each deed succeeds.
    while rounds < 8 or not did.keys() >= {"acquire", "ask", "begin", "decide", "end"}:
        await asyncio.gather(*[host.live(25) for host in hosts])
        assert not (await journals[0].records.verify()).findings
        clock.advance(seconds=31)
        rounds, did = rounds + 1, sum((host.did for host in hosts), Counter[str]())
    assert did["refused"] > 20
    for number, statuses in (await history(journals[0], lease.execution_id)).items():
        assert statuses[0] in {"pending_approval", "started"}
        for before, after in itertools.pairwise(statuses):
            assert after in CALL_MOVES[before], (number, statuses)
        assert statuses.count("completed") <= 1
        call = await journals[0].calls.get(lease.execution_id, number)
        assert call.status == statuses[-1]
        assert call.attempts == statuses.count("started")
        decisions = [one for one in await journals[0].approvals.decisions(lease.execution_id) if one.number == number]
        assert len(decisions) == statuses.count("approved") + statuses.count("rejected")
        assert [one.round for one in decisions] == list(range(1, len(decisions) + 1))
        assert call.asked - len(decisions) in {0, 1}
    assert not (await journals[0].records.verify()).findings
    for journal in journals:
        await journal.close()
