"""A call that fails: what the script catches, where, and that it goes on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from isolith import Budgets, CodeMode
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.e2e.conftest import Crm

    from isolith_bindings.connector import CallContext, Method

pytestmark = pytest.mark.anyio

FAILURES = {
    "crm.fail()": ("tool_error", "no such contact"),
    "crm.get(wrong=1)": ("invalid_arguments", "crm.get has no argument `wrong`. It takes: id"),
    "crm.lie()": ("invalid_result", "crm.lie did not give `int`: "),
    "crm.unavailable()": ("tool_unavailable", "closed today"),
    "crm.delete(id=1)": ("denied", "crm.delete is not allowed here: "),
    "crm.purge()": ("unknown_tool", "crm has no method 'purge'"),
    "crm.no_such_method()": ("unknown_tool", "crm has no method 'no_such_method'"),
    "tools.mail.send()": ("unknown_tool", "there is no connector 'mail' in this run"),
    "crm.hang()": ("tool_timeout", "crm.hang gave no answer in "),
    "echo.give(value='x' * 3000)": ("invalid_arguments", "the arguments of echo.give are larger than 2,000 bytes"),
    "echo.give(value=print)": ("invalid_arguments", "echo.give: argument value is of type builtin_function_or_method"),
    "search('x', limit=0)": ("invalid_arguments", "search: `limit`: expected a whole number from 1 to 50"),
    "snippets.report()": ("unknown_tool", "there is no snippet 'report'"),
}
WAYS = {
    "except Exception": "try:\n    {call}\nexcept Exception as error:\n    caught = error",
    "except ToolError": "try:\n    {call}\nexcept ToolError as error:\n    caught = error",
    "finally": "try:\n    try:\n        {call}\n    finally:\n        print('finally')\nexcept ToolError as error:\n    caught = error",
    "suppress": "import contextlib\ncaught = None\nwith contextlib.suppress(ToolError):\n    {call}",
}
ASYNC_WAYS = {
    "gather": "async def go():\n    return await {call}\n[kept, caught] = await asyncio.gather(crm.get(id=1), go(), return_exceptions=True)",
    "TaskGroup": "async def go():\n    return await {call}\ntry:\n    async with asyncio.TaskGroup() as group:\n"
    "        group.create_task(go())\nexcept* ToolError as group:\n    caught = group.exceptions[0]",
    "task": "async def go():\n    return await {call}\ntask = asyncio.create_task(go())\nawait asyncio.wait([task])\ncaught = task.exception()",
}
REST = "\n[caught and [caught.kind, str(caught)], {await_}crm.get(id=2)]"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("style", ["", "await "])
@pytest.mark.parametrize("call", FAILURES)
async def test_a_failure_is_caught_and_the_script_goes_on(code_mode: CodeMode, call: str, style: str, way: str) -> None:
    script = WAYS[way].format(call=f"{style}{call}") + REST.replace("{await_}", style)
    outcome = await code_mode.execute(script, budgets=_budgets(call))
    assert outcome.error is None
    value = outcome.value
    assert isinstance(value, list)
    _check_caught(call, value[0], nothing=way == "suppress")
    assert value[1] == {"id": 2}


@pytest.mark.parametrize("way", ASYNC_WAYS)
@pytest.mark.parametrize("call", FAILURES)
async def test_a_failure_in_a_task_is_caught_and_the_script_goes_on(code_mode: CodeMode, call: str, way: str) -> None:
    script = ASYNC_WAYS[way].format(call=call) + REST.replace("{await_}", "await ")
    outcome = await code_mode.execute(script, budgets=_budgets(call))
    assert outcome.error is None
    # The check knows, before the run, that it will fail; nothing else is said of what a script has caught.
    assert {warning.kind for warning in outcome.warnings} <= {"check"}
    value = outcome.value
    assert isinstance(value, list)
    _check_caught(call, value[0], nothing=False)


def _budgets(call: str) -> Budgets:
    """Only what never answers has little time: what does may be on its way through a thread of a busy machine."""
    return Budgets(call_s=0.05 if call == "crm.hang()" else 60, argument_bytes=2000)


def _check_caught(call: str, caught: object, *, nothing: bool) -> None:
    if nothing:
        assert caught is None
        return
    kind, message = FAILURES[call]
    assert isinstance(caught, list)
    assert caught[0] == kind
    assert isinstance(caught[1], str)
    assert caught[1].startswith(message)


async def test_what_is_known_of_a_failure(code_mode: CodeMode) -> None:
    script = """
