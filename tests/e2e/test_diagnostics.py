"""Every kind of diagnostic, with its place; what a reader sees of tracebacks, groups and chains."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest
import structlog.testing

from isolith import Budgets, CodeMode
from isolith.outcome import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith import Diagnostic
    from isolith_bindings.connector import CallContext, Method

pytestmark = pytest.mark.anyio

TESTS = Path(__file__).parents[1]
PREFIX = "Sure:\n\n```python\n    # indented\n"
"""Four lines and four columns of what models write around a script."""


@dataclass(frozen=True)
class Case:
    """A script of one line, and where in it things go wrong."""

    script: str
    kind: Kind
    column: int | None
    budgets: Budgets = field(default_factory=Budgets)
    tool: str | None = None
    hint: str | None = None


CASES = [
    Case("x = (1,", "syntax", 5),
    Case("const x = await crm.get({id: 1});", "not_a_script", None),
    Case("x = 1; 1 / 0", "exception", 8),
    Case("x = 1; raise ValueError('no')", "exception", 8),
    Case("x = 1; crm.gett(id=1)", "unknown_tool", 8, tool="crm.gett", hint="did you mean crm.get?"),
    Case("tools.mail.send()", "unknown_tool", 1, tool="mail", hint="there are: crm, echo"),
    Case("x = [crm.get(id='x')]", "invalid_arguments", 6, tool="crm.get", hint="crm.get(*, id: int) -> dict[str, int]"),
    Case("crm.lie()", "invalid_result", 1, tool="crm.lie", hint="the call was made; what it gave is in the error's `data`"),
    Case("x = 'ü', crm.fail()", "tool_error", 10, tool="crm.fail"),
    Case("crm.hang()", "tool_timeout", 1, Budgets(call_s=0.05), "crm.hang"),
    Case("crm.unavailable()", "tool_unavailable", 1, tool="crm.unavailable", hint="try tomorrow"),
    Case("crm.delete(id=1)", "denied", 1, tool="crm.delete"),
    Case("while True: x = 1", "cpu_exceeded", None, Budgets(cpu_ms=100)),
    Case("x = bytearray(10**9)", "memory_exceeded", 5),
    Case("crm.hang()", "wall_exceeded", None, Budgets(wall_s=2)),
    Case("'x' * 5000", "output_exceeded", None, Budgets(value_bytes=100)),
    Case("crm.get(id=1); crm.get(id=2)", "calls_exceeded", 16, Budgets(calls=1), "crm.get"),
    Case("f = lambda n: f(n + 1); f(0)", "recursion", None, hint="use a loop, or a list as a stack"),
    Case("await asyncio.Event().wait()", "deadlock", None, hint="no call and no timer is under way, so nothing can wake it"),
]  # fmt: skip


def known(kind: Kind) -> Kind:
    return kind


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.script}")
async def test_a_kind_with_its_place(code_mode: CodeMode, case: Case) -> None:
    outcome = await code_mode.execute(f"x = 0\n{case.script}", budgets=case.budgets)
    _check(outcome.error, case, 2, case.column, case.script)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.script}")
async def test_the_place_is_the_user_s_after_fences_and_indentation_came_off(code_mode: CodeMode, case: Case) -> None:
    outcome = await code_mode.execute(f"{PREFIX}    {case.script}\n```\nThat is it.", budgets=case.budgets)
    column = case.column and case.column + 4
    _check(outcome.error, case, 5, column, f"    {case.script}")


def _check(error: Diagnostic | None, case: Case, line: int, column: int | None, source_line: str) -> None:
    assert error is not None
    assert (error.kind, error.line, error.source_line, error.tool) == (case.kind, line, source_line, case.tool)
    if column is not None:
        assert error.column == column
    if case.hint is not None:
        assert error.hint == case.hint
    assert error.error_id is None


ELSEWHERE: dict[Kind, str] = {
    "internal": "security/test_canaries.py",
    "cancelled": "e2e/test_cancellation.py",
    "invalid_input": "e2e/test_budgets.py",
    "check": "e2e/test_check.py",
    "rejected": "e2e/test_approvals.py",
    "expired": "e2e/test_pausing.py",
    "diverged": "e2e/test_pausing.py",
}
"""What takes more than a script of one line, and where it is reached."""


def test_every_kind_has_a_test() -> None:
    assert {case.kind for case in CASES} | ELSEWHERE.keys() == set(get_args(Kind))
    for kind, file in ELSEWHERE.items():
        assert f'"{kind}"' in (TESTS / file).read_text()


async def test_whether_it_may_succeed_when_run_again(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("crm.unavailable()")
    again = await code_mode.execute("crm.fail()")
    assert outcome.error is not None
    assert again.error is not None
    assert (outcome.error.retriable, again.error.retriable) == (True, False)


# what an exception shows


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise ValueError", "ValueError"),
        ("assert 1 == 2, 'not equal'", "AssertionError: not equal"),
        ("class Mine(Exception): pass\nraise Mine('x')", "Mine: x"),
        ("e = ValueError('x'); e.add_note('seen at night'); raise e", "ValueError: x\nseen at night"),
        (
            "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('bad') from e",
            "ValueError: bad (after ZeroDivisionError: division by zero)",
        ),
        (
            "try:\n    try:\n        {}['id']\n    except KeyError as e:\n        raise ValueError('bad') from e\n"
            "except ValueError as e:\n    raise RuntimeError('no') from e",
            "RuntimeError: no (after ValueError: bad) (after KeyError: 'id')",
        ),
        (
            "e = None\nfor n in range(9):\n    new = ValueError(n)\n    new.__cause__, e = e, new\nraise e",
            "ValueError: 8 (after ValueError: 7) (after ValueError: 6) (after ValueError: 5)",
        ),
        (
            "a, b = ValueError('a'), KeyError('b')\na.__cause__, b.__cause__ = b, a\nraise a",
            "ValueError: a (after KeyError: 'b')",
        ),
        (
            "try:\n    crm.fail()\nexcept ToolError:\n    undefined_name",
            "NameError: name 'undefined_name' is not defined (after ToolError: no such contact)",
        ),
        ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError('bad') from None", "ValueError: bad"),
        ("await asyncio.wait_for(crm.hang(), 0.01)", "TimeoutError (after CancelledError)"),
        (
            "raise ExceptionGroup('many', [ValueError('a'), TypeError('b'), ExceptionGroup('in', [KeyError('c')])])",
            "ExceptionGroup: many: ValueError: a; TypeError: b; ExceptionGroup: in: KeyError: 'c'",
        ),
        (
            "raise ExceptionGroup('many', [ValueError(n) for n in range(9)])",
            "ExceptionGroup: many: ValueError: 0; ValueError: 1; ValueError: 2; ValueError: 3; ValueError: 4; and 4 more",
        ),
        ("class Odd(Exception):\n    def __str__(self): raise Exception\nraise Odd", "Odd: (its text cannot be shown: __str__ failed)"),
        ("raise ValueError('\\ud800')", "ValueError: \\ud800"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise asyncio.CancelledError", "CancelledError"),
        ("raise GeneratorExit", "GeneratorExit"),
    ],
)  # fmt: skip
async def test_an_exception_is_readable(code_mode: CodeMode, script: str, message: str) -> None:
    outcome = await code_mode.execute(script)
    assert outcome.error is not None
    assert (outcome.status, outcome.error.kind, outcome.error.message) == ("failed", "exception", message)


async def test_nobody_is_told_to_write_the_name_that_was_written() -> None:
    async with CodeMode([], check="off") as code_mode:
        outcome = await code_mode.execute("class Rows:\n    x = 1\n    y = [x for _ in '12']")
    assert outcome.error is not None
    assert (outcome.error.line, outcome.error.message) == (3, "NameError: name 'x' is not defined")
    assert outcome.error.hint == (
        "a comprehension in the body of a class does not see the names of the class: write a loop there"
    )


async def test_a_long_message_is_cut(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("raise ValueError('x' * 10**6)")
    assert outcome.error is not None
    assert 1000 < len(outcome.error.message) < 5000


async def test_a_group_with_one_cause_is_that_cause_at_the_call_that_failed(code_mode: CodeMode) -> None:
    script = """
