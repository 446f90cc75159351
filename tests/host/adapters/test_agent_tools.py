"""The two tools of any agent: what a model is told, and what it is answered whatever it sends."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, cast

import jsonschema
import pytest

from isolith.adapters import agent_tools, execute_tool_schema
from isolith.instructions import INSTRUCTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith import CodeMode

pytestmark = pytest.mark.anyio


def test_the_schema_is_plain_data_and_there_with_its_instructions_whatever_is_connected() -> None:
    schema = execute_tool_schema()
    assert (schema["name"], schema["description"]) == ("execute", INSTRUCTIONS)
    jsonschema.Draft202012Validator.check_schema(cast("dict[str, object]", schema["parameters"]))
    assert json.loads(json.dumps(schema)) == schema
    schema["parameters"] = None  # the caller's own
    assert execute_tool_schema()["parameters"] is not None


async def test_what_can_be_called_is_in_the_description(code_mode: CodeMode) -> None:
    assert "crm.revenue" in str(execute_tool_schema(code_mode)["description"])


@pytest.mark.parametrize("arguments", [{"code": "await crm.revenue(year=input)", "input": 4}, '{"code": "4 + 4"}'])
async def test_a_script_is_run(code_mode: CodeMode, arguments: Mapping[str, object] | str) -> None:
    answer = await agent_tools(code_mode).call("execute", arguments)
    assert (answer.text, answer.is_error, answer.outcome and answer.outcome.value) == ("8", False, 8)


async def test_principal_and_session_are_the_programs_to_name(code_mode: CodeMode) -> None:
    answer = await agent_tools(code_mode).call("execute", {"code": "1", "principal": "root"})
    assert (answer.is_error, answer.outcome) == (True, None)
    assert "principal" in answer.text


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("execute", {"code": "1 / 0"}, "ZeroDivisionError"),
        ("execute", {}, "code"),
        ("execute", None, "code"),
        ("execute", "{", "not JSON"),
        ("execute", "[" * 100_000, "not JSON"),
        ("execute", '{"code": "1", "input": ' + "[" * 1500 + "]" * 1500 + "}", "not JSON"),
        ("execute", "[]", "no JSON object"),
        ("execute", {"code": "1", "budgets": {"cpu": 1}}, "cpu"),
        ("resume", {"execution_id": "nowhere"}, "nowhere"),
        ("delete_everything", {}, "there is no tool `delete_everything`"),
    ],
)
async def test_whatever_is_wrong_is_an_answer(
    code_mode: CodeMode, name: str, arguments: Mapping[str, object] | str | None, said: str
) -> None:
    answer = await agent_tools(code_mode).call(name, arguments)
    assert answer.is_error
    assert said in answer.text


@pytest.mark.parametrize(
    "name",
    [
        "crm.revenue",
        "crm_revenue",
        "crm__revenue",
        "mcp__crm__revenue",
        "tools.crm.revenue",
        "CRM-revenue",
        "crm/revenue",
    ],
)
async def test_a_method_that_is_called_like_a_tool_is_answered_with_the_script_that_works(
    code_mode: CodeMode, name: str
) -> None:
    tools = agent_tools(code_mode)
    wrong = await tools.call(name, {"year": 3})
    assert wrong.is_error
    code = wrong.text.partition("the code: ")[2]
    assert (await tools.call("execute", {"code": code})).text == "6"


async def test_what_is_printed_and_emitted_is_seen_beside_the_answer(code_mode: CodeMode) -> None:
    """As the description of `execute` says; emitted values were seen by those alone who follow events."""
    answer = await agent_tools(code_mode).call("execute", {"code": 'print("so far")\nemit({"rows": 3})\n7'})
    assert answer.text == '7\n\n[info] so far\n[info] emit {"value": {"rows": 3}}'
    assert answer.outcome is not None
    assert answer.outcome.logs[1].attrs == {"value": {"rows": 3}}


async def test_bytes_are_told_from_text(code_mode: CodeMode) -> None:
    answer = await agent_tools(code_mode).call("execute", {"code": 'b"x"'})
    assert answer.text == '"eA=="\n\n[bytes] the value is bytes: its bytes are shown as base64'
    assert (await agent_tools(code_mode).call("execute", {"code": '"eA=="'})).text == '"eA=="'


async def test_a_run_that_waits_is_gone_on_with_after_the_answer(code_mode: CodeMode, deleted: list[int]) -> None:
    tools = agent_tools(code_mode)
    waiting = await tools.call("execute", {"code": "await crm.delete(id=3)"})
    assert waiting.outcome is not None
    assert (waiting.is_error, waiting.outcome.status) == (False, "paused")
    execution_id = waiting.outcome.execution_id
    assert execution_id in waiting.text
    still = await tools.call("resume", {"execution_id": execution_id})
    assert (still.outcome and still.outcome.status, deleted) == ("paused", [])
    runs = await code_mode.runs()
    (call,) = waiting.outcome.pending
    await runs.decide(execution_id, call.call_id, "approve", who="grace", digest=call.digest, go_on=False)
    done = await tools.call("resume", {"execution_id": execution_id})
    assert (done.text, deleted) == ('"deleted 3"', [3])


async def test_a_run_of_somebody_else_looks_as_if_it_were_not_there(code_mode: CodeMode) -> None:
    waiting = await agent_tools(code_mode, principal="ada").call("execute", {"code": "await crm.delete(id=3)"})
    assert waiting.outcome is not None
    asked = {"execution_id": waiting.outcome.execution_id}
    assert "paused" in (await agent_tools(code_mode, principal="ada").call("resume", asked)).text
    for principal in ("bob", None):
        answer = await agent_tools(code_mode, principal=principal).call("resume", asked)
        assert (answer.is_error, answer.outcome) == (True, None)
        assert "there is no execution" in answer.text


@pytest.mark.parametrize("turns", [0, 1, 3, 10, 30])
async def test_cancelling_the_call_ends_the_run_however_early(code_mode: CodeMode, turns: int) -> None:
    """In the journal, too: nothing is left there that runs for ever."""
    script = {"code": "import asyncio\nawait asyncio.sleep(50)"}
    call = asyncio.create_task(agent_tools(code_mode).call("execute", script))
    for _ in range(1 + turns):
        await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    kept = (await code_mode.runs()).journal.executions
    assert {execution.status for execution in await kept.find()} <= {"cancelled"}
