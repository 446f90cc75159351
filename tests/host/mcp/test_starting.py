"""A client that lists once, while servers start, is shown what they offer; for one that hangs it waits a little."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from mcp import Client

from isolith import CodeMode
from isolith.mcp import starting
from isolith.mcp.server import mcp_server
from isolith_bindings.testing import RecordingConnector, a_method

pytestmark = pytest.mark.anyio


class Starting(RecordingConnector):
    """A server that comes up when it is asked whether it is ready, or never."""

    def __init__(self, name: str, *, comes: bool = True) -> None:
        super().__init__(name, {})
        self.state, self.comes, self.asked = "starting", comes, 0

    def status(self) -> SimpleNamespace:
        return SimpleNamespace(state=self.state, reason=None)

    async def ready(self, timeout_s: float) -> bool:
        self.asked += 1
        if not self.comes:
            await asyncio.sleep(timeout_s)
            return False
        self.state, self.methods = "connected", {"note": a_method("note", description="Keep a note.")}
        return True


async def listed(*connectors: Starting) -> tuple[str, int]:
    """What a fresh server says of `execute`, and for how many milliseconds that may be kept."""
    async with CodeMode(connectors) as code_mode, Client(mcp_server(code_mode), mode="2026-07-28") as client:
        told = await client.list_tools(cache_mode="bypass")
    [execute] = [tool for tool in told.tools if tool.name == "execute"]
    return execute.description or "", told.ttl_ms


async def test_the_first_list_has_the_tools_of_a_server_that_was_starting() -> None:
    text, kept_ms = await listed(Starting("notes"))
    assert "notes.note(" in text
    assert kept_ms > 0


async def test_one_that_hangs_is_not_waited_for_long_and_its_list_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "STARTING_S", 0.01)
    text, kept_ms = await listed(Starting("mute", comes=False), Starting("notes"))
    assert "notes.note(" in text
    assert "mute (0 tools, starting)" in text
    assert kept_ms == 0


async def test_what_is_not_starting_is_not_asked() -> None:
    idle, failed = Starting("idle"), Starting("failed")
    idle.state, failed.state = "not_started", "failed"
    assert not await starting.still_starting([idle, failed])
    assert (idle.asked, failed.asked) == (0, 0)
