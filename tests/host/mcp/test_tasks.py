"""Tasks of MCP: the SDK has none, so neither has this server. When this fails the SDK has them, and they are to be built.

The README's section on MCP says what there is in place; the last test walks that way.
"""

from __future__ import annotations

import pkgutil
from typing import TYPE_CHECKING, cast

import mcp
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, GetTaskRequest, GetTaskRequestParams, GetTaskResult
from mcp_types.methods import SERVER_RESULTS, SPEC_CLIENT_METHODS

from isolith import connector, method
from isolith.mcp.server import mcp_server

if TYPE_CHECKING:
    from typing import Literal

    from isolith import CodeMode

pytestmark = pytest.mark.anyio

TASKS = "io.modelcontextprotocol/tasks"


@connector("crm")
class Crm:
    """Contacts."""

    @method(policy="ask")
    async def delete(self, id: int) -> str:  # noqa: A002
        """Delete one contact."""
        return f"deleted {id}"


@pytest.fixture
def crm() -> Crm:
    return Crm()


def test_the_sdk_serves_no_task() -> None:
    assert not [name for name in SPEC_CLIENT_METHODS if name.startswith("tasks/")]
    named = [found.name for found in pkgutil.walk_packages(mcp.__path__, "mcp.")]
    assert not [name for name in named if "task" in name.rpartition(".")[2]]
    called = [result for (name, _), result in SERVER_RESULTS.items() if name == "tools/call"]
    assert called
    assert not [result for result in called if "Task" in repr(result)]


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_none_is_advertised_and_none_is_answered(
    code_mode: CodeMode, mode: Literal["2026-07-28", "legacy"]
) -> None:
    async with Client(mcp_server(code_mode), mode=mode) as client:
        told = client.server_capabilities
        assert told is not None
        assert (getattr(told, "tasks", None), TASKS in (told.extensions or {})) == (None, False)
        request = GetTaskRequest(params=GetTaskRequestParams(task_id="x"))
        with pytest.raises(MCPError) as refused:
            await client.session.send_request(request, GetTaskResult)
        assert refused.value.code == METHOD_NOT_FOUND


async def test_in_its_place_a_run_that_waits_is_a_handle_that_any_request_can_take_up(code_mode: CodeMode) -> None:
    async with Client(mcp_server(code_mode)) as client:
        begun = await client.call_tool("execute", {"code": "await crm.delete(id=3)"})
        paused = cast("dict[str, str]", begun.structured_content)
        assert paused["status"] == "paused"
    runs = await code_mode.runs()
    [call] = (await runs.outcome(paused["execution_id"])).pending
    await runs.decide(paused["execution_id"], call.call_id, "approve", who="a person", digest=call.digest, go_on=False)
    async with Client(mcp_server(code_mode)) as later:
        done = await later.call_tool("resume", {"execution_id": paused["execution_id"]})
    assert cast("dict[str, str]", done.structured_content)["value"] == "deleted 3"
