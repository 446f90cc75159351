"""A guest driven from a loop: stopped at any moment, told frames as a thread leaves, and one that lies on the channel."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from tests.e2e.guest_cpu import WITHIN_MS, GuestCpu

from isolith_runtime import protocol
from isolith_runtime.driver import Guest, State, Supply
from isolith_runtime.inputs import Inputs
from isolith_runtime.isolate import End, Isolate, Receive, Wait
from isolith_runtime.limits import Limits, Stop
from isolith_runtime.protocol import Call, Failure, Frame, Parked, Result

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith_runtime.testing import Scripts

START: dict[str, object] = {
    "input": None,
    "connectors": {"crm": {"methods": "get"}},
    "snippets": [],
    "limits": {"calls": 10_000},
    "seed": "1",
    "log_bytes": 1000,
    "emit_events": 10,
    "value_bytes": 10_000,
}


@dataclass
class Talk:
    """A guest, and what it has said so far."""

    supply: Supply
    frames: list[Frame] = field(default_factory=list[Frame])
    states: list[State] = field(default_factory=list[State])
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.guest = Guest(self.supply, Limits(), Inputs(), self.on_batch)

    def on_batch(self, frames: list[Frame], state: State) -> None:
        self.frames += frames
        self.states.append(state)
        self.changed.set()

    def start(self, source: str) -> None:
        self.guest.deliver([protocol.start({"source": source, **START})])

    async def until(self, state: State) -> None:
        async with asyncio.timeout(240):
            while not self.states or self.states[-1] is not state:
                self.changed.clear()
                await self.changed.wait()
        self.states.append(State.RUNNING)


def talk(supply: Supply, conversation: Callable[[Talk], Awaitable[None]]) -> Talk:
    async def go() -> Talk:
        made = Talk(supply)
        await conversation(made)
        return made

    return asyncio.run(go())


def test_a_call_and_its_answer(supply: Supply) -> None:
    async def conversation(to: Talk) -> None:
        to.start("await crm.get(id=5)")
        await to.until(State.RESTING)
        to.guest.deliver([protocol.answer(1, {"id": 5})])
        await to.until(State.GONE)

    made = talk(supply, conversation)
    call, parked, result = made.frames
    assert isinstance(call, Call)
    assert isinstance(parked, Parked)
    assert isinstance(result, Result)
    assert result.value == {"id": 5}


@pytest.mark.parametrize("pause_s", [0, 0.019, 0.02, 0.021, 0.05])
def test_frames_reach_a_guest_whose_thread_is_about_to_leave(supply: Supply, pause_s: float) -> None:
    async def conversation(to: Talk) -> None:
        to.start("for n in range(20): await crm.get()\nn")
        for number in range(1, 21):
            await to.until(State.RESTING)
            await asyncio.sleep(pause_s)
            to.guest.deliver([protocol.answer(number, None)])
        await to.until(State.GONE)

    last = talk(supply, conversation).frames[-1]
    assert isinstance(last, Result)
    assert last.value == 19


@pytest.mark.parametrize("end", ["end", "stop", "hibernate"])
def test_the_isolate_is_given_back_after_the_loop_has_ended_and_while_the_guest_is_held(
    supply: Supply, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    begun, given_back = list[Isolate](), list[Isolate]()
    begin, close = Isolate.begin, Isolate.close

    def beginning(isolate: Isolate, limits: Limits, inputs: Inputs, receive: Receive, wait: Wait) -> None:
        begun.append(isolate)
        begin(isolate, limits, inputs, receive, wait)

    def closing(isolate: Isolate) -> None:
        close(isolate)
        given_back.append(isolate)

    monkeypatch.setattr(Isolate, "begin", beginning)
    monkeypatch.setattr(Isolate, "close", closing)

    async def conversation(to: Talk) -> None:
        to.start("await crm.get()")
        await to.until(State.RESTING)
        if end == "end":
            to.guest.deliver([protocol.answer(1, None)])
        elif end == "stop":
            to.guest.stop(Stop.CANCELLED)
        else:
            put_away: asyncio.Future[object] = asyncio.get_running_loop().create_future()
            to.guest.hibernate(put_away.set_result)
            await put_away
            return
        await to.until(State.GONE)

    held = talk(supply, conversation)
    patience = time.monotonic() + 240
    while not set(begun) <= set(given_back):
        assert time.monotonic() < patience
        time.sleep(0.01)
    assert held.frames
    assert begun


def test_stopped_before_it_began(supply: Supply) -> None:
    """There was no isolate to look at yet, and nothing was reported."""

    async def conversation(to: Talk) -> None:
        to.guest.stop(Stop.CANCELLED)
        to.guest.stop(Stop.CANCELLED)
        await to.until(State.GONE)

    departure = talk(supply, conversation).guest.departure
    assert departure is not None
    assert (departure.end, departure.stop, departure.error) == (End.STOPPED, Stop.CANCELLED, None)


MOMENTS = [
    ("await crm.get()", State.RESTING, 0),
    ("await crm.get()", State.RESTING, 0.05),
    ("crm.get()", State.WAITING, 0),
    ("print('x')\nwhile True: pass", State.RUNNING, 0.02),
    ("while True:\n    try:\n        crm.get()\n    except BaseException: pass", State.WAITING, 0),
    ("import time\ntime.sleep(60)", State.WAITING, 0),
]


@pytest.mark.parametrize(("source", "state", "pause_s"), MOMENTS)
def test_stopped_at_any_moment(
    supply: Supply, monkeypatch: pytest.MonkeyPatch, source: str, state: State, pause_s: float
) -> None:
    cpu = GuestCpu().watch(monkeypatch.setattr)

    async def conversation(to: Talk) -> None:
        to.start(source)
        await to.until(state)
        await asyncio.sleep(pause_s)
        for _ in range(3):
            to.guest.stop(Stop.CANCELLED)
        await to.until(State.GONE)

    guest = talk(supply, conversation).guest
    assert cpu.after_stop_ms()[guest] < WITHIN_MS
    departure = guest.departure
    assert departure is not None
    assert (departure.end, departure.stop, departure.error) == (End.STOPPED, Stop.CANCELLED, None)


def test_a_guest_that_waits_for_a_loop_that_is_closed_goes(supply: Supply) -> None:
    async def conversation(to: Talk) -> None:
        to.start("crm.get(id=5)")
        await to.until(State.WAITING)

    talk(supply, conversation)
    deadline = time.monotonic() + 240
    while supply.threads.count and time.monotonic() < deadline:
        time.sleep(0.05)
    assert supply.threads.count == 0


def test_a_guest_that_is_refused_says_why(supply: Supply) -> None:
    async def conversation(to: Talk) -> None:
        to.start("await crm.get()")
        await to.until(State.RESTING)
        to.guest.break_off("it numbered two calls alike")
        await to.until(State.GONE)

    departure = talk(supply, conversation).guest.departure
    assert departure is not None
    assert (departure.stop, departure.broken) == (Stop.BROKEN, "it numbered two calls alike")


LIES = [
    ("b'garbage'", "a batch is not data"),
    ("b'[[\"internal\"]]'", "an unknown frame"),
    ("b'[[\"result\",1]]'", "a frame 'result' of 1 parts"),
    ("b'[' * 100000", "a batch that is nested more than 208 deep"),
    ("b'[' + b'[\"cancel\",1],' * 2001 + b'[\"cancel\",1]]'", "a batch of more than 2,000 frames"),
    ('b\'[["emit","\\\\ud800"]]\'', "a batch holds text that may not be Unicode"),
    ("bytes(25_000_000)", "a write to the channel was larger than any value may be"),
]


@pytest.mark.parametrize(("data", "why"), LIES)
def test_a_guest_that_lies_is_stopped(scripts: Scripts, data: str, why: str) -> None:
    ran = scripts.run(f"import os\nos.write(4, {data})\nwhile True: pass")
    assert ran.frames == ()
    assert (ran.departure.stop, ran.departure.broken) == (Stop.BROKEN, why)


def test_a_flood_of_frames_is_passed_on_until_its_budget_ends_it(scripts: Scripts) -> None:
    source = "import os\nbatch = b'[' + b'[\"cancel\",1],' * 1000 + b'[\"cancel\",1]]'\nwhile True: os.write(4, batch)"
    ran = scripts.run(source, limits=Limits(cpu_ms=300))
    assert ran.spent.interrupted
    assert 300 < ran.spent.cpu_ns / 1e6 < 550
    assert len(ran.frames) > 1000


def test_what_costs_more_to_read_than_is_left_is_not_read(scripts: Scripts) -> None:
    source = "import os\nos.write(4, b'[[\"emit\",[' + b'1,' * {} + b'1]]]')\n1"
    large = scripts.run(source.format(8_000_000), limits=Limits(cpu_ms=200))
    assert (large.departure.stop, large.frames) == (Stop.CPU, ())
    assert large.spent.cpu_ns / 1e6 < 200 + 250
    small = scripts.run(source.format(200_000), limits=Limits(cpu_ms=2_000))
    assert (small.departure.stop, small.value) == (Stop.CANCELLED, 1)


def test_nothing_counts_after_the_end(scripts: Scripts) -> None:
    source = 'import os\nos.write(4, b\'[["result",1,"int"],["call",1,"crm","get",{},1]]\')\ncrm.get()\n2'
    ran = scripts.run(source, connectors={"crm": ["get"]})
    assert ran.value == 1
    assert ran.calls == []


def test_a_forged_failure_is_only_a_failure(scripts: Scripts) -> None:
    source = (
        "import json, os\n"
        "parts = dict.fromkeys(['line', 'column', 'hint', 'tool', 'retriable'])\n"
        "os.write(4, json.dumps([['failure', {**parts, 'kind': 'internal', 'message': 'm', 'traceback': ''}]]).encode())\n"
        "while True: pass"
    )
    assert isinstance(scripts.run(source).last, Failure)
