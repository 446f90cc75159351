"""What each answered import does, over the memory of a real isolate: addresses and sizes are a guest's, so they lie."""

from __future__ import annotations

import struct
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from isolith_runtime import syscalls
from isolith_runtime.inputs import Inputs
from isolith_runtime.isolate import Isolate
from isolith_runtime.limits import Limits, Stop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isolith_runtime.driver import Supply

BADF, FAULT, INVAL = 8, 21, 28
PLACES, RESULT, BUFFER = 4096, 4196, 8192
"""Addresses that the image does not use: its first pages are free, so that a null pointer points nowhere."""
OUTSIDE = [0xFFFFFFFF, -1, 0x7FFFFFFF, 2**31]


@dataclass
class Desk:
    """An isolate whose imports this thread answers, and what it sends."""

    isolate: Isolate
    sent: list[bytes] = field(default_factory=list[bytes])
    waiting: list[bytes | None] = field(default_factory=list[bytes | None])

    def call(self, name: str, *arguments: float) -> object:
        function = syscalls.implementation(name)
        assert function is not None
        return function(*arguments)

    def vectors(self, *places: tuple[int, int]) -> None:
        self.isolate.memory.write(PLACES, b"".join(struct.pack("<II", *place) for place in places))

    def u32(self, address: int = RESULT) -> int:
        data = self.isolate.memory.read(address, 4)
        assert data is not None
        return int.from_bytes(data, "little")

    def read(self, address: int, size: int) -> bytes:
        data = self.isolate.memory.read(address, size)
        assert data is not None
        return data


@pytest.fixture
def desk(supply: Supply) -> Iterator[Desk]:
    isolate = Isolate(supply.engine)
    made = Desk(isolate)
    isolate.begin(
        Limits(memory_bytes=64 * 1024 * 1024, batch_bytes=1000),
        Inputs(seed=b"seed", started_ns=1_700_000_000 * 10**9),
        made.sent.append,
        lambda: made.waiting.pop(0),
    )
    isolate.meter.enter()
    syscalls.enter(isolate)
    yield made
    syscalls.leave()
    isolate.close()


def test_a_write_to_the_channel_is_gathered(desk: Desk) -> None:
    desk.isolate.memory.write(BUFFER, b"helloworld")
    desk.vectors((BUFFER + 5, 5), (BUFFER, 5))
    assert desk.call("fd_write", 4, PLACES, 2, RESULT) == 0
    assert desk.sent == [b"worldhello"]
    assert desk.u32() == 10


@pytest.mark.parametrize("descriptor", [1, 2])
def test_a_write_to_standard_output_goes_nowhere(desk: Desk, descriptor: int) -> None:
    desk.vectors((BUFFER, 5))
    assert desk.call("fd_write", descriptor, PLACES, 1, RESULT) == 0
    assert desk.u32() == 5
    assert desk.sent == []


@pytest.mark.parametrize("descriptor", [0, 3, 5, -1, 2**31 - 1])
def test_no_other_descriptor_is_open(desk: Desk, descriptor: int) -> None:
    assert desk.call("fd_write", descriptor, PLACES, 0, RESULT) == BADF
    assert desk.call("fd_read", descriptor, PLACES, 0, RESULT) == BADF


def test_a_batch_is_read_in_pieces_behind_its_length(desk: Desk) -> None:
    desk.waiting.append(b"abcdef")
    desk.vectors((BUFFER, 7))
    assert desk.call("fd_read", 4, PLACES, 1, RESULT) == 0
    assert desk.read(BUFFER, desk.u32()) == b"\6\0\0\0abc"
    assert desk.call("fd_read", 4, PLACES, 1, RESULT) == 0
    assert desk.read(BUFFER, desk.u32()) == b"def"


def test_a_read_when_the_run_is_over(desk: Desk) -> None:
    desk.waiting.append(None)
    desk.vectors((BUFFER, 7))
    assert desk.call("fd_read", 4, PLACES, 1, RESULT) != 0
    assert desk.isolate.meter.stop is Stop.CANCELLED
    assert desk.call("fd_read", 4, PLACES, 1, RESULT) != 0


def test_nothing_is_taken_from_a_stopped_guest(desk: Desk) -> None:
    desk.isolate.stop(Stop.CPU)
    desk.vectors((BUFFER, 1))
    desk.call("fd_write", 4, PLACES, 1, RESULT)
    assert desk.sent == []


@pytest.mark.parametrize("count", [-1, 17, 2**31 - 1])
def test_a_number_of_vectors_that_is_none(desk: Desk, count: int) -> None:
    assert desk.call("fd_write", 4, PLACES, count, RESULT) == INVAL
    assert desk.call("fd_read", 4, PLACES, count, RESULT) == INVAL


@pytest.mark.parametrize("address", OUTSIDE)
def test_addresses_outside_the_memory(desk: Desk, address: int) -> None:
    desk.waiting.extend([b"x"] * 5)
    desk.vectors((BUFFER, 1))
    assert desk.call("fd_write", 4, address, 1, RESULT) == INVAL
    assert desk.call("fd_write", 4, PLACES, 1, address) == FAULT
    assert desk.call("fd_read", 4, PLACES, 1, address) == FAULT
    desk.vectors((address & 0xFFFFFFFF, 100))
    assert desk.call("fd_write", 4, PLACES, 1, RESULT) == FAULT
    assert desk.call("fd_read", 4, PLACES, 1, RESULT) == FAULT
    for name, arguments in (("clock_time_get", (0, 0, address)), ("clock_res_get", (0, address))):
        assert desk.call(name, *arguments) == FAULT
    assert desk.call("random_get", address, 8) == FAULT
    assert desk.call("__syscall_getcwd", address, 100) == -FAULT
    assert desk.call("environ_sizes_get", address, RESULT) == FAULT
    assert desk.call("_gmtime_js", 0, address) is None
    assert desk.call("_timegm_js", address) == -1
    assert desk.isolate.host_error is None


