"""Whether anything is served, and to whom: decided before the first request."""

from __future__ import annotations

import asyncio
import io
import sys
from typing import TYPE_CHECKING, cast

import pytest
from mcp import Client
from mcp_types import TextContent
from rich.console import Console
from typer.testing import CliRunner

from isolith import connector, method
from isolith.code_mode import CodeMode
from isolith.command_line import cli, command, serve_command, serving
from isolith.command_line.kept_journal import choose
from isolith.command_line.serve_command import Address, entrance, read_address
from isolith.command_line.serving import (
    STATE_KEY,
    PendingNotices,
    flags_for,
    journal_flags,
    security_of,
    serve_mcp,
    shared_key,
)
from isolith.command_line.terminal import Terminal
from isolith.errors import UsageError
from isolith.http.server import WebServer
from isolith.outcome import Outcome, PendingCall
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.mcp.descriptions import StdioServer
from isolith_bindings.secrets import remember
from isolith_bindings.testing import RecordingConnector
from isolith_runtime.errors import DistributionError
from isolith_runtime.image.doctor import Finding

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from pathlib import Path

    from mcp.server import Server


@connector("bank")
class Bank:
    """Money."""

    @method(policy="ask")
    async def pay(self, amount: int) -> str:
        """Send money."""
        return f"paid {amount}"


@pytest.mark.anyio
async def test_a_limit_that_does_not_fire_keeps_the_server_from_serving(monkeypatch: pytest.MonkeyPatch) -> None:
    async def tripped() -> list[Finding]:
        fine = Finding("limit calls", ok=True, detail="fired")
        return [fine, Finding("limit cpu_ms", ok=False, detail="did not fire", mend="Mend it.")]

    async def served(*_: object) -> None:
        raise AssertionError("it served")

    monkeypatch.setattr(serving, "trip_limits", tripped)
    monkeypatch.setattr(serving, "_on_stdio", served)
    said: list[str] = []
    assert await serve_mcp(CodeMode(), None, said.append) is False
    assert said[0] == "isolith: limit cpu_ms: did not fire. Mend it."
    assert "nothing is served" in said[1]


