"""Other people's clients over HTTP: the official SDK's, FastMCP's, and the command line of the npm inspector.

Each runs a script, has a call approved, and gives up on a run that hangs.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

import anyio
import fastmcp
import mcp
import pytest
import uvicorn
from mcp_types import ElicitResult
from tests.conformance.inspector import Era, Inspector, inspector
from tests.npm import missing

from isolith import CodeMode, connector, method
from isolith.mcp.server import mcp_server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine
    from typing import Literal

    from mcp.client import ClientRequestContext
    from mcp_types import ElicitRequestParams

    from isolith_runtime.driver import Supply

    Call = Callable[..., Coroutine[Any, Any, dict[str, Any]]]

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PATIENCE_S = 240.0


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@connector("crm")
class Crm:
    """Contacts."""

    def __init__(self) -> None:
        self.hanging = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def newest(self, limit: int) -> list[int]:
        """The newest contacts."""
        return list(range(limit))

    @method(policy="ask")
    async def delete(self, id: int) -> str:  # noqa: A002
        """Delete a contact."""
        return f"deleted {id}"

    async def hang(self) -> None:
        """Never answer."""
        self.hanging.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()


class Served:
    """A server, and what is behind it."""

    def __init__(self, url: str, code_mode: CodeMode, crm: Crm) -> None:
        self.url = url
        self.crm = crm
        self._code_mode = code_mode

    async def approve(self, outcome: dict[str, Any]) -> None:
        """As a person does elsewhere."""
        (waiting,) = outcome["pending"]
        runs = await self._code_mode.runs()
        decided = {"who": "grace", "digest": waiting["digest"], "go_on": False}
        await runs.decide(outcome["execution_id"], waiting["call_id"], "approve", **cast("Any", decided))


@pytest.fixture
async def served(supply: Supply) -> AsyncGenerator[Served]:
    crm = Crm()
    async with CodeMode([crm]) as code_mode:
        app = mcp_server(code_mode, ask_client=True).streamable_http_app(streamable_http_path="/mcp")
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", timeout_graceful_shutdown=1))
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Served(f"http://127.0.0.1:{port}/mcp", code_mode, crm)
        server.should_exit = True
        await serving


async def drive(served: Served, call: Call, *, asked: bool) -> None:
    """What every client does. `asked`: its person is asked within the request, and agrees."""
    assert (await call("execute", code="sum(await crm.newest(limit=input))", input=5))["value"] == 10
    outcome = await call("execute", code="await crm.delete(id=3)")
    if not asked:
        assert outcome["status"] == "paused"
        await served.approve(outcome)
        outcome = await call("resume", execution_id=outcome["execution_id"])
    assert outcome["value"] == "deleted 3"


async def give_up(served: Served, call: Call) -> None:
    """A request that is cancelled ends the run, and the call under way."""
    hanging = asyncio.create_task(call("execute", code="await crm.hang()"))
    with anyio.fail_after(PATIENCE_S):
        await served.crm.hanging.wait()
        hanging.cancel()
        with suppress(asyncio.CancelledError):
            await hanging
        await served.crm.cancelled.wait()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_sdk(served: Served, mode: Literal["auto", "legacy"]) -> None:
    async def allow(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action="accept", content={"allow": True})

    async with mcp.Client(served.url, mode=mode, elicitation_callback=allow) as client:

        async def call(tool: str, **arguments: object) -> dict[str, Any]:
            return cast("dict[str, Any]", (await client.call_tool(tool, arguments)).structured_content)

        await drive(served, call, asked=mode == "auto")
        await give_up(served, call)


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_fastmcp(served: Served, mode: str) -> None:
    async def allow(*_: object) -> dict[str, object]:
        return {"allow": True}

    async with fastmcp.Client(served.url, mode=mode, elicitation_handler=allow) as client:

        async def call(tool: str, **arguments: object) -> dict[str, Any]:
            return cast("dict[str, Any]", (await client.call_tool(tool, arguments)).structured_content)

        await drive(served, call, asked=mode != "legacy")
        await give_up(served, call)


@pytest.fixture(scope="module")
def command() -> Inspector:
    found = inspector()
    if found is None:
        missing()
    return found


@asynccontextmanager
async def ended(command: Inspector, url: str) -> AsyncGenerator[None]:
    """A call that hangs, whose process is ended behind this."""
    process = await command.begin(url, "modern", "execute", code="await crm.hang()")
    try:
        yield
    finally:
        process.kill()
        await process.wait()
        await process.aclose()


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_the_inspector(served: Served, command: Inspector, era: Era) -> None:
    async def call(tool: str, **arguments: object) -> dict[str, Any]:
        result = await command.call(served.url, era, tool, **arguments)
        return cast("dict[str, Any]", result["structuredContent"])

    await drive(served, call, asked=False)


async def test_an_inspector_that_is_ended_ends_its_run(served: Served, command: Inspector) -> None:
    with anyio.fail_after(PATIENCE_S):
        async with ended(command, served.url):
            await served.crm.hanging.wait()
        await served.crm.cancelled.wait()
