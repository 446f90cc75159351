"""Requests of many clients over one connection: each is what it says of itself, and nothing of those before it."""

from __future__ import annotations

import random
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import anyio
import pytest
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_PARAMS, JSONRPCError, JSONRPCRequest, JSONRPCResponse

from isolith import CodeMode, connector, method
from isolith.mcp.server import mcp_server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio

SEED = 20_261_130


@connector("crm")
class Crm:
    """Contacts."""

    @method(policy="ask")
    async def delete(self, id: int) -> int:  # noqa: A002
        """Delete one."""
        return id


@pytest.fixture
def crm() -> Crm:
    return Crm()


class Wire:
    """One connection, by its messages: answers are sorted by the request that they are to."""

    def __init__(self, read: Any, write: Any) -> None:  # noqa: ANN401 - the SDK's streams
        self._read, self._write = read, write
        self._answers: dict[int, JSONRPCResponse | JSONRPCError] = {}
        self._told = anyio.Event()

    async def listen(self) -> None:
        async for message in self._read:
            if isinstance(message.message, (JSONRPCResponse, JSONRPCError)):
                self._answers[cast("int", message.message.id)] = message.message
                self._told.set()
                self._told = anyio.Event()

    async def ask(self, number: int, name: str, params: dict[str, object]) -> JSONRPCResponse | JSONRPCError:
        request = JSONRPCRequest(jsonrpc="2.0", id=number, method=name, params=params)
        await self._write.send(SessionMessage(request))
        while number not in self._answers:
            await self._told.wait()
        return self._answers[number]


@asynccontextmanager
async def connected(code_mode: CodeMode) -> AsyncGenerator[Wire]:
    server = mcp_server(code_mode, ask_client=True)
    async with (
        create_client_server_memory_streams() as ((read, write), (server_read, server_write)),
        anyio.create_task_group() as group,
    ):
        group.start_soon(server.run, server_read, server_write, server.create_initialization_options())
        wire = Wire(read, write)
        group.start_soon(wire.listen)
        yield wire
        group.cancel_scope.cancel()


def of(capabilities: dict[str, object], **params: object) -> dict[str, object]:
    """What every request of 2026-07-28 says of itself."""
    version = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    return {**params, "_meta": {**version, "io.modelcontextprotocol/clientCapabilities": capabilities}}


ASKS: dict[str, object] = {"elicitation": {"form": {}}}


async def test_what_one_client_can_is_not_believed_of_the_next(code_mode: CodeMode) -> None:
    turns = random.Random(SEED)  # noqa: S311 - an order
    can = [turns.random() < 0.5 for _ in range(16)]
    assert {*can} == {True, False}
    told: dict[int, dict[str, Any]] = {}
    async with connected(code_mode) as wire:

        async def run(number: int) -> None:
            code = {"name": "execute", "arguments": {"code": f"await crm.delete(id={number})"}}
            answer = await wire.ask(number, "tools/call", of(ASKS if can[number] else {}, **code))
            assert isinstance(answer, JSONRPCResponse), answer
            told[number] = answer.result

        async with anyio.create_task_group() as group:
            for number in turns.sample(range(len(can)), len(can)):
                group.start_soon(run, number)
                if turns.random() < 0.5:
                    await anyio.lowlevel.checkpoint()
    for number, result in told.items():
        if can[number]:
            assert result["resultType"] == "input_required"
            (request,) = result["inputRequests"].values()
            assert f'{{"id": {number}}}' in request["params"]["message"]
        else:
            assert result["structuredContent"]["status"] == "paused"
            assert "inputRequests" not in result


async def test_a_request_that_says_nothing_of_itself_is_refused_before_a_handshake(code_mode: CodeMode) -> None:
    async with connected(code_mode) as wire:
        bare = await wire.ask(1, "tools/list", {})
        assert isinstance(bare, JSONRPCError)
        assert bare.error.code == INVALID_PARAMS
        client = {"name": "a test", "version": "1"}
        first: dict[str, object] = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        assert isinstance(await wire.ask(2, "initialize", first), JSONRPCResponse)  # which ends nothing
