"""The hint that lets ticks come soon on a busy machine: taken by the thread that asks and those it makes, and by no other."""

from __future__ import annotations

import platform
import threading

import pytest
import wasmtime

from isolith_runtime import promptness
from isolith_runtime.engine import Ticker

PROMPT_NS = 100_000


def in_a_thread(*, asks: bool) -> tuple[int | None, int | None]:
    """What a thread asks for after it may have asked, and what one that it makes does."""
    found: list[int | None] = []

    def look() -> None:
        found.append(promptness.slice_ns())

    def run() -> None:
        if asks:
            promptness.ask_for()
        look()
        inner = threading.Thread(target=look)
        inner.start()
        inner.join()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0], found[1]


@pytest.mark.skipif(promptness.slice_ns() in {None, 0, PROMPT_NS}, reason="this system has no slice to ask for")
def test_it_holds_for_the_thread_and_those_it_makes() -> None:
    before = promptness.slice_ns()
    assert in_a_thread(asks=True) == (PROMPT_NS, PROMPT_NS)
    assert in_a_thread(asks=False) == (before, before)
    assert promptness.slice_ns() == before


def test_a_machine_without_it_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "another")
    assert in_a_thread(asks=True) == (None, None)


def test_a_ticker_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(promptness, "ask_for", lambda: asked.append(threading.current_thread().name))
    ticker = Ticker(wasmtime.Engine())
    ticker.enter()
    ticker.leave()
    ticker.close()
    assert asked == ["isolith-ticker"]