try:
    crm.unavailable()
except ToolError as error:
    e = error
[type(e).__name__, e.connector, e.method, e.kind, e.data, e.hint, e.retriable, e.tool]
"""
    outcome = await code_mode.execute(script)
    assert outcome.value == [
        "ToolError",
        "crm",
        "unavailable",
        "tool_unavailable",
        {"code": 503},
        "try tomorrow",
        True,
        "crm.unavailable",
    ]


@pytest.mark.parametrize(
    ("call", "builtin", "text"),
    [
        ("crm.fail()", "ValueError", "no such contact"),
        ("crm.fail_with_key()", "KeyError", "'k'"),
        ("crm.fail_with_key()", "LookupError", "'k'"),
        ("crm.nope()", "AttributeError", "crm has no method 'nope'"),
        ("crm.get(wrong=1)", "TypeError", "crm.get has no argument `wrong`. It takes: id"),
    ],
)
@pytest.mark.parametrize("style", ["", "await "])
async def test_a_built_in_class_is_kept_beside_tool_error(
    code_mode: CodeMode, style: str, call: str, builtin: str, text: str
) -> None:
    script = f"""
try:
    {style}{call}
except {builtin} as error:
    e = error
[isinstance(e, ToolError), str(e)]
"""
    assert (await code_mode.execute(script)).value == [True, text]


async def test_what_failed_without_data_says_none(code_mode: CodeMode) -> None:
    script = "try:\n    crm.fail()\nexcept ToolError as error:\n    e = error\n[e.data, e.hint, e.retriable]"
    assert (await code_mode.execute(script)).value == [None, None, False]


async def test_gather_keeps_what_the_others_gave(code_mode: CodeMode) -> None:
    script = """
results = await asyncio.gather(crm.get(id=1), crm.fail(), crm.get(id=3), return_exceptions=True)
[r if isinstance(r, dict) else f"{type(r).__name__}: {r}" for r in results]
"""
    outcome = await code_mode.execute(script)
    assert outcome.value == [{"id": 1}, "ToolError: no such contact", {"id": 3}]
    assert [call.status for call in outcome.calls] == ["completed", "failed", "completed"]


async def test_a_failed_call_is_in_the_list_of_calls_with_its_cause(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("try:\n    crm.fail()\nexcept ToolError:\n    pass\nNone")
    [call] = outcome.calls
    assert (call.status, call.line, outcome.status) == ("failed", 2, "completed")
    assert call.error is not None
    assert (call.error.kind, call.error.message, call.error.tool) == ("tool_error", "no such contact", "crm.fail")


class Cancelling(RecordingConnector):
    """Lets out a cancellation that is none of its call's, as of a server that somebody else has stopped."""

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        raise asyncio.CancelledError


async def test_a_cancellation_that_a_connector_lets_out_is_a_failure_of_the_call() -> None:
    """The script was told nothing, and waited to the end of its time."""
    async with CodeMode([Cancelling("box", {"look": 1})]) as code_mode:
        outcome = await code_mode.execute("await box.look()", budgets=Budgets(wall_s=240))
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.message) == ("tool_error", "box.look was cancelled from within")
    assert [call.status for call in outcome.calls] == ["failed"]


async def test_a_refused_call_never_reaches_the_connector(code_mode: CodeMode, crm: Crm) -> None:
    outcome = await code_mode.execute("for call in (crm.delete,):\n    call(id=1)")
    assert outcome.error is not None
    assert (outcome.error.kind, crm.reached) == ("denied", [])
    assert "what it asks of `id` (rule 1)" in outcome.error.message


async def test_the_nearest_names_are_said(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("crm.lst_contacts()")
    assert outcome.error is not None
    assert (outcome.error.tool, outcome.error.hint) == ("crm.lst_contacts", "did you mean crm.list_contacts?")


async def test_a_script_may_raise_one_itself(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("raise ToolError('none of them works')")
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.message) == ("tool_error", "none of them works")
