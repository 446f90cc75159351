"""One isolate by hand: a fresh memory each, steps that rest, limits of memory, use after the end."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

import pytest

from isolith_runtime import protocol
from isolith_runtime.engine import ImageMeta
from isolith_runtime.errors import ImageBuildError
from isolith_runtime.inputs import Inputs
from isolith_runtime.isolate import End, Isolate
from isolith_runtime.limits import Limits, Stop
from isolith_runtime.pool import IsolatePool

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith_runtime.driver import Supply

T = TypeVar("T")


def on_guest_thread(supply: Supply, job: Callable[[], T]) -> T:
    """Run where a guest may: on a thread with a stack that is large enough."""
    answers: list[T] = []
    done = threading.Event()

    def work() -> None:
        try:
            answers.append(job())
        finally:
            done.set()

    supply.threads.submit(work)
    assert done.wait(240)
    return answers[0]


def begun(supply: Supply, sent: list[bytes], limits: Limits | None = None) -> Isolate:
    isolate = Isolate(supply.engine)
    isolate.begin(limits or Limits(), Inputs(), sent.append, lambda: None)
    return isolate


def started(source: str) -> bytes:
    start: dict[str, object] = {"source": source, "input": None, "connectors": {}, "snippets": [], "limits": {}}
    return protocol.batch(
        [protocol.start({**start, "seed": "0", "log_bytes": 100, "emit_events": 1, "value_bytes": 1000})]
    )


def test_a_small_script_writes_few_pages(supply: Supply) -> None:
    """It took 282, of all parts of the image, when its heap had gaps and its code still counted how often it ran."""

    def job() -> list[int] | None:
        isolate = begun(supply, [])
        isolate.step(started("1 + 1"))
        pages = isolate.memory.private_pages()
        isolate.close()
        return pages

    pages = on_guest_thread(supply, job)
    if pages is None:
        pytest.skip("this system does not say which pages were written")
    assert len(pages) < 200


def test_a_step_that_ends_rests(supply: Supply) -> None:
    def job() -> tuple[End, list[bytes], int]:
        sent: list[bytes] = []
        isolate = begun(supply, sent)
        end = isolate.step(started("1 + 1"))
        used = isolate.meter.used_ns
        isolate.close()
        isolate.close()
        return end, sent, used

    end, sent, used = on_guest_thread(supply, job)
    assert (end, sent) == (End.RESTING, [b'[["result",2,"int"]]'])
    assert 0 < used < 10**9


def test_each_isolate_is_fresh(supply: Supply) -> None:
    source = "import builtins\nseen = hasattr(builtins, 'mark')\nbuiltins.mark = 1\nseen"

    def job() -> list[bytes]:
        sent: list[bytes] = []
        for _ in range(3):
            isolate = begun(supply, sent)
            isolate.step(started(source))
            isolate.close()
        return sent

    assert on_guest_thread(supply, job) == [b'[["result",false,"bool"]]'] * 3


def test_a_stopped_isolate_does_not_step(supply: Supply) -> None:
    def job() -> End:
        isolate = begun(supply, [])
        isolate.stop(Stop.CANCELLED)
        isolate.stop(Stop.CPU)
        end = isolate.step(started("1"))
        assert isolate.meter.stop is Stop.CANCELLED
        isolate.close()
        return end

    assert on_guest_thread(supply, job) is End.STOPPED


def test_memory_is_checked_at_its_edges(supply: Supply) -> None:
    isolate = begun(supply, [], Limits(memory_bytes=40 * 1024 * 1024))
    memory, size = isolate.memory, isolate.memory.size
    assert memory.read(size - 4, 4) is not None
    assert memory.write(size - 4, b"abcd")
    assert memory.read(size - 4, 4) == b"abcd"
    assert memory.read(size - 3, 4) is None
    assert memory.read(size, 1) is None
    assert memory.read(0, -1) is None
    assert memory.read(-4, 8) is None
    assert not memory.write(size - 3, b"abcd")
    assert not memory.write(-1, b"ab")
    assert memory.read(size, 0) == b""
    assert not memory.grow(10_000)
    assert memory.grow(1)
    assert memory.size == size + 65536
    assert memory.read(size, 1) == b"\0"
    isolate.close()


def test_an_import_that_traps_ends_the_guest_and_nothing_else(supply: Supply) -> None:
    def job() -> End:
        isolate = begun(supply, [])
        end = isolate.step(started("import faulthandler\nfaulthandler._sigsegv()"))
        isolate.close()
        return end

    assert on_guest_thread(supply, job) in {End.DEAD, End.STOPPED}
    test_a_step_that_ends_rests(supply)


def test_a_pool_keeps_as_many_as_it_was_told(supply: Supply) -> None:
    pool = IsolatePool(supply.engine, size=2)
    for _ in range(5):
        pool.replenish()
    assert pool.waiting == 2
    taken = [pool.take() for _ in range(3)]
    assert len(set(map(id, taken))) == 3
    for isolate in taken:
        isolate.close()
    pool.close()
    pool.replenish()
    assert pool.waiting == 0


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"step": 1},
        {"step": "1", "signal_flag": 1, "runtime": 1, "warm_pages": []},
        {"step": 1, "signal_flag": 1, "runtime": 1},
    ],
)
def test_the_record_of_another_version(meta: dict[str, object]) -> None:
    with pytest.raises(ImageBuildError, match="run `isolith image clear`"):
        ImageMeta.parse(meta)
