"""The check before every run, held to what the guest itself says of the same scripts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.bindings.check.corpus import SCRIPTS, Script, scripts, shop
from tests.bindings.check.test_misplaced import MISPLACED

from isolith import CodeMode
from isolith.command_line.check_command import parse_in_guest
from isolith_bindings.check import check
from isolith_bindings.check.surroundings import ABSENT, BUILTINS, is_there
from isolith_bindings.testing import RecordingConnector
from isolith_runtime.guest import names as names_in_the_guest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.e2e.conftest import Crm, Isolith

    from isolith.run.checking import CheckMode

pytestmark = pytest.mark.anyio

BROKEN = scripts("broken")
CERTAIN = [script for script in BROKEN if script.is_certain and script.is_python]
INCOMPLETE = [script for script in BROKEN if any(expected.kind == "syntax" for expected in script.expected)]
RIGHT = scripts("right")


@pytest.fixture
async def unchecked() -> AsyncGenerator[CodeMode]:
    async with CodeMode(shop().values(), check="off") as made:
        yield made


@pytest.fixture
async def strict() -> AsyncGenerator[CodeMode]:
    async with CodeMode(shop().values()) as made:
        yield made


# what the guest says

NAMES = [
    f"{verb}_{noun}_{place}"
    for verb in ("list", "get", "create")
    for noun in ("issue", "pull", "branch", "release", "milestone", "label")
    for place in ("repo", "user", "org", "project", "gist")
]


@pytest.mark.parametrize(
    "wrong", ["list_isue_repo", "getIssue", "create_relase_org", "merge_team_user", "lst_pull", "zzz", "get_milestones"]
)
def test_of_many_methods_the_check_names_those_that_the_run_would(wrong: str) -> None:
    hub = RecordingConnector("hub", dict.fromkeys(NAMES))
    [finding] = check(f"hub.{wrong}()", {"hub": hub}).findings
    close = [f"hub.{name}" for name in names_in_the_guest.nearest(wrong, NAMES)]
    assert finding.hint is not None
    assert finding.hint.startswith(
        f"did you mean {' or '.join(close)}?" if close else "its methods: create_branch_gist"
    )


# nothing is called


async def test_what_is_certainly_wrong_ends_before_anything_is_called(code_mode: CodeMode, crm: Crm) -> None:
    outcome = await code_mode.execute("crm.get(id=1)\ncrm.gett(id=2)")
    assert outcome.error is not None
    assert (outcome.status, outcome.error.kind, outcome.error.line) == ("failed", "unknown_tool", 2)
    assert (crm.reached, outcome.calls, outcome.usage.passes) == ([], (), 0)


async def test_what_may_be_wrong_is_a_warning_and_runs(code_mode: CodeMode, crm: Crm) -> None:
    outcome = await code_mode.execute("for c in input:\n    crm.gett(id=c)\ncrm.get(id=1)", input=[])
    assert (outcome.value, crm.reached) == ({"id": 1}, ["get 1"])
    assert [(warning.kind, warning.message, warning.line) for warning in outcome.warnings] == [
        ("check", "crm has no method 'gett'", 2)
    ]


async def test_the_rest_that_is_wrong_is_told_with_the_refusal(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("crm.gett(id=1)\necho.give(valu=1)\nfor c in input:\n    crm.nope()")
    assert outcome.error is not None
    assert outcome.error.line == 1
    assert [warning.line for warning in outcome.warnings] == [2, 4]


async def test_a_run_that_fails_where_the_check_warned_says_it_once(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("for c in input:\n    crm.gett(id=c)", input=[1])
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.line, outcome.warnings) == ("unknown_tool", 2, ())


async def test_a_run_that_fails_as_the_check_said_it_may_has_its_hint() -> None:
    script = "rows = await crm.list_contacts()\nfor row in rows:\n    row['nmae']"
    async with CodeMode(shop().values()) as code_mode:
        outcome = await code_mode.execute(script)
    assert outcome.error is not None
    assert (outcome.error.message, outcome.error.line) == ("KeyError: 'nmae'", 3)
    assert (outcome.error.hint, outcome.warnings) == ("did you mean 'name'?", ())


@pytest.mark.parametrize("mode", ["off", "strict"])
async def test_arguments_by_position_that_no_check_can_see_fail_with_the_signature_all_the_same(
    mode: CheckMode,
) -> None:
    async with CodeMode(shop().values(), check=mode) as code_mode:
        outcome = await code_mode.execute("await crm.get_contact(input)", input=7)
    assert outcome.error is not None
    assert outcome.error.kind == "invalid_arguments"
    assert (outcome.error.hint or "").startswith("crm.get_contact(*, id: int)")


async def test_without_the_check_the_calls_before_are_made(crm: Crm) -> None:
    for mode in ("off", "warn"):
        crm.reached.clear()
        async with CodeMode([crm], check=mode) as code_mode:
            outcome = await code_mode.execute("crm.get(id=1)\ncrm.gett(id=2)")
        assert outcome.error is not None
        assert (outcome.error.kind, outcome.error.line, crm.reached) == ("unknown_tool", 2, ["get 1"])


async def test_an_input_that_cannot_cross_is_said_first(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("crm.gett()", input=object())
    assert outcome.error is not None
    assert outcome.error.kind == "invalid_input"


async def test_a_cancelled_check_is_a_cancelled_run(code_mode: CodeMode) -> None:
    execution = code_mode.start("crm.gett()")
    execution.cancel()
    assert (await execution.outcome()).status in {"cancelled", "failed"}


# the guest says the same


@pytest.mark.parametrize("script", CERTAIN, ids=lambda script: script.name)
async def test_what_is_certain_fails_in_the_guest_at_that_place(
    unchecked: CodeMode, strict: CodeMode, script: Script
) -> None:
    run = await unchecked.execute(script.text)
    checked = await strict.execute(script.text)
    assert run.error is not None
    assert checked.error is not None
    assert (run.error.kind, run.error.line, run.error.tool) == (
        checked.error.kind,
        checked.error.line,
        checked.error.tool,
    )
    assert checked.calls == ()


@pytest.mark.parametrize(("text", "place", "message", "hint"), MISPLACED)
async def test_what_does_not_compile_is_told_as_the_guest_tells_it(
    unchecked: CodeMode, strict: CodeMode, text: str, place: tuple[int, int], message: str, hint: str | None
) -> None:
    run, checked = await unchecked.execute(text), await strict.execute(text)
    assert run.error is not None
    assert checked.error is not None
    for error in (run.error, checked.error):
        assert (error.kind, error.line, error.message, error.hint) == ("syntax", place[0], message, hint)


@pytest.mark.parametrize("script", RIGHT, ids=lambda script: script.name)
async def test_what_is_right_runs_to_its_end(strict: CodeMode, script: Script) -> None:
    outcome = await strict.execute(script.text)
    assert outcome.error is None
    assert not [warning for warning in outcome.warnings if warning.kind == "check"]


@pytest.mark.parametrize("script", INCOMPLETE, ids=lambda script: script.name)
async def test_the_guest_s_parser_says_what_is_no_python(script: Script) -> None:
    [expected] = script.expected
    place = await parse_in_guest(script.text)
    assert place is not None
    assert place[1] == expected.line
    assert expected.says in place[0]


async def test_the_guest_s_parser_runs_nothing_and_reads_what_is_new() -> None:
    for text in ("try:\n    1 / 0\nexcept ValueError, TypeError:\n    pass", "t'{1}'", "return 1", "raise SystemExit"):
        assert await parse_in_guest(text) is None


# the surroundings are the guest's


async def test_the_names_that_every_script_has(unchecked: CodeMode) -> None:
    outcome = await unchecked.execute("import builtins\nsorted({*dir(builtins), *globals()} - {'builtins'})")
    there = set(outcome.value) if isinstance(outcome.value, list) else set()
    assert len(there) > 150
    absent = BUILTINS - there
    # Of older Pythons, of other platforms and of classes: a script that names them is let through to the guest.
    assert absent <= {"WindowsError", "EncodingWarning", "aiter", "anext", "__class__", "__module__", "__qualname__"}


async def test_no_name_that_a_script_has_is_an_alarm(unchecked: CodeMode, strict: CodeMode) -> None:
    outcome = await unchecked.execute("import builtins\nsorted({*dir(builtins), *globals()} - {'builtins'})")
    assert isinstance(outcome.value, list)
    names = [
        name
        for name in outcome.value
        if isinstance(name, str) and name.isidentifier() and name not in {"None", "True", "False"}
    ]
    result = await strict.execute(
        "[" + ", ".join(f"type({name})" for name in names if not name.startswith("__isolith")) + "]\n1"
    )
    assert (result.error, result.value, result.warnings) == (None, 1, ())


async def test_no_module_that_can_be_imported_is_an_alarm(unchecked: CodeMode) -> None:
    script = """
