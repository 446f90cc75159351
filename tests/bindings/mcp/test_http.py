"""Servers behind a URL that fail as networks do: each failure costs one call, and is said in a line."""

from __future__ import annotations

import asyncio

import pytest
from tests.bindings.mcp.bench import PATIENCE_S, Bench, connected, free_port
from tests.bindings.mcp.faulty_http import JSON, Faulty, Handler, faulty_http

from isolith_bindings.mcp import http as careful
from isolith_bindings.mcp.descriptions import HttpServer
from isolith_bindings.mcp.options import Options
from isolith_bindings.secrets import Secret

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])


@ERAS
async def test_a_server_without_faults(modern: bool) -> None:
    with faulty_http(Faulty(modern=modern)) as told:
        async with connected(told.server) as bench:
            assert await bench.call("work", region="eu") == {"region": "eu"}
            assert bench.connector.status().era == ("modern" if modern else "legacy")
    assert told.seen[-1].get("mcp-param-region") == ("eu" if modern else None)


async def test_credentials_go_with_every_request_and_are_shown_nowhere() -> None:
    with faulty_http() as told:
        server = HttpServer(told.url, headers={"X-Key": "key-in-clear"}, bearer=Secret.literal("token-in-clear"))
        async with connected(server) as bench:
            await bench.call("work")
            texts = (repr(bench.connector), repr(server), repr(bench.connector.status()))
    assert all(seen["x-key"] == "key-in-clear" for seen in told.seen)
    assert all(seen["authorization"] == "Bearer token-in-clear" for seen in told.seen)
    assert not any("in-clear" in text for text in texts)


async def test_a_credential_that_cannot_be_read_says_which() -> None:
    server = HttpServer("http://127.0.0.1:1/mcp", bearer=Secret.env("ISOLITH_NO_SUCH_TOKEN"))
    async with connected(server, ready=False) as bench:
        assert not await bench.connector.ready(PATIENCE_S)
        assert "ISOLITH_NO_SUCH_TOKEN is not set" in str(bench.connector.status().reason)


async def test_nothing_listens() -> None:
    port = free_port()
    async with connected(HttpServer(f"http://127.0.0.1:{port}/mcp"), ready=False) as bench:
        assert not await bench.connector.ready(PATIENCE_S)
        status = bench.connector.status()
        assert status.state == "failed"
        assert str(status.reason).startswith(f"http://127.0.0.1:{port}/mcp: 127.0.0.1 cannot be reached: ")


@pytest.mark.parametrize("status", [401, 403])
async def test_a_server_that_wants_to_know_who_calls(status: int) -> None:
    with faulty_http(Faulty(status=status, body=b"who are you?")) as told:
        async with connected(told.server, ready=False) as bench:
            assert not await bench.connector.ready(PATIENCE_S)
            assert bench.connector.status().state == "needs_auth"
            assert "who are you?" in str(bench.connector.status().reason)


@pytest.mark.parametrize(("status", "said"), [(405, True), (501, True), (404, False)])
async def test_an_address_that_takes_no_post_may_be_that_of_a_document(status: int, *, said: bool) -> None:
    with faulty_http(Faulty(status=status)) as told:
        async with connected(told.server, ready=False) as bench:
            assert not await bench.connector.ready(PATIENCE_S)
            reason = str(bench.connector.status().reason)
    assert f"HTTP {status}" in reason
    assert reason.endswith("an address that ends in .json or .yaml") == said


@ERAS
async def test_an_error_of_http_costs_one_call_and_says_which_it_was(modern: bool) -> None:
    with faulty_http(Faulty(modern=modern)) as told:
        async with connected(told.server) as bench:
            told.status, told.body = 503, b"the backend is asleep"
            failed = await bench.failure("work")
            assert failed.kind == "tool_error"
            assert failed.message == "HTTP 503 Service Unavailable: the backend is asleep"
            # A server whose backend is down is not a dead server.
            assert bench.connector.status().state == "connected"
            assert bench.connector.status().last_call_error == failed.message
            told.status = None
            assert await bench.call("work") == {}
            assert bench.connector.status().restarts == 0


