"""The event loop inside the guest: asyncio as it is elsewhere, waiting, and what can never happen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from isolith_runtime.guest import loop
from isolith_runtime.inputs import RESOLUTION_NS
from isolith_runtime.protocol import Cancel

if TYPE_CHECKING:
    from isolith_runtime import protocol
    from isolith_runtime.testing import Ran, Scripts

CRM = {"crm": ["get", "other"]}


def run(scripts: Scripts, source: str) -> Ran:
    return scripts.run(source, connectors=CRM, answer=number_of)


def number_of(call: protocol.Call) -> object:
    """The call's own number; `fail=` fails it."""
    if call.arguments.get("fail"):
        raise ValueError("no such contact")
    return call.number


LOOP: list[tuple[str, object]] = [
    ("await asyncio.gather(crm.get(), crm.get(), crm.other())", [1, 2, 3]),
    (
        "async with asyncio.TaskGroup() as g:\n    a, b = g.create_task(crm.get()), g.create_task(crm.get())\na.result(), b.result()",
        (1, 2),
    ),
    ("[await done for done in asyncio.as_completed([crm.get(), crm.get()])]", [1, 2]),
    ("a, b = crm.get(), crm.get()\n(await b, await a)", (2, 1)),
    ("t = asyncio.create_task(crm.get())\nawait asyncio.sleep(0)\nawait t", 1),
    ("await asyncio.wait_for(crm.get(), 5)", 1),
    ("async with asyncio.timeout(5):\n    x = await crm.get()\nx", 1),
    ("done, _ = await asyncio.wait({asyncio.ensure_future(crm.get())})\n[t.result() for t in done]", [1]),
    ("await asyncio.shield(crm.get())", 1),
    ("async def f(): return await crm.get()\nawait asyncio.gather(f(), f())", [1, 2]),
    ("async def f(): return await crm.get()\nawait f()", 1),
    ("[await crm.get() for _ in range(3)]", [1, 2, 3]),
    ("asyncio.run(crm.get())", 1),
    ("def f(): return asyncio.run(g())\nasync def g(): return await crm.get()\nf()", 1),
    ("q = asyncio.Queue()\nawait q.put(1)\nawait q.get()", 1),
    ("e = asyncio.Event()\nasyncio.get_running_loop().call_later(0.01, e.set)\nawait e.wait()", True),
    ("s = asyncio.Semaphore(1)\nasync def f(n):\n    async with s: return n\nawait asyncio.gather(f(1), f(2))", [1, 2]),
    ("try:\n    await asyncio.wait_for(asyncio.sleep(5), 0.01)\nexcept TimeoutError:\n    x = 'late'\nx", "late"),
    ("try:\n    async with asyncio.timeout(0.01): await asyncio.Event().wait()\nexcept TimeoutError:\n    x = 1\nx", 1),
    ("t = asyncio.create_task(asyncio.sleep(9))\nt.cancel()\nawait asyncio.gather(t, return_exceptions=True) and 1", 1),
    (
        "async def ticks():\n    for n in range(3):\n        await asyncio.sleep(0)\n        yield n\n[n async for n in ticks()]",
        [0, 1, 2],
    ),
    ("crm.get() + crm.get()", 3),
    ("[crm.get() for _ in range(3)]", [1, 2, 3]),
    ("async def main():\n    return crm.get() + 1\nasyncio.run(main())", 2),
]


@pytest.mark.parametrize(("source", "value"), LOOP)
def test_asyncio_works_as_in_cpython(scripts: Scripts, source: str, value: object) -> None:
    assert run(scripts, source).value == value


def test_calls_made_together_cross_together(scripts: Scripts) -> None:
    ran = run(scripts, "await asyncio.gather(*[crm.get() for _ in range(50)])")
    assert [call.number for call in ran.calls] == list(range(1, 51))
    assert len({call.size for call in ran.calls}) == 1


SLEEPS = ["await asyncio.sleep(0.2)", "import time\ntime.sleep(0.2)", "import threading\nthreading.Event().wait(0.2)"]


@pytest.mark.parametrize("source", SLEEPS)
def test_waiting_takes_its_time_and_no_cpu(scripts: Scripts, source: str) -> None:
    begun = time.monotonic()
    ran = scripts.run(f"import time\nt = time.time()\n{source}\ntime.time() - t")
    assert isinstance(ran.value, float)
    assert ran.value >= 0.199
    assert time.monotonic() - begun >= 0.2
    assert ran.spent.cpu_ns < 100_000_000


def test_tasks_sleep_at_the_same_time(scripts: Scripts) -> None:
    begun = time.monotonic()
    source = "async def f(n):\n    await asyncio.sleep(0.1)\n    return n\nawait asyncio.gather(*map(f, range(100)))"
    assert scripts.run(source).value == list(range(100))
    assert time.monotonic() - begun < 100 * 0.1


def test_the_step_of_the_clock_is_that_of_the_host() -> None:
    """The guest carries its own copy: nothing of the host's is imported there."""
    assert round(loop.STEP_S * 1e9) == RESOLUTION_NS


def test_timers_of_one_time_are_due_in_the_order_they_were_set(scripts: Scripts) -> None:
    source = """
seen = []
async def f(n):
    await asyncio.sleep(0.02)
    seen.append(n)
await asyncio.gather(*map(f, range(200)))
seen
"""
    assert scripts.run(source).value == list(range(200))


def test_a_call_that_is_given_up_is_cancelled(scripts: Scripts) -> None:
    source = "t = asyncio.ensure_future(crm.get())\nawait asyncio.sleep(0)\nt.cancel()\nawait asyncio.sleep(0)\n1"
    ran = scripts.run(source, connectors=CRM)
    assert [frame.number for frame in ran.frames if isinstance(frame, Cancel)] == [1]


DEADLOCKS: list[tuple[str, int]] = [
    ("x = 1\nawait asyncio.Event().wait()", 2),
    ("f = asyncio.get_running_loop().create_future()\n\nawait f", 3),
    ("async def f():\n    await asyncio.Queue().get()\nawait asyncio.gather(f(), f())", 3),
    ("x = 1\nasyncio.run(asyncio.Event().wait())", 2),
    ("import queue\nqueue.Queue().get()", 2),
    ("import queue\nqueue.SimpleQueue().get()", 2),
    ("import threading\nthreading.Event().wait()", 2),
    ("import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()", 4),
    ("import threading\nc = threading.Condition()\nwith c:\n    c.wait()", 4),
    ("import threading\nthreading.Semaphore(0).acquire()", 2),
]


@pytest.mark.parametrize(("source", "line"), DEADLOCKS)
def test_what_can_never_happen_is_not_waited_for(scripts: Scripts, source: str, line: int) -> None:
    failure = scripts.run(source).failure
    assert (failure.kind, failure.line) == ("deadlock", line)


def test_locks_do_what_locks_do(scripts: Scripts) -> None:
    source = (
        "import queue, threading\nlock = threading.Lock()\n"
        "with lock:\n    held = lock.locked(), lock.acquire(False), lock.acquire(timeout=0.01)\n"
        "q = queue.Queue(1)\nq.put(1)\n"
        "try:\n    q.put(2, timeout=0.01)\nexcept queue.Full:\n    full = True\n"
        "try:\n    lock.release()\nexcept RuntimeError as error:\n    said = str(error)\n"
        "held, lock.locked(), full, said"
    )
    assert scripts.run(source).value == ((True, False, False), False, True, "release unlocked lock")
