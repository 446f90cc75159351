"""A program's standard streams as a transport of the SDK: started, read, stopped, and told apart from its failures.

The SDK's own transport shows neither the process nor what it wrote to its standard error, joins a long line in
quadratic time, and has no limit. MCP over stdio is one JSON-RPC message a line, UTF-8, on standard output; standard
error is free text. To stop: close standard input, wait, SIGTERM, wait, SIGKILL (2025-11-25, basic/lifecycle#shutdown).
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import re
import shutil
import signal
import sys
from collections import deque
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from isolith_bindings.mcp import guardian
from isolith_bindings.mcp.failures import StartFailed
from isolith_bindings.mcp.unreadable import failure_of
from isolith_bindings.secrets import LONGEST_SECRET, Secret, redact_beginning, remember

_T = TypeVar("_T")

if TYPE_CHECKING:
    import contextvars
    from collections.abc import AsyncGenerator, Coroutine, Generator, Mapping

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from isolith_bindings.mcp.descriptions import Credential, StdioServer

    _Work = Generator[asyncio.Future[object] | None, None, _T] | Coroutine[Any, Any, _T]
    Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]

MAX_MESSAGE = 64 << 20
"""Bytes of one message. A server that sends a longer one is let go of."""

GRACE_S = 1.0
"""Seconds for a server to end by itself after its input was closed, and again after SIGTERM."""

_CHUNK = 64 << 10
_SECRETIVE = re.compile("key|token|secret|passw|pwd|auth|credential|cookie|bearer|pat$", re.IGNORECASE)
"""Names of environment variables and headers whose values are to be shown nowhere."""

_SAID_LINES = 40
_SAID_LINE = 500
_LONGEST_LINE = _SAID_LINE + LONGEST_SECRET
"""Bytes of a line that are looked at: a secret in what is kept of it is masked whole."""


class Program:
    """What is known of a running server: its process and the last of what it wrote beside the protocol."""

    def __init__(self) -> None:
        self.process: asyncio.subprocess.Process | None = None
        self.said: deque[str] = deque(maxlen=_SAID_LINES)
        self.garbage = 0
        self.too_long = False

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return None if self.process is None or self.process.returncode is not None else self.process.pid

    def note(self, line: bytes, *, garbage: bool = False) -> None:
        """Keep one line of what it wrote, redacted and cut."""
        self.garbage += garbage
        text = redact_beginning(line[:_LONGEST_LINE].decode("utf-8", "replace"), _SAID_LINE).strip()
        if text:
            self.said.append(text)

    def ending(self) -> str:
        """Why it says no more, in a line for people."""
        code = None if self.process is None else self.process.returncode
        if self.too_long:
            return f"it sent a message of more than {MAX_MESSAGE:,} bytes"
        if code is None:
            return "it closed its output"
        if code < 0:
            return f"it was ended by {_signal_name(-code)}"
        return f"it ended with exit code {code}"

    def last_words(self) -> str:
        """The last lines that it wrote beside the protocol; empty if it wrote none."""
        return " | ".join(list(self.said)[-3:])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@contextlib.asynccontextmanager
async def stdio_streams(server: StdioServer, program: Program) -> AsyncGenerator[Streams]:
    """The streams of a server, started for this. Raises StartFailed where there is no such program."""
    process = await _start(server, program)
    reading_in, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, writing_out = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read(process, program, reading_in)),
        asyncio.create_task(_write(process, writing_out)),
        asyncio.create_task(_listen(process, program)),
    ]
    try:
        yield reading, writing
    finally:
        reading.close()
        writing.close()
        try:
            # Keeps off the cancellations of anyio; those of asyncio go through it.
            with anyio.CancelScope(shield=True):
                await _to_the_end(_stop(process))
        finally:
            # Nothing awaits here: whatever came in between, no process is left behind.
            _end(process)
            for task in tasks:
                task.cancel()
            reading_in.close()
            writing_out.close()
        await asyncio.wait(tasks)


def _no_program(server: StdioServer) -> str:
    """That it is not there, by its name alone: where it would be is nothing for scripts."""
    if PurePath(server.command).name != server.command:
        return f"at the path that is given there is no program {server.place} that may be run: mend the path"
    return f"there is no program {server.place}: install it, or give its whole path"


async def _start(server: StdioServer, program: Program) -> asyncio.subprocess.Process:
    env = get_default_environment() | await revealed(server.env)
    command = shutil.which(server.command, path=env.get("PATH"))
    if command is None:
        raise StartFailed(_no_program(server))
    # A start that is cancelled half way would leave what the program itself has started by then.
    try:
        return await _to_the_end(_spawned(server, program, command, env))
    except asyncio.CancelledError:
        if program.process is not None:
            try:
                _signal(program.process, "SIGKILL")
                await _to_the_end(_ended(program.process))
            finally:
                _end(program.process)
        raise


async def _spawned(
    server: StdioServer, program: Program, command: str, env: dict[str, str]
) -> asyncio.subprocess.Process:
    held = guardian.held(env)
    try:
        process = await _Whole(
            asyncio.create_subprocess_exec(
                *held,
                command,
                *server.args,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=env,
                cwd=server.cwd,
                start_new_session=sys.platform != "win32",
            )
        )
    except OSError as error:
        raise StartFailed(f"{server.place} cannot be started: {error.strerror}") from error
    except ValueError as error:
        raise StartFailed(f"{server.place} cannot be started: an argument holds a null character") from error
    program.process = process
    _running[process] = os.getpid()
    guardian.watch(process.pid)
    if held and process.stdin is not None:
        process.stdin.write(guardian.GO)
    return process


async def revealed(credentials: Mapping[str, Credential]) -> dict[str, str]:
    """Credentials as texts. Raises CallError for one that cannot be read.

    `redact` knows from now on those that are secrets, and those written as text whose names say that they are.
    """
    texts: dict[str, str] = {}
    for name, credential in credentials.items():
        texts[name] = await credential.reveal() if isinstance(credential, Secret) else credential
        if _SECRETIVE.search(name):
            remember(texts[name])
            scheme, _, rest = texts[name].partition(" ")
            if scheme.casefold() in {"bearer", "basic", "token"}:
                remember(rest)
    return texts


async def _read(
    process: asyncio.subprocess.Process, program: Program, messages: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    """Lines to messages, until the program closes its output or sends a line that is too long."""
    output = process.stdout
    if output is None:
        return
    parts: list[bytes] = []
    size = 0
    with messages:
        while chunk := await output.read(_CHUNK):
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                whole = b"".join((*parts, line))
                parts, size = [], 0
                if not await _deliver(whole, program, messages):
                    return
            parts.append(rest)
            size += len(rest)
            if size > MAX_MESSAGE:
                program.too_long = True
                return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE_S)


async def _deliver(line: bytes, program: Program, messages: MemoryObjectSendStream[SessionMessage | Exception]) -> bool:
    """Pass one line on; whether anyone still listens."""
    if not line.strip():
        return True
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError as error:
        failure = failure_of(line, error)
        if failure is None:
            program.note(line, garbage=True)
            return True
        message = failure
    try:
        await messages.send(SessionMessage(message))
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return False
    return True


async def _write(process: asyncio.subprocess.Process, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
    pipe = process.stdin
    if pipe is None:
        return
    # A program that closed its input has ended, or is about to: its output tells.
    with messages, contextlib.suppress(ConnectionError, OSError):
        async for item in messages:
            pipe.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await pipe.drain()


async def _listen(process: asyncio.subprocess.Process, program: Program) -> None:
    """Keep the last of what the program writes to its standard error, so that it never blocks on a full pipe."""
    output = process.stderr
    if output is None:
        return
    rest = b""
    while chunk := await output.read(_CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines[-_SAID_LINES:]:
            program.note(line)
        rest = rest[:_LONGEST_LINE]
    program.note(rest)


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End the program: politely, then by force. At most three times the grace."""
    if process.stdin is not None:
        process.stdin.close()
    if not await _ended(process):
        _signal(process, "SIGTERM")
        if not await _ended(process):
            _signal(process, "SIGKILL")
            await _ended(process)


