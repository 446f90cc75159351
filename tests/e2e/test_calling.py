"""How a script calls a method: both styles, every spelling, one dict, and calls that overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.conftest import Crm

    from isolith import CodeMode

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "script",
    [
        "crm.get(id=7)",
        "await crm.get(id=7)",
        'crm.get({"id": 7})',
        'await crm.get({"id": 7})',
        "crm.get(**{'id': 7})",
        "tools.crm.get(id=7)",
        'tools["crm"].get(id=7)',
        'tools["crm"]["get"](id=7)',
        'crm["get"](id=7)',
        "crm.GET(id=7)",
        "x = crm.get(id=7)\nx",
        "await asyncio.create_task(crm.get(id=7))",
        "(await asyncio.gather(crm.get(id=7)))[0]",
        "await asyncio.wait_for(crm.get(id=7), 5)",
        "async with asyncio.TaskGroup() as group:\n    task = group.create_task(crm.get(id=7))\ntask.result()",
        "for earliest in asyncio.as_completed([crm.get(id=7)]):\n    x = await earliest\nx",
        "async for earliest in asyncio.as_completed([crm.get(id=7)]):\n    x = await earliest\nx",
        "def get():\n    return crm.get(id=7)\nget()",
        "async def get():\n    return await crm.get(id=7)\nawait get()",
        "async def get():\n    return await crm.get(id=7)\nget()",
        "return crm.get(id=7)",
        "if input is None:\n    return await crm.get(id=7)\nreturn 0",
        "get = crm.get\nget(id=7)",
        "done, pending = await asyncio.wait([asyncio.create_task(crm.get(id=7))])\ndone.pop().result()",
        "await asyncio.shield(asyncio.ensure_future(crm.get(id=7)))",
    ],
)
async def test_a_call_gives_its_value(code_mode: CodeMode, script: str) -> None:
    outcome = await code_mode.execute(script)
    assert (outcome.value, outcome.error, outcome.warnings) == ({"id": 7}, None, ())
    [call] = outcome.calls
    assert (call.connector, call.method, call.status) == ("crm", "get", "completed")
    assert outcome.usage.calls == 1


@pytest.mark.parametrize(
    "name",
    [
        "crm.import_file",
        'crm["import-file"]',
        'tools["crm"]["import-file"]',
        "tools.crm.import_file",
        "crm.importFile",
        'crm["import_file"]',
        'tools["CRM"]["Import File"]',
    ],
)
async def test_every_spelling_reaches_the_method(code_mode: CodeMode, name: str) -> None:
    outcome = await code_mode.execute(f"{name}(name='b')")
    assert outcome.value == "imported b"
    assert outcome.calls[0].method == "import_file"


@pytest.mark.parametrize(
    "arguments", ["7", "'7'", "{'id': 7}, {'id': 8}", "{'id': 7}, id=8", "{7: 'id'}", "None", "[('id', 7)]"]
)
@pytest.mark.parametrize("prefix", ["", "await "])
async def test_anything_but_names_or_one_dict_is_said_to_be_wrong(
    code_mode: CodeMode, crm: Crm, prefix: str, arguments: str
) -> None:
    outcome = await code_mode.execute(f"{prefix}crm.get({arguments})")
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.tool, outcome.error.line) == ("invalid_arguments", "crm.get", 1)
    assert "crm.get takes keyword arguments, or one dict: crm.get(name=value)" in outcome.error.message
    assert crm.reached == []


async def test_gathered_calls_are_under_way_together(code_mode: CodeMode, crm: Crm) -> None:
    outcome = await code_mode.execute("await asyncio.gather(*[crm.meet(others=5) for _ in range(5)])")
    assert (outcome.value, crm.most_under_way) == ([5] * 5, 5)


async def test_calls_of_a_task_group_are_under_way_together(code_mode: CodeMode, crm: Crm) -> None:
    script = """
async with asyncio.TaskGroup() as group:
    tasks = [group.create_task(crm.meet(others=4)) for _ in range(4)]
