"""What people say ahead of time and from afar: grants, links that decide one call, and a no that ends the run."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from isolith import Budgets, CodeMode, GrantTerms, Policy, Rule, UsageError, connector, method
from isolith.approvals.linking import Links
from isolith.approvals.links import LinkError, read, sign
from isolith.journal import Answer, Journal, Settings
from isolith.journal.errors import AlreadyDecided, DigestMismatch, UnknownEntry, WrongStatus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from isolith.outcome import Outcome
    from isolith.run.execution import Execution

pytestmark = pytest.mark.anyio

KEY = b"a key of thirty-two bytes or more"
NO_ENDS_IT = Policy(preset="trusted", rules=(Rule(action="ask", match=("bank.pay",), on_rejection="end"),))
PAY_TWICE = "[await bank.pay(amount=n) for n in (1, 2)]"


class Clock:
    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now


class Desk:
    """A bank, a journal with a clock that a test sets, and hosts that share both."""

    def __init__(self, folder: Path) -> None:
        self.paid: list[int] = []
        self.clock = Clock()
        self.event = asyncio.Event()
        self.url = f"sqlite:///{folder / 'journal.db'}"

    def bank(self) -> object:
        paid, event = self.paid, self.event

        @connector("bank")
        class Bank:
            @method(policy="ask")
            async def pay(self, amount: int) -> str:
                """Send money."""
                paid.append(amount)
                return f"paid {amount}"

            @method(policy="ask")
            async def close(self) -> str:
                """Close the account."""
                return "closed"

            async def hang(self) -> None:
                """Never answer."""
                await asyncio.Event().wait()

            async def until(self) -> None:
                """Answer when the test says so."""
                await event.wait()

        return Bank

    async def journal(self) -> Journal:
        return await Journal.open(self.url, Settings(clock=self.clock))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
async def host(desk: Desk) -> AsyncIterator[CodeMode]:
    async with (
        await desk.journal() as journal,
        CodeMode([desk.bank()], journal=journal, tend=False, link_key=KEY) as code_mode,
    ):
        yield code_mode


@pytest.fixture
async def strict(desk: Desk) -> AsyncIterator[CodeMode]:
    """The same, where a no ends the run."""
    async with (
        await desk.journal() as journal,
        CodeMode([desk.bank()], policy=NO_ENDS_IT, journal=journal, tend=False, link_key=KEY) as code_mode,
    ):
        yield code_mode


# grants


async def test_a_grant_covers_so_many_calls_and_the_next_one_is_asked_about(host: CodeMode, desk: Desk) -> None:
    grant = await host.grants.give("bank.pay", uses=2, who="ada", reason="payday")
    outcome = await host.execute("[await bank.pay(amount=n) for n in (1, 2, 3)]")
    assert desk.paid == [1, 2]
    assert [waiting.arguments for waiting in outcome.pending] == [{"amount": 3}]
    decisions = await (await host.runs()).decisions(outcome.execution_id)
    assert [(each.who, each.grant_id, each.reason, each.at) for each in decisions] == [
        ("ada", grant.grant_id, "payday", desk.clock.now)
    ] * 2
    assert await host.grants.find() == []
    [spent] = await host.grants.find(spent=True)
    assert (spent.uses_left, spent.who, spent.created_at) == (0, "ada", desk.clock.now)


async def test_a_grant_covers_calls_until_its_time(host: CodeMode, desk: Desk) -> None:
    await host.grants.give("bank.pay", uses=9, lasts=timedelta(minutes=5), who="ada")
    desk.clock.now += timedelta(minutes=5) - timedelta(microseconds=1)
    assert (await host.execute("await bank.pay(amount=1)")).status == "completed"
    desk.clock.now += timedelta(microseconds=1)
    assert (await host.execute("await bank.pay(amount=2)")).status == "paused"
    assert desk.paid == [1]


async def test_a_grant_is_given_with_an_approval_for_that_run_alone(host: CodeMode, desk: Desk) -> None:
    paused = await host.execute("[await bank.pay(amount=n) for n in (1, 2, 3, 4)]")
    terms = GrantTerms(uses=2, lasts=timedelta(hours=1), reason="the rest of it")
    again = await host.approve(paused.execution_id, paused.pending[0].call_id, who="ada", grant=terms)
    assert desk.paid == [1, 2, 3]
    assert [waiting.arguments for waiting in again.pending] == [{"amount": 4}]
    last = again.pending[0].call_id
    assert (await host.approve(paused.execution_id, last, who="ada", grant=terms)).status == "completed"
    other = await host.execute("await bank.pay(amount=5)")
    assert other.status == "paused"
    everywhere = GrantTerms(uses=1, everywhere=True)
    await host.approve(other.execution_id, other.pending[0].call_id, who="ada", grant=everywhere)
    assert (await host.execute("await bank.pay(amount=6)")).status == "completed"
    assert (await host.execute("await bank.pay(amount=7)")).status == "paused"
    assert (await host.execute("await bank.close()")).status == "paused"


async def test_a_grant_is_for_whom_it_was_given(host: CodeMode, desk: Desk) -> None:
    await host.grants.give("bank.*", uses=9, who="ada", principal="u1")
    assert (await host.execute("await bank.pay(amount=1)", principal="u2")).status == "paused"
    assert (await host.execute("await bank.pay(amount=2)")).status == "paused"
    assert (await host.execute("[await bank.pay(amount=3), await bank.close()]", principal="u1")).status == "completed"
    assert desk.paid == [3]


async def test_a_grant_that_was_revoked_covers_nothing(host: CodeMode) -> None:
    grant = await host.grants.give("bank.pay", uses=9, who="ada")
    revoked = await host.grants.revoke(grant.grant_id[:12], who="bob")
    assert (revoked.revoked_by, revoked.uses_left) == ("bob", 0)
    assert (await host.execute("await bank.pay(amount=1)")).status == "paused"
    with pytest.raises(WrongStatus, match="already revoked by bob"):
        await host.grants.revoke(grant.grant_id, who="eve")


@pytest.mark.parametrize(
    ("wanted", "uses", "lasts", "says"),
    [
        ("pay", 1, timedelta(hours=1), "no connector.method"),
        ("bank.pya", 1, timedelta(hours=1), "would cover nothing"),
        ("*.pay", 1, timedelta(hours=1), "no connector.method"),
        ("bank.pay", 0, timedelta(hours=1), "1 to 100,000 calls"),
        ("bank.pay", 1, timedelta(0), "at most 366 days"),
        ("bank.pay", 1, timedelta(days=367), "at most 366 days"),
    ],
)
async def test_what_is_no_grant(host: CodeMode, wanted: str, uses: int, lasts: timedelta, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        await host.grants.give(wanted, uses=uses, lasts=lasts, who="ada")
    with pytest.raises(UsageError, match="no grant begins with"):
        await host.grants.revoke("grant_", who="ada")


# links


async def test_a_link_decides_once_in_the_name_of_whom_it_was_made_for(host: CodeMode, desk: Desk) -> None:
    paused = await host.execute(PAY_TWICE)
    first = paused.pending[0].call_id
    yes = await host.links.make(paused.execution_id, first, "approve", who="ada@example.com")
    no = await host.links.make(paused.execution_id, first, "reject", who="ada@example.com")
    shown = await host.links.look(f"https://isolith.example/links/{yes}")
    assert (shown.call.arguments, shown.link.verdict, desk.paid) == ('{"amount":1}', "approve", [])
    again = await host.links.redeem(f"https://isolith.example/links/{yes}")
    assert (desk.paid, [waiting.arguments for waiting in again.pending]) == ([1], [{"amount": 2}])
    for used in (yes, no):
        with pytest.raises(AlreadyDecided, match=r"already approved by ada@example\.com"):
            await host.links.redeem(used)
        with pytest.raises(AlreadyDecided, match=r"already approved by ada@example\.com"):
            await host.links.look(used)
    assert desk.paid == [1]
    last = await host.links.make(paused.execution_id, again.pending[0].call_id, "reject", who="ada@example.com")
    ended = await host.links.redeem(last, reason="enough")
    assert ended.error is not None
    assert (ended.status, "enough" in ended.error.message) == ("rejected", True)
    with pytest.raises(AlreadyDecided):
        await host.links.make(paused.execution_id, again.pending[0].call_id, "approve", who="ada")


async def test_a_link_is_good_until_its_time_and_no_longer_than_its_question(host: CodeMode) -> None:
    paused = await host.execute("await bank.pay(amount=1)")
    at = datetime.now(UTC)
    links = Links(lambda: KEY, host.runs, lambda: at)
    token = await links.make(paused.execution_id, 1, "approve", who="ada", lasts=timedelta(hours=1))
    assert at + timedelta(minutes=59) < read(token, KEY, at).expires_at <= at + timedelta(hours=1)
    long = await links.make(paused.execution_id, 1, "approve", who="ada", lasts=timedelta(days=300))
    assert read(long, KEY, at).expires_at <= at + timedelta(days=7, minutes=1)
    at += timedelta(hours=1)
    for use in (links.look, links.redeem):
        with pytest.raises(LinkError, match="this link was good until"):
            await use(token)
    assert (await (await host.runs()).outcome(paused.execution_id)).status == "paused"


async def test_a_link_for_another_call_or_by_another_key_decides_nothing(host: CodeMode, desk: Desk) -> None:
    paused = await host.execute("await bank.pay(amount=1)")
    token = await host.links.make(paused.execution_id, 1, "approve", who="ada")
    link = read(token, KEY, datetime.now(UTC))
    other_digest = sign(replace(link, digest="0" * 64), KEY)
    other_round = sign(replace(link, asked=2), KEY)
    with pytest.raises(DigestMismatch):
        await host.links.look(other_digest)
    with pytest.raises(DigestMismatch):
        await host.links.redeem(other_digest)
    for use in (host.links.look, host.links.redeem):
        with pytest.raises(AlreadyDecided):
            await use(other_round)
        with pytest.raises(UnknownEntry):
            await use(sign(replace(link, execution_id="no"), KEY))
        with pytest.raises(LinkError, match="signed with another key"):
            await use(sign(link, b"x" * 32))
        with pytest.raises(LinkError, match="no approval link"):
            await use("hello")
    assert desk.paid == []
    assert (await host.links.redeem(token)).status == "completed"


async def test_of_two_who_have_a_link_one_decides(host: CodeMode, desk: Desk) -> None:
    paused = await host.execute("await bank.pay(amount=1)")
    tokens = [await host.links.make(paused.execution_id, 1, "approve", who=who) for who in ("ada", "bob")]
    results = await asyncio.gather(*[host.links.redeem(token) for token in tokens], return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["AlreadyDecided", "Outcome"]
    assert desk.paid == [1]


async def test_the_key_is_kept_beside_the_journal_and_is_the_users_alone(desk: Desk, tmp_path: Path) -> None:
    async with CodeMode([desk.bank()], journal=desk.url, tend=False) as first:
        paused = await first.execute("await bank.pay(amount=1)")
        token = await first.links.make(paused.execution_id, 1, "approve", who="ada")
    kept = tmp_path / "approval-links.key"
    assert (kept.stat().st_mode & 0o777, len(kept.read_bytes())) == (0o600, 32)
    assert kept.read_bytes() not in (tmp_path / "journal.db").read_bytes()
    async with CodeMode([desk.bank()], journal=desk.url, tend=False, link_key="too short") as other:
        with pytest.raises(UsageError, match="at least 32 bytes"):
            await other.links.redeem(token)
    async with CodeMode([desk.bank()], journal=desk.url, tend=False) as second:
        assert (await second.links.redeem(token)).status == "completed"


# a no that ends the run


def ended(outcome: Outcome) -> tuple[str, str, int | None, str | None]:
    assert outcome.error is not None
    assert "that ends the run" in outcome.error.message
    return outcome.status, outcome.error.kind, outcome.error.line, outcome.error.tool


CAUGHT = "try:\n    await bank.pay(amount=1)\nexcept Rejected:\n    pass\n'went on'"


@pytest.mark.parametrize("end", ["\\n", "\\r", "\\x0b", "\\u2028"])
async def test_what_a_call_would_do_cannot_pass_for_words_of_ours(tmp_path: Path, end: str) -> None:
    """A script has its say in a preview: behind all of ours, and inset."""

    @connector("till")
    class Till:
        @method(policy="ask", preview=lambda to: f"pay {to}")
        async def pay(self, to: str) -> str:
            return to

    async with CodeMode([Till], journal=tmp_path / "journal.db") as code_mode:
        paused = await code_mode.execute(
            f"await till.pay(to='Eve; a no ends the run{end}{end}waiting for an answer: none')"
        )
    assert paused.pending[0].reason == (
        "till.pay itself says `ask`; it would: pay Eve; a no ends the run\n    | \n    | waiting for an answer: none"
    )


async def test_a_no_ends_a_run_that_is_paused_where_the_rule_says_so(strict: CodeMode, host: CodeMode) -> None:
    paused = await strict.execute(CAUGHT)
    assert paused.pending[0].reason.endswith("a no ends the run")
    final = await strict.reject(paused.execution_id, paused.pending[0].call_id, reason="never")
    assert ended(final) == ("rejected", "rejected", 2, "bank.pay")
    assert [call.status for call in final.calls] == ["rejected"]
    assert final.usage.passes == 1  # nothing was woken for it
    kept = await (await host.runs()).outcome(paused.execution_id)
    assert (ended(kept), kept.pending) == (ended(final), ())
    lax = await host.execute(CAUGHT)
    assert (await host.reject(lax.execution_id, lax.pending[0].call_id)).value == "went on"


async def test_a_no_ends_it_with_all_that_still_waits(strict: CodeMode, desk: Desk) -> None:
    paused = await strict.execute("import asyncio\nawait asyncio.gather(*[bank.pay(amount=n) for n in (1, 2, 3)])")
    approved, rejected, _ = (waiting.call_id for waiting in paused.pending)
    await strict.approve(paused.execution_id, approved)
    final = await strict.reject(paused.execution_id, rejected)
    assert (final.status, [call.status for call in final.calls]) == ("rejected", ["cancelled", "rejected", "cancelled"])
    assert desk.paid == []
    calls = await (await strict.runs()).journal.calls.of(paused.execution_id)
    assert [call.status for call in calls] == ["cancelled", "rejected", "cancelled"]


async def test_who_approved_what_is_not_made_any_more_is_told(strict: CodeMode, host: CodeMode, desk: Desk) -> None:
    script = "import asyncio\nawait asyncio.gather(bank.pay(amount=1), bank.close())"
    said = "bank.pay was approved by grace, and was not made: the script ended first"
    both = Policy(preset="trusted", rules=(Rule(action="ask", match=("bank.*",), on_rejection="end"),))
    async with CodeMode([desk.bank()], policy=both, journal=await desk.journal()) as ends:
        for where in (ends, host):
            paused = await where.execute(script)
            pay, close = (waiting.call_id for waiting in paused.pending)
            assert (await where.approve(paused.execution_id, pay, who="grace")).status == "paused"
            final = await where.reject(paused.execution_id, close)
            assert final.status == "rejected"
            told = {warning.message: (warning.line, warning.tool) for warning in final.warnings}
            # The script is told of the no at once: whether the other call was made by then is up to the machine.
            assert desk.paid or told.get(said) == (2, "bank.pay")
            assert desk.paid != [1] or said not in told


async def _asked(code_mode: CodeMode, script: str) -> tuple[Execution, str]:
    """Begin a script that goes on while it asks; the execution, and the id of the call that waits."""
    execution = code_mode.start(script)
    async for event in execution.events():
        if event["event"] == "call_pending":
            return execution, str(event["call_id"])
    raise AssertionError("it never asked")


BESIDE = "import asyncio\nawait asyncio.gather(bank.pay(amount=1), bank.hang())"


async def test_a_no_ends_a_run_that_is_under_way(strict: CodeMode) -> None:
    execution, call_id = await _asked(strict, BESIDE)
    final = await asyncio.wait_for(strict.reject(execution.execution_id, call_id), 240)
    assert ended(final) == ("rejected", "rejected", 2, "bank.pay")
    assert [call.status for call in final.calls] == ["rejected", "cancelled"]


async def test_a_call_that_is_cancelled_between_a_yes_and_its_turn_has_an_end(strict: CodeMode) -> None:
    """Whoever follows the run was told that it waited."""
    script = "import asyncio\nawait asyncio.gather(bank.hang(), bank.pay(amount=1))"
    execution = strict.start(script, budgets=Budgets(concurrent_calls=1))
    told: list[str] = []
    approving: list[asyncio.Task[Outcome]] = []
    async for event in execution.events():
        if event.get("call_id") == f"{execution.execution_id}.2":
            told.append(str(event["event"]))
        if event["event"] == "call_pending":
            approving.append(asyncio.create_task(strict.approve(execution.execution_id, str(event["call_id"]))))
            while execution.pending():
                await asyncio.sleep(0.01)
            execution.cancel()
    assert (await approving[0]).status == "cancelled"
    assert told == ["call_pending", "call_ended"]


async def test_a_no_from_another_host_ends_the_run_when_it_would_pause(strict: CodeMode, desk: Desk) -> None:
    script = BESIDE.replace("bank.hang()", "bank.pay(amount=2), bank.until()")
    execution, call_id = await _asked(strict, script)
    async with await desk.journal() as journal, CodeMode(journal=journal, tend=False) as elsewhere:
        told = await elsewhere.reject(execution.execution_id, call_id, reason="no")
        assert told.status == "running"  # the host that has it ends it
    desk.event.set()
    final = await asyncio.wait_for(execution.outcome(), 240)
    assert ended(final)[:2] == ("rejected", "rejected")
    assert desk.paid == []
    assert (await (await strict.runs()).outcome(execution.execution_id)).status == "rejected"


async def test_a_host_that_stopped_before_it_ended_the_run_is_made_up_for(strict: CodeMode, desk: Desk) -> None:
    paused = await strict.execute("await bank.pay(amount=1)")
    runs = await strict.runs()
    call = await runs.call(paused.execution_id, 1)
    await runs.journal.approvals.decide(Answer(paused.execution_id, 1, call.digest, "reject", "ada"))  # and it died
    assert (await runs.outcome(paused.execution_id)).status == "paused"
    assert ended(await runs.resume(paused.execution_id))[0] == "rejected"
    assert desk.paid == []
