"""A guest put away and woken in another isolate goes on as if it had only waited."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING, cast

import pytest

from isolith_runtime import protocol
from isolith_runtime.driver import Guest, State, Supply
from isolith_runtime.errors import HibernationError
from isolith_runtime.hibernation import Hibernation
from isolith_runtime.inputs import Inputs, Recording
from isolith_runtime.limits import Limits, Stop

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPT = """
import asyncio, random, time, uuid, secrets
from dataclasses import dataclass

@dataclass
class Point:
    x: int

seen = [random.random(), uuid.uuid4().hex]
point = Point(4)
big = list(range(200_000))

async def one(n):
    got = await crm.get(n=n)
    await asyncio.sleep(0)
    return got + point.x

first = await crm.get(n=0)
before = time.monotonic()
a, b = await asyncio.gather(one(1), one(2))
[first, a, b, sum(big), seen, random.random(), secrets.token_hex(4), time.monotonic() - before < 240, f"{point}"]
"""


class Run:
    """A guest whose calls are answered by hand."""

    def __init__(
        self, supply: Supply, inputs: Inputs, asleep: Hibernation | None = None, limits: Limits | None = None
    ) -> None:
        self.frames: list[protocol.Frame] = []
        self.state = State.RUNNING
        self._news = asyncio.Event()
        self.guest = Guest(supply, limits or Limits(), inputs, self._on_batch, asleep)

    def _on_batch(self, frames: list[protocol.Frame], state: State) -> None:
        self.frames.extend(frames)
        self.state = state
        self._news.set()

    async def step(self, frames: list[str]) -> State:
        self._news.clear()
        self.state = State.RUNNING
        self.guest.deliver(frames)
        async with asyncio.timeout(240):
            while self.state is State.RUNNING:
                await self._news.wait()
                self._news.clear()
        return self.state

    async def hibernate(self) -> Hibernation:
        kept: asyncio.Future[Hibernation | BaseException] = asyncio.get_running_loop().create_future()
        self.guest.hibernate(kept.set_result)
        found = await asyncio.wait_for(kept, 240)
        assert isinstance(found, Hibernation)
        return found

    @property
    def value(self) -> list[object]:
        last = self.frames[-1]
        assert isinstance(last, protocol.Result), last
        return cast("list[object]", last.value)


def started(source: str) -> str:
    return protocol.start(
        {
            "source": source,
            "input": None,
            "connectors": {"crm": {"methods": "get"}},
            "snippets": [],
            "limits": {"calls": 200, "wall_s": 60},
            "seed": "7",
            "log_bytes": 1000,
            "emit_events": 10,
            "value_bytes": 100_000,
        }
    )


async def _through(supply: Supply, pauses: Callable[[int], bool]) -> list[object]:
    """The script with its three calls; `pauses(n)`: whether it is put away before delivery n."""
    inputs = Inputs(seed=bytes(32), started_ns=10**18)
    run = Run(supply, inputs)
    await run.step([started(SCRIPT)])
    for number, frames in enumerate(([protocol.answer(1, 10)], [protocol.answer(3, 30)], [protocol.answer(2, 20)])):
        if pauses(number):
            kept = Hibernation.of_bytes((await run.hibernate()).to_bytes())
            assert run.guest.state is State.GONE
            run = Run(supply, kept.inputs(), kept)
        await run.step(frames)
    return run.value


@pytest.mark.anyio
async def test_it_goes_on_as_if_it_had_only_waited(supply: Supply) -> None:
    straight = await _through(supply, lambda _number: False)
    assert straight[:4] == [10, 24, 34, 19999900000]
    assert await _through(supply, lambda number: number == 1) == straight
    assert await _through(supply, lambda _number: True) == straight


@pytest.mark.anyio
async def test_a_thread_that_has_left_the_guest_puts_it_away_too(supply: Supply) -> None:
    run = Run(supply, Inputs())
    await run.step([started("x = await crm.get()\nx + 1")])
    await asyncio.sleep(0.1)  # longer than a thread lingers
    kept = await run.hibernate()
    woken = Run(supply, kept.inputs(), kept)
    await woken.step([protocol.answer(1, 41)])
    assert woken.value == 42  # type: ignore[comparison-overlap]
    assert woken.guest.spent.cpu_ns >= kept.used_ns > 0


@pytest.mark.anyio
async def test_grown_memory_comes_back_and_must_fit(supply: Supply) -> None:
    run = Run(supply, Inputs())
    await run.step([started("x = bytearray(40_000_000)\nx[-1] = 7\nawait crm.get()\nx[-1]")])
    kept = await run.hibernate()
    assert len(kept.to_bytes()) < 4_000_000  # zeros take no room
    woken = Run(supply, kept.inputs(), kept)
    await woken.step([protocol.answer(1, None)])
    assert woken.value == 7  # type: ignore[comparison-overlap]
    cramped = Run(supply, kept.inputs(), kept, Limits(memory_bytes=32 * 1024 * 1024))
    assert await cramped.step([protocol.answer(1, None)]) is State.GONE
    assert cramped.guest.departure is not None
    assert isinstance(cramped.guest.departure.error, HibernationError)


@pytest.mark.anyio
async def test_a_guest_that_is_stopped_meanwhile_is_not_put_away(supply: Supply) -> None:
    run = Run(supply, Inputs())
    await run.step([started("await crm.get()")])
    kept: list[object] = []
    run.guest.hibernate(kept.append)
    run.guest.stop(Stop.CANCELLED)
    async with asyncio.timeout(240):
        while run.guest.state is not State.GONE:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    assert len(kept) + (run.guest.departure is not None) == 1  # whichever came first, and never both


@pytest.mark.anyio
async def test_cpu_time_goes_on_counting(supply: Supply) -> None:
    run = Run(supply, Inputs(), limits=Limits(cpu_ms=400))
    await run.step(
        [
            started(
                "import time\ndef burn():\n    for _ in range(250_000): pass\nburn()\nawait crm.get()\nwhile True: pass"
            )
        ]
    )
    kept = await run.hibernate()
    woken = Run(supply, kept.inputs(), dataclasses.replace(kept, used_ns=390_000_000), limits=Limits(cpu_ms=400))
    assert await woken.step([protocol.answer(1, None)]) is State.GONE
    assert woken.guest.spent.cpu_ns < 800_000_000
    assert woken.guest.spent.interrupted


def _sample() -> Hibernation:
    recording = Recording(b"s" * 32, 5, ((1, 1_000_000), (4, 9_000_000)), 6)
    return Hibernation("image", 65536, (1, -2, 3, 4), (0, 7), bytes(8192), 12, recording, 3)


def test_bytes_and_back() -> None:
    assert Hibernation.of_bytes(_sample().to_bytes()) == _sample()


@pytest.mark.parametrize("damage", ["cut", "flipped", "nothing", "other"])
def test_what_is_damaged_is_refused(damage: str) -> None:
    data = _sample().to_bytes()
    changed = {
        "cut": data[:-1],
        "flipped": data[:100] + bytes([data[100] ^ 1]) + data[101:],
        "nothing": b"",
        "other": b"x" * 500,
    }
    with pytest.raises(HibernationError, match="damaged"):
        Hibernation.of_bytes(changed[damage])


def test_inputs_go_on_from_where_they_stood() -> None:
    inputs = _sample().inputs()
    assert inputs.elapsed_ns() >= 9_000_000
    assert inputs.recording().readings == 7
    fresh = Inputs(seed=b"s" * 32)
    for _ in range(3):
        fresh.entropy(8)
    assert inputs.entropy(8) == fresh.entropy(8)


@pytest.mark.anyio
async def test_another_image_wakes_nobody(supply: Supply) -> None:
    run = Run(supply, Inputs())
    await run.step([started("await crm.get()")])
    kept = dataclasses.replace(await run.hibernate(), image="another")
    woken = Run(supply, kept.inputs(), kept)
    assert await woken.step([protocol.answer(1, None)]) is State.GONE
    assert woken.guest.departure is not None
    assert isinstance(woken.guest.departure.error, HibernationError)