import importlib, sys
found = []
for name in sorted(sys.stdlib_module_names):
    if name in ("antigravity", "this"):
        continue
    try:
        importlib.import_module(name)
    except Exception:
        continue
    found.append(name)
found
"""
    outcome = await unchecked.execute(script)
    assert isinstance(outcome.value, list)
    assert len(outcome.value) > 150
    assert [name for name in outcome.value if isinstance(name, str) and not is_there(name)] == []


@pytest.mark.parametrize("module", sorted(ABSENT))
async def test_what_is_absent_is_refused_by_the_guest_in_the_same_words(
    unchecked: CodeMode, strict: CodeMode, module: str
) -> None:
    run, checked = await unchecked.execute(f"import {module}"), await strict.execute(f"import {module}")
    assert run.error is not None
    assert checked.error is not None
    assert (run.error.message, run.error.line) == (checked.error.message, checked.error.line)


# the command line


def test_the_command_tells_all_that_is_wrong(isolith: Isolith, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("await crm.list_contcts()\nfor c in input:\n    print(crm.revenue(yaer=c))\n")
    (tmp_path / "new.py").write_text("x = = 1\n")
    done = isolith("check", "bad.py", "new.py", "--connect", str(SCRIPTS / "shop.py"))
    assert (done.returncode, done.stderr) == (1, "")
    for part in (
        "bad.py:1:7: error[unknown_tool]: crm has no method 'list_contcts'",
        "  hint: did you mean crm.list_contacts",
        "bad.py:3:5: warning[check]: TypeError: crm.revenue(...) was called on line 3 but not awaited",
        "bad.py:3:11: warning[check]: crm.revenue has no argument `yaer`; did you mean `year`? It takes: year",
        "new.py:1:5: error[syntax]: invalid syntax",
        "2 scripts, 2 errors, 2 warnings",
    ):
        assert part in done.stdout


def test_right_scripts_from_a_file_and_from_stdin(isolith: Isolith) -> None:
    right = str(SCRIPTS / "right" / "style" / "report.py")
    done = isolith(
        "check", right, "-", "--json", "--connect", str(SCRIPTS / "shop.py"), stdin=b"crm.list_contacts(limit=1)"
    )
    document = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert [(one["script"], one["ok"], one["errors"], one["warnings"]) for one in document["scripts"]] == [
        (right, True, [], []),
        ("-", True, [], []),
    ]


def test_a_script_that_is_not_there_is_wrong_use(isolith: Isolith) -> None:
    done = isolith("check", "missing.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "isolith: the script `missing.py` does not exist" in done.stderr


@pytest.mark.parametrize(("mode", "code", "said"), [("strict", 1, ""), ("warn", 1, "here\n"), ("off", 1, "here\n")])
def test_a_run_from_the_command_line_is_checked_as_told(isolith: Isolith, mode: str, code: int, said: str) -> None:
    done = isolith("run", "-c", "print('here')\ntools.nope", "--check", mode)
    assert (done.returncode, done.stdout) == (code, "")
    assert ("here\n" in done.stderr) == bool(said)
