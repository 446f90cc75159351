"""As much as the budgets let a run hold is held by its journal too: none of it is a bug of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith import Budgets, CodeMode, Policy, Rule, connector, method
from isolith.budgets import CEILINGS
from isolith.calling.call_frames import MAX_MESSAGE
from isolith.journal import Caps
from isolith.run.allowance import MAX_HELD
from isolith.run.given import MOST_GIVEN
from isolith_bindings.errors import CallError
from isolith_bindings.functions import as_connector

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

pytestmark = pytest.mark.anyio

MUCH = 3_000_000
"""Bytes: more than a journal takes of a line, or of a script."""
LARGEST = 1_000_000


@connector("box")
class Box:
    async def size(self, content: str) -> int:
        """How much it is."""
        return len(content)

    @method(policy="ask")
    async def send(self, content: str) -> int:
        """Send it."""
        return len(content)

    async def broken(self) -> int:
        """Answer with something else than it promises."""
        return "x" * MUCH  # type: ignore[return-value] # pyright: ignore[reportReturnType]

    async def verbose(self) -> None:
        """Fail with much to say."""
        raise CallError("tool_error", "no", data={"all": "x" * MUCH}, hint="y" * MUCH)


@pytest.fixture
async def code_mode(tmp_path: Path) -> AsyncGenerator[CodeMode]:
    async with CodeMode([Box()], journal=tmp_path / "journal.db", tend=False, policy="trusted") as made:
        yield made


def test_a_journal_takes_what_a_run_may_be_given() -> None:
    caps = Caps()
    assert max(CEILINGS.argument_bytes, CEILINGS.input_bytes) <= MOST_GIVEN < caps.given
    assert max(CEILINGS.result_bytes, MAX_HELD) < caps.outcome
    assert max(CEILINGS.script_bytes, MAX_MESSAGE) < caps.text


async def test_an_artifact(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute(f"made = artifact(b'x' * {MUCH})\nlen(made.read())")
    assert (outcome.value, outcome.error) == (MUCH, None)
    [kept] = outcome.artifacts
    assert await code_mode.artifact(outcome.execution_id, kept.handle) == b"x" * MUCH


async def test_arguments(code_mode: CodeMode) -> None:
    budgets = Budgets(argument_bytes=2 * MUCH)
    outcome = await code_mode.execute(f"box.size(content='x' * {MUCH})", budgets=budgets)
    assert (outcome.value, outcome.error) == (MUCH, None)


async def test_arguments_that_a_person_is_asked_about(code_mode: CodeMode) -> None:
    budgets = Budgets(argument_bytes=2 * MUCH)
    outcome = await code_mode.execute(f"box.send(content='x' * {MUCH})", budgets=budgets)
    [waiting] = outcome.pending
    outcome = await code_mode.approve(outcome.execution_id, waiting.call_id)
    assert (outcome.value, outcome.error) == (MUCH, None)


async def test_many_calls_that_wait_for_people(code_mode: CodeMode) -> None:
    script = f"await asyncio.gather(*[box.send(content=str(n) * {LARGEST // 2}) for n in range(10, 36)])"
    outcome = await code_mode.execute(script)
    assert (outcome.status, outcome.error, len(outcome.pending)) == ("paused", None, 26)


async def test_an_input(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("len(input)", input="x" * MUCH, budgets=Budgets(input_bytes=2 * MUCH))
    assert (outcome.value, outcome.error) == (MUCH, None)


@pytest.mark.parametrize(("call", "kind"), [("broken", "invalid_result"), ("verbose", "tool_error")])
async def test_what_a_failure_tells(call: str, kind: str, code_mode: CodeMode) -> None:
    script = (
        f"try:\n    box.{call}()\nexcept ToolError as error:\n    told = [error.kind, error.data['truncated']]\ntold"
    )
    outcome = await code_mode.execute(script)
    assert (outcome.value, outcome.error) == ([kind, True], None)
    assert len(outcome.to_json_text()) < 100_000


@pytest.mark.parametrize("size", [LARGEST // 100, LARGEST // 4], ids=["little", "much"])
@pytest.mark.parametrize("denied", [True, False], ids=["denied-before", "denied-after"])
async def test_what_was_refused_is_met_again_where_it_would_be_made_now(
    tmp_path: Path, size: int, denied: bool
) -> None:
    """It was looked for by another digest, and the run could not be tried again: `diverged`."""
    tries = 0

    async def size_of(content: str) -> int:
        """How much it is."""
        return len(content)

    async def look() -> int:
        """What succeeded is not made again, nor what came before it."""
        return 1

    async def end() -> int:
        """Fail the first time."""
        nonlocal tries
        tries += 1
        if tries == 1:
            raise CallError("tool_error", "not now")
        return tries

    script = f"""
try:
    first = box.size_of(content="x" * {size})
except ToolError as error:
    first = error.kind
box.look()
box.end()
first
"""
    rule = Rule(action="deny", match=("box.size_of",), when=lambda arguments: "content" in arguments)
    refusing = Policy(preset="trusted", rules=(rule,))
    allowing = Policy(preset="trusted")
    made, journal = as_connector([size_of, look, end], "box"), tmp_path / "journal.db"
    async with CodeMode([made], journal=journal, policy=refusing if denied else allowing, tend=False) as before:
        outcome = await before.execute(script)
    assert outcome.error is not None
    assert outcome.error.message == "not now"
    async with CodeMode([made], journal=journal, policy=allowing if denied else refusing, tend=False) as now:
        final = await (await now.runs()).retry(outcome.execution_id)
    assert (final.status, final.value, final.error) == ("completed", "denied" if denied else size, None)
