"""What a request of 2026-07-28 may be answered with is what that request says (PM-02), whatever came on its connection."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from tests.host.http.conftest import app_of, serving

from isolith.http.rates import Limits
from isolith.mcp.server import mcp_server

if TYPE_CHECKING:
    from tests.host.http.conftest import Api, Opened

pytestmark = pytest.mark.anyio

SEED = 20_261_130
HEADERS = {"MCP-Protocol-Version": "2026-07-28", "Accept": "application/json, text/event-stream"}
SCRIPT = "await bank.pay(to='Eve', amount={amount})"


def request(number: int, *, asks: bool) -> tuple[dict[str, object], dict[str, str]]:
    """A run that waits for a person, of a client that can ask one or of one that cannot."""
    capabilities: dict[str, object] = {"elicitation": {"form": {}}} if asks else {}
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }
    params = {"name": "execute", "arguments": {"code": SCRIPT.format(amount=number)}, "_meta": meta}
    body: dict[str, object] = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return body, {**HEADERS, "Mcp-Method": "tools/call", "Mcp-Name": "execute"}


def result_of(answer: httpx2.Response) -> dict[str, Any]:
    """The result, from JSON or from the one event that has it."""
    text = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        events = [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: {")]
        [message] = [event for event in events if "result" in event or "error" in event]
    else:
        message = json.loads(text)
    assert "result" in message, message
    result: dict[str, Any] = message["result"]
    return result


@pytest.fixture
async def host(opened: Opened) -> Api:
    api = await opened()
    api.app = app_of(api.code_mode, Limits(), mcp_server(api.code_mode, ask_client=True), auth=False)
    return api


async def test_two_clients_on_one_connection_never_have_what_the_other_declared(host: Api) -> None:
    chance = random.Random(SEED)  # noqa: S311 - to be repeated
    order = [True] * 4 + [False] * 4
    chance.shuffle(order)
    one = httpx2.Limits(max_connections=1, max_keepalive_connections=1)
    async with serving(host) as (_, port), httpx2.AsyncClient(limits=one, timeout=240) as http:
        for number, asks in enumerate(order):
            body, headers = request(number, asks=asks)
            result = result_of(await http.post(f"http://127.0.0.1:{port}/mcp", json=body, headers=headers))
            if asks:
                assert result["resultType"] == "input_required"
                assert [each["method"] for each in result["inputRequests"].values()] == ["elicitation/create"]
            else:
                assert (result["resultType"], result["structuredContent"]["status"]) == ("complete", "paused")
    assert host.bank.paid == []
