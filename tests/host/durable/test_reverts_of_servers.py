"""What an MCP server and an API did is undone as the configuration says: neither can say it itself."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.loopback import Got, Reply, serving

from isolith import CodeMode
from isolith.configuration.config import read_config
from isolith.configuration.connect import connect_all

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

NOTES = """
import sys
from pathlib import Path
from mcp.server import MCPServer

server = MCPServer("notes")
FILE = Path(__file__).with_name("notes.txt")


@server.tool()
def add(text: str) -> str:
    with FILE.open("a") as file:
        file.write(f"{text}\\n")
    return text.upper()


@server.tool()
def remove(text: str, was: str) -> None:
    FILE.write_text(f"{text} {was} is gone")


server.run()
"""
SHOP = {
    "openapi": "3.1.0",
    "info": {"title": "shop", "version": "1"},
    "paths": {
        "/orders": {
            "post": {
                "operationId": "make",
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"item": {"type": "string"}},
                                "required": ["item"],
                            }
                        }
                    },
                },
                "responses": {"200": {"description": "made", "content": {"application/json": {"schema": {}}}}},
            }
        },
        "/orders/{order_id}": {
            "delete": {
                "operationId": "cancel",
                "parameters": [{"name": "order_id", "in": "path", "required": True, "schema": {"type": "integer"}}],
                "responses": {"204": {"description": "gone"}},
            }
        },
    },
}
CONFIG = """
[connectors.notes]
command = {python}
args = ["notes.py"]

[connectors.shop]
openapi = "shop.json"
server = "{url}"

[reverts]
"notes.add" = {{ method = "notes.remove", arguments = {{ text = "$arguments.text", was = "$result" }} }}
"shop.make" = {{ method = "shop.cancel", arguments = {{ order_id = "$result.id" }} }}
"""


def answer(got: Got) -> Reply:
    return Reply(status=204) if got.method == "DELETE" else Reply.of({"id": 7})


async def test_each_by_another_of_its_methods(tmp_path: Path) -> None:
    (tmp_path / "notes.py").write_text(NOTES)
    (tmp_path / "shop.json").write_text(json.dumps(SHOP))
    async with serving(answer) as server:
        (tmp_path / "isolith.toml").write_text(CONFIG.format(python=json.dumps(sys.executable), url=server.url))
        file = read_config(tmp_path / "isolith.toml")
        connectors = connect_all([], config=file)
        async with CodeMode(
            connectors, policy="trusted", journal=tmp_path / "journal.db", reverts=file.config.reverts, tend=False
        ) as code_mode:
            done = await code_mode.execute("[await notes.add(text='tea'), await shop.make(item='tea')]")
            assert done.error is None
            back = await code_mode.rollback(done.execution_id)
        assert (back.status, [call.status for call in back.calls]) == ("rolled_back", ["reverted"] * 2)
        assert [(got.method, got.path) for got in server.got] == [("POST", "/orders"), ("DELETE", "/orders/7")]
    assert (tmp_path / "notes.txt").read_text() == "tea TEA is gone"
