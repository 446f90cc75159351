"""The calls of one execution: each is admitted, resolved, judged, waits its turn, is made, and answered.

    number in order → budget → exists → arguments small enough → policy → its turn → connector → answer

The guest can ask for a call. It cannot say that one happened, answer its own, or name a method it was not given.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from isolith.artifacts import ArtifactsFull, ArtifactStore, CallArtifacts, with_references
from isolith.internal import internal_error
from isolith.outcome import CallRecord, CallStatus, Diagnostic, Kind
from isolith_bindings.connector import CallContext, Connector, Method, Variant
from isolith_bindings.errors import CallError
from isolith_runtime import protocol
from isolith_runtime.guest import codec

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith.budgets import Budgets
    from isolith.events import EventLog
    from isolith.host_services import HostServices
    from isolith_bindings.catalog import Catalog

HOST = ""
"""The connector name under which a script reaches the host's own services."""

_MAX_MESSAGE = 20_000

_MAX_REFUSED = 1_000
"""Calls that may be refused before anything is called; a script that asks for more is stopped."""


@dataclass(frozen=True, slots=True)
class Identity:
    """For whom an execution runs."""

    execution_id: str
    principal: str | None
    session: str | None


@dataclass(slots=True)
class _Use:
    """One call from the moment it was admitted."""

    frame: protocol.Call
    call_id: str
    connector: Connector | None = None
    method: Method | None = None
    variant: Variant = ""
    status: CallStatus = "running"
    started: float | None = None
    duration_ms: float | None = None
    error: Diagnostic | None = None
    task: asyncio.Task[None] | None = None

    @property
    def names(self) -> tuple[str, str]:
        """Connector and method as they are shown."""
        return (self.frame.connector or "isolith", self.method.name if self.method else self.frame.method)


