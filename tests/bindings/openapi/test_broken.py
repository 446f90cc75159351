"""A document that cannot be read is a connector that says so, and nobody else's problem."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.bench import OK, a_document
from tests.bindings.openapi.loopback import Got, Reply, serving

from isolith_bindings.availability import why_absent
from isolith_bindings.catalog import Catalog
from isolith_bindings.check import check
from isolith_bindings.egress import Retries
from isolith_bindings.errors import CallError
from isolith_bindings.health import health
from isolith_bindings.openapi import OpenApi
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from pathlib import Path

    from isolith_bindings.connector import Connector

GOOD = json.dumps(a_document({"/a": {"get": {"operationId": "a", "responses": OK}}})).encode()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"openapi": "3.1.0", "paths": [}', "shop.json is neither JSON nor YAML: Expecting value: line 1 column 32"),
        (b"openapi: 3.1.0\npaths: [", "shop.json is neither JSON nor YAML"),
        (b'{"openapi": "4.0.0"}', "supported"),
        (b"[]", "holds a list"),
        (None, "shop.json cannot be read: No such file or directory"),
    ],
)
def test_what_is_wrong_is_said_and_mended_by_reading_again(tmp_path: Path, content: bytes | None, told: str) -> None:
    path = tmp_path / "shop.json"
    if content is not None:
        path.write_bytes(content)

    async def within() -> None:
        connector = OpenApi(path)
        assert connector.unavailable == "it has not been started"
        await connector.start()
        assert not await connector.ready()
        assert (connector.methods, connector.excluded) == ({}, {})
        status = connector.status()
        assert (status.state, status.place) == ("failed", str(path))
        assert told in str(status.reason)
        assert health(connector).state == "failed"
        # What a script is told names no folder of this machine.
        assert told in str(why_absent(connector))
        assert str(tmp_path) not in str(connector.unavailable)
        assert "\n" not in str(connector.unavailable)
        path.write_bytes(GOOD)
        again = await connector.reconnect()
        assert (again.ok, again.added) == (True, ("a",))
        assert (why_absent(connector), connector.status().state, connector.status().reason) == (None, "ready", None)
        await connector.aclose()

    asyncio.run(within())


def test_others_go_on_and_its_methods_are_a_readable_line(tmp_path: Path) -> None:
    async def within() -> None:
        broken = OpenApi(tmp_path / "shop.json")
        connectors: list[Connector] = [broken, RecordingConnector("crm", {"go": 1})]
        for connector in connectors:
            await connector.start()
        catalog = Catalog(connectors)
        with pytest.raises(CallError, match=r"^shop is not there: shop\.json cannot be read: No such file") as caught:
            catalog.resolve("shop", "list_things")
        assert caught.value.kind == "tool_unavailable"
        assert "`isolith connectors status shop`" in str(caught.value.hint)
        assert "failed" in catalog.listing().text
        # Nothing is certain about what may be there again by the time of the call.
        found = check("shop.list_things(limit=1)\ncrm.go()", catalog.connectors)
        assert [finding for finding in found.findings if finding.certain] == []

    asyncio.run(within())


def test_an_address_that_answers_later_is_read_then() -> None:
    answers = [Reply(status=404), Reply(status=500), Reply(GOOD)]
    asked: list[Got] = []
    pauses: list[float] = []

    async def pause(wait_s: float) -> None:
        pauses.append(wait_s)

    def answer(got: Got) -> Reply:
        asked.append(got)
        return answers[len(asked) - 1]

    async def within() -> None:
        async with serving(answer) as server:
            connector = OpenApi(f"{server.url}/api.json", name="x", retries=Retries(pause=pause))
            await connector.start()
            assert "status 404 was answered" in str(connector.unavailable)
            async with asyncio.timeout(240):
                while connector.unavailable:
                    await asyncio.sleep(0.01)
            assert list(connector.methods) == ["a"]
            assert (len(asked), pauses) == (3, [5.0, 10.0])
            await connector.aclose()

    asyncio.run(within())


def test_it_stops_asking_when_it_is_closed() -> None:
    waiting, given_up = asyncio.Event(), asyncio.Event()

    async def pause(_wait_s: float) -> None:
        waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()

    async def within() -> None:
        async with serving(lambda _: Reply(status=404)) as server:
            connector = OpenApi(f"{server.url}/api.json", name="x", retries=Retries(pause=pause))
            await connector.start()
            await waiting.wait()
            await connector.aclose()
            assert given_up.is_set()
            assert connector.unavailable == "it has not been started"

    asyncio.run(within())
