"""Calls of Python functions: where they run, what is checked, what is cancelled, what is said on the way."""

import asyncio
import contextvars
import functools
import threading
import time
from collections.abc import Coroutine

import pytest
from tests.bindings.called import call, failure, made

from isolith_bindings.connector import CallContext, Method
from isolith_bindings.errors import CallError
from isolith_bindings.function_connector import MAX_THREADS
from isolith_bindings.functions import as_connector
from isolith_bindings.testing import RecordedProgress, a_context, a_method

VARIABLE = contextvars.ContextVar("VARIABLE", default="outer")


def test_a_plain_function_runs_in_a_thread_and_an_async_one_in_the_loop() -> None:
    def sync() -> int:
        return threading.get_ident()

    async def asynchronous() -> int:
        return threading.get_ident()

    connector = as_connector([sync, asynchronous])
    assert call(connector, "sync") != threading.get_ident()
    assert call(connector, "asynchronous") == threading.get_ident()


def test_an_awaitable_from_a_plain_function_is_awaited() -> None:
    async def inner(a: int) -> int:
        await asyncio.sleep(0)
        return a + 1

    @functools.wraps(inner)
    def wrapper(a: int) -> Coroutine[None, None, int]:
        return inner(a)

    assert call(as_connector([wrapper]), "inner", a=1) == 2


def test_arguments_are_validated_before_and_results_after() -> None:
    ran: list[int] = []

    def double(a: int) -> int:
        ran.append(a)
        return str(a) * 2  # type: ignore[return-value]

    connector = as_connector([double])
    assert failure(connector, "double", a="x").kind == "invalid_arguments"
    assert ran == []
    assert call(connector, "double", a="4") == 44
    assert ran == [4]


def test_a_blocking_function_does_not_block_others() -> None:
    release = threading.Event()

    def block() -> bool:
        return release.wait(240)

    async def quick() -> None:
        release.set()

    async def main() -> list[object]:
        connector = as_connector([block, quick])
        return [*await asyncio.gather(made(connector, "block"), made(connector, "quick"))]

    assert asyncio.run(main()) == [True, None]


def test_blocking_functions_overlap_up_to_the_limit() -> None:
    barrier = threading.Barrier(MAX_THREADS)

    def meet() -> int:
        return barrier.wait(240)

    async def main() -> list[object]:
        connector = as_connector([meet])
        return await asyncio.gather(*[made(connector, "meet") for _ in range(MAX_THREADS)])

    assert len(asyncio.run(main())) == MAX_THREADS


def test_a_stuck_connector_does_not_hold_up_another() -> None:
    release = threading.Event()

    def block() -> bool:
        return release.wait(240)

    async def main() -> object:
        stuck, other = as_connector([block], "stuck"), as_connector({"free": lambda: 1}, "other")
        waiting = [asyncio.create_task(made(stuck, "block")) for _ in range(MAX_THREADS + 1)]
        await asyncio.sleep(0)
        answer = await made(other, "free")
        release.set()
        await asyncio.gather(*waiting)
        return answer

    assert asyncio.run(main()) == 1


def test_context_variables_reach_the_function() -> None:
    def sync() -> str:
        return VARIABLE.get()

    async def asynchronous() -> str:
        return VARIABLE.get()

    async def main() -> list[object]:
        VARIABLE.set("inner")
        connector = as_connector([sync, asynchronous])
        return [await made(connector, name) for name in connector.methods]

    assert asyncio.run(main()) == ["inner", "inner"]


def test_a_class_is_made_once_at_the_first_call() -> None:
    made_ones: list[object] = []

    class Counter:
        def __init__(self) -> None:
            made_ones.append(self)
            self.count = 0

        def add(self) -> int:
            self.count += 1
            return self.count

    connector = as_connector(Counter)
    asyncio.run(connector.start())
    assert made_ones == []
    assert [call(connector, "add"), call(connector, "add")] == [1, 2]
    assert len(made_ones) == 1


def test_a_class_that_cannot_be_made_is_unavailable_and_tried_again() -> None:
    attempts: list[int] = []

    class Flaky:
        def __init__(self) -> None:
            attempts.append(1)
            if len(attempts) == 1:
                raise ConnectionError("refused")

        def f(self) -> int:
            return 1

    connector = as_connector(Flaky)
    error = failure(connector, "f")
    assert (error.kind, str(error), error.retriable) == ("tool_unavailable", "Flaky could not be made: refused", True)
    assert call(connector, "f") == 1


