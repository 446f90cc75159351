"""Every hostile script ends in the way its header names, within its budgets, and tells nothing it should not know."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import jsonschema
import pytest
from tests.security.corpus import Hostile, corpus
from tests.security.desk import CANARY
from tests.security.generated import generated

from isolith.journal.journal import Journal
from isolith.outcome import BUDGET_KINDS, outcome_schema

if TYPE_CHECKING:
    from pathlib import Path

    from tests.security.configured import Upstream
    from tests.security.desk import Desk

    from isolith import CodeMode, Outcome

pytestmark = pytest.mark.anyio

FROM_FILES = [(script, script.text) for script in corpus()]
SCRIPTS: list[tuple[Hostile, str | bytes]] = [*FROM_FILES, *generated()]
FAMILIES = {"bombs", "recursion", "escapes", "forgery", "leaks", "endings", "calls", "output"}

SCHEMA = jsonschema.Draft202012Validator(outcome_schema())
LONGEST_TO_VALIDATE = 100_000


def test_there_are_as_many_as_were_asked_for() -> None:
    assert {script.name.partition("/")[0] for script, _ in FROM_FILES} == FAMILIES
    assert len(FROM_FILES) >= 150


@pytest.mark.parametrize(("script", "text"), SCRIPTS, ids=[script.name for script, _ in SCRIPTS])
async def test_ends_as_it_has_to(
    script: Hostile,
    text: str | bytes,
    code_mode: CodeMode,
    desk: Desk,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = f"{CANARY}-frame"  # in the locals of whoever runs the script
    execution = code_mode.start(text, budgets=script.budgets)
    outcome = await execution.outcome()
    events = [event async for event in execution.events()]

    assert script.wrong(outcome, desk.reached) == []
    assert outcome.exit_code == _exit_code(outcome)
    document = outcome.to_json_text()
    if len(document) <= LONGEST_TO_VALIDATE:
        SCHEMA.validate(json.loads(document))
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    for told in (document, repr(outcome), repr(events), caplog.text):
        assert secret[: len(CANARY)] not in told
    assert (await code_mode.execute("1 + 1")).value == 2


def _exit_code(outcome: Outcome) -> int:
    if outcome.error is None:
        return 0
    if outcome.error.kind in BUDGET_KINDS:
        return 3
    return 2 if outcome.error.kind == "invalid_input" else 1


@pytest.mark.parametrize("cycle", range(3))
async def test_what_one_run_draws_or_leaves_is_not_in_the_next(cycle: int, code_mode: CodeMode) -> None:
    [script] = [script for script, _ in FROM_FILES if script.name == "leaks/earlier_runs_of_random"]
    first, second = await code_mode.execute(script.text), await code_mode.execute(script.text)
    assert first.logs[0].message != second.logs[0].message
    [script] = [script for script, _ in FROM_FILES if script.name == "leaks/earlier_runs"]
    assert [(await code_mode.execute(script.text)).value for _ in range(3)] == [[], [], []]


GIVING_AWAY = ("desk.fail()", "api.get_thing()", "shop.get_thing()", "shop.get_broken()", "remote.any()", "local.any()")


async def test_no_secret_in_the_journal_of_all_these_runs(
    code_mode: CodeMode, journal: Path, configured: Upstream
) -> None:
    """The last test of this file, so that whatever ran before it is in there."""
    for script in GIVING_AWAY:
        await code_mode.execute(script)
    assert CANARY in "".join(configured.sent)
    assert CANARY in configured.started()
    async with await Journal.open(f"sqlite:///{journal}") as kept:
        lines = [line async for line in kept.export(contents=True)]
    assert "desk" in "".join(lines)
    assert [line[:500] for line in lines if CANARY in line] == []
    for file in journal.parent.iterdir():
        assert CANARY.encode() not in file.read_bytes()
