"""Kill -9 at every write of an execution, before and after the commit; then another host goes on with it.

A run, and a run within one: a snippet's.
"""

from __future__ import annotations

import collections
import json
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from tests.host.journal.forker import Forker
from tests.host.journal.runner import EXPECTED, SCRIPT, drive, tool_of

from isolith import CodeMode
from isolith.journal import Journal, NewSnippet, Settings

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(600)]

LATER = Settings(clock=lambda: datetime.now(UTC) + timedelta(hours=1))
"""A host that comes when the lease of the one that was killed is over."""


@pytest.fixture(scope="module")
def forker() -> Iterator[Forker]:
    with Forker("tests.host.journal.runner") as started:
        yield started


async def settled(journal: Journal) -> set[str]:
    """The numbers of the calls that had an outcome when the process was killed."""
    calls = [call for each in await journal.executions.find() for call in await journal.calls.of(each.execution_id)]
    return {
        str(cast("dict[str, int]", json.loads(call.arguments))["n"])
        for call in calls
        if call.status in {"completed", "failed"} and call.connector == "tool"
    }


def made(effects: Path) -> collections.Counter[str]:
    return collections.Counter(effects.read_text().split() if effects.exists() else ())


async def test_whatever_was_answered_is_not_done_again_and_the_run_ends(
    new_url: Callable[[], str], forker: Forker, tmp_path: Path
) -> None:
    for side in ("before", "after"):
        at = 0
        while True:
            at += 1
            effects, own = tmp_path / f"effects-{at}-{side}", new_url()
            code, said = forker.run(own, effects, SCRIPT, at, side)
            if code == 0:
                break  # it had fewer writes than that
            assert code == -signal.SIGKILL, said
            async with await Journal.open(own, LATER) as journal:
                answered = await settled(journal)
                outcome = await drive(journal, effects, SCRIPT)
                assert not (await journal.records.verify()).findings
            assert (outcome.status, outcome.value) == ("completed", EXPECTED), (at, outcome.error)
            done = made(effects)
            assert {n: done[n] for n in answered} == dict.fromkeys(answered, 1), at
            assert set(done) == set("123"), at
            assert max(done.values()) <= 2, at  # a person let what was unknown be made again
            assert sum(done.values()) <= 4, at  # and only what was under way
        assert at > 12


WITHIN = "[await tool.get(n=input['n']), await tool.get(n=input['n'] + 1)]"
AROUND = "await snippets.pair(n=1)"


@pytest.fixture
async def pair(tmp_path: Path) -> NewSnippet:
    """A snippet as it was proposed and approved, to be put into other journals."""
    async with CodeMode([tool_of(tmp_path / "proven")], journal=tmp_path / "proven.db", tend=False) as code_mode:
        proven = await code_mode.execute(WITHIN, input={"n": 8})
        made = await code_mode.snippets.propose(proven.execution_id, "pair", "Two in a row", who="ada")
        made = await code_mode.snippets.approve("pair", made.version, who="bob")
    parts = (made.name, made.description, made.code, made.input_schema, made.methods, made.image, made.proposed_by)
    return NewSnippet(*parts, tests=made.tests)


async def approved(journal: Journal, snippet: NewSnippet) -> None:
    made = await journal.snippets.propose(snippet)
    await journal.snippets.review(made.name, made.version, "approved", who="bob", content_hash=made.content_hash)


async def test_what_a_snippet_did_is_not_done_again_either(
    new_url: Callable[[], str], forker: Forker, tmp_path: Path, pair: NewSnippet
) -> None:
    within = 0
    for side in ("before", "after"):
        at = 0
        while True:
            at += 1
            effects, own = tmp_path / f"effects-{at}-{side}", new_url()
            async with await Journal.open(own) as journal:
                await approved(journal, pair)
            code, said = forker.run(own, effects, AROUND, at, side)
            if code == 0:
                break
            assert code == -signal.SIGKILL, said
            async with await Journal.open(own, LATER) as journal:
                answered = await settled(journal)
                within += any("." in each.execution_id for each in await journal.executions.find())
                outcome = await drive(journal, effects, AROUND)
                assert not (await journal.records.verify()).findings
            assert (outcome.status, outcome.value) == ("completed", ["got 1", "got 2"]), (at, outcome.error)
            done = made(effects)
            assert {n: done[n] for n in answered} == dict.fromkeys(answered, 1), at
            assert set(done) == set("12"), at
            assert sum(done.values()) <= 3, at  # what was under way was unknown, and let be made again
        assert at > 12
    assert within > 8
