"""For how long a list is believed (PM-23): `ttlMs` and `cacheScope` of 2026-07-28, with a server of the SDK."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.bindings.mcp.bench import PATIENCE_S, connected, python_server

from isolith_bindings.mcp.freshness import LONGEST_S, UNSAID, Freshness, Lists, freshness_of
from isolith_bindings.mcp.scopes import Sharing

if TYPE_CHECKING:
    from pathlib import Path

    from isolith_bindings.mcp.descriptions import StdioServer

pytestmark = pytest.mark.anyio

HOUR = 3_600_000
"""A time that does not pass; the other is 1, which soon has."""


async def over() -> None:
    """A millisecond has passed since."""
    await asyncio.sleep(0.01)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace"


def server(trace: Path, ttl_ms: int, scope: str = "private") -> StdioServer:
    return python_server("cached_server.py", str(ttl_ms), scope, str(trace))


def asked(trace: Path, what: str) -> int:
    """How often the server was asked for a list."""
    return trace.read_text().split().count(what)


async def test_a_list_is_not_read_again_while_it_may_be_believed(trace: Path) -> None:
    async with connected(server(trace, HOUR)) as bench:
        for _ in range(3):
            await bench.call("idle")
            assert await bench.connector.ready()
        first = await bench.call("list_resources")
        assert isinstance(first, list)
        first[0]["uri"] = "changed by whoever was given it"
        again = await bench.call("list_resources")
        assert isinstance(again, list)
        assert [entry["uri"] for entry in again] == ["note://one"]
        assert await bench.call("list_prompts") == await bench.call("list_prompts")
        await bench.call("sneak")
        assert "later" not in bench.connector.methods
    assert [asked(trace, f"{what}/list") for what in ("tools", "resources", "prompts")] == [1, 1, 1]


async def test_what_is_said_to_have_changed_is_read_at_once_all_the_same(trace: Path) -> None:
    async with connected(server(trace, HOUR)) as bench:
        assert len(await listed(bench.call("list_resources"))) == 1
        await bench.call("add")
        await bench.until(lambda: "later" in bench.connector.methods)
        async with asyncio.timeout(PATIENCE_S):
            while len(await listed(bench.call("list_resources"))) == 1:
                await asyncio.sleep(0.02)
        assert asked(trace, "prompts/list") == 0


async def listed(call: object) -> list[object]:
    value = await call  # type: ignore[misc]
    assert isinstance(value, list)
    return value


async def test_a_list_whose_time_is_over_is_read_when_it_is_next_needed(trace: Path) -> None:
    async with connected(server(trace, 1)) as bench:
        assert asked(trace, "tools/list") == 1
        await over()
        await bench.call("sneak")
        # Nobody said that there is another tool; nothing is read for nobody.
        before = asked(trace, "tools/list")
        await over()
        assert "later" not in bench.connector.methods
        assert asked(trace, "tools/list") == before
        # By who looks through what there is, and by a call.
        assert await bench.connector.ready()
        await over()
        assert await bench.call("later") == "here"
        assert asked(trace, "tools/list") == before + 2
        await bench.call("list_resources")
        await over()
        await bench.call("list_resources")
        assert asked(trace, "resources/list") == 2


@pytest.mark.parametrize(("scope", "lists"), [("public", 1), ("private", 2)])
async def test_what_is_private_is_read_by_every_principal_for_itself(scope: str, lists: int, trace: Path) -> None:
    async with connected(server(trace, HOUR, scope), sharing=Sharing("principal")) as bench:
        for principal in ("ada", "bob"):
            context = replace(bench.context(), principal=principal)
            assert await bench.call_in(context, "idle") == "done"
            assert len(await listed(bench.call_in(context, "list_resources"))) == 1
        assert len(bench.connector.status().members) == 2
    assert (asked(trace, "tools/list"), asked(trace, "resources/list")) == (lists, lists)


async def test_a_server_that_died_is_listed_anew_however_long_it_had_said(trace: Path) -> None:
    async with connected(server(trace, HOUR, "public")) as bench:
        first = bench.pid()
        os.kill(first, signal.SIGKILL)
        async with asyncio.timeout(PATIENCE_S):
            while not (members := bench.connector.status().members) or members[0].pid in {first, None}:
                await asyncio.sleep(0.02)
        assert asked(trace, "tools/list") == 2
        assert (await bench.connector.reconnect()).ok
        assert asked(trace, "tools/list") == 3


async def test_of_a_server_that_does_not_say_how_long_a_list_counts_until_it_changes(trace: Path) -> None:
    async with connected(server(trace, 0)) as bench:
        await bench.call("idle")
        assert await bench.connector.ready()
        await bench.call("list_resources")
        await bench.call("list_resources")
    assert (asked(trace, "tools/list"), asked(trace, "resources/list")) == (1, 2)


@pytest.mark.parametrize(
    ("pages", "freshness"),
    [
        ([], UNSAID),
        ([{}], UNSAID),
        ([{"ttlMs": 1500, "cacheScope": "public"}], Freshness(1.5, public=True)),
        ([{"ttlMs": 1500, "cacheScope": "public"}, {"ttlMs": 500, "cacheScope": "private"}], Freshness(0.5)),
        ([{"ttlMs": 1500, "cacheScope": "public"}, {}], UNSAID),
        ([{"ttlMs": 10**400, "cacheScope": "everyone"}], Freshness(LONGEST_S)),
        ([{"ttlMs": float("inf")}], Freshness(LONGEST_S)),
        *([[{"ttlMs": odd}], UNSAID] for odd in (-5, float("nan"), True, "500", None, [5])),
    ],
)
def test_how_long_is_bounded_whatever_is_said(pages: list[dict[str, object]], freshness: Freshness) -> None:
    assert freshness_of(pages) == freshness


def test_lists_are_kept_for_their_time_and_for_whom_they_are() -> None:
    now, shared = [0.0], dict[str, object]()
    one, two = (Lists(shared, lambda: now[0]) for _ in range(2))  # type: ignore[arg-type]
    one.keep("prompts/list", [{"name": "mine"}], Freshness(5), one.changes)
    one.keep("resources/list", [{"uri": "all"}], Freshness(9, public=True), one.changes)
    one.keep("resources/templates/list", [{"uriTemplate": "x"}], UNSAID, one.changes)
    assert (one.get("prompts/list"), two.get("prompts/list")) == ([{"name": "mine"}], None)
    assert one.get("resources/list") == two.get("resources/list") == [{"uri": "all"}]
    assert one.get("resources/templates/list") is None
    now[0] = 5.0
    assert one.get("prompts/list") is None
    two.forget("resources")
    assert one.get("resources/list") is None
    # One that was begun to be read before it changed is not what it is now.
    two.keep("resources/list", [{"uri": "old"}], Freshness(9, public=True), two.changes - 1)
    assert two.get("resources/list") is None
