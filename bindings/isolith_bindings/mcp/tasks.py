"""A call that its server answers with a task: asked how it is, until there is a result.

Two forms of one idea. In 2025-11-25 a client asks for a task where a tool wants one, and fetches its result when it has
ended (`tasks/result`). Since 2026-07-28 a server decides by itself (the extension `io.modelcontextprotocol/tasks`), its
questions and its result come with an answer of `tasks/get`, and its questions are answered by `tasks/update`.
"""

from __future__ import annotations

import asyncio
import json
import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

import mcp_types as types
from mcp.client.extension import ClientExtension, ResultClaim

from isolith_bindings.connector import Suspended
from isolith_bindings.errors import CallError
from isolith_bindings.mcp.failures import BadAnswer, ConnectionBroke, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from mcp.client.extension import ClaimContext

    from isolith_bindings.connector import CallContext
    from isolith_bindings.mcp.catalogue import Bound
    from isolith_bindings.mcp.connection import Connection

EXTENSION = "io.modelcontextprotocol/tasks"
KEEP_MS = 3_600_000
"""For how long a server of 2025-11-25 is asked to keep a task: a call may take no longer."""

POLL_S = 1.0
SHORTEST_S = 0.02
LONGEST_S = 10.0
"""Seconds between two looks at a task: as its server says, within these."""

PATIENCE_S = 30.0
"""Seconds for one answer about a task."""

MOST_BROKEN = 3
"""So many answers in a row may get lost on a connection that still stands."""

_OURS = "isolith.task:"
_STATUSES = frozenset({"working", "input_required", "completed", "failed", "cancelled"})


class _Created(types.Result):
    result_type: Literal["task"] = "task"


async def _unread(created: _Created, context: ClaimContext) -> types.CallToolResult:
    del created, context
    raise BadAnswer("a task was answered to what is no call")


class Offered(ClientExtension):
    """Says to servers of 2026-07-28, and to no others, that they may answer with tasks. Results are read by us."""

    identifier = EXTENSION

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """That there is such a result."""
        return (ResultClaim(result_type="task", model=_Created, resolve=_unread),)


class _Get(types.GetTaskRequest):
    name_param: ClassVar[str | None] = "taskId"


class _Cancel(types.CancelTaskRequest):
    name_param: ClassVar[str | None] = "taskId"


class _UpdateParams(types.RequestParams):
    task_id: str
    input_responses: types.InputResponses


class _Update(types.Request[_UpdateParams, Literal["tasks/update"]]):
    name_param: ClassVar[str | None] = "taskId"
    method: Literal["tasks/update"] = "tasks/update"
    params: _UpdateParams


