"""A run that is asked for over HTTP under an idempotency key, and a host that is killed on the way."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import httpx2
from tests.host.http.conftest import app_of
from tests.host.journal.crasher import Killer
from tests.host.journal.runner import tool_of

from isolith import CodeMode

if TYPE_CHECKING:
    from isolith.journal import Journal

SCRIPT = "[await tool.get(n=1), await tool.get(n=2)]"


async def post(code_mode: CodeMode) -> dict[str, Any]:
    """The same request, whoever sends it."""
    transport = httpx2.ASGITransport(app=app_of(code_mode, auth=False))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
        body = {"script": SCRIPT, "wait_s": 30}
        answer = await http.post("/v1/executions", json=body, headers={"Idempotency-Key": "k"}, timeout=60)
    assert answer.status_code in {201, 202}, answer.text
    return cast("dict[str, Any]", answer.json())


async def asked(journal: str | Journal, effects: Path, killer: Killer | None = None) -> dict[str, Any]:
    """Take over what is left, ask, and say yes to whatever is asked about."""
    async with CodeMode([tool_of(effects)], journal=journal, tend=False) as code_mode:
        runs = await code_mode.runs()
        if killer is not None:
            killer.arm()
            return await post(code_mode)
        await runs.recover()
        outcome = await post(code_mode)
        while outcome["status"] == "paused":
            waiting = outcome["pending"][0]
            await code_mode.approve(outcome["execution_id"], waiting["call_id"], digest=waiting["digest"])
            outcome = await post(code_mode)
        return outcome


def main(url: str, effects: str, at: str, side: str) -> None:
    """Ask for it, and be killed at write number `at`, before or after the commit; unless there are fewer."""
    outcome = asyncio.run(asked(url, Path(effects), Killer(int(at), side)))
    assert outcome["status"] == "completed", outcome