def test_without_an_image_nothing_is_tripped_and_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It used to be told as a bug of ours and as a limit that does not fire, once for each limit."""

    def none(*, progress: object) -> object:
        del progress
        raise DistributionError("Pyodide is not here: install npm")

    async def tripped() -> list[Finding]:
        raise AssertionError("it was tripped")

    monkeypatch.setattr(serve_command, "get_supply", none)
    monkeypatch.setattr(serving, "trip_limits", tripped)
    result = CliRunner().invoke(cli.app, ["serve"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "isolith: Pyodide is not here: install npm\n"


@pytest.mark.parametrize("on_terminal", [True, False])
def test_a_person_who_starts_it_by_hand_is_told_what_it_does(
    on_terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def served(*_: object, **__: object) -> bool:
        return True

    monkeypatch.setattr(serve_command, "get_supply", lambda *, progress: progress)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    monkeypatch.setattr(serving, "serve_mcp", served)
    made = Terminal(sys.stdout, sys.stderr)
    monkeypatch.setattr(made, "err", Console(file=io.StringIO(), force_terminal=on_terminal, width=400))
    monkeypatch.setattr(command, "terminal", lambda: made)
    result = CliRunner().invoke(cli.app, ["serve"])
    said = cast("io.StringIO", made.err.file).getvalue()
    assert result.exit_code == 0
    assert ("speaking MCP on stdin and stdout" in said, "`--http HOST:PORT`" in said) == (on_terminal, on_terminal)


def waiting(number: int, digest: str = "a" * 64) -> Outcome:
    call = PendingCall(
        call_id=f"e.{number}", connector="crm", method="delete", arguments={}, digest=digest, reason="it says so"
    )
    return Outcome(execution_id="e", status="paused", pending=(call,))


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[str]:
    """One that no other command finds by itself."""
    file = tmp_path / "other.db"
    choose(str(file))
    yield str(file)
    choose(None)


def test_each_call_that_waits_is_said_once_with_what_decides_it(journal: str) -> None:
    said: list[str] = []
    notices = PendingNotices(said.append)
    for outcome in (waiting(1), waiting(1), waiting(2), waiting(1, "b" * 64)):
        notices.say(outcome)
    tail = f" --journal {journal}    # or: reject"
    assert said == [
        f"isolith: crm.delete waits: isolith executions approve e 1 --digest {'a' * 12}{tail}",
        f"isolith: crm.delete waits: isolith executions approve e 2 --digest {'a' * 12}{tail}",
        f"isolith: crm.delete waits: isolith executions approve e 1 --digest {'b' * 12}{tail}",
    ]


@pytest.mark.anyio
async def test_a_run_that_waits_is_said_whichever_door_it_came_by(journal: str, tmp_path: Path) -> None:
    said: list[str] = []
    async with CodeMode([Bank], journal=tmp_path / "other.db", tend=False) as code_mode:
        code_mode.when_begun(PendingNotices(said.append).watch)
        paused = await code_mode.execute("await bank.pay(amount=1)")
        await asyncio.sleep(0)
    assert (paused.status, len(said)) == ("paused", 1)
    assert f"isolith executions approve {paused.execution_id} 1 --digest" in said[0]
    assert journal in said[0]


@pytest.mark.usefixtures("journal")
def test_a_journal_named_from_here_is_named_so_that_it_is_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    choose("a b.db")
    assert journal_flags() == f" --journal '{tmp_path}/a b.db'"
    choose("postgresql://ada@db.example/runs")
    assert journal_flags() == " --journal postgresql://ada@db.example/runs"
    choose(None)
    assert journal_flags() == ""


@pytest.fixture
def fired(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every limit has been seen to fire."""

    async def tripped() -> list[Finding]:
        return []

    monkeypatch.setattr(serving, "trip_limits", tripped)


