"""Library, MCP and HTTP say the same of every run and of every server, while servers are killed at random."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
import httpx2
import psutil
import pytest
from mcp import Client

from isolith import CodeMode, McpServer, StdioServer, connector, method
from isolith.command_line.serve_command import Address
from isolith.command_line.serving import security_of
from isolith.connector_views import status_of
from isolith.http.app import App, Door
from isolith.http.rates import Limits
from isolith.mcp.server import mcp_server
from isolith_bindings.policy import ungoverned

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from isolith_runtime.driver import Supply

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SERVER = Path(__file__).parents[2] / "fixtures" / "mcp" / "raw_server.py"
SEED = 20_261_130
PATIENCE_S = 280.0
OFTEN_ENOUGH, SELDOM = 6, 2
"""Servers that are killed, and connected anew: what ends soon is waited for, and all the while everything is compared."""
OFTEN = Limits(per_second=1e6, burst=1_000_000)
"""On a fast machine it looks more often than one principal may."""
CALLS = """
failed = 0
for number in range(12):
    try:
        await {server}.echo(text=str(number))
    except ToolError:
        failed += 1
    if number == input:
        await desk.sign(number=number)
    await asyncio.sleep(0.02)
[number, failed]
"""
VIEW = ("state", "reason", "tools", "scope")
FRAIL = "for number in range(12):\n    await {server}.echo(text=str(number))\n    await asyncio.sleep(0.02)\n'all'"


@connector("desk")
class Desk:
    """Where a person signs."""

    @method(policy="ask")
    async def sign(self, number: int) -> int:
        """Sign."""
        return number


@dataclass(frozen=True)
class Seen:
    """A run at one moment: its status, and how much has been told of it."""

    status: str
    told: int


class Doors:
    """One state, looked at from all sides."""

    def __init__(self, code_mode: CodeMode, http: httpx2.AsyncClient, client: Client) -> None:
        self.code_mode = code_mode
        self.http = http
        self.client = client
        self.compared = 0
        self.states_compared = set[str]()

    async def get(self, path: str, **params: object) -> Any:  # noqa: ANN401 - JSON
        answer = await self.http.get(path, params=cast("dict[str, str]", params))
        assert answer.is_success, answer.text
        return answer.json()

    async def seen(self, execution_id: str) -> Seen:
        runs = await self.code_mode.runs()
        told = await runs.journal.events.after(execution_id, 0)
        return Seen((await runs.outcome(execution_id)).status, told[-1].seq if told else 0)

    async def agree(self, execution_id: str) -> None:
        """What two looks that are the same have between them is the same, too."""
        before = await self.seen(execution_id)
        one = await self.get(f"/v1/executions/{execution_id}")
        every = (await self.get("/v1/executions", limit=200))["executions"]
        lines = await self.http.get(
            f"/v1/executions/{execution_id}/events",
            params={"follow": "false"},
            headers={"Accept": "application/x-ndjson"},
        )
        known = await self.resumed(execution_id) if before.status not in {"running", "paused"} else None
        if await self.seen(execution_id) != before:
            return  # it moved on meanwhile
        self.compared += 1
        assert lines.is_success, lines.text
        events = [json.loads(line) for line in lines.text.splitlines() if line]
        moves = [event["status"] for event in events if event["event"] in {"status", "outcome"}]
        (listed,) = [each["status"] for each in every if each["execution_id"] == execution_id]
        assert {before.status, one["status"], listed, (moves or ["running"])[-1], known or before.status} == {
            before.status
        }
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))

    async def resumed(self, execution_id: str) -> str:
        answer = await self.client.call_tool("resume", {"execution_id": execution_id})
        return str(cast("dict[str, Any]", answer.structured_content)["status"])

    async def servers_agree(self) -> None:
        """State, reason, tools and scope over HTTP; the health in the list that models are given, over MCP too."""
        before = self.states()
        listing = self.code_mode.catalog.listing().text
        told = {each["connector"]: each for each in (await self.get("/v1/connectors"))["connectors"]}
        if self.states() != before:
            return  # it moved on meanwhile
        self.compared += 1
        self.states_compared.update(str(one["state"]) for one in before.values())
        assert {name: {key: told[name][key] for key in VIEW} for name in before} == before
        for name, one in before.items():
            word = "ready" if one["state"] in {"connected", "idle"} else str(one["state"]).replace("_", " ")
            assert word in listing.partition(f"\n{name} (")[2].partition("\n")[0]
            assert f"every running server of `{name}` in this process" in str(one["scope"])

    def states(self) -> dict[str, dict[str, object]]:
        """What the library says, which is also what the command line shows of servers of its own."""
        servers = [one for one in self.code_mode.connectors if isinstance(ungoverned(one), McpServer)]
        return {one.name: {key: status_of(one)[key] for key in VIEW} for one in servers}


@pytest.fixture
async def doors(tmp_path: Path, supply: Supply) -> AsyncGenerator[Doors]:
    servers = [McpServer(name, StdioServer(sys.executable, (str(SERVER),))) for name in ("left", "right")]
    async with CodeMode([*servers, Desk], journal=tmp_path / "journal.db", tend=False) as code_mode:
        app = App(code_mode, Door(security_of(Address("127.0.0.1", 8000)), None, limits=OFTEN))
        transport = httpx2.ASGITransport(app=app)
        async with (
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http,
            Client(mcp_server(code_mode)) as client,
        ):
            yield Doors(code_mode, http, client)


async def disturb(doors: Doors, chance: random.Random, done: anyio.Event, killed: list[int]) -> None:
    """Kill a server, whichever there is, and wait until it is gone, or connect one anew: at random, often enough."""
    anew = 0
    while not done.is_set() and len(killed) < OFTEN_ENOUGH:
        await asyncio.sleep(chance.random() / 5)
        if chance.random() < 0.3 and anew < SELDOM:
            anew, name = anew + 1, chance.choice(["left", "right"])
            told = (await doors.http.post(f"/v1/connectors/{name}/reconnect", json={})).json()
            assert "ok" in told, told
            assert told["scope"] == doors.states()[name]["scope"]
            continue
        for victim in chance.sample(living := running(), k=min(1, len(living))):
            victim.kill()
            killed.append(victim.pid)
            while is_there(victim):
                await asyncio.sleep(0.01)


def is_there(victim: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return victim.is_running() and victim.status() != psutil.STATUS_ZOMBIE
    return False


def running() -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for child in psutil.Process().children(recursive=True):
        try:
            if str(SERVER) in child.cmdline():
                found.append(child)
        except psutil.Error:
            continue
    return found


async def sign(doors: Doors, done: anyio.Event) -> None:
    """A person who signs whatever waits, soon."""
    runs = await doors.code_mode.runs()
    while not done.is_set():
        for waiting in (await doors.get("/v1/approvals"))["pending"]:
            body = {"digest": waiting["digest"]}
            execution_id, _, number = waiting["call_id"].rpartition(".")
            answer = await doors.http.post(f"/v1/approvals/{execution_id}/{number}/approve", json=body)
            assert answer.is_success or answer.status_code == 409, answer.text
        await asyncio.sleep(0.1)
    await runs.expire()


async def begun(doors: Doors) -> list[str]:
    """Runs from every door: some hold on through failures and wait for a person, some do not."""
    ids: list[str] = []
    doors.code_mode.when_begun(lambda execution: ids.append(execution.execution_id))
    scripts = [CALLS.format(server="left"), CALLS.format(server="right"), FRAIL.format(server="left")]
    for script in scripts:
        doors.code_mode.start(script, input=3)
        answer = await doors.http.post("/v1/executions", json={"script": script, "input": 5, "wait_s": 0})
        assert answer.is_success, answer.text
    return ids


async def test_every_door_says_the_same_at_every_moment(doors: Doors) -> None:
    chance, done, killed = random.Random(SEED), anyio.Event(), list[int]()  # noqa: S311 - to be repeated
    found: list[str] = []
    with anyio.fail_after(PATIENCE_S):
        ids = await begun(doors)
        over_mcp = {"code": CALLS.format(server="right"), "input": 7}
        async with anyio.create_task_group() as group:
            group.start_soon(sign, doors, done)
            group.start_soon(disturb, doors, chance, done, killed)
            group.start_soon(doors.client.call_tool, "execute", over_mcp)
            while True:
                found = [(await doors.seen(each)).status for each in dict.fromkeys(ids)]
                for execution_id in list(dict.fromkeys(ids)):
                    await doors.agree(execution_id)
                await doors.servers_agree()
                await asyncio.sleep(0.1)  # looking at it takes the time in which it would move on
                over = len(found) >= 7 and not {"running", "paused"} & set(found)
                if over and doors.compared > 20 and killed:  # on a fast machine they are over before anything happened
                    break
            done.set()
    assert "connected" in doors.states_compared
    assert set(found) <= {"completed", "failed"}
    for execution_id in dict.fromkeys(ids):
        await doors.agree(execution_id)