async with asyncio.TaskGroup() as group:
    group.create_task(crm.get(id=1))
    group.create_task(crm.fail(message="gone"))
"""
    error = (await code_mode.execute(script)).error
    assert error is not None
    assert (error.kind, error.tool, error.line, error.column) == ("tool_error", "crm.fail", 4, 23)
    assert error.message == "ExceptionGroup: unhandled errors in a TaskGroup: crm.fail: gone"


async def test_a_gathered_failure_is_at_the_call_that_failed(code_mode: CodeMode) -> None:
    script = "await asyncio.gather(\n    crm.get(id=1),\n    crm.fail(),\n)"
    error = (await code_mode.execute(script)).error
    assert error is not None
    assert (error.kind, error.tool, error.line, error.column) == ("tool_error", "crm.fail", 3, 5)


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("def inner():\n    return crm.fail()\n\ndef outer():\n    return inner()\n\nouter()", 2),
        (
            "async def inner():\n    return await crm.fail()\n\nasync def outer():\n    return await inner()\n\nawait outer()",
            2,
        ),
        ("import json\n\njson.loads('{')", 3),
        ("import functools\n@functools.cache\ndef f():\n    return 1 / 0\nf()", 4),
        ("class A:\n    @property\n    def x(self):\n        return {}['k']\nA().x", 4),
        ("sorted([1, 'a'])", 1),
        ("x = [\n    1,\n    1 / 0,\n]", 3),
        ("exec('1 / 0')", 1),
        ("return_ = 1\nif return_:\n    return 1 / 0", 3),
    ],
)
async def test_the_line_is_the_innermost_of_the_script_itself(code_mode: CodeMode, script: str, line: int) -> None:
    error = (await code_mode.execute(script)).error
    assert error is not None
    assert error.line == line
    text = f"{error.message} {error.hint}"
    assert not any(ours in text for ours in ("isolith", "Traceback", "File ", "/"))


# a bug of ours


class Broken:
    """A connector that breaks its contract: it raises what is no CallError."""

    name = "broken"
    description = ""
    excluded: Mapping[str, str] = {}

    def __init__(self, methods: Mapping[str, Method]) -> None:
        self.methods = methods

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        raise RuntimeError("secret-4711")

    async def start(self) -> None: ...

    async def aclose(self) -> None: ...


async def test_a_bug_of_ours_carries_an_id_that_the_log_resolves_and_nothing_else() -> None:
    from isolith_bindings.testing import a_method

    async with CodeMode([Broken({"go": a_method("go")})]) as code_mode:
        with structlog.testing.capture_logs() as logs:
            outcome = await code_mode.execute("x = 1\nbroken.go()")
    error = outcome.error
    assert error is not None
    assert (error.kind, error.line, error.tool, outcome.exit_code) == ("internal", 2, "broken.go", 5)
    assert error.message == "Isolith itself failed: a bug of ours, not of the script"
    [entry] = logs
    assert entry["error_id"]
    assert (entry["error"], entry["execution_id"]) == ("RuntimeError", outcome.execution_id)
    assert "call" in str(entry["where"])
    assert entry["error_id"] in f"{error.error_id} {error.hint}"
    assert "secret-4711" not in f"{outcome.to_json_text()} {logs}"