def test_a_method_of_another_connector_is_unknown() -> None:
    connector = as_connector({"f": lambda: 1}, "t")
    method: Method = a_method("g")
    with pytest.raises(CallError, match=r"there is no t\.g") as caught:
        asyncio.run(connector.call(method, {}, a_context()))
    assert caught.value.kind == "unknown_tool"


def test_start_and_aclose_may_come_twice() -> None:
    connector = as_connector({"f": lambda: 1})

    async def main() -> None:
        for _ in range(2):
            await connector.start()
            await connector.aclose()

    asyncio.run(main())


# ---------------------------------------------------------------------------------------------- cancellation


def test_cancelling_reaches_an_async_function() -> None:
    seen: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main() -> None:
        task = asyncio.create_task(made(as_connector([wait]), "wait"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert seen == ["cancelled"]


def test_a_time_limit_around_a_call_is_a_time_limit() -> None:
    async def wait() -> None:
        await asyncio.sleep(60)

    async def main() -> None:
        async with asyncio.timeout(0.01):
            await made(as_connector([wait]), "wait")

    with pytest.raises(TimeoutError):
        asyncio.run(main())


def test_a_cancellation_of_the_functions_own_is_a_failure() -> None:
    async def f() -> None:
        task = asyncio.create_task(asyncio.sleep(60))
        task.cancel()
        await task

    failed = failure(as_connector([f], "t"), "f")
    assert (failed.kind, str(failed)) == ("tool_error", "t.f was cancelled from within")


def test_cancelling_leaves_a_blocking_function_behind() -> None:
    started, release, ended = threading.Event(), threading.Event(), threading.Event()

    def block() -> None:
        started.set()
        release.wait(240)
        ended.set()

    async def main() -> None:
        task = asyncio.create_task(made(as_connector([block]), "block"))
        await asyncio.to_thread(started.wait, 240)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert not ended.is_set()
    release.set()
    assert ended.wait(240)


# ---------------------------------------------------------------------------------------------- progress


def test_progress_comes_from_the_loop_and_from_threads() -> None:
    def sync(steps: int, context: CallContext) -> str:
        for step in range(steps):
            context.progress(step, steps, "on")
        return context.call_id

    async def asynchronous(context: CallContext, steps: int = 2) -> str | None:
        for step in range(steps):
            context.progress(step)
        return context.principal

    connector = as_connector([sync, asynchronous])
    progress = RecordedProgress()
    assert call(connector, "sync", a_context(progress), steps=2) == "e.1"
    assert call(connector, "asynchronous", a_context(progress)) == "p"
    assert progress.reports == [(0, 2, "on"), (1, 2, "on"), (0, None, None), (1, None, None)]


def test_progress_is_reported_on_the_loops_own_thread() -> None:
    threads: list[int] = []

    def f(context: CallContext) -> None:
        context.progress(1)

    call(as_connector([f]), "f", a_context(lambda *_: threads.append(threading.get_ident())))
    assert threads == [threading.get_ident()]


def test_progress_after_the_end_is_dropped() -> None:
    kept: list[CallContext] = []

    async def asynchronous(context: CallContext) -> None:
        kept.append(context)

    def sync(context: CallContext) -> None:
        kept.append(context)

    progress = RecordedProgress()
    connector = as_connector([sync, asynchronous])

    async def main() -> None:
        for name in connector.methods:
            await made(connector, name, a_context(progress))
        for context in kept:
            context.progress(1)
            await asyncio.to_thread(context.progress, 1)

    asyncio.run(main())
    for context in kept:
        context.progress(2)
    assert len(kept) == 2
    assert progress.reports == []


def test_a_script_cannot_give_the_context() -> None:
    async def f(a: int, context: CallContext, **others: object) -> None:
        raise NotImplementedError

    error = failure(as_connector([f], "t"), "f", a=1, context=3)
    assert str(error) == "t.f has no argument `context`. It takes: a, others by any name"


def test_as_many_threads_end_as_begin() -> None:
    before = set(threading.enumerate())
    connector = as_connector({"f": lambda: 1})

    async def main() -> None:
        await asyncio.gather(*[made(connector, "f") for _ in range(200)])

    asyncio.run(main())
    deadline = time.monotonic() + 240
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.001)
    assert set(threading.enumerate()) - before == set()
