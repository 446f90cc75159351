"""Serving MCP on stdio or HTTP, after every limit has been seen to fire.

Apart from the command, because the server half of the SDK takes a second to import that no other command has to pay.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import socket
import sys
from collections import OrderedDict
from contextlib import AsyncExitStack, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from isolith.command_line.kept_journal import chosen
from isolith.command_line.oauth_options import verifier_of
from isolith.command_line.terminal import approve_command
from isolith.errors import UsageError
from isolith.folders import data_folder
from isolith.http.app import MCP_PATH, App, Door, OAuth
from isolith.http.rates import Limits
from isolith.http.server import WebServer
from isolith.key_file import KEY_BYTES, kept_key
from isolith.mcp.server import mcp_server
from isolith.run.readiness import last_words, wait_ready
from isolith.run.self_test import trip_limits
from isolith.tokens.verifier import JournalVerifier
from isolith_bindings.availability import why_absent
from isolith_bindings.secrets import remember

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcp.server import Server
    from mcp.server.auth.provider import TokenVerifier

    from isolith.code_mode import CodeMode
    from isolith.command_line.serve_command import Address
    from isolith.instructions import Shown
    from isolith.journal.journal import Journal
    from isolith.outcome import Outcome
    from isolith.run.execution import Execution
    from isolith_bindings.connector import Connector

STATE_KEY = "ISOLITH_STATE_KEY"
_MAX_SAID = 10_000
"""Calls of which is known that they were said; the longest ago is forgotten first."""
_BACKLOG = 1024
"""Connections that wait to be taken: a thousand clients may come at once."""


async def serve_mcp(
    code_mode: CodeMode,
    address: Address | None,
    say: Callable[[str], None],
    *,
    session_key: str | None = None,
    ask_client: bool = False,
    shown: Shown | None = None,
) -> bool:
    """Serve on stdio, or at an address, until the client goes or a signal comes. Whether it could be served."""
    with redirect_stdout(sys.stderr):
        failed = [finding for finding in await trip_limits() if not finding.ok]
    for finding in failed:
        say(f"isolith: {finding.name}: {finding.detail}. {finding.mend}")
    if failed:
        say("isolith: nothing is served: a limit that does not fire protects nobody")
        return False
    code_mode.when_begun(PendingNotices(say).watch)
    async with code_mode:
        server = mcp_server(
            code_mode,
            session_key=session_key,
            approving=partial(approve_command, flags=flags_for(address)),
            ask_client=ask_client,
            state_key=shared_key(data_folder()) if ask_client else None,
            shown=shown,
        )
        telling = asyncio.create_task(tell_absent(code_mode.connectors, say))
        try:
            if address is None:
                await _on_stdio(server)
            else:
                await _on_http(code_mode, server, address, say)
        finally:
            telling.cancel()
            await asyncio.wait([telling])
    return True


async def tell_absent(connectors: Iterable[Connector], say: Callable[[str], None]) -> None:
    """Say of each that could not be started, once, why: clients are told so, and whoever serves could mend it."""

    async def tell(connector: Connector) -> None:
        await wait_ready([connector])
        why = why_absent(connector)
        if why is not None:
            words = last_words(connector)
            say(f"isolith: {connector.name} is not there: {why}{f'; it wrote: {words}' if words else ''}")

    await asyncio.gather(*map(tell, connectors))


def shared_key(folder: Path) -> bytes:
    """The key that seals what clients send back: ISOLITH_STATE_KEY, which hosts on several machines share.

    Else one that every server of this user has, made once. Raises UsageError.
    """
    given = os.environ.get(STATE_KEY)
    if not given:
        return kept_key(folder / "mcp-state.key")
    if len(given.encode()) < KEY_BYTES:
        raise UsageError(f"{STATE_KEY} wants {KEY_BYTES} bytes at least: `openssl rand -hex 32` makes them")
    remember(given)
    return given.encode()


def security_of(address: Address) -> TransportSecuritySettings:
    """Which Host and Origin headers are answered: those of this machine, and those the address may be asked for by."""
    hosts = ("127.0.0.1", "localhost", "[::1]", *address.hosts)
    names = [form for name in hosts for form in (name, f"{name}:*")]
    origins = [f"{scheme}://{name}" for name in names for scheme in ("http", "https")]
    return TransportSecuritySettings(allowed_hosts=names, allowed_origins=origins)


async def _on_stdio(server: Server) -> None:
    # The SDK takes the streams for itself first; what a connector prints goes to stderr.
    async with stdio_server() as (read, write):
        with redirect_stdout(sys.stderr):
            await server.run(read, write, server.create_initialization_options())


async def _on_http(code_mode: CodeMode, server: Server, address: Address, say: Callable[[str], None]) -> None:
    listening = _listen(address)
    host, port = listening.getsockname()[:2]
    where = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    async with AsyncExitStack() as closed:
        verifier, oauth = _who_may(code_mode, address, f"{where}{MCP_PATH}", closed)
        requests = max(256, 2 * address.runs)
        limits = Limits(address.rate, max(1, round(address.rate * 4)), requests, address.runs)
        app = App(code_mode, Door(security_of(address), verifier, limits, oauth), server)
        say(f"isolith: serving {where}{MCP_PATH}")
        say(f"isolith: the API is {where}/v1, described, without a token, at {where}/v1/openapi.json")
        if verifier is None:
            say("isolith: whoever reaches this machine's ports may run scripts and decide: `--no-auth` was given")
        elif oauth is not None:
            say(f"isolith: who has a token of {oauth.issuer} for {oauth.resource} is let in")
        elif not await (await code_mode.runs()).journal.tokens.find():
            create = f"isolith tokens create NAME --scope execute{journal_flags()}"
            say(f"isolith: there is no token yet, so nobody is let in: {create}")
        with redirect_stdout(sys.stderr):
            await WebServer(app, address.grace_s).run_on(listening)


def _who_may(
    code_mode: CodeMode, address: Address, served: str, closed: AsyncExitStack
) -> tuple[TokenVerifier | None, OAuth | None]:
    """Who judges tokens, and where clients get them where they are not the journal's."""
    if address.oauth is not None:
        oauth = OAuth(address.oauth.issuer, address.oauth.resource or served)
        verifier, known = verifier_of(address.oauth, oauth.resource)
        closed.push_async_callback(known.aclose)
        return verifier, oauth

    async def journal() -> Journal:
        return (await code_mode.runs()).journal

    return (JournalVerifier(journal) if address.auth else None), None


