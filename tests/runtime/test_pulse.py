"""Ticks that come while the interpreter's lock is held, and what is left where there are none."""

from __future__ import annotations

import ctypes
import sys

import pytest
import wasmtime

from isolith_runtime import capi, engine, pulse
from isolith_runtime.engine import Ticker
from isolith_runtime.pulse import Pulse

NEVER_ENDING = '(module (func (export "run") (loop br 0)))'
EMPTY = '(module (func (export "run")))'


class Code:
    """Wasm code whose epoch only the test advances; it ends when it has been looked at `most` times."""

    def __init__(self, text: str, most: int = 1, ticks: int = 1) -> None:
        config = wasmtime.Config()
        config.epoch_interruption = True
        self.engine = wasmtime.Engine(config)
        self.store = wasmtime.Store(self.engine)
        self.store.set_epoch_deadline(ticks)
        self.looks = 0
        self._most = most
        self._callback = capi.EpochCallback(self.store, self._look)
        module = wasmtime.Module(self.engine, text)
        run = wasmtime.Instance(self.store, module, []).exports(self.store)["run"]
        assert isinstance(run, wasmtime.Func)
        self._run = run

    def ends(self) -> bool:
        """Run it. Whether it came to its own end."""
        try:
            self._run(self.store)
        except wasmtime.WasmtimeError:
            return False
        return True

    def _look(self) -> int:
        self.looks += 1
        return int(self.looks < self._most)


def test_code_ends_by_its_own_doing_as_long_as_nothing_ticks() -> None:
    code = Code(EMPTY)
    assert code.ends()
    capi.Epoch(code.engine).advance()
    assert not code.ends()


@pytest.mark.skipif(sys.platform != "linux", reason="the thread ticks alone where there are no POSIX timers")
def test_a_timer_ticks_while_the_lock_is_held() -> None:
    assert any(ticks_while_the_lock_is_held(microseconds) for microseconds in (500_000, 5_000_000, 30_000_000))


def ticks_while_the_lock_is_held(microseconds: int) -> bool:
    """Whether there were five of a millisecond each; a busy machine takes its time to run who ticks."""
    code = Code(EMPTY, ticks=5)
    epoch = capi.Epoch(code.engine)
    ticking = Pulse(epoch.FUNCTION, epoch.handle, 0.001)
    assert ticking.runs
    ctypes.PyDLL(None).usleep(microseconds)  # a `PyDLL` keeps the lock
    ticking.close()
    ticking.close()
    return not code.ends()


def test_a_ticker_looks_again_and_again() -> None:
    code = Code(NEVER_ENDING, most=5)
    ticker = Ticker(code.engine)
    ticker.enter()
    assert not code.ends()
    assert code.looks == 5
    ticker.leave()
    ticker.close()


def test_where_there_are_no_timers_the_thread_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "_libc", None)
    test_a_ticker_looks_again_and_again()


def test_where_the_system_makes_no_threads_for_timers_the_thread_ticks_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent(Pulse):
        def __init__(self, _function: int, _argument: int, _seconds: float) -> None:
            self.runs = True

        def close(self) -> None:
            self.runs = False

    monkeypatch.setattr(engine, "Pulse", Silent)
    test_a_ticker_looks_again_and_again()


def test_whoever_hurries_is_looked_at_at_once() -> None:
    code = Code(EMPTY, ticks=engine.MOST_TICKS)
    Ticker(code.engine).hurry()
    assert not code.ends()
