"""Guest threads: many jobs, few threads, none left."""

from __future__ import annotations

import functools
import threading
import time
from typing import TYPE_CHECKING

import pytest

from isolith_runtime import threads as guest_threads
from isolith_runtime.engine import THREAD_STACK
from isolith_runtime.threads import GuestThreads

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def threads() -> Iterator[GuestThreads]:
    made = GuestThreads(most=4)
    yield made
    made.close()


def others() -> set[threading.Thread]:
    """Of this process, which other tests may have left to end by themselves meanwhile."""
    return set(threading.enumerate())


def wait_until_idle(threads: GuestThreads, before: set[threading.Thread]) -> None:
    deadline = time.monotonic() + 240
    while threads.count or others() - before:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def run_all(threads: GuestThreads, count: int) -> None:
    """Run that many jobs and wait for all of them."""
    left = threading.Semaphore(0)
    for _ in range(count):
        threads.submit(left.release)
    for _ in range(count):
        assert left.acquire(timeout=120)


def test_every_job_runs_and_no_more_threads_than_allowed(threads: GuestThreads) -> None:
    run_all(threads, 1000)
    assert 0 < threads.count <= 4


def test_a_job_that_waits_does_not_hold_up_the_others(threads: GuestThreads) -> None:
    gate = threading.Event()
    for _ in range(3):
        threads.submit(lambda: gate.wait(240))
    run_all(threads, 50)
    gate.set()


def test_jobs_past_the_limit_wait_in_order(threads: GuestThreads) -> None:
    gate, ran = threading.Event(), list[int]()
    for _ in range(4):
        threads.submit(lambda: gate.wait(240))
    for number in range(20):
        threads.submit(functools.partial(ran.append, number))
    assert ran == []
    gate.set()
    threads.close()
    assert sorted(ran) == list(range(20))


def test_idle_threads_leave_and_new_ones_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once jobs had queued, more threads were thought free than there were, and a later job never ran."""
    monkeypatch.setattr(guest_threads, "_IDLE_S", 0.05)
    before, threads = others(), GuestThreads(most=2)
    for _ in range(3):
        run_all(threads, 100)
        wait_until_idle(threads, before)


def test_closing_ends_every_thread_when_its_job_is_done() -> None:
    before, threads, ran = others(), GuestThreads(), list[int]()
    for number in range(20):
        threads.submit(functools.partial(ran.append, number))
    threads.close()
    assert len(ran) == 20
    assert threads.count == 0
    assert others() - before == set()


def test_the_stack_is_the_one_a_guest_needs_and_only_there(threads: GuestThreads) -> None:
    run_all(threads, 1)
    assert threading.stack_size() != THREAD_STACK
