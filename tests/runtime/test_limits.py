"""The meter of a guest's CPU time: the thread's own clock around steps, and nothing else."""

from __future__ import annotations

import gc
import threading
import time

from isolith_runtime.limits import GRACE_MS, Limits, Meter


def burn(milliseconds: float) -> None:
    until = time.thread_time() + milliseconds / 1e3
    while time.thread_time() < until:
        pass


def test_what_a_step_burns_is_counted() -> None:
    meter = Meter(Limits())
    meter.enter()
    burn(20)
    assert meter.spent_ns() >= 20_000_000
    meter.leave()
    assert 20_000_000 <= meter.used_ns < 1_000_000_000


def test_what_happens_between_steps_is_free() -> None:
    meter = Meter(Limits())
    for _ in range(3):
        meter.enter()
        meter.leave()
        burn(10)
    assert meter.used_ns < 5_000_000


def test_waiting_inside_a_step_is_free() -> None:
    meter = Meter(Limits())
    meter.enter()
    time.sleep(0.05)
    meter.leave()
    assert meter.used_ns < 20_000_000


def test_what_other_threads_burn_is_free() -> None:
    meter = Meter(Limits())
    meter.enter()
    other = threading.Thread(target=burn, args=(30,))
    other.start()
    other.join()
    meter.leave()
    assert meter.used_ns < 20_000_000


def test_collecting_the_garbage_of_the_host_is_free() -> None:
    held = [{number: [number]} for number in range(100_000)]
    meter = Meter(Limits())
    meter.enter()
    begun = time.thread_time_ns()
    while time.thread_time_ns() - begun < 100_000_000:
        gc.collect()
    meter.leave()
    assert meter.used_ns < 20_000_000
    assert len(held) == 100_000


def test_both_sides_of_both_limits() -> None:
    meter = Meter(Limits(cpu_ms=20))
    meter.enter()
    assert not meter.past_soft_limit()
    burn(21)
    assert meter.past_soft_limit()
    assert not meter.past_hard_limit()
    burn(GRACE_MS)
    assert meter.past_hard_limit()


def test_steps_add_up() -> None:
    meter = Meter(Limits(cpu_ms=20))
    for _ in range(3):
        meter.enter()
        burn(7)
        meter.leave()
    meter.enter()
    assert meter.past_soft_limit()
