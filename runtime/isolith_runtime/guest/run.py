"""One run of one script: its globals, its main task, and what is sent when it ends."""

from __future__ import annotations

import asyncio
import random
import sys
import warnings
from collections import Counter
from collections.abc import Awaitable
from contextlib import suppress
from types import ModuleType
from typing import Any

from isolith_runtime.guest import absent, channel, codec
from isolith_runtime.guest.calls import Caller, PendingCall, is_call
from isolith_runtime.guest.capabilities import Connector, Tools, connectors_for
from isolith_runtime.guest.diagnosis import Deadlock, diagnose, in_short, line_of, short
from isolith_runtime.guest.loop import GuestLoop, failed_unseen
from isolith_runtime.guest.namesakes import importer
from isolith_runtime.guest.output import Log, Output, Stream
from isolith_runtime.guest.readonly import freeze
from isolith_runtime.guest.script import RESULT, Script, prepare
from isolith_runtime.guest.services import services
from isolith_runtime.guest.toolerror import Rejected, ToolError
from isolith_runtime.guest.unwrap import IMPORT
from isolith_runtime.guest.value_type import value_type
from isolith_runtime.guest.where import SCRIPT, script_line

_MAX_WARNINGS = 100
_MAX_LOOKED = 1000
"""Tasks left over that are told by name."""
_PRINTED = "the script printed, but answers null; end it with the value that it should answer"

RESERVE = 1 << 20
reserve = bytearray(RESERVE)
"""Memory that is given up to say that there is none left. All zero, so it costs the image nothing."""


