"""However much a guest says, the host holds little of it at a time."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio
import psutil
import pytest

from isolith import Budgets, CodeMode, connector
from isolith.run import allowance

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.security.desk import Desk

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

GUEST_MB = 96
HOST_MB = 160
"""Twice what one batch may weigh, as bytes and as the objects made of them, and what the allocator keeps."""
POLL_S = 0.005

FLOODS = {
    "warnings": '["warning","exception","%s",1]',
    "calls": '["call",{number},"vault","x",{{"a":"%s"}},1]',
    "attributes": '["log","info","x",{{"a":"%s"}},1]',
}
SMALL = ('["parked",0,1]', '["cancel",7]', '["emit",[[]]]', '["log","info","",{},1]', '["warning","check","",1]')


class Peak:
    """The most resident memory seen, in MiB above what there was at first."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._first = self._process.memory_info().rss
        self.mb = 0

    def look(self) -> None:
        self.mb = max(self.mb, (self._process.memory_info().rss - self._first) >> 20)


@contextmanager
def watched() -> Generator[Peak]:
    peak, over = Peak(), threading.Event()

    def watch() -> None:
        while not over.wait(POLL_S):
            peak.look()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()


@pytest.mark.parametrize("frame", FLOODS.values(), ids=FLOODS)
async def test_frames_of_megabytes(frame: str, code_mode: CodeMode) -> None:
    script = f"""
import os
text = "y" * 2_000_000
for number in range(1, 10_000):
    os.write(4, f'[{frame.replace("%s", "{text}")}]'.encode())
"""
    await _stays_small(script, code_mode, cpu_ms=1_500)


@pytest.mark.parametrize("frame", SMALL)
async def test_small_frames_without_end(frame: str, code_mode: CodeMode) -> None:
    script = f"""
import os
batch = ("[" + ",".join(['{frame}'] * 1000) + "]").encode()
while True:
    os.write(4, batch)
"""
    await _stays_small(script, code_mode, cpu_ms=600)


@pytest.mark.parametrize("kind", ["emit", "call"])
async def test_lists_that_take_thirty_times_their_text(kind: str, code_mode: CodeMode) -> None:
    """Those of calls are held as long as these wait for their turn, behind eight that never end."""
    frame = '["emit",[{}]]' if kind == "emit" else '["call",{{number}},"desk","echo",{{{{"value":[{}]}}}},1]'
    lists = "[]," * 300_000 + "1"
    script = f"""
import os
for number in range(1, 9):
    os.write(4, f'[["call",{{number}},"desk","slow",{{{{}}}},1]]'.encode())
lists = "[]," * 300_000 + "1"
for number in range(9, 29):
    os.write(4, f'[{frame.format("{lists}")}]'.encode())
"the end"
"""
    assert len(lists) < 1 << 20
    with watched() as peak:
        outcome = await code_mode.execute(script, budgets=Budgets(cpu_ms=6_000, memory_mb=GUEST_MB))
    assert outcome.status in {"completed", "failed"}
    assert peak.mb < GUEST_MB + HOST_MB, outcome.error


@connector("wide")
class Wide:
    """Takes items of many kinds, none of them a text."""

    async def take(self, items: list[int | bool | dict[str, int] | tuple[int, int]]) -> int:
        """How many there are."""
        return len(items)


@pytest.mark.parametrize("where", ["argument", "value"])
async def test_what_is_wrong_in_a_million_places(where: str) -> None:
    """Each is an error for each branch of a union, of 240 bytes and more, where a validator keeps them all."""
    async with CodeMode([Wide()]) as code_mode:
        await code_mode.execute("1 + 1")
        with watched() as peak:
            if where == "argument":
                outcome = await code_mode.execute("await wide.take(items=[''] * 340_000)")
            else:
                outcome = await code_mode.execute("[''] * 1_500_000", result_type=list[int | float | bool])
    assert outcome.error is not None
    assert outcome.error.kind == ("invalid_arguments" if where == "argument" else "invalid_result")
    assert "[0]" in outcome.error.message
    assert peak.mb < HOST_MB


ANSWERED = """
calls = [asyncio.create_task(desk.echo(value="y" * 200_000)) for _ in range(40)]
await asyncio.sleep(0)
print("all have been asked for")
"""


@pytest.mark.parametrize("most", [1 << 20, 1])
async def test_no_more_is_asked_for_a_guest_that_takes_no_answers(
    most: int, code_mode: CodeMode, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowance, "MAX_UNTAKEN", most)
    budgets = Budgets(cpu_ms=60_000, concurrent_calls_per_connector=8)
    execution = code_mode.start(f"{ANSWERED}while True: pass", budgets=budgets)
    with anyio.fail_after(120):  # each call is journalled before it is made, however long that takes
        while not desk.reached:
            await anyio.sleep(0.01)
    await anyio.sleep(1)
    execution.cancel()
    assert (await execution.outcome()).status == "cancelled"
    assert 1 <= len(desk.reached) <= most // 200_000 + 8  # those that were under way when it was enough


async def test_a_guest_that_takes_its_answers_late_gets_all_of_them(
    code_mode: CodeMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowance, "MAX_UNTAKEN", 1)
    script = f"{ANSWERED}sum(range(3_000_000))\nsum(map(len, await asyncio.gather(*calls)))"
    budgets = Budgets(cpu_ms=60_000, wall_s=240, call_s=240)  # whatever a busy machine takes for it
    outcome = await code_mode.execute(script, budgets=budgets)
    assert (outcome.value, outcome.error) == (40 * 200_000, None)


async def _stays_small(script: str, code_mode: CodeMode, *, cpu_ms: int) -> None:
    with watched() as peak:
        outcome = await code_mode.execute(script, budgets=Budgets(cpu_ms=cpu_ms, memory_mb=GUEST_MB))
    assert outcome.status == "failed"
    assert peak.mb < GUEST_MB + HOST_MB, outcome.error
