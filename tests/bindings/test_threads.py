"""Blocking functions beside an event loop."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, NoReturn

import pytest

from isolith_bindings.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable


def in_threads(limit: int, *functions: Callable[[], object]) -> list[object]:
    async def main() -> list[object]:
        threads = Threads(limit)
        return await asyncio.gather(*(threads.run(function, "t") for function in functions))

    return asyncio.run(main())


def test_results_come_back() -> None:
    assert in_threads(1, lambda: 1, lambda: 2) == [1, 2]


def test_what_is_raised_comes_back() -> None:
    def fail() -> NoReturn:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        in_threads(1, fail)


def test_as_many_at_once_as_the_limit_says() -> None:
    barrier = threading.Barrier(3)
    running: list[int] = []

    def wait() -> int:
        running.append(1)
        barrier.wait(240)
        return len(running)

    assert in_threads(3, wait, wait, wait) == [3, 3, 3]


def test_no_more_at_once_than_the_limit_says() -> None:
    barrier, lock = threading.Barrier(2), threading.Lock()
    now, most = 0, 0

    def count() -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        barrier.wait(240)
        time.sleep(0.005)
        with lock:
            now -= 1

    in_threads(2, *[count] * 8)
    assert most == 2


def test_context_variables_are_seen() -> None:
    variable = contextvars.ContextVar("variable", default="outer")

    async def main() -> str:
        variable.set("inner")
        return await Threads(1).run(variable.get, "t")

    assert asyncio.run(main()) == "inner"


def test_a_cancelled_call_is_abandoned_and_keeps_its_place_until_it_ends() -> None:
    release, started = threading.Event(), threading.Event()

    def block() -> bool:
        started.set()
        return release.wait(240)

    async def main() -> str:
        threads = Threads(1)
        call = asyncio.create_task(threads.run(block, "t"))
        await asyncio.to_thread(started.wait, 240)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        second = asyncio.create_task(threads.run(lambda: "second", "t"))
        await asyncio.sleep(0.01)
        assert not second.done()
        release.set()
        return await second

    assert asyncio.run(main()) == "second"


def test_a_call_cancelled_while_it_waits_takes_no_place() -> None:
    release = threading.Event()

    async def main() -> str:
        threads = Threads(1)
        first = asyncio.create_task(threads.run(lambda: release.wait(240), "t"))
        waiting = asyncio.create_task(threads.run(lambda: pytest.fail("it was cancelled"), "t"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting.cancel()
        release.set()
        await first
        return await threads.run(lambda: "next", "t")

    assert asyncio.run(main()) == "next"


def test_one_object_serves_several_event_loops() -> None:
    threads = Threads(1)
    assert [asyncio.run(threads.run(lambda: 1, "t")) for _ in range(3)] == [1, 1, 1]


def test_a_thread_that_outlives_its_loop_is_silent() -> None:
    begun, release = threading.Event(), threading.Event()
    at_work: list[threading.Thread] = []

    def block() -> None:
        at_work.append(threading.current_thread())
        begun.set()
        release.wait(240)

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(Threads(1).run(block, "t"), 0.01)

    asyncio.run(main())
    assert begun.wait(240)
    release.set()
    at_work[0].join(240)
    assert not at_work[0].is_alive()


def test_a_function_that_never_returns_does_not_keep_the_process_alive() -> None:
    code = (
        "import asyncio, time\n"
        "from isolith_bindings.threads import Threads\n"
        "async def main():\n"
        "    await asyncio.wait_for(Threads(1).run(lambda: time.sleep(600), 't'), 0.01)\n"
        "try:\n"
        "    asyncio.run(main())\n"
        "except TimeoutError:\n"
        "    print('over')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout == "over\n"
    assert done.stderr == ""


def test_no_thread_is_left_behind() -> None:
    before = set(threading.enumerate())
    in_threads(8, *[lambda: None] * 50)
    deadline = time.monotonic() + 240
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.001)
    assert set(threading.enumerate()) - before == set()
