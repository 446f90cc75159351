from __future__ import annotations

import asyncio
import functools
import gzip
import resource
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bindings.egress.loopback import always, client, loopback

from isolith_bindings.egress import Limits, Request, Response
from isolith_bindings.egress.bodies import Body
from isolith_bindings.errors import CallError

MIB = 1 << 20


zipped = functools.partial(gzip.compress, mtime=0)
"""With no time in it: what a test is called by must be the same in every process."""


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


def read(encoding: str | None, *pieces: bytes, cap: int = MIB) -> Body:
    async def collected() -> Body:
        body = Body(cap, encoding)
        for piece in pieces:
            if not await body.add(piece):
                break
        await body.finish()
        return body

    return asyncio.run(collected())


@pytest.mark.parametrize(
    ("encoding", "encoded"),
    [
        (None, b"plain"), ("identity", b"plain"), ("gzip", zipped(b"plain")), ("X-GZIP", zipped(b"plain")), ("deflate", zlib.compress(b"plain")),
        ("deflate", raw_deflate(b"plain")), ("gzip, identity", zipped(b"plain")), ("deflate, gzip", zipped(zlib.compress(b"plain"))),
        ("gzip", zipped(b"pl") + zipped(b"ain")), ("gzip", zipped(b"plain") + b"\0" * 20),
    ],
)  # fmt: skip
def test_what_is_decoded(encoding: str | None, encoded: bytes) -> None:
    assert read(encoding, encoded).content == b"plain"
    assert read(encoding, *(bytes([byte]) for byte in encoded)).content == b"plain"


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=300_000), st.integers(1, 100_000), st.integers(0, 300_000))
def test_any_body_in_any_pieces_up_to_any_cap(data: bytes, size: int, cap: int) -> None:
    encoded = zipped(data)
    pieces = [encoded[start : start + size] for start in range(0, len(encoded), size)]
    body = read("gzip", *pieces[:400], b"".join(pieces[400:]), cap=cap)
    assert body.content == data[:cap]
    assert body.truncated == (len(data) > cap)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, br", "compress", "gzip, gzip, gzip", "evil", "*"])
def test_an_encoding_that_was_not_asked_for_is_refused(encoding: str) -> None:
    with pytest.raises(CallError, match="gzip, deflate was asked for") as caught:
        read(encoding, b"")
    assert caught.value.kind == "invalid_result"


@pytest.mark.parametrize(
    ("encoding", "encoded"),
    [
        ("gzip", b"not compressed"), ("deflate", b"\xff\xff\xff"), ("gzip", zipped(b"x" * 1000)[:-5]), ("gzip", zipped(b"x")[:12]), ("gzip", b"\x1f\x8b"),
        ("gzip", zipped(b"x" * 1000)[:-8] + b"\0" * 8), ("deflate", zlib.compress(b"abc" * 99)[:-1]),
    ],
)  # fmt: skip
def test_broken_data_is_said_to_be_broken(encoding: str, encoded: bytes) -> None:
    with pytest.raises(CallError, match="the body of the answer cannot be read") as caught:
        read(encoding, encoded)
    assert caught.value.kind == "invalid_result"


def bomb(mib: int) -> bytes:
    compressor = zlib.compressobj(9, wbits=31)
    zeros = bytes(MIB)
    return b"".join(compressor.compress(zeros) for _ in range(mib)) + compressor.flush()


async def fetched(content: bytes, encoding: str, cap: int) -> Response:
    handler, limits = always(200, content, f"Content-Encoding: {encoding}"), Limits(body_bytes=cap)
    async with loopback(handler) as server, client(server.url(), limits=limits) as egress:
        return await egress.send(Request("GET", server.url()))


@pytest.mark.parametrize("layers", [1, 2])
def test_a_bomb_costs_its_cap_and_not_its_size(layers: int) -> None:
    content = bomb(128)
    for _ in range(layers - 1):
        content = zipped(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    response = asyncio.run(fetched(content, ", ".join(["gzip"] * layers), MIB))
    assert response.truncated
    assert response.content == bytes(MIB)
    # In KiB. Decoded in one go it would be 128 MiB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_a_request_may_ask_for_less() -> None:
    async def main() -> Response:
        async with loopback(always(200, b"x" * 100)) as server, client(server.url()) as egress:
            return await egress.send(Request("GET", server.url(), body_bytes=10))

    response = asyncio.run(main())
    assert (response.content, response.truncated) == (b"x" * 10, True)
