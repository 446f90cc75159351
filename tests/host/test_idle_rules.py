"""A rule that fits nothing is told in the log of whoever uses the library, once, and when it is known."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from isolith import CodeMode, Policy, Rule, connector
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.mcp.descriptions import StdioServer

SERVER = str(Path(__file__).parents[2] / "fixtures" / "mcp" / "changed_server.py")
POLICY = Policy(preset="trusted", rules=(Rule(match=("notes.delte_*",), action="deny"),))
TOLD = "policy: rule 1 (`notes.delte_*`) fits no method of what is connected"


@connector("notes")
class Notes:
    """Notes."""

    async def delete_all(self) -> None:
        """Away with them."""


@pytest.mark.anyio
async def test_it_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """It used to be told nowhere: under `trusted` the method was open."""
    with caplog.at_level(logging.WARNING, "isolith"):
        async with CodeMode([Notes], policy=POLICY) as code_mode:
            assert caplog.messages == [TOLD]
            await code_mode.ready()
    assert caplog.messages == [TOLD]


@pytest.mark.anyio
@pytest.mark.slow
async def test_of_a_server_it_is_told_once_it_has_said_what_it_offers(caplog: pytest.LogCaptureFixture) -> None:
    server = McpServer("notes", StdioServer(sys.executable, (SERVER, "before")))
    with caplog.at_level(logging.WARNING, "isolith"):
        async with CodeMode([server], policy=POLICY) as code_mode:
            assert caplog.messages == []
            await code_mode.ready()
    assert caplog.messages == [TOLD]
