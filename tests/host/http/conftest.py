"""The API of one host, in process: everything is real but the socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import httpx2
import pytest

from isolith import CodeMode, connector, method
from isolith.command_line.serve_command import Address
from isolith.command_line.serving import security_of
from isolith.http.app import App, Door
from isolith.http.rates import Limits
from isolith.http.server import WebServer
from isolith.journal.tokens import NewToken
from isolith.tokens import Scope, mint
from isolith.tokens.verifier import JournalVerifier

if TYPE_CHECKING:
    from mcp.server import Server

    from isolith.journal.journal import Journal
    from isolith_runtime.driver import Supply


@connector("bank")
class Bank:
    """Money of a few people."""

    def __init__(self) -> None:
        self.paid: list[str] = []
        self.asked = asyncio.Event()
        self.answer = asyncio.Event()

    async def balance(self, name: str) -> int:
        """What somebody has."""
        return len(name)

    @method(policy="ask", idempotent=True, revert="take_back")
    async def pay(self, to: str, amount: int = 1) -> str:
        """Send money."""
        self.paid.append(f"{to} {amount}")
        return f"paid {to} {amount}"

    async def take_back(self, to: str, amount: int = 1) -> None:
        """Take it back."""
        self.paid.remove(f"{to} {amount}")

    async def wait(self) -> str:
        """Answer when the test says so."""
        self.asked.set()
        await self.answer.wait()
        return "waited"


@dataclass
class Api:
    """A client of the API: as whoever a token is for."""

    app: App
    code_mode: CodeMode
    bank: Bank
    tokens: dict[str, str]

    @property
    def http(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=self.app), base_url="http://127.0.0.1:8000")

    async def ask(self, method: str, path: str, who: str | None = "ada", **parts: object) -> httpx2.Response:
        given = cast("dict[str, str]", parts.pop("headers", {}))
        headers = {**({} if who is None else {"Authorization": f"Bearer {self.tokens[who]}"}), **given}
        async with self.http as http:
            return await http.request(method, path, headers=headers, **cast("dict[str, Any]", parts))

    async def get(self, path: str, who: str | None = "ada", **parts: object) -> httpx2.Response:
        return await self.ask("GET", path, who, **parts)

    async def post(self, path: str, body: object = None, who: str | None = "ada", **parts: object) -> httpx2.Response:
        return await self.ask("POST", path, who, json={} if body is None else body, **parts)

    async def run(self, script: str, who: str = "ada", **more: object) -> dict[str, Any]:
        answer = await self.post("/v1/executions", {"script": script, **more}, who)
        assert answer.status_code in {201, 202}, answer.text
        told: dict[str, Any] = answer.json()
        return told


async def token_for(journal: Journal, principal: str, *scopes: Scope) -> str:
    secret = mint()
    await journal.tokens.add(NewToken(secret.token_id, secret.digest, principal, scopes, "a test"))
    return secret.text


async def journal_of(code_mode: CodeMode) -> Journal:
    return (await code_mode.runs()).journal


def app_of(
    code_mode: CodeMode, limits: Limits | None = None, server: Server | None = None, *, auth: bool = True
) -> App:
    """The app of one host, with MCP where there is a server of it."""

    async def journal() -> Journal:
        return await journal_of(code_mode)

    verifier = JournalVerifier(journal) if auth else None
    return App(code_mode, Door(security_of(Address("127.0.0.1", 8000)), verifier, limits or Limits()), server)


@asynccontextmanager
async def serving(api: Api) -> AsyncGenerator[tuple[WebServer, int]]:
    listening = socket.create_server(("127.0.0.1", 0))
    web = WebServer(api.app, grace_s=0)
    task = asyncio.create_task(web.run_on(listening))
    try:
        yield web, listening.getsockname()[1]
    finally:
        web.stop()
        await task


Opened = Callable[..., Awaitable[Api]]


@pytest.fixture
async def opened(tmp_path: Path, supply: Supply) -> AsyncIterator[Opened]:
    """Opens hosts that share one journal."""
    async with _hosts(f"sqlite:///{tmp_path / 'journal.db'}") as more:
        yield more


@asynccontextmanager
async def _hosts(url: str) -> AsyncGenerator[Opened]:
    code_modes: list[CodeMode] = []
    tokens: dict[str, str] = {}

    async def open_(limits: Limits | None = None) -> Api:
        bank = Bank()
        code_mode = CodeMode([bank], journal=url, tend=False)
        await code_mode.__aenter__()
        code_modes.append(code_mode)
        journal = await journal_of(code_mode)
        if not tokens:
            tokens["ada"] = await token_for(journal, "ada", "execute")
            tokens["eve"] = await token_for(journal, "eve", "execute")
            tokens["grace"] = await token_for(journal, "grace", "execute", "approve")
            tokens["root"] = await token_for(journal, "root", "admin")
        return Api(app_of(code_mode, limits), code_mode, bank, tokens)

    try:
        yield open_
    finally:
        for code_mode in code_modes:
            await code_mode.aclose()


@pytest.fixture
async def api(opened: Opened) -> Api:
    return await opened()