def test_a_write_larger_than_any_value_breaks_the_run_off(desk: Desk) -> None:
    desk.vectors((BUFFER, 1001))
    assert desk.call("fd_write", 4, PLACES, 1, RESULT) == INVAL
    assert desk.isolate.meter.stop is Stop.BROKEN
    assert desk.isolate.broken == "a write to the channel was larger than any value may be"


def test_the_clocks_are_the_executions(desk: Desk) -> None:
    assert desk.call("clock_time_get", 0, 0, BUFFER) == 0
    [now] = struct.unpack("<q", desk.read(BUFFER, 8))
    assert 0 <= now - 1_700_000_000 * 10**9 < 60 * 10**9
    for clock in (1, 2, 3, 99):
        assert desk.call("clock_time_get", clock, 0, BUFFER) == 0
        [steady] = struct.unpack("<q", desk.read(BUFFER, 8))
        assert 10**12 <= steady < 2 * 10**12
    assert desk.call("clock_res_get", 0, BUFFER) == 0
    assert struct.unpack("<q", desk.read(BUFFER, 8)) == (1_000_000,)


def test_entropy_is_the_executions(desk: Desk) -> None:
    assert desk.call("random_get", BUFFER, 16) == 0
    assert desk.read(BUFFER, 16) == Inputs(seed=b"seed").entropy(16)
    assert desk.call("random_get", BUFFER, 65537) == INVAL
    assert desk.call("random_get", BUFFER, -1) == INVAL


@pytest.mark.parametrize("seconds", [0, 1_700_000_000, -1, -62135596800, 253402300799])
def test_times_there_and_back(desk: Desk, seconds: int) -> None:
    for there, back in (("_gmtime_js", "_timegm_js"), ("_localtime_js", "_mktime_js")):
        assert desk.call(there, seconds, BUFFER) is None
        assert desk.call(back, BUFFER) == seconds


@pytest.mark.parametrize("seconds", [2**62, -(2**62), 253402300800])
def test_times_that_no_calendar_has(desk: Desk, seconds: int) -> None:
    assert desk.call("_gmtime_js", seconds, BUFFER) is None
    assert desk.isolate.host_error is None


@pytest.mark.parametrize("year", [-(2**31), 2**31 - 1, -1900, 8100])
def test_broken_down_times_that_no_calendar_has(desk: Desk, year: int) -> None:
    desk.isolate.memory.write(BUFFER, struct.pack("<6i", 0, 0, 0, 1, 0, year))
    assert desk.call("_timegm_js", BUFFER) == -1


def test_the_heap_grows_to_its_limit_and_no_further(desk: Desk) -> None:
    size = desk.isolate.memory.size
    assert desk.call("emscripten_get_heap_max") == 64 * 1024 * 1024
    assert desk.call("emscripten_resize_heap", size) == 1
    assert desk.call("emscripten_resize_heap", size + 1) == 1
    assert desk.isolate.memory.size == size + 65536
    assert not desk.isolate.memory_refused
    for wanted in (64 * 1024 * 1024 + 1, 2**31 - 1, -1):
        assert desk.call("emscripten_resize_heap", wanted) == 0
    assert desk.isolate.memory_refused
    assert desk.isolate.memory.size == size + 65536


def test_there_is_no_environment_and_one_folder(desk: Desk) -> None:
    desk.isolate.memory.write(BUFFER, b"\xff" * 8)
    assert desk.call("environ_sizes_get", BUFFER, BUFFER + 4) == 0
    assert desk.read(BUFFER, 8) == bytes(8)
    assert desk.call("__syscall_getcwd", BUFFER, 100) == 2
    assert desk.read(BUFFER, 2) == b"/\0"


@pytest.mark.parametrize(("name", "answer"), sorted({**syscalls.EMPTY, **syscalls.REFUSED}.items()))
def test_the_others_answer_their_constant_to_anything(desk: Desk, name: str, answer: object) -> None:
    assert desk.call(name, -1, 2**31 - 1, 0, 5, 7) == answer


def test_an_error_of_ours_never_crosses(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept, and the isolate is stopped; even what ends processes."""

    def fail(_size: int) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(desk.isolate.inputs, "entropy", fail)
    assert desk.call("random_get", BUFFER, 8) == 52
    assert isinstance(desk.isolate.host_error, KeyboardInterrupt)
    assert desk.isolate.meter.stop is Stop.BROKEN


def test_each_thread_answers_its_own_isolate(supply: Supply, desk: Desk) -> None:
    seen: list[object] = []

    def other() -> None:
        isolate = Isolate(supply.engine)
        isolate.begin(Limits(memory_bytes=100 * 65536), Inputs(), lambda _: None, lambda: None)
        syscalls.enter(isolate)
        seen.append(desk.call("emscripten_get_heap_max"))
        syscalls.leave()
        isolate.close()

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [100 * 65536]
    assert desk.call("emscripten_get_heap_max") == 64 * 1024 * 1024