@ERAS
async def test_a_page_instead_of_an_answer(modern: bool) -> None:
    with faulty_http(Faulty(modern=modern)) as told:
        async with connected(told.server) as bench:
            told.status, told.body, told.kind = 200, b"<html>Sign in</html>", "text/html"
            assert "text/html" in (await bench.failure("work")).message


@ERAS
async def test_a_stream_that_breaks_is_no_answer_and_not_asked_again(modern: bool) -> None:
    with faulty_http(Faulty(modern=modern, breaks=1)) as told:
        async with connected(told.server) as bench:
            failed = await bench.failure("work")
            assert failed.kind == "tool_unavailable"
            assert failed.data == {"may_have_happened": True}
            assert told.calls == 1
            assert await bench.call("work") == {}


class Safe(Handler):
    """Its tool says that it only reads, and it has notes whose first reading breaks off."""

    def _answer(self, message: dict[str, object], method: str) -> None:
        if method == "tools/list":
            self._result(message, {"tools": [{"name": "work", "annotations": {"readOnlyHint": True}}]})
        elif method == "resources/read" and self.faulty.breaks:
            self._call(message)
        elif method == "resources/read":
            self.faulty.calls += 1
            self._result(message, {"contents": [{"uri": "note://a", "text": "read"}]})
        elif method == "server/discover":
            self._result(message, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "resources": {}}})
        else:
            super()._answer(message, method)


async def test_a_stream_that_breaks_is_asked_again_once_where_a_trusted_server_says_that_this_does_no_harm() -> None:
    with faulty_http(Faulty(breaks=1), Safe) as told:
        async with connected(told.server, trusted=True) as bench:
            assert await bench.call("work") == {}
            assert told.calls == 2
            told.breaks = 2
            # A second break is told.
            assert (await bench.failure("work")).data == {"may_have_happened": True}
            assert (told.calls, told.breaks) == (4, 0)


async def test_a_stream_that_breaks_is_asked_again_for_what_is_no_tool_whoever_the_server_is() -> None:
    with faulty_http(Faulty(breaks=1), Safe) as told:
        async with connected(told.server) as bench:
            assert await bench.call("read_resource", uri="note://a") == "read"
            assert told.calls == 2
            told.breaks = 2
            assert (await bench.failure("read_resource", uri="note://a")).kind == "tool_unavailable"
            assert (told.calls, told.breaks) == (4, 0)
            # An untrusted server's word of its own tool counts for nothing.
            told.breaks = 1
            assert (await bench.failure("work")).data == {"may_have_happened": True}
            assert told.calls == 5


