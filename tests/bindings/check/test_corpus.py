"""Scripts as models write them: what is wrong with the broken ones, and nothing with the right ones."""

from __future__ import annotations

import ast

import pytest
from tests.bindings.check.corpus import SCRIPTS, Expected, Script, scripts, shop

from isolith_bindings.check import Finding, check

BROKEN = [script for script in scripts("broken") if script.is_python]
RIGHT = scripts("right")


def matches(expected: Expected, finding: Finding) -> bool:
    return (
        (expected.line, expected.kind, expected.certain) == (finding.line, finding.kind, finding.certain)
        and expected.says in f"{finding.message} {finding.hint}"
    )  # fmt: skip


@pytest.mark.parametrize("script", BROKEN, ids=lambda script: script.name)
def test_what_is_wrong_is_found_where_it_is_and_nothing_else(script: Script) -> None:
    found = check(script.text, shop()).findings
    assert script.expected
    assert len(found) == len(script.expected), found
    for expected in script.expected:
        assert any(matches(expected, finding) for finding in found), found


@pytest.mark.parametrize("script", RIGHT, ids=lambda script: script.name)
def test_a_right_script_raises_no_alarm(script: Script) -> None:
    report = check(script.text, shop())
    assert (report.findings, report.fatal, report.looked) == ((), None, True)


PLACES = [
    "if input is None:\n    {}\n    pass",
    "for _index in range(1):\n    {}\n    pass",
    "try:\n    {}\n    pass\nfinally:\n    pass",
]
"""Where a script may stand within another."""
FUNCTIONS = [
    "async def wrapped():\n    {}\n    return 1\nawait wrapped()",
    "class Runner:\n  async def run(self):\n    {}\n    return 1\nawait Runner().run()",
]
ENDS_IN_A_CALL = {"waiting/coroutine_is_the_answer", "waiting/last_call_is_the_answer", "failing/finally"}
"""What is awaited only as the last thing of a script."""


@pytest.mark.parametrize("script", RIGHT, ids=lambda script: script.name)
def test_a_right_script_is_right_within_another(script: Script) -> None:
    synchronous = check(script.text, shop()).synchronous
    at_the_top = synchronous or any(word in script.text for word in ("global ", "nonlocal ", "import *"))
    for place in [] if script.name in ENDS_IN_A_CALL else PLACES if at_the_top else [*PLACES, *FUNCTIONS]:
        text = place.format(script.text.replace("\n", "\n    "))
        if is_python(text):
            assert check(text, shop()).findings == (), text


def is_python(text: str) -> bool:
    """A comment or a text that goes over lines may end oddly within another script."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def test_the_corpus_is_as_large_as_was_asked_for() -> None:
    assert len(scripts("broken")) >= 60
    assert len(RIGHT) >= 60


@pytest.mark.parametrize("script", [*BROKEN, *RIGHT], ids=lambda script: script.name)
def test_a_script_that_was_sent_half_is_looked_at_all_the_same(script: Script) -> None:
    for end in range(0, len(script.text), 23):
        check(script.text[:end], shop())


def test_no_hostile_script_breaks_the_check() -> None:
    paths = sorted((SCRIPTS / "hostile").glob("*/*.py"))
    assert len(paths) > 500
    for path in paths:
        report = check(path.read_text(), shop())
        for finding in report.findings:
            assert finding.message.encode()
            assert finding.line >= 1
            assert finding.column >= 1
