"""The desk where a guest's calls are admitted, wait, are made and answered; here without a guest."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import pytest
import structlog.testing

from isolith.budgets import Budgets
from isolith.calling.calls import CallDesk
from isolith.calling.use import Identity
from isolith.events import EventLog
from isolith.run.allowance import MAX_UNTAKEN, Allowance
from isolith.run.artifacts import ArtifactStore
from isolith.run.host_services import HostServices
from isolith_bindings.catalog import Catalog
from isolith_bindings.errors import CallError
from isolith_bindings.testing import RecordingConnector
from isolith_runtime.protocol import Call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.connector import CallContext, Method

pytestmark = pytest.mark.anyio


@dataclass
class Gate:
    """Answers calls when it is told to, and counts those under way."""

    open: asyncio.Event = field(default_factory=asyncio.Event)
    under_way: int = 0
    cancelled: int = 0

    async def wait(self, arguments: dict[str, object]) -> object:
        self.under_way += 1
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.under_way -= 1
        return arguments


class Desk:
    """A desk with one connector, and what it said to the guest."""

    def __init__(self, connector: RecordingConnector, **budgets: object) -> None:
        self.answers: list[list[object]] = []
        self.refused: list[str] = []
        self.events = EventLog("e")
        self.artifacts = ArtifactStore()
        catalog = Catalog([connector])
        granted = Budgets.model_validate(budgets)
        self.allowance = Allowance(granted)
        self.calls = CallDesk(
            Identity("e", "p", "s"),
            catalog,
            granted,
            self.events,
            self.artifacts,
            HostServices(catalog, self.artifacts),
            lambda _number, frame: self.answers.append(json.loads(frame)),
            self.refused.append,
            allowance=self.allowance,
        )

    def ask(self, number: int, method: str = "go", connector: str = "tool", **arguments: object) -> None:
        self.calls.take(Call(number, connector, method, arguments, 3, 10**9))

    async def idle(self) -> None:
        while self.calls.under_way:
            await asyncio.sleep(0)

    @property
    def statuses(self) -> list[str]:
        return [record.status for record in self.calls.records()]

    async def event_names(self) -> list[object]:
        self.events.close()
        return [event["event"] async for event in self.events.follow()]


def failure(answer: list[object]) -> dict[str, object]:
    assert answer[0] == "error"
    return cast("dict[str, object]", answer[2])


async def test_a_call_is_made_for_whom_the_execution_runs_and_answered() -> None:
    connector = RecordingConnector("tool", {"go": lambda arguments: {"got": arguments}})
    desk = Desk(connector, call_s=7)
    desk.ask(1, a=1)
    await desk.idle()
    assert desk.answers == [["answer", 1, {"got": {"a": 1}}]]
    [call] = connector.calls
    context = call.context
    assert (context.execution_id, context.call_id, context.principal, context.session) == ("e", "e.1", "p", "s")
    assert context.deadline_s == 7
    [record] = desk.calls.records()
    assert (record.call_id, record.connector, record.method, record.status) == ("e.1", "tool", "go", "completed")
    assert (record.line, record.error, desk.calls.tally().calls) == (3, None, 1)
    assert record.duration_ms is not None
    assert await desk.event_names() == ["call_started", "call_ended"]


async def test_the_record_has_the_method_s_python_name_whatever_was_spelt() -> None:
    desk = Desk(RecordingConnector("tool", {"go-there": 1}))
    desk.ask(1, "goThere")
    await desk.idle()
    assert (desk.calls.records()[0].method, desk.answers) == ("go_there", [["answer", 1, 1]])


async def test_no_more_at_once_than_the_budgets_say_and_in_order() -> None:
    gate = Gate()
    desk = Desk(RecordingConnector("tool", {"go": gate.wait}), concurrent_calls=2)
    for number in range(1, 6):
        desk.ask(number, n=number)
    for _ in range(5):
        await asyncio.sleep(0)
    assert gate.under_way == 2
    gate.open.set()
    await desk.idle()
    assert [answer[1] for answer in desk.answers] == [1, 2, 3, 4, 5]


async def test_none_is_made_while_the_guest_has_too_many_answers_to_take() -> None:
    connector = RecordingConnector("tool", {"go": lambda _: "x" * 1000})
    desk = Desk(connector)
    desk.allowance.untaken = MAX_UNTAKEN + 1
    desk.ask(1)
    for _ in range(5):
        await asyncio.sleep(0)
    assert (connector.calls, desk.statuses) == ([], ["running"])
    desk.allowance.untaken = MAX_UNTAKEN
    desk.calls.start_next()
    await desk.idle()
    assert desk.statuses == ["completed"]


async def test_after_the_end_no_answer_that_is_taken_starts_another_call() -> None:
    connector = RecordingConnector("tool", {"go": lambda _: 1})
    desk = Desk(connector)
    desk.allowance.untaken = MAX_UNTAKEN + 1
    desk.ask(1)
    await desk.calls.close(0.1)
    desk.allowance.untaken = 0
    desk.calls.start_next()
    for _ in range(5):
        await asyncio.sleep(0)
    assert (connector.calls, desk.statuses) == ([], ["cancelled"])


async def test_two_calls_of_one_number_end_the_guest() -> None:
    desk = Desk(RecordingConnector("tool", {"go": 1}))
    desk.ask(2)
    desk.ask(2)
    desk.ask(1)
    await desk.idle()
    assert desk.refused == ["it numbered two calls alike"] * 2
    assert len(desk.calls.records()) == 1


async def test_a_guest_that_goes_on_after_refusals_is_ended() -> None:
    desk = Desk(RecordingConnector("tool", {"go": 1}), calls=0)
    for number in range(1, 1100):
        desk.ask(number)
    assert desk.refused == ["it went on asking for calls after 1000 had been refused"]
    assert len(desk.calls.records()) == 1000
    assert desk.calls.tally().calls == 0


@pytest.mark.parametrize(
    ("connector", "method", "kind"), [("tool", "nope", "unknown_tool"), ("nope", "go", "unknown_tool"), ("", "exec", "unknown_tool")]
)  # fmt: skip
async def test_what_does_not_exist_is_not_called(connector: str, method: str, kind: str) -> None:
    desk = Desk(RecordingConnector("tool", {"go": 1}))
    desk.ask(1, method, connector)
    await desk.idle()
    assert failure(desk.answers[0])["kind"] == kind
    assert desk.statuses == ["failed"]


@pytest.mark.parametrize(
    ("policy", "hint"), [("ask", "leave this call to a person, or have the host allow it"), ("deny", None)]
)
async def test_what_is_not_allowed_is_not_called(policy: str, hint: str | None) -> None:
    connector = RecordingConnector("tool", {"go": 1}, policy="ask" if policy == "ask" else "deny")
    desk = Desk(connector)
    desk.ask(1)
    assert (failure(desk.answers[0])["kind"], failure(desk.answers[0])["hint"]) == ("denied", hint)
    assert connector.calls == []


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (CallError("tool_error", "no", data={"a": 1}, hint="h", retriable=True), ("tool_error", "no", {"a": 1}, "h", True, None)),
        (CallError("tool_error", "no", data=object()), ("tool_error", "no", None, None, False, None)),
        (ValueError("bad"), ("tool_error", "bad", None, None, False, "ValueError")),
        (CallError("tool_error", "\ud800"), ("tool_error", "\\ud800", None, None, False, None)),
        (CallError("tool_error", "x" * 10**6), ("tool_error", "x" * 20_000, None, None, False, None)),
    ],
)  # fmt: skip
async def test_a_failure_crosses_with_its_parts(raised: Exception, expected: tuple[object, ...]) -> None:
    desk = Desk(RecordingConnector("tool", {"go": raised}))
    desk.ask(1)
    await desk.idle()
    parts = failure(desk.answers[0])
    assert tuple(parts[name] for name in ("kind", "message", "data", "hint", "retriable", "exception")) == expected
    error = desk.calls.records()[0].error
    assert error is not None
    assert (error.kind, error.tool, error.line) == ("tool_error", "tool.go", 3)


class Breaking(RecordingConnector):
    """Raises what no connector may."""

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        raise RuntimeError("secret-4711")


async def test_a_connector_that_breaks_its_contract_is_a_bug_of_ours() -> None:
    desk = Desk(Breaking("tool", {"go": 1}))
    with structlog.testing.capture_logs() as logs:
        desk.ask(1)
        await desk.idle()
    assert failure(desk.answers[0])["kind"] == "internal"
    assert "secret-4711" not in f"{desk.answers} {logs}"
    error = desk.calls.records()[0].error
    assert error is not None
    assert error.error_id == logs[0]["error_id"]


@pytest.mark.parametrize("value", [object(), {"a": [print]}, "\ud800"])
async def test_a_result_that_is_no_data_is_an_invalid_result(value: object) -> None:
    desk = Desk(RecordingConnector("tool", {"go": lambda _: value}))
    desk.ask(1)
    await desk.idle()
    assert failure(desk.answers[0])["kind"] == "invalid_result"
    assert str(failure(desk.answers[0])["message"]).startswith("tool.go answered what is no data: ")


async def test_a_large_result_is_kept_and_its_handle_answered() -> None:
    desk = Desk(RecordingConnector("tool", {"go": ["x" * 5000]}), result_bytes=100)
    desk.ask(1)
    await desk.idle()
    answer = cast("dict[str, object]", desk.answers[0][2])
    handle, *rest = cast("dict[str, list[object]]", answer["artifact"])["$artifact"]
    assert rest == ["application/json", 5004, "tool.go"]
    assert (answer["truncated"], len(str(answer["preview"]))) == (True, 2000)
    assert json.loads(desk.artifacts.read(str(handle))) == ["x" * 5000]


async def test_a_call_that_is_given_up_is_cancelled_and_not_answered() -> None:
    gate = Gate()
    desk = Desk(RecordingConnector("tool", {"go": gate.wait}), concurrent_calls=1)
    desk.ask(1)
    desk.ask(2)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    desk.calls.give_up(1)
    desk.calls.give_up(2)
    desk.calls.give_up(2)
    desk.calls.give_up(77)
    await asyncio.sleep(0.01)
    assert (gate.cancelled, desk.answers, desk.statuses) == (1, [], ["cancelled", "cancelled"])
    assert not desk.calls.under_way


async def test_closing_cancels_and_waits_no_longer_than_it_says() -> None:
    let_go = asyncio.Event()

    async def stubborn(_: dict[str, object]) -> object:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await let_go.wait()
        return 1

    gate = Gate()
    desk = Desk(RecordingConnector("tool", {"go": gate.wait, "stay": stubborn}))
    desk.ask(1)
    desk.ask(2, "stay")
    await asyncio.sleep(0.01)
    assert desk.calls.first_under_way() == ("tool.go", 3)
    await asyncio.wait_for(desk.calls.close(0.02), 120)
    assert (gate.cancelled, desk.answers, desk.statuses) == (1, [], ["cancelled", "cancelled"])
    desk.ask(3)
    assert len(desk.calls.records()) == 2
    let_go.set()
    await asyncio.sleep(0.01)
    assert desk.answers == []


async def test_after_the_script_s_end_no_call_begins() -> None:
    connector = RecordingConnector("tool", {"go": 1})
    desk = Desk(connector)
    desk.calls.hold()
    desk.ask(1)
    await desk.calls.close(0.1)
    assert (connector.calls, desk.statuses) == ([], ["cancelled"])


async def test_a_connector_that_is_spelled_in_another_way_is_counted_under_its_name() -> None:
    """A hostile script reaches past its globals, and asks for `Tool` where it has called `tool` as often as it may."""
    gate = Gate()
    desk = Desk(RecordingConnector("tool", {"go": gate.wait}), calls_per_connector=2, concurrent_calls_per_connector=1)
    for number, spelled in enumerate(("tool", "Tool", "TOOL"), 1):
        desk.ask(number, connector=spelled)
    while not gate.under_way:
        await asyncio.sleep(0)
    assert gate.under_way == 1
    assert [record.connector for record in desk.calls.records()][:2] == ["tool", "tool"]
    assert failure(desk.answers[0])["kind"] == "calls_exceeded"
    await desk.calls.close(0.1)


async def test_a_call_whose_beginning_was_not_told_has_no_end_to_tell() -> None:
    """An artifact that a script did not await ended, for who followed the run, without having begun."""
    gate = Gate()
    desk = Desk(RecordingConnector("tool", {"go": gate.wait}), concurrent_calls=1)
    desk.ask(1)
    desk.ask(2)
    while not gate.under_way:
        await asyncio.sleep(0)
    desk.calls.give_up(2)
    await desk.calls.close(0.1)
    assert desk.statuses == ["cancelled", "cancelled"]
    assert await desk.event_names() == ["call_started", "call_ended"]


async def test_a_call_that_is_cancelled_before_its_first_step_has_neither() -> None:
    desk = Desk(RecordingConnector("tool", {"go": 1}))
    desk.ask(1)
    await desk.calls.close(0.1)
    assert (desk.statuses, await desk.event_names()) == (["cancelled"], [])


async def test_progress_is_an_event_from_the_loop_and_from_threads_until_the_call_ends() -> None:
    contexts: list[CallContext] = []

    class Reporting(RecordingConnector):
        async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
            contexts.append(context)
            context.progress(1, 3, "one")
            await asyncio.to_thread(context.progress, 2)
            await asyncio.sleep(0)
            return None

    desk = Desk(Reporting("tool", {"go": 1}))
    desk.ask(1)
    await desk.idle()
    contexts[0].progress(3)
    assert await desk.event_names() == ["call_started", "progress", "progress", "call_ended"]
