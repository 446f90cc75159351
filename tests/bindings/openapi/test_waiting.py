"""What a server says of its limits is heeded, and whoever follows a call hears what it waits for."""

from __future__ import annotations

import asyncio

import pytest
from tests.bindings.openapi.bench import OK, a_document, connected
from tests.bindings.openapi.loopback import Got, Reply

from isolith_bindings.egress import Retries
from isolith_bindings.errors import CallError
from isolith_bindings.testing import RecordedProgress, a_context

DOCUMENT = a_document({"/a": {"get": {"operationId": "a", "responses": OK}}})
LIMITED = Reply(b"", 429, (("retry-after", "3"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-limit", "60")))
LONG = Reply(b"", 429, (("retry-after", "3600"),))


def test_a_wait_before_a_success_is_told() -> None:
    answers = [LIMITED, Reply.of({"well": True})]
    pauses: list[float] = []

    async def pause(wait_s: float) -> None:
        pauses.append(wait_s)

    def answer(_got: Got) -> Reply:
        return answers.pop(0)

    async def within() -> None:
        async with connected(DOCUMENT, answer, retries=Retries(pause=pause)) as (client, server):
            progress = RecordedProgress()
            value = await client.connector.call(client.connector.methods["a"], {}, a_context(progress))
            assert value == {"well": True}
            assert pauses == [3.0]
            told = f"{server.url} answered 429 (0 of 60 requests are left, come back in 3 s): sent again in 3 s"
            assert progress.reports == [(0, None, told)]

    asyncio.run(within())


def test_a_longer_wait_is_left_to_the_script() -> None:
    async def within() -> None:
        async with connected(DOCUMENT, lambda _: LONG) as (client, server):
            with pytest.raises(CallError) as caught:
                await client.call("a")
            assert (len(server.got), caught.value.retriable) == (1, True)
            assert caught.value.hint == "the server limits requests: come back in 3600 s"

    asyncio.run(within())