@ERAS
async def test_a_stream_with_too_large_an_event_is_no_broken_one(modern: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(careful, "MAX_ANSWER", 100_000)
    with faulty_http(Faulty(modern=modern, large=200_000)) as told:
        async with connected(told.server) as bench:
            failed = await bench.failure("work")
            assert failed.kind == "invalid_result"
            assert "more than" in failed.message
            told.large = 50_000
            assert await bench.call("work") == "x" * 50_000


@ERAS
async def test_an_answer_that_is_too_large(modern: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(careful, "MAX_ANSWER", 10_000)
    with faulty_http(Faulty(modern=modern)) as told:
        async with connected(told.server) as bench:
            failed = await bench.failure("work", region="x" * 20_000)
            assert failed.kind == "invalid_result"
            assert "more than" in failed.message
            assert await bench.call("work") == {}


async def test_a_session_that_the_server_forgot_is_begun_anew() -> None:
    with faulty_http(Faulty(modern=False, sessions=True)) as told:
        async with connected(told.server) as bench:
            assert await bench.call("work", region="a") == {"region": "a"}
            told.forget = True
            # Refused before it was carried out: asking again repeats nothing.
            assert await bench.call("work", region="b") == {"region": "b"}
            assert told.initialised == 2
            assert told.calls == 2
            assert bench.connector.status().state == "connected"


async def test_headers_that_do_not_match_are_made_anew_from_the_list() -> None:
    with faulty_http(Faulty(header_mismatch=1)) as told:
        async with connected(told.server) as bench:
            listed = told.lists
            assert await bench.call("work", region="eu") == {"region": "eu"}
            assert told.lists == listed + 1
            told.header_mismatch = 2
            assert "does not match" in (await bench.failure("work", region="eu")).message


@ERAS
async def test_a_redirect_to_elsewhere_takes_no_credential_with_it(modern: bool) -> None:
    with faulty_http(Faulty(modern=modern)) as other, faulty_http(Faulty(modern=modern)) as told:
        told.redirect = other.url
        server = HttpServer(told.url, bearer="never-elsewhere")
        async with connected(server, ready=False) as bench:
            assert not await bench.connector.ready(PATIENCE_S)
            assert "not followed" in str(bench.connector.status().reason)
    assert other.seen == []


@ERAS
async def test_half_open_from_the_start(modern: bool) -> None:
    with faulty_http(Faulty(modern=modern, silent=True)) as told:
        async with connected(told.server, options=Options(start_s=0.5), ready=False) as bench:
            assert not await bench.connector.ready(PATIENCE_S)
            assert "did not answer as an MCP server within 0.5 s" in str(bench.connector.status().reason)


@ERAS
async def test_half_open_in_a_call(modern: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller of a cancelled call waits for no one; the server is asked, and started anew when it says nothing."""
    monkeypatch.setattr("isolith_bindings.mcp.life.PROBE_S", 0.3)
    with faulty_http(Faulty(modern=modern)) as told:
        async with connected(told.server) as bench:
            told.silent = True
            call = asyncio.create_task(bench.call("work"))
            await _until(lambda: told.calls == 1)
            call.cancel()
            await asyncio.wait({call}, timeout=PATIENCE_S)
            assert call.cancelled()
            await _until(lambda: bench.connector.status().state != "connected")
            told.silent = False
            told.released.set()
            assert await _eventually(bench) == {}


async def _until(holds: object) -> None:
    assert callable(holds)
    async with asyncio.timeout(PATIENCE_S):
        while not holds():
            await asyncio.sleep(0.02)


async def _eventually(bench: Bench) -> object:
    await _until(lambda: bench.connector.status().state == "connected")
    return await bench.call("work")


class Dropping(Handler):
    """Tells of changes on a stream that breaks at once, for the first who listens; what changed then, nobody was told."""

    def _answer(self, message: JSON, method: str) -> None:
        told = self.faulty
        if method == "server/discover":
            capabilities: JSON = {"tools": {"listChanged": True}}
            self._result(message, {"supportedVersions": ["2026-07-28"], "capabilities": capabilities})
        elif method == "tools/list":
            told.lists += 1
            # Not by what was listened to: that and the first list are asked for at one time, in either order.
            names = ["work", *(["later"] if told.lists > 1 else [])]
            self._result(message, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]})
        elif method == "subscriptions/listen":
            told.listens += 1
            self._begin_events()
            stamp: JSON = {"io.modelcontextprotocol/subscriptionId": message["id"]}
            acknowledged: JSON = {"notifications": {"toolsListChanged": True}, "_meta": stamp}
            self._event(
                {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": acknowledged}
            )
            if told.listens > 1:
                told.released.wait(60)
            self.close_connection = True
        else:
            super()._answer(message, method)


async def test_a_stream_of_changes_that_breaks_is_opened_again_and_what_was_missed_is_listed() -> None:
    with faulty_http(Faulty(), Dropping) as told:
        async with connected(told.server) as bench:
            await bench.until(lambda: "later" in bench.connector.methods and told.listens == 2)
            assert bench.connector.status().state == "connected"
            assert bench.connector.status().restarts == 0
            # Released before it is closed: the server holds the stream open.
            told.released.set()
