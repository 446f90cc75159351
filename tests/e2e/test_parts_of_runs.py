"""What a snippet runs is a part of the run around it: no door lists it beside that, and each names it there."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from tests.host.http.conftest import app_of, token_for
from typer.testing import CliRunner, Result

from isolith import CodeMode, connector
from isolith.command_line.cli import app

if TYPE_CHECKING:
    from pathlib import Path


@connector("crm")
class Crm:
    """Contacts."""

    async def count(self) -> int:
        """How many there are."""
        return 3


async def filled(code_mode: CodeMode) -> tuple[str, str]:
    """The ids of a run that calls a snippet, and of the one that proved it."""
    proven = await code_mode.execute("await crm.count()")
    made = await code_mode.snippets.propose(proven.execution_id, "counted", "How many there are", who="ada")
    await code_mode.snippets.approve("counted", made.version, who="bob", content_hash=made.content_hash)
    around = await code_mode.execute("await snippets.counted()")
    assert around.value == 3, around.error
    return around.execution_id, proven.execution_id


def isolith(journal: str, *arguments: str) -> Result:
    done = CliRunner().invoke(app, ["executions", *arguments, "--journal", journal])
    assert done.exit_code == 0, done.output
    return done


def data(journal: str, *arguments: str) -> Any:  # noqa: ANN401 - JSON
    return json.loads(isolith(journal, *arguments, "--json").stdout)


def test_the_command_lists_runs_and_shows_their_parts(tmp_path: Path) -> None:
    url = str(tmp_path / "journal.db")

    async def fill() -> tuple[str, str]:
        async with CodeMode([Crm], journal=url, tend=False) as code_mode:
            return await filled(code_mode)

    around, proven = asyncio.run(fill())
    assert [one["execution_id"] for one in data(url, "list")] == [around, proven]
    listed = data(url, "list", "--parts")
    assert {one["execution_id"] for one in listed} == {around, f"{around}.1", proven}
    assert f"snippets.counted is a run of its own: executions show {around}.1" in isolith(url, "show", around).stdout
    # The beginning of its id means the run, and not what is within it.
    shown = data(url, "show", around[:12])
    assert (shown["execution_id"], [call["call_id"] for call in shown["calls"]]) == (around, [f"{around}.1"])
    within = data(url, "show", f"{around}.1")
    assert ([call["method"] for call in within["calls"]], within["value"]) == (["count"], 3)


@pytest.mark.anyio
async def test_the_api_lists_runs_and_answers_for_their_parts(tmp_path: Path) -> None:
    async with CodeMode([Crm], journal=tmp_path / "journal.db", tend=False) as code_mode:
        around, proven = await filled(code_mode)
        token = await token_for((await code_mode.runs()).journal, "root", "admin")
        api = app_of(code_mode)
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=api), base_url="http://127.0.0.1:8000", headers=headers
        ) as http:
            listed = (await http.get("/v1/executions")).json()["executions"]
            every = (await http.get("/v1/executions?parts=true")).json()["executions"]
            part = (await http.get(f"/v1/executions/{around}.1")).json()
            one = (await http.get(f"/v1/executions/{around}")).json()
    assert [each["execution_id"] for each in listed] == [around, proven]
    assert {each["execution_id"] for each in every} == {around, f"{around}.1", proven}
    assert (part["value"], [call["call_id"] for call in one["calls"]]) == (3, [f"{around}.1"])
