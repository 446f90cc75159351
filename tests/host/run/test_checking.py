"""The step before a run: modes, places, and a check that must never cost the run."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.bindings.check.corpus import shop

from isolith.outcome import Diagnostic
from isolith.run import checking
from isolith.run.checking import Checking, CheckMode, look
from isolith.run.normalize import Prepared, Refused, prepare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.check import Finding, Report
    from isolith_bindings.connector import Connector

pytestmark = pytest.mark.anyio

CERTAIN = "crm.nope()"
PERHAPS = "if input:\n    crm.nope()"


def prepared(text: str) -> Prepared:
    script = prepare(text, 10_000)
    assert isinstance(script, Prepared)
    return script


@pytest.mark.parametrize(
    ("mode", "text", "refused", "warnings"),
    [
        ("strict", CERTAIN, True, 0),
        ("strict", PERHAPS, False, 1),
        ("strict", f"{CERTAIN}\n{PERHAPS}\nmail.nope()", True, 2),
        ("strict", "x = = 1", False, 0),
        ("strict", "1 + 1", False, 0),
        ("warn", CERTAIN, False, 1),
        ("warn", PERHAPS, False, 1),
        ("off", CERTAIN, False, 0),
        ("off", PERHAPS, False, 0),
    ],
)
async def test_what_a_mode_does(mode: CheckMode, text: str, refused: bool, warnings: int) -> None:
    check = Checking(mode, shop())
    judged = await check.judged(prepared(text))
    assert isinstance(judged, Refused) == refused
    added = check.added((), None)
    assert len(added) == warnings
    assert {diagnostic.kind for diagnostic in added} <= {"check"}


async def test_a_run_that_fails_as_the_check_said_has_the_hint_of_the_check() -> None:
    check = Checking("strict", shop())
    await check.judged(prepared("for c in input:\n    crm_list_contacts()\nx = 1"))
    failed = Diagnostic(
        kind="exception", message="NameError: name 'crm_list_contacts' is not defined", line=2, hint="no"
    )
    hinted = check.hinted(failed)
    assert hinted is not None
    assert (
        hinted.hint
        == "did you mean `crm.list_contacts`? The connectors of this run: crm, mail, notes, tracker, weather"
    )
    for other in (None, failed.model_copy(update={"line": 3}), failed.model_copy(update={"message": "ValueError: no"})):
        assert check.hinted(other) == other


async def test_a_refusal_says_what_the_run_would_have_said() -> None:
    judged = await Checking("strict", shop()).judged(prepared("x = 1\ncrm.list_contcts()"))
    assert isinstance(judged, Refused)
    assert judged.diagnostic == Diagnostic(
        kind="unknown_tool",
        message="crm has no method 'list_contcts'",
        line=2,
        column=1,
        source_line="crm.list_contcts()",
        hint="did you mean crm.list_contacts or crm.get_contact or crm.find_contact?",
        tool="crm.list_contcts",
    )


async def test_the_place_is_in_the_user_s_own_text() -> None:
    script = prepared("Sure:\n```python\n    x = 1\n    crm.nope()\n```")
    judged = await Checking("strict", shop()).judged(script)
    assert isinstance(judged, Refused)
    found = judged.diagnostic
    assert (found.line, found.column, found.source_line) == (4, 5, "    crm.nope()")


async def test_what_the_run_says_of_a_line_is_not_said_twice() -> None:
    check = Checking("warn", shop())
    await check.judged(prepared("crm.nope()\nmail.nope()\nweather.nope()"))
    said = Diagnostic(kind="cancelled", message="said by the run", line=2)
    error = Diagnostic(kind="unknown_tool", message="what ended it", line=3)
    assert [(warning.message, warning.line) for warning in check.added((said,), error)] == [
        ("said by the run", 2),
        ("crm has no method 'nope'", 1),
    ]


async def test_at_most_twenty_warnings() -> None:
    check = Checking("warn", shop())
    await check.judged(prepared("crm.nope()\n" * 40))
    assert len(check.added((), None)) == 20


async def test_a_bug_of_the_check_costs_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_text: str, _connectors: Mapping[str, Connector]) -> Report:
        raise ZeroDivisionError

    monkeypatch.setattr(checking, "check", broken)
    check = Checking("strict", shop())
    script = prepared(CERTAIN)
    assert await check.judged(script) is script
    assert check.added((), None) == ()


@pytest.mark.parametrize("text", ["-" * 9000 + "1", "not " * 5000 + "1", "lambda:" * 5000 + "1", "1**" * 5000 + "1"])
async def test_a_text_that_nests_deep_is_read_on_a_stack_that_holds_it(text: str) -> None:
    assert (await look(text, {})).findings == ()


async def test_a_busy_host_says_nothing_of_types_rather_than_later(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "found = crm.find_contact(name='Ada')\nfound['name']"
    for seconds, said in ((60.0, 1), (0.0, 0)):
        monkeypatch.setattr(checking, "RUN_TIMEOUT_S", seconds)
        check = Checking("strict", shop(), "auto")
        await check.judged(prepared(text))
        await check.settled()
        assert len(check.added((), None)) == said


async def test_a_bug_of_the_type_checker_costs_a_run_nothing_but_what_it_would_have_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_given: object, **_named: object) -> tuple[Finding, ...]:
        raise RuntimeError("a bug")

    monkeypatch.setattr(checking, "types_of", broken)
    check = Checking("strict", shop(), "auto")
    await check.judged(prepared("found = crm.find_contact(name='Ada')\nfound['name']"))
    async with asyncio.timeout(30):
        await check.settled()
    assert check.added((), None) == ()