def _listen(address: Address) -> socket.socket:
    """A socket at the address; port 0 is one that is free. Raises UsageError where that cannot be."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(where)
            listening.listen(_BACKLOG)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise UsageError(f"cannot listen on {address.host}:{address.port}: {error.strerror or error}") from error
    return listening


def journal_flags() -> str:
    """What another command is given to find the journal of this one, from any folder: clients start this in theirs."""
    words = shlex.split(chosen().flags)
    return "".join(f" {each}" for each in map(shlex.quote, (_from_anywhere(word) for word in words)))


def _from_anywhere(word: str) -> str:
    return word if word.startswith("--") or "://" in word else str(Path(word).absolute())


def flags_for(address: Address | None) -> str:
    """How clients are told where the journal is: not at all where they may be on other machines than it."""
    return journal_flags() if address is None or (address.local and not address.hosts) else ""


class PendingNotices:
    """Says on the host, once for each call that waits, how a person decides it, whichever door its run came by."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: OrderedDict[tuple[str, str], None] = OrderedDict()

    def watch(self, execution: Execution) -> None:
        """A run begins, or goes on."""
        asyncio.ensure_future(execution.outcome()).add_done_callback(self._ended)

    def _ended(self, ended: asyncio.Future[Outcome]) -> None:
        if not ended.cancelled() and ended.exception() is None:
            self.say(ended.result())

    def say(self, outcome: Outcome) -> None:
        """What waits, and was not said yet."""
        for call in outcome.pending:
            if (key := (call.call_id, call.digest)) not in self._said:
                self._said[key] = None
                command = approve_command(call, journal_flags())
                self._say(f"isolith: {call.connector}.{call.method} waits: {command}    # or: reject")
        while len(self._said) > _MAX_SAID:
            self._said.popitem(last=False)