class Run:
    """The state of the guest while a script runs. Made by the host's `start` frame."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.loop = GuestLoop(self.park)
        self.output = Output(start["log_bytes"], start["emit_events"])
        self.source: str = start["source"]
        self.start = start
        self.caller = Caller(self.loop, synchronous=False, limits=start["limits"])
        self.connectors: dict[str, Connector] = {}
        self.advice: list[tuple[str, int]] = []
        self.done = False
        self.ended_by: BaseException | None = None
        self.script_ends_in: int | None = None
        self.main: asyncio.Task[None] | None = None
        self.warned = 0
        random.seed(int(start["seed"], 8))
        absent.install_waiting(self.loop)
        self.streams = Stream(self.output, "info"), Stream(self.output, "warning")
        sys.stdout, sys.stderr = self.streams
        asyncio.set_event_loop(self.loop)
        self.loop.set_exception_handler(self.task_failed)
        warnings._warn_unawaited_coroutine = self.never_awaited  # type: ignore[attr-defined] # what CPython calls

    def begin(self) -> None:
        """Make the main task; a script that does not compile ends here."""
        try:
            script = prepare(self.source, set(self.start["connectors"]))
        except BaseException as error:
            self.refuse(error)
            return
        self.caller.synchronous = script.synchronous
        self.connectors = connectors_for(self.caller, self.start["connectors"])
        self.script_ends_in = script.ends_in
        for kind, message, line in script.warnings:
            if kind == "check":
                self.advice.append((message, line))
            else:
                self.warn(kind, message, line)
        self.main = self.loop.create_task(self.execute(script), name="script")

    async def execute(self, script: Script) -> None:
        """Run the script and send what it ends with."""
        scope = self.scope()
        try:
            value = await self.value(script, scope)
            value = await self.settled(value)
            self.finish(value, scope)
        except BaseException as error:
            self.fail(error)

    async def value(self, script: Script, scope: dict[str, object]) -> object:
        """What the script answers with; an awaitable is not awaited yet."""
        waiting = eval(script.code, scope)
        if asyncio.iscoroutine(waiting):
            await waiting
        return scope.get(RESULT)

    async def settled(self, value: object) -> object:
        """The value itself, where the script answered with a call, a coroutine or a task."""
        if isinstance(value, (PendingCall, asyncio.Future)) or asyncio.iscoroutine(value):
            awaitable: Awaitable[object] = value
            return await awaitable
        return value

    def scope(self) -> dict[str, object]:
        """The script's globals: those of `__main__`, where the standard library looks for what a class names."""
        main = sys.modules["__main__"] = ModuleType("__main__")
        scope = vars(main)
        scope |= {
            "__builtins__": __builtins__,
            **services(self.caller, self.output, self.start),
            "input": freeze(self.start["input"]),
            "emit": self.output.emit,
            "log": Log(self.output),
            "progress": self.output.progress,
            "ToolError": ToolError,
            "Rejected": Rejected,
            "asyncio": asyncio,
            "tools": Tools(self.connectors),
            IMPORT: importer(self.connectors),
            **self.connectors,
        }
        return scope

    def finish(self, value: object, scope: dict[str, object]) -> None:
        """Send what was left over, then the result."""
        text = codec.to_text(codec.encode(value))
        size = len(text) if text.isascii() else len(text.encode())
        if size > self.start["value_bytes"]:
            raise codec.TooLarge(f"the value is {size:,} bytes")
        if value is None and self.script_ends_in and self.streams[0].used:
            self.advice.append((_PRINTED, self.script_ends_in))
        for message, line in self.advice:  # about the value: of no use to a script that failed
            self.warn("check", message, line)
        frame = f'["result",{text},{codec.to_text(value_type(value))}]'
        if not self.caller.synchronous:
            scope.clear()  # so that a coroutine nobody awaited is noticed
        self.end(frame)

    def fail(self, error: BaseException) -> None:
        """Send the diagnostic of what ended the script."""
        self.ended_by = error
        reserve.clear()
        diagnostic = diagnose(error, self.source.split("\n"))
        if diagnostic["line"] is None and self.script_ends_in:  # the value itself: what cannot leave
            diagnostic["line"] = self.script_ends_in
        hurry = isinstance(error, (KeyboardInterrupt, MemoryError))
        try:
            self.end(codec.to_text(["failure", diagnostic]), hurry=hurry)
        except Exception:  # a text of the script's that no frame can carry
            self.end(codec.to_text(["failure", in_short(error)]), hurry=hurry)

    def refuse(self, error: BaseException) -> None:
        """Send the diagnostic of a script that does not compile."""
        diagnostic = diagnose(error, self.source.split("\n"))
        if isinstance(error, SyntaxError):
            diagnostic["kind"], diagnostic["message"] = "syntax", error.msg
        elif isinstance(error, (MemoryError, RecursionError)):
            diagnostic["kind"], diagnostic["message"] = "recursion", "the script is nested too deep to be compiled"
            diagnostic["hint"] = "split the expression into statements"
        self.end(codec.to_text(["failure", diagnostic]))

    def end(self, frame: str, *, hurry: bool = False) -> None:
        """Send the last frame; nothing of this run crosses after it."""
        with suppress(Exception):  # what a script leaves may be anything; its end is said all the same
            if not hurry:
                self.left_over()
            for stream in self.streams:
                stream.finish()
        self.done = True
        channel.send_text(frame)
        channel.flush()

    def left_over(self) -> None:
        """Report what is still pending or failed unseen; the host cancels the calls."""
        self.unanswered()
        for pending in self.caller.unseen:
            if not pending._awaited:
                self.failed_unseen(f"{pending._tool}(...)", pending._future.exception())
        if "create_task" in self.source or "ensure_future" in self.source:
            for task in failed_unseen():
                self.failed_unseen(_name_of(task), task.exception())
        running = [task for task in asyncio.all_tasks(self.loop) if self.is_left(task)]
        for (name, line), number in Counter((_name_of(task), _line_of(task)) for task in running[:_MAX_LOOKED]).items():
            what, was = (name, "was") if number == 1 else (f"{number:,} times {name}", "were")
            self.warn("cancelled", f"{what} {was} still running when the script ended, and {was} cancelled", line)
        more = max(self.warned - _MAX_WARNINGS, 0) + len(running[_MAX_LOOKED:])
        if more:
            channel.send("warning", "cancelled", f"{more:,} more warnings were left out", None)

    def unanswered(self) -> None:
        """Report the calls under way, those of one place in one line; of a script that failed none is blamed for it."""
        given = {id(task.get_coro()) for task in asyncio.all_tasks(self.loop)}
        failed = self.ended_by is not None
        places = Counter(
            (call._tool, call._line, failed or call._awaited or id(call) in given)
            for call in self.caller.waiting.values()
        )
        for (tool, line, awaited), number in places.items():
            what, was = (f"{tool}(...)", "was") if number == 1 else (f"{number:,} calls {tool}(...)", "were")
            how = "had not answered when the script ended" if awaited else f"{was} never awaited"
            self.warn("cancelled", f"{what} {how}, and {was} cancelled", line)

    def is_left(self, task: asyncio.Task[Any]) -> bool:
        """Whether a task is to be reported: not the script's own, one on its way out, or a call, reported as such."""
        return task is not self.main and not task.cancelling() and not is_call(task.get_coro())

    def failed_unseen(self, what: str, error: BaseException | None) -> None:
        """Say, at the line that raised, that a task or a call failed and nobody looked."""
        if error is not None and error is not self.ended_by:
            self.warn("exception", f"{what} failed and nobody awaited it: {short(error)}", line_of(error))

    def warn(self, kind: str, message: str, line: int | None) -> None:
        """Send a warning about a line of the script; those past `_MAX_WARNINGS` are only counted."""
        self.warned += 1
        if self.warned <= _MAX_WARNINGS:
            channel.send("warning", kind, message, line)

    def never_awaited(self, coroutine: Any) -> None:
        """What CPython reports: a coroutine that was dropped before it ran."""
        code = coroutine.cr_code
        if not is_call(coroutine):
            line = script_line() or (code.co_firstlineno if code.co_filename == SCRIPT else None)
            what = f"{code.co_name}(...)"
            self.warn("check", f"`{what}` was never awaited, so it never ran: write `await {what}`", line)

    def task_failed(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What asyncio reports on its own: a task that was dropped after it failed, or a callback that did."""
        error = context.get("exception")
        dropped = context.get("future")
        if isinstance(dropped, asyncio.Task):
            self.failed_unseen(_name_of(dropped), error)
        elif error is not None:
            self.warn("exception", f"{context.get('message')}: {short(error)}"[:1000], line_of(error))

    def park(self, delay: float | None) -> None:
        """Cross to the host in the middle of a step and wait there; only synchronous waits come here."""
        if delay is None and not self.caller.waiting:
            raise Deadlock("the script waits for something that can never happen: no call or timer is under way")
        channel.park(delay, None if delay is None else script_line())
        self.deliver(channel.receive())

    def deliver(self, frames: list[list[Any]]) -> None:
        """Take the host's answers."""
        for name, *parts in frames:
            if name == "answer":
                self.caller.answer(*parts)
            elif name == "error":
                self.caller.fail(*parts)

    def turn(self) -> None:
        """Run until nothing is ready, then say what is waited for."""
        if self.done:
            return
        try:
            delay = self.loop.turn()
        except BaseException as error:  # an interrupt or an exit in a task or a callback: asyncio lets those through
            if not self.done:
                self.fail(error)
            return
        if self.done:
            return
        if self.main is not None and self.main.done():  # it could not even say what ended it
            self.end(codec.to_text(["failure", in_short(self.main.exception() or MemoryError())]), hurry=True)
            return
        if delay is None and not self.caller.waiting:
            self.deadlock()
            return
        channel.park(delay, None if delay is None or self.main is None else _line_of(self.main))

    def deadlock(self) -> None:
        """End a run that waits for what can never happen, at the line where it waits."""
        line = _line_of(self.main) if self.main else None
        diagnostic = diagnose(Deadlock("the script waits for something that can never happen"), [])
        diagnostic["line"] = line
        lines = self.source.split("\n")
        diagnostic["source_line"] = lines[line - 1] if line and line <= len(lines) else None
        diagnostic["hint"] = "no call and no timer is under way, so nothing can wake it"
        self.end(codec.to_text(["failure", diagnostic]))


def _name_of(task: asyncio.Task[Any]) -> str:
    """A task as the script knows it: by its call, by the name it gave, or by its function's."""
    name, what = task.get_name(), task.get_coro()
    if isinstance(what, PendingCall):
        return f"{what._tool}(...)"
    return f"task {name}" if not name.startswith("Task-") else f"task {getattr(what, '__qualname__', name)}(...)"


def _line_of(task: asyncio.Task[Any]) -> int | None:
    """The line at which a task waits."""
    waiting: Any = task.get_coro()
    line = None
    while waiting is not None:
        frame = getattr(waiting, "cr_frame", None) or getattr(waiting, "gi_frame", None)
        if frame is not None and frame.f_code.co_filename == SCRIPT:
            line = frame.f_lineno
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "gi_yieldfrom", None)
    return line
