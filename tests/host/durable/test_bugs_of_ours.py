"""Whatever fails where a call is written down, the run ends at once and says so: it does not wait for its time to pass."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.e2e.desk import Desk

from isolith import Budgets
from isolith.durable.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from isolith_runtime.driver import Supply

pytestmark = pytest.mark.anyio

AFTER = "\nawait asyncio.sleep(50)"
"""Long enough that a run which has not noticed is still there."""
BROKEN = {
    "a call that begins": (["started"], "await desk.look()"),
    "a call that begins, and that it failed": (["started", "ended"], f"asyncio.create_task(desk.look()){AFTER}"),
    "a result": (["ended"], f"await desk.look(){AFTER}"),
    "a failure": (["ended"], f"asyncio.create_task(desk.fail()){AFTER}"),
    "a question": (["asked"], f"asyncio.create_task(desk.ask()){AFTER}"),
    "a refusal": (["refused"], f"for _ in range(6): asyncio.create_task(desk.look()){AFTER}"),
    "a call that is given up": (
        ["ended"],
        f"task = asyncio.create_task(desk.hang())\nawait asyncio.sleep(1)\ntask.cancel(){AFTER}",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
async def test_a_run_ends_at_once(what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, supply: Supply) -> None:
    methods, script = BROKEN[what]

    async def broken(*_given: object, **_named: Mapping[str, object]) -> None:
        raise RuntimeError("some word")

    for method in methods:
        monkeypatch.setattr(Ledger, method, broken)
    async with Desk().host(tmp_path) as host, asyncio.timeout(40):
        outcome = await host.execute(script, budgets=Budgets(calls=5))
    assert outcome.status == "failed"
    assert outcome.error is not None
    assert outcome.error.kind == "internal"
    assert outcome.error.error_id
    assert "some word" not in outcome.error.message
