"""A run beside a document that cannot be read: others go on, and what its methods are used for says why not."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from isolith import CodeMode, OpenApi
from isolith.command_line import cli
from isolith_bindings.functions import as_connector

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
try:
    await shop.list_things(limit=1)
except ToolError as error:
    told = [error.connector, error.kind, str(error)]
[told, await crm.double(x=4)]
"""


def double(x: int) -> int:
    return 2 * x


@pytest.mark.slow
@pytest.mark.usefixtures("supply")
def test_a_script_goes_on_beside_it(tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_text('{"openapi": "4.0.0"}')

    async def within() -> None:
        crm = as_connector({"double": double}, "crm")
        async with CodeMode([OpenApi(tmp_path / "shop.json"), crm]) as code_mode:
            outcome = await code_mode.execute(SCRIPT)
            assert outcome.error is None
            assert isinstance(outcome.value, list)
            assert outcome.value[1] == 8
            assert outcome.value[0][:2] == ["shop", "tool_unavailable"]
            assert outcome.value[0][2].startswith("shop is not there: shop.json")
            uncaught = (await code_mode.execute("x = 1\nshop.list_things(limit=1)")).error
            assert uncaught is not None
            assert (uncaught.kind, uncaught.line) == ("tool_unavailable", 2)
            assert "isolith connectors status shop" in str(uncaught.hint)

    asyncio.run(within())


def test_its_status_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_text('{"openapi": "4.0.0"}')
    good = {
        "openapi": "3.1.0",
        "info": {"title": "A", "version": "1"},
        "servers": [{"url": "https://api.example"}],
        "paths": {"/a": {"get": {"responses": {}}}},
    }
    (tmp_path / "good.json").write_text(json.dumps(good))
    specs = ["--connect", str(tmp_path / "shop.json"), "--connect", str(tmp_path / "good.json")]
    shown = CliRunner().invoke(cli.app, ["connectors", "status", *specs])
    assert shown.exit_code == 1
    # Each as soon as it is known, in any order.
    ready, broken = sorted(line for line in shown.stdout.splitlines() if not line.startswith(" "))
    assert ready == "good: ready"
    assert broken.startswith(f"shop: failed: {tmp_path / 'shop.json'}")
    renewed = CliRunner().invoke(cli.app, ["connectors", "reconnect", "shop", *specs])
    assert renewed.exit_code == 1
    assert renewed.stdout.startswith("shop: not connected: ")
    searched = CliRunner().invoke(cli.app, ["search", "get", *specs])
    assert searched.exit_code == 0
    assert "isolith: shop is not there: shop.json" in searched.stderr
