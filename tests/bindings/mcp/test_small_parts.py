"""Where a server is, when it is tried again, and what the SDK is handed."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import methods

from isolith_bindings.errors import BindError, InvalidName
from isolith_bindings.mcp.backoff import FIRST_S, LONGEST_S, STEADY_S, Backoff
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.mcp.descriptions import HttpServer, SseServer, StdioServer
from isolith_bindings.mcp.lenient import acceptable
from isolith_bindings.mcp.oauth import OAuth
from isolith_bindings.mcp.scopes import Sharing
from isolith_bindings.mcp.stdio import Program
from isolith_bindings.secrets import Secret, remember

DICE = random.Random(1)  # noqa: S311 - a test repeats itself


@pytest.mark.parametrize("url", ["", "example.com", "ftp://example.com", "http://", "https:///path", "file:///etc"])
def test_what_is_no_url_of_a_server(url: str) -> None:
    with pytest.raises(BindError, match="no URL of an MCP server"):
        HttpServer(url)


def test_no_credential_is_shown() -> None:
    url = "https://user:in-clear@example.com:8443/mcp?token=in-clear#in-clear"
    shown = [
        *(repr(kind(url, headers={"A": "in-clear"}, bearer="in-clear")) for kind in (HttpServer, SseServer)),
        HttpServer(url).place,
        repr(StdioServer("run", env={"A": "in-clear"})),
        StdioServer("run", ("--token=in-clear",)).place,
        repr(OAuth(client_secret=Secret.literal("in-clear"))),
        repr(McpServer("box", url)),
    ]
    assert "in-clear" not in str(shown)
    assert HttpServer(url).place == "https://example.com:8443/mcp"
    assert HttpServer("http://[::1]:9/x").place == "http://[::1]:9/x"


@pytest.mark.parametrize("before", [*range(470, 500), 10_000])
def test_no_half_of_a_secret_is_kept_of_a_long_line_that_a_server_wrote(before: int) -> None:
    remember("canary-of-a-long-line")
    program = Program()
    program.note(b"." * before + b"canary-of-a-long-line")
    assert "canary" not in program.last_words()


def test_a_connector_that_cannot_be() -> None:
    with pytest.raises(InvalidName):
        McpServer("print", "http://127.0.0.1/")
    with pytest.raises(BindError, match="choose one"):
        HttpServer("http://127.0.0.1/", bearer="x", oauth=OAuth())
    for sharing in (Sharing(most=0), Sharing(least=3, most=2), Sharing(least=-1)):
        with pytest.raises(BindError, match="`least` between 0 and that"):
            McpServer("box", "http://127.0.0.1/", sharing=sharing)


def test_a_server_that_fails_is_tried_less_and_less_often() -> None:
    backoff, now, waits = Backoff(dice=DICE), 0.0, list[float]()
    for _ in range(20):
        backoff.failed(now)
        waits.append(backoff.wait_s(now))
        now += waits[-1]
    assert 0.8 * FIRST_S <= waits[0] <= 1.2 * FIRST_S
    assert all(0.8 * LONGEST_S <= wait <= 1.2 * LONGEST_S for wait in waits[-5:])
    assert waits[3] > waits[0]
    backoff.reset()
    assert backoff.wait_s(now) == 0


def test_one_that_ran_for_long_is_as_good_as_new() -> None:
    backoff = Backoff(dice=DICE)
    for _ in range(10):
        backoff.ended(0.1, 0.0)
    assert backoff.wait_s(0.0) > 10
    backoff.ended(STEADY_S, 0.0)
    assert backoff.wait_s(0.0) <= 1.2 * FIRST_S


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**60) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
RESULTS = ["tools/call", "tools/list", "resources/list", "resources/read", "prompts/list", "prompts/get"]


@given(
    method=st.sampled_from([*RESULTS, "resources/templates/list"]),
    version=st.sampled_from(["2026-07-28", "2025-11-25", "2024-11-05"]),
    result=st.dictionaries(
        st.sampled_from(["tools", "content", "contents", "messages", "nextCursor", "resultType", "ttlMs", "x"]),
        anything,
    ),
)
def test_the_sdk_takes_what_it_is_handed(method: str, version: str, result: dict[str, object]) -> None:
    methods.validate_server_result(method, version, acceptable(method, result))


@given(st.lists(st.dictionaries(st.sampled_from(["name", "inputSchema"]), anything) | anything))
def test_the_sdk_takes_any_list_of_tools(tools: list[object]) -> None:
    methods.validate_server_result("tools/list", "2026-07-28", acceptable("tools/list", {"tools": tools}))


@pytest.mark.parametrize("more", [{}, {"ttlMs": -1}, {"cacheScope": "odd"}, {"ttlMs": 5, "cacheScope": "public"}])
def test_a_server_that_says_little_of_itself_is_still_of_its_era(more: dict[str, object]) -> None:
    said = {"supportedVersions": ["2026-07-28"], "capabilities": {}, **more}
    methods.validate_server_result("server/discover", "2026-07-28", acceptable("server/discover", said))
