"""A person's yes is for what asked: a policy that has changed since asks again, or refuses; and the state is told."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode, Policy, connector
from isolith.durable import durable_runs
from isolith.durable.history import load_history
from isolith.journal.errors import AlreadyDecided, DigestMismatch
from isolith_bindings.predicates import Condition
from isolith_bindings.rules import Rule

if TYPE_CHECKING:
    from pathlib import Path

    from isolith import Outcome

pytestmark = pytest.mark.anyio

SCRIPT = "try:\n    got = await bank.pay(n=1)\nexcept ToolError as error:\n    got = f'{error.kind}: {error}'\ngot"
BEFORE = Policy(preset="trusted", rules=(Rule(action="ask", match=("bank.pay",), reason="all payments are looked at"),))
STRICTER = Policy(preset="trusted", rules=(Rule(action="ask", match=("bank.*",), reason="the account is watched"),))
DENIES = Policy(preset="trusted", rules=(Rule(action="deny", match=("bank.pay",), where={"n": Condition(at_most=5)}),))
ALLOWS = Policy(preset="trusted")
OTHER_RULES = Policy(preset="trusted", rules=(Rule(action="deny", match=("shop.*",)), *BEFORE.rules))


@pytest.fixture(params=["woken", "replayed"], autouse=True)
def _how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "replayed":
        monkeypatch.setattr(durable_runs, "load_history", functools.partial(load_history, awake=True))


class Desk:
    """One journal, and hosts with one policy or another."""

    def __init__(self, folder: Path) -> None:
        self.journal = folder / "journal.db"
        self.paid: list[int] = []

    def host(self, policy: Policy) -> CodeMode:
        paid = self.paid

        @connector("bank")
        class Bank:
            async def pay(self, n: int) -> str:
                """Pay."""
                paid.append(n)
                return f"paid {n}"

        return CodeMode([Bank], policy=policy, journal=self.journal, tend=False)

    async def approved(self, arguments: dict[str, object] | None = None) -> Outcome:
        """A run whose only call somebody has allowed, and which nobody has gone on with."""
        async with self.host(BEFORE) as host:
            paused = await host.execute(SCRIPT)
            [call] = paused.pending
            await (await host.runs()).decide(
                paused.execution_id,
                call.call_id,
                "approve",
                who="ada",
                digest=call.digest,
                arguments=arguments,
                go_on=False,
            )
        return paused


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_what_asks_otherwise_asks_again(desk: Desk) -> None:
    paused = await desk.approved()
    seen = paused.pending[0]
    async with desk.host(STRICTER) as host:
        runs = await host.runs()
        again = await runs.resume(paused.execution_id)
        assert (again.status, desk.paid) == ("paused", [])
        [waits] = again.pending
        assert waits.call_id == seen.call_id
        assert waits.reason == "the policy has changed since it was approved: the account is watched"
        with pytest.raises(DigestMismatch):  # the answer that was given before is none to this
            await host.approve(paused.execution_id, seen.call_id, digest=seen.digest)
        final = await host.approve(paused.execution_id, waits.call_id, digest=waits.digest, who="bob")
        assert (final.value, desk.paid) == ("paid 1", [1])
        decisions = await runs.decisions(paused.execution_id)
        assert [(one.round, one.who, one.spent_at is None) for one in decisions] == [
            (1, "ada", True),
            (2, "bob", False),
        ]
        assert None not in {one.policy for one in decisions}
        assert decisions[0].policy != decisions[1].policy
        with pytest.raises(AlreadyDecided, match="bob"):
            await host.approve(paused.execution_id, waits.call_id, digest=waits.digest)


@pytest.mark.parametrize(
    "policy", [BEFORE.model_copy(deep=True), OTHER_RULES, ALLOWS], ids=["same", "others", "allows"]
)
async def test_what_asks_the_same_or_not_at_all_does_not_ask_again(desk: Desk, policy: Policy) -> None:
    paused = await desk.approved()
    async with desk.host(policy) as host:
        final = await (await host.runs()).resume(paused.execution_id)
    assert (final.value, desk.paid) == ("paid 1", [1])


async def test_what_denies_by_now_refuses_and_the_script_is_told(desk: Desk) -> None:
    paused = await desk.approved()
    async with desk.host(DENIES) as host:
        final = await (await host.runs()).resume(paused.execution_id)
    assert isinstance(final.value, str)
    assert final.value.startswith("denied: bank.pay is not allowed here")
    assert [(call.status, call.error and call.error.kind) for call in final.calls] == [("failed", "denied")]
    assert desk.paid == []


async def test_other_arguments_that_were_allowed_are_asked_about_again(desk: Desk) -> None:
    paused = await desk.approved({"n": 7})
    async with desk.host(STRICTER) as host:
        again = await (await host.runs()).resume(paused.execution_id)
        [waits] = again.pending
        assert waits.arguments == {"n": 7}
        final = await host.approve(paused.execution_id, waits.call_id, digest=waits.digest)
    assert (final.value, desk.paid) == ("paid 7", [7])


async def test_an_edit_lifts_no_prohibition(desk: Desk) -> None:
    rules = (Rule(action="deny", match=("bank.pay",), where={"n": Condition(more_than=5)}), *BEFORE.rules)
    async with desk.host(Policy(preset="trusted", rules=rules)) as host:
        paused = await host.execute(SCRIPT)
        final = await host.approve(paused.execution_id, paused.pending[0].call_id, arguments={"n": 9})
    assert isinstance(final.value, str)
    assert final.value.startswith("denied: ")
    assert desk.paid == []