def _end(process: asyncio.subprocess.Process) -> None:
    """End the program if it still runs, and whatever it started and left behind, at once."""
    _signal(process, "SIGKILL")
    transport = getattr(process, "_transport", None)
    if transport is not None:
        with contextlib.suppress(PermissionError):
            transport.close()
    if _running.pop(process, None) is not None:
        guardian.forget(process.pid)


class _Unstoppable(asyncio.Task[_T]):
    """A task that nothing cancels, not even the end of its event loop, which waits for it."""

    def cancel(self, msg: object = None) -> bool:
        """It is not."""
        del msg
        return False


def _unstoppable(
    loop: asyncio.AbstractEventLoop, work: _Work[_T], *, context: contextvars.Context | None = None, **_: object
) -> asyncio.Task[_T]:
    return _Unstoppable(work, loop=loop, context=context)


class _Whole(Generic[_T]):
    """Awaits what makes tasks of its own before it first waits; nothing cancels those either.

    asyncio connects the pipes of a new program in such a task. Where the end of the event loop cancels that one, the
    start waits for ever: for the end of a program that is only noticed once its pipes are there.
    """

    def __init__(self, work: Coroutine[object, object, _T]) -> None:
        self._work = work

    def __await__(self) -> Generator[object, object, _T]:
        loop = asyncio.get_running_loop()
        usual = loop.get_task_factory()
        going = self._work.__await__()
        loop.set_task_factory(_unstoppable)
        try:
            waited_for = next(going)
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]
        finally:
            loop.set_task_factory(usual)
        yield waited_for
        return (yield from going)


async def _to_the_end(work: Coroutine[object, object, _T]) -> _T:
    """Do what takes a bounded time; a cancellation that comes meanwhile is raised after it, in place of its result."""
    task = _Unstoppable(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        task.exception()
        raise cancelled
    return task.result()


_running: dict[asyncio.subprocess.Process, int] = {}
"""The programs that were not ended yet, and which process of ours started each."""


@atexit.register
def _end_all() -> None:
    """An event loop may be given up without its tasks; what they started ends with this process all the same."""
    for process, parent in tuple(_running.items()):
        # A fork of ours holds the same list, and has no say over them.
        if parent == os.getpid():
            _signal(process, "SIGKILL")


async def _ended(process: asyncio.subprocess.Process) -> bool:
    # Not `process.wait()`, which also waits for pipes that a grandchild may hold.
    deadline = asyncio.get_running_loop().time() + GRACE_S
    while process.returncode is None:
        if asyncio.get_running_loop().time() >= deadline:
            return False
        await asyncio.sleep(0.01)
    return True


def _signal(process: asyncio.subprocess.Process, name: str) -> None:
    """To the program's whole group, which it leads; to itself alone where there are no groups."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            if process.returncode is None:
                process.kill()
        else:
            os.killpg(process.pid, signal.Signals[name])
