"""Of every end that there is a connector is told once: of each budget, each failure, a bug of ours, and a pause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.e2e.desk import Desk

from isolith import Budgets, CodeMode
from isolith.calling.calls import CallDesk
from isolith.durable.durability import Durability

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

KEEP = "await desk.look()\n"
"""Something is held upstream before it ends."""
ENDS: dict[str, tuple[str, Budgets]] = {
    "cpu_exceeded": (f"{KEEP}while True: pass", Budgets(cpu_ms=300)),
    "all its instructions": (f"{KEEP}while True: pass", Budgets(fuel=3_000_000_000)),
    "memory_exceeded": (f"{KEEP}x = bytearray(200 * 2**20)", Budgets(memory_mb=64)),
    "wall_exceeded": (f"{KEEP}await desk.hang()", Budgets(wall_s=4.0)),
    "calls_exceeded": (f"{KEEP}await desk.look()", Budgets(calls=1)),
    "calls of a connector": (f"{KEEP}await desk.look()", Budgets(calls_per_connector=1)),
    "tool_timeout": (f"{KEEP}await desk.hang()", Budgets(call_s=0.1)),
    "output_exceeded": (f"{KEEP}'x' * 2000", Budgets(value_bytes=1000)),
    "a script too large": (f"{KEEP}{'#' * 2000}", Budgets(script_bytes=1000)),
    "exception": (f"{KEEP}1 / 0", Budgets()),
    "tool_error": (f"{KEEP}await desk.fail()", Budgets()),
    "unknown_tool": (f"{KEEP}await desk.nothing()", Budgets()),
    "an exit": (f"{KEEP}raise SystemExit(3)", Budgets()),
    "a guest that is gone": (f"{KEEP}import os\nos.abort()", Budgets()),
}
EARLY = {"a script too large", "unknown_tool"}
"""Refused before anything is called."""


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def host(desk: Desk, tmp_path: Path) -> AsyncIterator[CodeMode]:
    async with desk.host(tmp_path) as made:
        yield made


@pytest.mark.parametrize("end", ENDS)
async def test_of_each_way_to_fail(host: CodeMode, desk: Desk, end: str) -> None:
    script, budgets = ENDS[end]
    outcome = await host.execute(script, budgets=budgets)
    await host.aclose()
    assert outcome.status == "failed"
    assert outcome.error is not None
    assert " " in end or outcome.error.kind == end, outcome.error
    assert [call.method for call in outcome.calls][:1] == ([] if end in EARLY else ["look"])
    assert (desk.told(outcome.execution_id), desk.upstream) == ((1, 1), {})


async def broken(*_: object) -> None:
    raise RuntimeError("a bug of ours")


def broken_at_once(*_: object) -> None:
    raise RuntimeError("a bug of ours")


@pytest.mark.parametrize(
    ("of", "method", "script"),
    [
        (Durability, "end", KEEP),
        (Durability, "pause", f"{KEEP}await desk.ask()"),
        (CallDesk, "close", KEEP),
        (Durability, "delivered", KEEP),
    ],
    ids=["when it ends", "when it pauses", "when its calls are closed", "when it is given an answer"],
)
async def test_of_a_bug_of_ours(
    host: CodeMode, desk: Desk, monkeypatch: pytest.MonkeyPatch, of: type, method: str, script: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(of, method, broken_at_once if method == "delivered" else broken)
        outcome = await host.execute(script)
    await host.aclose()
    assert outcome.error is not None
    assert (outcome.status, outcome.error.kind) == ("failed", "internal")
    assert (desk.told(outcome.execution_id), desk.upstream) == ((1, 1), {})