@dataclass
class CallDesk:
    """Takes the guest's calls. `answer` is given each frame for the guest; `refuse` ends a guest that lies."""

    identity: Identity
    catalog: Catalog
    budgets: Budgets
    events: EventLog
    artifacts: ArtifactStore
    services: HostServices
    answer: Callable[[str], None]
    refuse: Callable[[str], None]

    def __post_init__(self) -> None:
        self._uses: dict[int, _Use] = {}
        self._queue: collections.deque[_Use] = collections.deque()
        self._running: collections.Counter[str] = collections.Counter()
        self._admitted: collections.Counter[str] = collections.Counter()
        # Kept beside the two counters, because a call must not cost a walk over all of them.
        self._making = self._admitted_in_all = self._owed = 0
        self._last = self._refused = 0
        self._closed = self._held = False

    @property
    def admitted(self) -> int:
        """How many calls were admitted."""
        return self._admitted_in_all

    @property
    def under_way(self) -> bool:
        """Whether an answer is still owed."""
        return self._owed > 0

    def first_under_way(self) -> tuple[str, int | None] | None:
        """The oldest call without an answer, by name and line."""
        found = next((use for use in self._uses.values() if use.status == "running"), None)
        return None if found is None else (".".join(found.names), found.frame.line)

    def take(self, frame: protocol.Call) -> None:
        """One call from the guest."""
        if self._closed:
            return
        if frame.number <= self._last:
            self.refuse("it numbered two calls alike")
            return
        self._last = frame.number
        if self._refused >= _MAX_REFUSED:
            self._closed = True
            self.refuse(f"it went on asking for calls after {_MAX_REFUSED} had been refused")
            return
        self._owed += 1
        use = _Use(frame, f"{self.identity.execution_id}.{frame.number}")
        try:
            self._admit(use)
        except CallError as error:
            self._uses[frame.number] = use
            self._refused += 1
            self._fail(use, error)
            return
        self._uses[frame.number] = use
        self._queue.append(use)
        self._start_next()

    def hold(self) -> None:
        """Start no more calls, because the script has ended: those it still asks for are recorded as cancelled."""
        self._held = True

    def give_up(self, number: int) -> None:
        """The script cancelled one of its calls."""
        use = self._uses.get(number)
        if use is not None and use.status == "running":
            self._end(use, "cancelled")
            if use.task is not None:
                use.task.cancel()
            else:
                self._queue.remove(use)

    async def close(self, patience_s: float) -> None:
        """Cancel what is under way and wait for it, at most `patience_s` seconds."""
        self._closed = True
        tasks = [use.task for use in self._uses.values() if use.task is not None and not use.task.done()]
        for use in self._uses.values():
            if use.status == "running":
                self._end(use, "cancelled")
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=patience_s)

    def records(self) -> tuple[CallRecord, ...]:
        """All calls in the order they were made."""
        return tuple(
            CallRecord(
                call_id=use.call_id,
                connector=use.names[0],
                method=use.names[1],
                status=use.status,
                duration_ms=use.duration_ms,
                line=use.frame.line,
                error=use.error,
            )
            for use in self._uses.values()
        )

    # decisions

    def _admit(self, use: _Use) -> None:
        frame, budgets = use.frame, self.budgets
        if self.admitted >= budgets.calls:
            raise CallError("calls_exceeded", f"this run may make {budgets.calls} calls, and has", hint=_FEWER)
        if self._admitted[frame.connector] >= budgets.calls_per_connector:
            limit = budgets.calls_per_connector
            message = f"this run may call {frame.connector} {limit} times, and has"
            raise CallError("calls_exceeded", message, hint=_FEWER)
        if frame.connector != HOST:
            use.connector, use.method, use.variant = self._resolve(frame)
            self._judge(use.method, frame.connector)
        # What the host itself is given, an artifact, may be as large as a value.
        limit = budgets.value_bytes if frame.connector == HOST else budgets.argument_bytes
        if frame.size > limit and len(codec.dumps(frame.arguments)) > limit:
            message = f"the arguments of {frame.connector}.{frame.method} are larger than {limit:,} bytes"
            raise CallError("invalid_arguments", message, hint="send less at a time, or an artifact's handle")
        self._admitted[frame.connector] += 1
        self._admitted_in_all += 1

    def _resolve(self, frame: protocol.Call) -> tuple[Connector, Method, Variant]:
        """What a call names: a method, or a variant of one. Raises CallError."""
        name, _, last = frame.method.rpartition(".")
        variant: Variant = "raw" if last == "raw" else "pages" if last == "pages" else ""
        if name and variant:
            with contextlib.suppress(CallError):
                connector, method = self.catalog.resolve(frame.connector, name)
                if variant in method.variants:
                    return connector, method, variant
        return (*self.catalog.resolve(frame.connector, frame.method), "")

    def _judge(self, method: Method, connector: str) -> None:
        if method.policy == "ask":
            message = f"{connector}.{method.name} needs a person's approval, and this version cannot pause for it"
            raise CallError("denied", message, hint="leave this call to a person, or have the host allow it")
        if method.policy == "deny":
            raise CallError("denied", f"{connector}.{method.name} is not allowed here")

    # effects

    def _start_next(self) -> None:
        """Start what may start: in the order of the calls, past those whose connector is busy."""
        if not self._queue or self._held:
            return
        waiting: collections.deque[_Use] = collections.deque()
        while self._queue and self._making < self.budgets.concurrent_calls:
            use = self._queue.popleft()
            if self._running[use.frame.connector] >= self.budgets.concurrent_calls_per_connector:
                waiting.append(use)
                continue
            self._running[use.frame.connector] += 1
            self._making += 1
            use.started = time.perf_counter()
            use.task = asyncio.create_task(self._make(use))
        if waiting:
            self._queue = waiting + self._queue

    async def _make(self, use: _Use) -> None:
        connector, method = use.names
        self.events.append("call_started", call_id=use.call_id, connector=connector, method=method)
        try:
            value = await self._within_time(use)
            if use.status == "running":
                self._deliver(use, value)
        except CallError as error:
            self._fail(use, error)
        except asyncio.CancelledError:
            self._end(use, "cancelled")
            raise
        except Exception as error:  # noqa: BLE001 - the border to connectors: CallError is all they may raise
            diagnostic = internal_error(error, execution_id=self.identity.execution_id)
            self._fail(use, CallError("internal", diagnostic.message, hint=diagnostic.hint), diagnostic.error_id)
        finally:
            self._running[use.frame.connector] -= 1
            self._making -= 1
            if not self._closed:
                self._start_next()

    async def _within_time(self, use: _Use) -> object:
        """The call, within `call_s` since it last showed progress and `call_cap_s` in all."""
        loop, budgets = asyncio.get_running_loop(), self.budgets
        begun = loop.time()
        limit = asyncio.timeout(budgets.call_s)

        def note(parts: dict[str, object]) -> None:
            if use.status == "running" and not limit.expired():
                limit.reschedule(min(loop.time() + budgets.call_s, begun + budgets.call_cap_s))
                self.events.append("progress", call_id=use.call_id, **parts)

        def progress(done: float, total: float | None = None, text: str | None = None) -> None:
            parts: dict[str, object] = {"done": done, "total": total, "text": text}
            if _in_loop(loop):
                note(parts)
            else:
                loop.call_soon_threadsafe(note, parts)

        try:
            async with limit:
                return await self._perform(use, progress)
        except TimeoutError:
            if not limit.expired():
                raise
            took = loop.time() - begun
            message = f"{'.'.join(use.names)} gave no answer in {took:.3g} s"
            hint = "ask for less at a time; `call_s` is the budget of a call"
            raise CallError("tool_timeout", message, hint=hint, retriable=True) from None

    async def _perform(self, use: _Use, progress: Callable[..., None]) -> object:
        arguments = use.frame.arguments
        if use.connector is None or use.method is None:
            return await self.services.call(use.frame.method, arguments)
        arguments = cast("dict[str, object]", with_references(arguments, self.artifacts))
        given, cursor = _of_page(arguments) if use.variant == "pages" else (arguments, None)
        context = CallContext(
            execution_id=self.identity.execution_id,
            call_id=use.call_id,
            principal=self.identity.principal,
            session=self.identity.session,
            deadline_s=self.budgets.call_s,
            progress=progress,
            artifacts=CallArtifacts(self.artifacts),
            variant=use.variant,
            cursor=cursor,
        )
        return await use.connector.call(use.method, given, context)

    def _deliver(self, use: _Use, value: object) -> None:
        try:
            frame = protocol.answer(use.frame.number, value)
        except (codec.NoDataForm, codec.TooLarge, RecursionError) as error:
            what = str(error) or "it is too large"
            raise CallError("invalid_result", f"{'.'.join(use.names)} answered what is no data: {what}") from error
        if len(frame) > self.budgets.result_bytes and use.frame.connector != HOST:
            frame = protocol.answer(use.frame.number, self._as_artifact(use, frame))
        self._end(use, "completed")
        self.answer(frame)

    def _as_artifact(self, use: _Use, frame: str) -> dict[str, object]:
        content = frame[frame.index(",", 10) + 1 : -1].encode()
        try:
            record = self.artifacts.keep(content, mime="application/json", name=".".join(use.names))
        except ArtifactsFull as error:
            raise CallError("invalid_result", f"{'.'.join(use.names)} answered too much: {error}") from error
        return {"artifact": record.model_dump(), "truncated": True, "preview": content[:2000].decode(errors="ignore")}

    def _fail(self, use: _Use, error: CallError, error_id: str | None = None) -> None:
        if use.status != "running":
            return
        connector, method = use.names
        kind: Kind = error.kind  # type: ignore[assignment]
        message = str(error)[:_MAX_MESSAGE].encode("utf-8", "backslashreplace").decode()
        use.error = Diagnostic(
            kind=kind,
            message=message,
            line=use.frame.line,
            hint=error.hint,
            tool=f"{connector}.{method}",
            retriable=error.retriable,
            error_id=error_id,
        )
        self._end(use, "failed")
        parts: dict[str, object] = {
            "kind": error.kind,
            "message": message,
            "connector": connector,
            "method": method,
            "hint": error.hint,
            "retriable": error.retriable,
            "exception": error.exception,
        }
        self.answer(_failure_frame(use.frame.number, parts, error.data))

    def _end(self, use: _Use, status: CallStatus) -> None:
        if use.status != "running":
            return
        use.status = status
        use.frame = replace(use.frame, arguments={})  # they may be large, and nobody reads them again
        self._owed -= 1
        if use.started is not None:
            use.duration_ms = round((time.perf_counter() - use.started) * 1e3, 3)
        connector, method = use.names
        error = use.error.message if use.error else None
        self.events.append(
            "call_ended",
            call_id=use.call_id,
            connector=connector,
            method=method,
            status=status,
            duration_ms=use.duration_ms,
            error=error,
        )


def _of_page(arguments: dict[str, object]) -> tuple[dict[str, object], object]:
    """The method's own arguments and the cursor, from a call for one page. Raises CallError."""
    given = arguments.get("arguments")
    if not isinstance(given, dict):
        raise CallError("invalid_arguments", "pages(...) takes the method's arguments")
    return cast("dict[str, object]", given), arguments.get("cursor")


def _in_loop(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


_FEWER = "ask for more in one call, or have the host raise the budget `calls`"


def _failure_frame(number: int, parts: dict[str, object], data: object) -> str:
    """The failure with its data; without, where the data has no form that can cross."""
    try:
        return protocol.failure(number, {**parts, "data": data})
    except (codec.NoDataForm, codec.TooLarge, RecursionError):
        return protocol.failure(number, {**parts, "data": None})
