"""The clock, random numbers and sleep: given by the host, recorded, and given again in a replay."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from isolith import CodeMode

pytestmark = pytest.mark.anyio

EVERYTHING = """
import datetime, os, random, secrets, time, uuid
spent = [time.monotonic() for _ in range(50)]
await crm.count()
await asyncio.sleep(0.003)
[random.random(), random.randint(0, 10**9), random.sample(range(100), 5), random.SystemRandom().random(),
 uuid.uuid4(), uuid.uuid1(), secrets.token_hex(16), os.urandom(8), time.time(), time.time_ns(), time.monotonic(),
 time.perf_counter(), datetime.datetime.now(datetime.UTC), datetime.date.today(), asyncio.get_running_loop().time(),
 hash("text"), spent]
"""


async def test_a_replay_gives_the_same_clock_and_random_numbers(code_mode: CodeMode) -> None:
    execution = code_mode.start(EVERYTHING)
    first = await execution.outcome()
    again = await code_mode.start(EVERYTHING, replay=execution.recording()).outcome()
    assert first.error is None
    assert again.value == first.value


async def test_a_replay_can_be_replayed(code_mode: CodeMode) -> None:
    execution = code_mode.start(EVERYTHING)
    first = await execution.outcome()
    replay = code_mode.start(EVERYTHING, replay=execution.recording())
    await replay.outcome()
    assert replay.recording() == execution.recording()
    assert (await code_mode.start(EVERYTHING, replay=replay.recording()).outcome()).value == first.value


async def test_two_runs_have_nothing_in_common(code_mode: CodeMode) -> None:
    script = "import random, uuid, secrets\n[random.random(), uuid.uuid4(), secrets.token_hex(8)]"
    first, second = (await code_mode.execute(script)).value, (await code_mode.execute(script)).value
    assert isinstance(first, list)
    assert isinstance(second, list)
    assert all(one != other for one, other in zip(first, second, strict=True))


async def test_a_script_may_seed_its_own_random(code_mode: CodeMode) -> None:
    script = "import random\nrandom.seed(5)\n[random.random(), random.Random(5).random()]"
    value = (await code_mode.execute(script)).value
    assert isinstance(value, list)
    assert value[0] == value[1]


async def test_the_clock_is_the_real_one(code_mode: CodeMode) -> None:
    before = datetime.now(UTC)
    script = "import datetime, time\n[datetime.datetime.now(datetime.UTC), time.time(), time.localtime()[:4] == time.gmtime()[:4]]"
    value = (await code_mode.execute(script)).value
    assert isinstance(value, list)
    now, seconds, local_is_utc = value
    assert before - timedelta(seconds=1) <= now <= datetime.now(UTC) + timedelta(seconds=1)
    assert abs(seconds - now.timestamp()) < 1
    assert local_is_utc


@pytest.mark.parametrize("sleep", ["import time\ntime.sleep({})", "await asyncio.sleep({})"])
async def test_sleep_waits_and_burns_no_cpu(code_mode: CodeMode, sleep: str) -> None:
    begun = time.monotonic()
    script = f"import time\nbegun = time.monotonic()\n{sleep.format(0.3)}\ntime.monotonic() - begun"
    outcome = await code_mode.execute(script)
    assert outcome.error is None
    assert isinstance(outcome.value, float)
    assert outcome.value >= 0.3
    assert time.monotonic() - begun >= 0.3
    assert outcome.usage.cpu_ms < 150


async def test_no_sleep_is_shorter_than_asked_by_the_clock_of_the_script(code_mode: CodeMode) -> None:
    """The clock moves in steps, and differences of floats lose a little: a script that compares sees neither."""
    script = """
import time
early = []
for n in range(1, 40):
    asked = n / 1000
    begun = time.monotonic()
    await asyncio.sleep(asked)
    between = time.monotonic()
    time.sleep(asked)
    ended = time.monotonic()
    early += [(asked, slept) for slept in (between - begun, ended - between) if slept < asked]
early
"""
    assert (await code_mode.execute(script)).value == []


async def test_tasks_run_while_one_sleeps_synchronously(code_mode: CodeMode) -> None:
    script = """
import time
done = []
async def work():
    done.append(await crm.get(id=1))
task = asyncio.create_task(work())
await asyncio.sleep(0)
time.sleep(0.05)
await task
done
"""
    assert (await code_mode.execute(script)).value == [{"id": 1}]


async def test_sleeps_overlap(code_mode: CodeMode) -> None:
    script = "await asyncio.gather(*[asyncio.sleep(0.2, result=n) for n in range(50)])"
    outcome = await code_mode.execute(script)
    assert outcome.value == list(range(50))
    assert outcome.usage.wall_ms < 50 * 200