@pytest.mark.anyio
@pytest.mark.usefixtures("fired")
async def test_the_client_and_the_host_are_told_the_command_that_decides(
    journal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []

    async def served(server: Server) -> None:
        async with Client(server) as client:
            paused = await client.call_tool("execute", {"code": "await bank.pay(amount=1)"})
            shown.extend(block.text for block in paused.content if isinstance(block, TextContent))
            told = cast("dict[str, str]", paused.structured_content)
            await client.call_tool("resume", {"execution_id": told["execution_id"]})

    monkeypatch.setattr(serving, "_on_stdio", served)
    said: list[str] = []
    assert await serve_mcp(CodeMode([Bank], journal=journal, tend=False), None, said.append)
    [line] = said
    command = line.removeprefix("isolith: bank.pay waits: ").removesuffix("    # or: reject")
    assert command.startswith("isolith executions approve ")
    assert command.endswith(f" --journal {journal}")
    assert f"`{command}`" in shown[0]


@pytest.mark.anyio
@pytest.mark.usefixtures("fired")
async def test_whoever_serves_is_told_how_a_token_is_made_in_this_journal(
    journal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run_on(_: WebServer, listening: socket.socket) -> None:
        listening.close()

    monkeypatch.setattr(WebServer, "run_on", run_on)
    said: list[str] = []
    assert await serve_mcp(CodeMode([Bank], journal=journal, tend=False), Address("127.0.0.1", 0), said.append)
    assert said[-1].endswith(f": isolith tokens create NAME --scope execute --journal {journal}")
    assert "described, without a token, at http://127.0.0.1:" in said[1]


@pytest.mark.anyio
@pytest.mark.usefixtures("fired")
async def test_whoever_serves_is_told_once_of_each_server_that_could_not_be_started(
    journal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients alone used to be told."""
    remember("hush-7741")
    talks = "import sys; sys.exit('no database at hush-7741')"
    servers = [
        McpServer("away", StdioServer("no-such-program-here")),
        McpServer("broken", StdioServer(sys.executable, ("-c", talks))),
        RecordingConnector("crm", {"find": 1}),
    ]
    said: list[str] = []
    told = asyncio.Event()

    def say(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            told.set()

    async def served(server: Server) -> None:
        del server
        await told.wait()
        await code_mode.ready()

    monkeypatch.setattr(serving, "_on_stdio", served)
    code_mode = CodeMode(servers, policy="careful", journal=journal, tend=False, warm=True)
    assert await serve_mcp(code_mode, None, say)
    away, broken = sorted(said)
    assert away.startswith("isolith: away is not there: there is no program `no-such-program-here`")
    assert broken.startswith("isolith: broken is not there: ")
    assert "no database at " in broken
    assert "hush-7741" not in broken


def test_clients_on_other_machines_are_not_told_where_the_journal_is(journal: str) -> None:
    flags = f" --journal {journal}"
    assert (flags_for(None), flags_for(Address("127.0.0.1", 80))) == (flags, flags)
    assert flags_for(Address("127.0.0.1", 80, ("mcp.example.com",))) == ""
    assert flags_for(Address("10.0.0.1", 80, ("mcp.example.com",))) == ""


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8000", "127.0.0.1", 8000),
        ("[::1]:0", "::1", 0),
        ("localhost:80", "localhost", 80),
        ("127.9.9.9:1", "127.9.9.9", 1),
    ],
)
def test_addresses_of_this_machine(text: str, host: str, port: int) -> None:
    assert read_address(text, []) == Address(host, port)


@pytest.mark.parametrize(
    "text", ["", "8000", ":8000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:-1", "a:65536"]
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        read_address(text, [])


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "10.0.0.1", "example.com", "127.0.0.1.example.com"])
def test_others_reach_it_only_where_a_host_is_named(host: str) -> None:
    with pytest.raises(UsageError, match="--allow-host"):
        read_address(f"{host}:80", [])
    assert read_address(f"{host}:80", ["mcp.example.com"]).hosts == ("mcp.example.com",)


def test_nobody_is_let_in_unasked_from_elsewhere() -> None:
    assert entrance(None, [], stdio=True, auth=True) is None
    served = entrance("127.0.0.1:0", [], stdio=False, auth=False)
    assert served is not None
    assert not served.auth
    for http, hosts in (("127.0.0.1:0", ["a.example"]), ("10.0.0.1:0", ["a.example"])):
        with pytest.raises(UsageError, match=r"127\.0\.0\.1 alone"):
            entrance(http, hosts, stdio=False, auth=False)
        assert entrance(http, hosts, stdio=False, auth=True) is not None
    for named, auth in ((["a"], True), ([], False)):
        with pytest.raises(UsageError, match="is about `--http`"):
            entrance(None, named, stdio=False, auth=auth)


def test_hosts_and_origins_are_checked_for_every_address() -> None:
    security = security_of(Address("0.0.0.0", 80, ("mcp.example.com",)))
    assert security.enable_dns_rebinding_protection
    assert {"mcp.example.com", "mcp.example.com:*", "localhost:*"} <= set(security.allowed_hosts)
    assert "https://mcp.example.com" in security.allowed_origins
    assert {"127.0.0.1", "localhost"} <= set(security.allowed_hosts)  # of a server at port 80
    assert not {"*", "*:*"} & {*security.allowed_hosts, *security.allowed_origins}


def test_the_key_is_made_once_and_is_the_users_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    key = shared_key(folder)
    assert len(key) == 32
    assert shared_key(folder) == key
    (kept,) = folder.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.write_bytes(b"short")
    with pytest.raises(UsageError, match="no key"):
        shared_key(folder)


def test_the_key_that_several_machines_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STATE_KEY, "k" * 64)
    assert shared_key(tmp_path / "data") == b"k" * 64
    assert not (tmp_path / "data").exists()
    monkeypatch.setenv(STATE_KEY, "short")
    with pytest.raises(UsageError, match="32 bytes at least") as refused:
        shared_key(tmp_path)
    assert "short" not in str(refused.value)
