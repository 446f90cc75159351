"""Two hosts as processes of their own over one Postgres: what one begins the other goes on with."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.e2e.conftest import isolith_command
from tests.e2e.serving import Served, environment, served, with_images

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from isolith_runtime.driver import Supply

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

CONNECTOR = """
import asyncio
from pathlib import Path
from isolith import connector, method


@connector("bank")
class Bank:
    @method(policy="ask")
    async def pay(self, to: str) -> str:
        return f"paid {to}"

    @method(policy="allow", idempotent=True)
    async def wait(self, folder: str) -> str:
        Path(folder, "waits").touch()
        while not Path(folder, "go").exists():
            await asyncio.sleep(0.02)
        return "waited"
"""

LINES = {"Accept": "application/x-ndjson"}


@pytest.fixture
def folder(tmp_path: Path, supply: Supply) -> Path:
    with_images(tmp_path)
    (tmp_path / "bank.py").write_text(CONNECTOR)
    return tmp_path


def bank(folder: Path, journal: str) -> AbstractAsyncContextManager[Served]:
    return served(folder, "--connect", "bank.py", "--grace", "0", ISOLITH_JOURNAL=journal)


def token_of(folder: Path, journal: str, principal: str, *scopes: str) -> dict[str, str]:
    wanted = [part for scope in scopes for part in ("--scope", scope)]
    command = [isolith_command(), "tokens", "create", principal, *wanted]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(folder, ISOLITH_JOURNAL=journal),
        capture_output=True,
        text=True,
        check=True,
    )
    return {"Authorization": f"Bearer {done.stdout.strip()}"}


async def test_two_hosts_are_one(folder: Path, postgres: str) -> None:
    ada = token_of(folder, postgres, "ada", "execute")
    grace = token_of(folder, postgres, "grace", "approve")
    async with (
        bank(folder, postgres) as one,
        bank(folder, postgres) as other,
        httpx2.AsyncClient(headers=ada, timeout=120) as http,
    ):
        first, second = one.url, other.url
        await created_followed_approved(http, (first, second), grace)
        left = await begun_at(http, first, folder)
        one.process.send_signal(signal.SIGTERM)
        await one.process.wait()
        (folder / "go").touch()
        told = [event async for event in followed(http, f"{second}/v1/executions/{left}/events")]
        assert told[-1] == {**told[-1], "event": "outcome", "status": "completed"}
        assert (await http.get(f"{second}/v1/executions/{left}")).json()["value"] == "waited"
        assert [event["seq"] for event in told] == list(range(1, len(told) + 1))
        async with (
            httpx2.AsyncClient(headers=ada, timeout=120) as mcp,
            Client(streamable_http_client(f"{second}/mcp", http_client=mcp)) as client,
        ):
            result = await client.call_tool("resume", {"execution_id": left})
            assert result.structured_content is not None
            assert result.structured_content["value"] == "waited"
            done = await client.call_tool("execute", {"code": "6 * 7"})
            assert done.structured_content is not None
        [newest] = (await http.get(f"{second}/v1/executions?limit=1")).json()["executions"]
        assert (newest["execution_id"], newest["principal"]) == (done.structured_content["execution_id"], "ada")


async def created_followed_approved(http: httpx2.AsyncClient, hosts: tuple[str, str], grace: dict[str, str]) -> None:
    """A run that waits for a person, followed at the other host over its pause."""
    first, second = hosts
    created = await http.post(f"{first}/v1/executions", json={"script": "emit(1)\nawait bank.pay(to='Ada')"})
    paused = created.json()
    assert (created.status_code, paused["status"]) == (201, "paused")
    where = f"{second}/v1/executions/{paused['execution_id']}/events"
    names = list[str]()
    async for event in followed(http, where):
        names.append(event["event"])
        if names == ["status", "emit", "call_pending", "outcome"]:
            answer = {"digest": paused["pending"][0]["digest"]}
            path = f"{first}/v1/approvals/{paused['execution_id']}/1/approve"
            refused = await http.post(path, json=answer)
            assert refused.status_code == 403
            done = await http.post(path, json=answer, headers=grace)
            assert done.json()["value"] == "paid Ada"
    assert names[4:] == ["decided", "status", "call_started", "call_ended", "outcome"]


async def followed(http: httpx2.AsyncClient, url: str) -> AsyncGenerator[dict[str, Any]]:
    async with http.stream("GET", url, headers=LINES) as stream:
        async for line in stream.aiter_lines():
            if line:
                yield json.loads(line)


async def begun_at(http: httpx2.AsyncClient, url: str, folder: Path) -> str:
    """A run whose call is under way there."""
    script = f"await bank.wait(folder={str(folder)!r})"
    begun = await http.post(f"{url}/v1/executions", json={"script": script, "wait_s": 0})
    while not await anyio.Path(folder / "waits").exists():
        await anyio.sleep(0.02)
    execution_id: str = begun.json()["execution_id"]
    return execution_id