class Tasks:
    """The task of one call, if it becomes one. It is cancelled at its server where the call ends before it does."""

    def __init__(self, connection: Connection, tool: str, bound: Bound, context: CallContext) -> None:
        self._connection = connection
        self._tool = tool
        self._bound = bound
        self._context = context
        self._open: str | None = None
        self._looks = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        if self._open is None or exc_val is None or isinstance(exc_val, Suspended):
            return
        if self._connection.lost is None:
            await self._connection.tell(_Cancel(params=types.CancelTaskRequestParams(task_id=self._open)))

    # what is answered to a call

    async def followed(self, result: dict[str, object]) -> dict[str, object]:
        """The result of a call: what was answered, or what became of the task that was. Raises as a request does."""
        state = result.get("requestState")
        if isinstance(state, str) and self.is_state(state):
            raise BadAnswer(f"a state of its own begins with {_OURS}")
        inner = result.get("task") if self._bound.task else result if result.get("resultType") == "task" else None
        task = cast("dict[str, object]", inner) if isinstance(inner, dict) and self._bound.kind == "tool" else {}
        name = task.get("taskId")
        if not isinstance(name, str) or not name:
            return result
        self._open = name
        return await (self._fetched(task) if self._bound.task else self._looked_at(task, ()))

    @staticmethod
    def is_state(state: str) -> bool:
        """Whether a call that asked a person had become a task."""
        return state.startswith(_OURS)

    async def answered(self, state: str, responses: types.InputResponses | None) -> dict[str, object]:
        """Go on with a task that asked a person, in this process or in another. Raises as a request does."""
        kept = cast("dict[str, object]", json.loads(state.removeprefix(_OURS)))
        self._open, before = str(kept["id"]), cast("list[str]", kept["answered"])
        given = responses or {}
        await self._asked(_Update(params=_UpdateParams(task_id=self._open, input_responses=given)))
        return await self._looked_at({"status": "working", "pollIntervalMs": 0}, (*before, *given))

    # since 2026-07-28

    async def _looked_at(self, task: Mapping[str, object], answered: tuple[str, ...]) -> dict[str, object]:
        while True:
            status = _status(task)
            if status in {"completed", "failed", "cancelled"}:
                return self._ended(status, task)
            asked = task.get("inputRequests")
            requests = (
                cast("dict[str, object]", asked) if status == "input_required" and isinstance(asked, dict) else {}
            )
            new = {key: request for key, request in requests.items() if key not in answered}
            if new:
                state = _OURS + json.dumps({"id": self._open, "answered": list(answered)})
                return {"resultType": "input_required", "inputRequests": new, "requestState": state}
            self._tell(task)
            await asyncio.sleep(pause_s(task.get("pollIntervalMs")))
            task = await self._look()

    def _ended(self, status: str, task: Mapping[str, object]) -> dict[str, object]:
        self._open = None
        if status == "completed":
            result = task.get("result")
            if not isinstance(result, dict):
                raise BadAnswer("the task has ended without a result")
            return {**cast("dict[str, object]", result), "resultType": "complete"}
        if status == "cancelled":
            raise self._cancelled(task)
        given = task.get("error")
        error = cast("dict[str, object]", given) if isinstance(given, dict) else {}
        code, message = error.get("code"), error.get("message")
        said = message if isinstance(message, str) and message else _words(task)
        raise ProtocolError(
            code if isinstance(code, int) else types.INTERNAL_ERROR, said or "its task failed", error.get("data")
        )

    # in 2025-11-25

    async def _fetched(self, task: Mapping[str, object]) -> dict[str, object]:
        """Its result; a task that asks something asks it on the request for its result, which waits for its end."""
        fetching: asyncio.Task[dict[str, object]] | None = None
        try:
            while (status := _status(task)) in {"working", "input_required"}:
                if status == "input_required" and fetching is None:
                    fetching = asyncio.create_task(self._connection.request(self._payload()))
                self._tell(task)
                pause = pause_s(task.get("pollInterval"))
                if fetching is None:
                    await asyncio.sleep(pause)
                elif (await asyncio.wait({fetching}, timeout=pause))[0]:
                    break
                task = await self._look()
            if fetching is None and status == "cancelled":
                self._open = None
                raise self._cancelled(task)
            result = await (self._asked(self._payload(), None) if fetching is None else fetching)
        except ConnectionBroke as error:
            raise ConnectionBroke(str(error)) from error
        finally:
            if fetching is not None:
                fetching.cancel()
        self._open = None
        return result

    def _payload(self) -> types.GetTaskPayloadRequest:
        return types.GetTaskPayloadRequest(params=types.GetTaskPayloadRequestParams(task_id=self._open or ""))

    # both

    async def _look(self) -> Mapping[str, object]:
        return await self._asked(_Get(params=types.GetTaskRequestParams(task_id=self._open or "")))

    async def _asked(self, request: types.Request[Any, Any], timeout_s: float | None = PATIENCE_S) -> dict[str, object]:
        """Ask about a task: that does nothing twice, so an answer that got lost is asked for again."""
        for attempt in range(1, MOST_BROKEN + 1):
            try:
                return await self._connection.request(request, timeout_s=timeout_s)
            except ConnectionBroke as error:
                if attempt == MOST_BROKEN or self._connection.lost is not None:
                    # The call itself was sent, and its task was begun, whatever became of this request.
                    raise ConnectionBroke(str(error)) from error
                await asyncio.sleep(POLL_S)
            except ProtocolError as error:
                if error.code != types.INVALID_PARAMS:
                    raise
                self._open = None
                raise self._forgotten(error) from error
        raise AssertionError("unreachable")

    def _tell(self, task: Mapping[str, object]) -> None:
        """Who answers that a task goes on has shown progress."""
        self._looks += 1
        self._context.progress(self._looks, None, _words(task))

    def _cancelled(self, task: Mapping[str, object]) -> CallError:
        words = _words(task)
        return CallError(
            "tool_error", f"the server cancelled the task of {self._tool}" + (f": {words}" if words else "")
        )

    def _forgotten(self, error: ProtocolError) -> CallError:
        message = f"the server no longer knows the task of {self._tool}: {error.message}. It may have been carried out"
        hint = "look whether it happened before you call it again"
        return CallError("tool_unavailable", message, data={"may_have_happened": True}, hint=hint)


def _status(task: Mapping[str, object]) -> str:
    status = task.get("status")
    if not isinstance(status, str) or status not in _STATUSES:
        raise BadAnswer(f"its task is in a state that there is not: {status!r:.80}")
    return status


def _words(task: Mapping[str, object]) -> str | None:
    words = task.get("statusMessage")
    return words[:2_000] if isinstance(words, str) and words else None


def pause_s(interval_ms: object) -> float:
    """Seconds until a task is looked at again, as its server says, within bounds."""
    if not isinstance(interval_ms, int | float) or isinstance(interval_ms, bool) or not math.isfinite(interval_ms):
        return POLL_S
    return min(max(interval_ms / 1000, SHORTEST_S), LONGEST_S)
