"""Answers without an end: those that go on, fall silent or break off, over a socket."""

from __future__ import annotations

import asyncio
import gzip
import time

import pytest
from tests.bindings.openapi.bench import connected
from tests.bindings.openapi.exchanges import MIXED, get, listed, reply
from tests.bindings.openapi.loopback import Reply

from isolith_bindings.egress import Limits, Retries
from isolith_bindings.errors import CallError


@pytest.mark.slow
def test_what_does_not_end_is_an_error_with_the_items_that_came() -> None:
    """A list is whole, or there is none: what came until the time was over is in the error."""
    streams = [
        ("text/event-stream", b"data: 1\n\ndata: 2\n\ndata: ha", [{"data": "1"}, {"data": "2"}]),
        ("application/jsonl", b"1\n2\n3", [1, 2]),
        ("application/json-seq", b"\x1e1\n\x1e2", [1]),
        (MIXED, b"--b\r\n\r\none\r\n--b\r\n\r\ntw", ["one"]),
        ("text/event-stream", b"", []),
    ]

    async def one(media: str, content: bytes) -> CallError:
        document = listed(media.partition(";")[0], {})
        answer = reply(media, content, endless=True)
        async with connected(document, lambda _: answer, limits=Limits(total_s=5)) as (client, server):
            with pytest.raises(CallError) as caught:
                await client.call("read")
            assert len(server.got) == 1
            return caught.value

    async def within() -> list[CallError]:
        return list(await asyncio.gather(*(one(media, content) for media, content, _ in streams)))

    errors = asyncio.run(within())
    assert [error.kind for error in errors] == ["tool_timeout"] * len(streams)
    assert [error.data for error in errors] == [items for _, _, items in streams]
    assert errors[0].message == (
        "read: the answer had not ended when the time of the call was over; 2 whole items came until then"
    )
    assert "error.data" in str(errors[0].hint)


@pytest.mark.slow
def test_a_machine_that_stands_still_past_both_ends_hides_nothing_that_came() -> None:
    """The end of the reading and, a little later, that of the whole call were noticed at once: nothing was told."""
    answer = reply("application/jsonl", b"1\n2\n", endless=True)

    async def within() -> CallError:
        limits = Limits(total_s=2)
        async with connected(listed("application/jsonl", {}), lambda _: answer, limits=limits) as (client, _):
            asyncio.get_running_loop().call_later(1.7, time.sleep, 0.5)
            with pytest.raises(CallError) as caught:
                await client.call("read")
            return caught.value

    error = asyncio.run(within())
    assert (error.kind, error.data) == ("tool_timeout", [1, 2])


@pytest.mark.slow
def test_what_is_compressed_and_quiet_for_long_is_cut_as_well() -> None:
    packed = gzip.compress(b"1\n2\n")[:-8]
    answer = Reply(packed, headers=(("content-type", "application/jsonl"), ("content-encoding", "gzip")), endless=True)

    async def within() -> tuple[object, int]:
        limits = Limits(total_s=60, idle_s=3)
        async with connected(listed("application/jsonl", {}), lambda _: answer, limits=limits) as (client, server):
            with pytest.raises(CallError, match="had not ended") as caught:
                await client.call("read")
            return caught.value.data, len(server.got)

    assert asyncio.run(within()) == ([1, 2], 1)


def test_what_breaks_off_is_an_error_with_the_items_that_came_and_is_not_asked_for_again() -> None:
    broken, nothing = reply("application/jsonl", b"1\n2\n3", broken=True), reply("application/jsonl", b"", broken=True)

    async def one(answer: Reply) -> tuple[CallError, int]:
        retries = Retries(base_s=0)
        async with connected(listed("application/jsonl", {}), lambda _: answer, retries=retries) as (client, server):
            with pytest.raises(CallError) as caught:
                await client.call("read")
            return caught.value, len(server.got)

    error, requests = asyncio.run(one(broken))
    assert (error.kind, error.data, error.retriable, requests) == ("tool_unavailable", [1, 2], True, 1)
    assert error.message == "read: the answer broke off before its end; 2 whole items came until then"
    # Of which nothing came, that is asked for again, as anything that is safe.
    error, requests = asyncio.run(one(nothing))
    assert (error.kind, error.data, requests) == ("tool_unavailable", None, 3)


@pytest.mark.slow
def test_an_answer_that_is_no_list_and_does_not_end_is_late_as_ever() -> None:
    answer = reply("application/json", b"[1", endless=True)

    async def within() -> CallError:
        async with connected(get(), lambda _: answer, limits=Limits(total_s=1)) as (client, _):
            with pytest.raises(CallError) as caught:
                await client.call("read")
            return caught.value

    error = asyncio.run(within())
    assert (error.kind, error.data) == ("tool_timeout", None)
    assert "gave no complete answer" in error.message