[task.result() for task in tasks]
"""
    outcome = await code_mode.execute(script)
    assert (outcome.value, crm.most_under_way) == ([4] * 4, 4)


async def test_calls_that_were_made_before_the_first_await_overlap(code_mode: CodeMode, crm: Crm) -> None:
    outcome = await code_mode.execute("a = crm.meet(others=2)\nb = crm.meet(others=2)\n[await a, await b]")
    assert (outcome.value, crm.most_under_way) == ([2, 2], 2)


async def test_a_synchronous_script_makes_one_call_after_another(code_mode: CodeMode, crm: Crm) -> None:
    outcome = await code_mode.execute("[crm.count(number=n) for n in range(4)]")
    assert (outcome.value, crm.most_under_way) == ([0, 1, 2, 3], 1)


async def test_results_come_in_the_order_of_the_calls_whatever_answers_first(code_mode: CodeMode) -> None:
    script = "await asyncio.gather(crm.slow(steps=2, pause_s=0.01), crm.get(id=1), crm.slow(steps=1, pause_s=0.01))"
    assert (await code_mode.execute(script)).value == [2, {"id": 1}, 1]


@pytest.mark.parametrize(
    "misuse",
    [
        "f'{call}'",
        "str(call)",
        "print(call)",
        "call['id']",
        "call.id",
        "call == {'id': 7}",
        "call != {'id': 7}",
        "len(call)",
        "bool(call)",
        "[x for x in call]",
        "1 in call",
        "call + 1",
        "call < 1",
        "json.dumps(call, default=str)",
        "[x async for x in call]",
    ],
)
async def test_a_call_that_was_not_awaited_says_where(code_mode: CodeMode, misuse: str) -> None:
    outcome = await code_mode.execute(f"import json\ncall = crm.get(id=7)\nawait asyncio.sleep(0)\n{misuse}")
    assert outcome.error is not None
    assert (outcome.status, outcome.error.kind, outcome.error.line) == ("failed", "exception", 4)
    assert "crm.get(...) was called on line 2 but not awaited: write `await crm.get(...)`" in outcome.error.message


@pytest.mark.parametrize(
    "script",
    [
        "import json\ncall = crm.get(id=7)\nawait asyncio.sleep(0)\njson.dumps(call)",
        "await crm.get(id=1)\ncrm.get(id=7) % 2",
    ],
)
async def test_what_python_itself_says_of_one_has_the_hint(code_mode: CodeMode, script: str) -> None:
    outcome = await code_mode.execute(script)
    assert outcome.error is not None
    assert outcome.error.hint == "write `await` before the call"


@pytest.mark.parametrize("shape", ["[{}]", "{{'a': {}}}", "({}, 1)"])
async def test_one_inside_the_value_is_named_with_its_place(code_mode: CodeMode, shape: str) -> None:
    outcome = await code_mode.execute(f"await asyncio.sleep(0)\n{shape.format('crm.get(id=7)')}")
    assert outcome.error is not None
    assert "is the call crm.get(...) of line 2, not its result: write `await crm.get(...)`" in outcome.error.message


async def test_one_that_is_the_value_is_awaited(code_mode: CodeMode) -> None:
    assert (await code_mode.execute("await asyncio.sleep(0)\ncrm.get(id=7)")).value == {"id": 7}


async def test_a_connector_knows_for_whom_it_is_called(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("crm.who()", principal="u1", session="s1")
    assert outcome.value == {"principal": "u1", "session": "s1"}


@pytest.mark.parametrize("script", ["dir(crm)", "list(crm)"])
async def test_a_connector_lists_its_methods_without_the_denied(code_mode: CodeMode, script: str) -> None:
    value = (await code_mode.execute(script)).value
    assert isinstance(value, list)
    assert "get" in value
    assert "import_file" in value
    assert "purge" not in value


async def test_a_connector_shows_itself(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("[repr(echo), repr(echo.give), repr(tools), list(tools)]")
    assert outcome.value == [
        "<connector echo: give, text>",
        "<method echo.give>",
        "<tools: crm, echo>",
        ["crm", "echo"],
    ]
