"""A person at the MCP client decides what waits, where the host says that they may and the client can ask."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, cast

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ElicitRequestFormParams, ElicitResult, InputRequiredResult

from isolith import CodeMode, connector, method
from isolith.mcp.server import mcp_server

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.client import ClientRequestContext
    from mcp_types import ElicitRequestParams

pytestmark = pytest.mark.anyio

KEY = b"k" * 32
TWICE = "import asyncio\nawait asyncio.gather(crm.delete(id=1), crm.delete(id=2), return_exceptions=True)"


@connector("crm")
class Crm:
    """Contacts."""

    def __init__(self) -> None:
        self.deleted: list[int] = []

    @method(policy="ask")
    async def delete(self, id: int) -> int:  # noqa: A002
        """Delete one."""
        self.deleted.append(id)
        return id


class Person:
    """Answers by the message."""

    def __init__(self, answer: Callable[[str], ElicitResult]) -> None:
        self.asked: list[str] = []
        self.answer = answer

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        self.asked.append(params.message)
        return self.answer(params.message)


def allow(_: str) -> ElicitResult:
    return ElicitResult(action="accept", content={"allow": True})


@pytest.fixture
def crm() -> Crm:
    return Crm()


def outcome_of(result: CallToolResult) -> dict[str, Any]:
    return cast("dict[str, Any]", result.structured_content)


async def test_what_is_allowed_at_the_client_is_made_and_the_run_goes_on(code_mode: CodeMode, crm: Crm) -> None:
    person = Person(allow)
    async with Client(mcp_server(code_mode, ask_client=True), elicitation_callback=person) as client:
        result = await client.call_tool("execute", {"code": "[await crm.delete(id=1), await crm.delete(id=2)]"})
    assert outcome_of(result)["value"] == [1, 2]
    assert crm.deleted == [1, 2]
    assert ['delete({"id": 1})' in person.asked[0], 'delete({"id": 2})' in person.asked[1]] == [True, True]
    (execution_id,) = {call["call_id"].rpartition(".")[0] for call in outcome_of(result)["calls"]}
    assert execution_id == outcome_of(result)["execution_id"]


@pytest.mark.parametrize(
    "answer",
    [
        ElicitResult(action="decline"),
        ElicitResult(action="accept", content={"allow": False}),
        ElicitResult(action="accept"),
    ],
)
async def test_anything_but_a_yes_is_a_no(code_mode: CodeMode, crm: Crm, answer: ElicitResult) -> None:
    async with Client(mcp_server(code_mode, ask_client=True), elicitation_callback=Person(lambda _: answer)) as client:
        result = await client.call_tool("execute", {"code": "await crm.delete(id=1)"})
    assert result.is_error
    assert (outcome_of(result)["status"], crm.deleted) == ("rejected", [])


async def test_each_call_has_its_own_answer(code_mode: CodeMode, crm: Crm) -> None:
    person = Person(lambda message: allow("") if '{"id": 2}' in message else ElicitResult(action="decline"))
    async with Client(mcp_server(code_mode, ask_client=True), elicitation_callback=person) as client:
        result = await client.call_tool("execute", {"code": TWICE + "\n7"})
    assert (outcome_of(result)["value"], crm.deleted) == (7, [2])


async def test_a_question_that_is_put_aside_waits(code_mode: CodeMode, crm: Crm) -> None:
    person = Person(lambda _: ElicitResult(action="cancel"))
    async with Client(mcp_server(code_mode, ask_client=True), elicitation_callback=person) as client:
        result = await client.call_tool("execute", {"code": "await crm.delete(id=1)"})
        assert (outcome_of(result)["status"], len(person.asked), crm.deleted) == ("paused", 1, [])
        person.answer = allow
        done = await client.call_tool("resume", {"execution_id": outcome_of(result)["execution_id"]})
    assert (outcome_of(done)["value"], crm.deleted) == (1, [1])


@pytest.mark.parametrize(
    ("ask_client", "mode", "can"), [(False, "auto", True), (True, "legacy", True), (True, "auto", False)]
)
async def test_nobody_is_asked_otherwise(
    code_mode: CodeMode, ask_client: bool, mode: Literal["auto", "legacy"], can: bool
) -> None:
    person = Person(allow)
    server = mcp_server(code_mode, ask_client=ask_client)
    async with Client(server, mode=mode, elicitation_callback=person if can else None) as client:
        result = await client.call_tool("execute", {"code": "await crm.delete(id=1)"})
    assert (outcome_of(result)["status"], person.asked) == ("paused", [])


async def asked(client: Client, code: str) -> InputRequiredResult:
    """The first round alone."""
    found = await client.session.call_tool("execute", {"code": code}, allow_input_required=True)
    assert isinstance(found, InputRequiredResult)
    return found


async def test_another_server_with_the_key_takes_the_answer_and_only_once(code_mode: CodeMode, crm: Crm) -> None:
    arguments = {"code": "await crm.delete(id=1)"}
    first, second = (mcp_server(code_mode, ask_client=True, state_key=KEY) for _ in range(2))
    async with Client(first, elicitation_callback=Person(allow)) as client:
        found = await asked(client, arguments["code"])
    (call_id,) = found.input_requests or {}
    again = {"input_responses": {call_id: allow("")}, "request_state": found.request_state}
    async with Client(second, elicitation_callback=Person(allow)) as client:
        for _ in range(2):
            done = await client.session.call_tool("execute", arguments, **cast("dict[str, Any]", again))
            assert (outcome_of(done)["value"], crm.deleted) == (1, [1])


async def test_a_state_that_is_not_ours_or_not_for_this_request(code_mode: CodeMode, crm: Crm) -> None:
    forged = json.dumps({"execution": "x", "digests": {}})
    async with Client(mcp_server(code_mode, ask_client=True), elicitation_callback=Person(allow)) as client:
        state = (await asked(client, "await crm.delete(id=1)")).request_state
        for code, sent in (("await crm.delete(id=1)", forged), ("await crm.delete(id=2)", state)):
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await client.session.call_tool("execute", {"code": code}, request_state=sent)
    async with Client(mcp_server(code_mode)) as client:
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await client.session.call_tool("execute", {"code": "1"}, request_state=forged)
    assert crm.deleted == []
