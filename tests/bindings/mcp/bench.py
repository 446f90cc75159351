"""A connector under test, and everything a call needs, in a few words."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from isolith_bindings.connector import Answer, ArtifactRef, CallContext, Question, Variant
from isolith_bindings.errors import CallError
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.mcp.descriptions import HttpServer, Server, SseServer, StdioServer
from isolith_bindings.testing import RecordedProgress, a_context

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator

    from isolith_bindings.files import Stored
    from isolith_bindings.mcp.catalogue import Change
    from isolith_bindings.mcp.options import Options
    from isolith_bindings.mcp.scopes import Sharing

FIXTURES = Path(__file__).parents[3] / "fixtures" / "mcp"
PATIENCE_S = 120.0


@dataclass
class Artifacts:
    """Keeps bytes in memory."""

    kept: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def keep(self, content: Stored, *, mime: str, name: str | None = None) -> ArtifactRef:
        handle = f"art{len(self.kept)}"
        self.kept[handle] = content if isinstance(content, bytes) else content.read()
        return ArtifactRef(handle, mime, len(content), name)

    def read(self, ref: ArtifactRef) -> bytes:
        if ref.handle not in self.kept:
            raise CallError("invalid_arguments", f"there is no artifact {ref.handle}")
        return self.kept[ref.handle]


@dataclass
class Bench:
    """A started connector. `answer` is what a person says to whatever a server asks."""

    connector: McpServer
    artifacts: Artifacts = field(default_factory=Artifacts)
    progress: RecordedProgress = field(default_factory=RecordedProgress)
    questions: list[Question] = field(default_factory=list[Question])
    answer: Answer = field(default_factory=lambda: Answer("decline"))
    changes: list[Change] = field(default_factory=list["Change"])
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.connector.on_change(self._note)

    def _note(self, change: Change) -> None:
        self.changes.append(change)
        self.changed.set()

    async def _ask(self, question: Question) -> Answer:
        self.questions.append(question)
        return self.answer

    def context(self, *, variant: Variant = "", cursor: object = None) -> CallContext:
        context = a_context(self.progress)
        return replace(context, artifacts=self.artifacts, ask=self._ask, variant=variant, cursor=cursor)

    async def call(self, method: str, /, **arguments: object) -> object:
        return await self.call_in(self.context(), method, **arguments)

    async def raw(self, method: str, /, **arguments: object) -> dict[str, object]:
        value = await self.call_in(self.context(variant="raw"), method, **arguments)
        assert isinstance(value, dict)
        return value

    async def call_in(self, context: CallContext, method: str, /, **arguments: object) -> object:
        return await self.connector.call(self.connector.methods[method], arguments, context)

    async def failure(self, method: str, /, **arguments: object) -> CallError:
        """The error that a call must end in."""
        try:
            value = await self.call(method, **arguments)
        except CallError as error:
            return error
        raise AssertionError(f"{method} gave {value!r}")

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until what the server offers is as it should be."""
        async with asyncio.timeout(PATIENCE_S):
            while not holds():
                self.changed.clear()
                await self.changed.wait()

    def pid(self) -> int:
        pid = self.connector.status().members[0].pid
        assert pid is not None
        return pid


@contextlib.asynccontextmanager
async def connected(
    server: Server,
    *,
    options: Options | None = None,
    sharing: Sharing | None = None,
    trusted: bool = False,
    ready: bool = True,
) -> AsyncGenerator[Bench]:
    """A connector to a server, closed in the end."""
    bench = Bench(McpServer("box", server, options=options, sharing=sharing, trusted=trusted))
    try:
        if ready:
            assert await bench.connector.ready(PATIENCE_S), bench.connector.status()
        yield bench
    finally:
        await bench.connector.aclose()


async def until_says(note: Path, text: str) -> None:
    """Wait until another process has written this to a file."""
    async with asyncio.timeout(PATIENCE_S):
        while not await asyncio.to_thread(_says, note, text):
            await asyncio.sleep(0.02)


def _says(note: Path, text: str) -> bool:
    return note.exists() and text in note.read_text()


def python_server(file: str, *arguments: str) -> StdioServer:
    """One of fixtures/mcp."""
    return StdioServer(sys.executable, (str(FIXTURES / file), *arguments))


def raw_server(*faults: str) -> StdioServer:
    """The server that misbehaves as told."""
    return python_server("raw_server.py", *faults)


_kept: list[socket.socket] = []


def free_port() -> int:
    """One at which nobody listens but who is told of it: it stays bound here, so that no other process is given it."""
    probe = socket.socket()
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    probe.bind(("127.0.0.1", 0))
    _kept.append(probe)
    return int(probe.getsockname()[1])


@contextlib.contextmanager
def serving(command: list[str], port: int, seconds: float = 60) -> Generator[None]:
    """A server process that listens on a port of this machine."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, process, seconds)
        yield
    finally:
        process.kill()
        process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, f"{process.args!r} ended"
        assert time.monotonic() < deadline, f"{process.args!r} does not listen"
        time.sleep(0.02)


@contextlib.contextmanager
def sdk_server_over(transport: str) -> Generator[Server]:
    """The SDK's server over `stdio`, `http` or `sse`."""
    if transport == "stdio":
        yield python_server("sdk_server.py")
        return
    port = free_port()
    with serving([sys.executable, str(FIXTURES / "sdk_server.py"), transport, str(port)], port):
        if transport == "http":
            yield HttpServer(f"http://127.0.0.1:{port}/mcp")
        else:
            yield SseServer(f"http://127.0.0.1:{port}/sse")
