"""Answers that are too long for a value: whole in an artifact, up to a limit; what goes on with them, and what cannot."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.bindings.openapi.exchanges import JSON_ANY, a, get, run
from tests.bindings.openapi.loopback import Reply

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.egress import Limits
from isolith_bindings.errors import CallError
from isolith_bindings.files import PIECE, ByteFile
from isolith_bindings.openapi import ApiKey
from isolith_bindings.openapi.answers import PREVIEW
from isolith_bindings.secrets import MASK, Secret, redact_bytes, redact_file

if TYPE_CHECKING:
    from tests.bindings.openapi.bench import Client
    from tests.bindings.openapi.loopback import Server

CAP, MOST = 10_000, 50_000
LIMITS = Limits(body_bytes=CAP, answer_bytes=MOST)


def listed(size: int) -> bytes:
    """A JSON list of so many bytes."""
    return b"[" + b"1," * ((size - 3) // 2) + (b" 1]" if size % 2 == 0 else b"1]")


def reply(content: bytes, mime: str = "application/json", *headers: tuple[str, str]) -> Reply:
    return Reply(content, headers=(("content-type", mime), *headers))


@pytest.mark.parametrize("size", [CAP - 1, CAP])
def test_what_fits_is_a_value(size: int) -> None:
    async def use(client: Client, _server: Server) -> None:
        value = await client.call("read")
        assert (type(value), len(listed(size))) == (list, size)

    run(get(), use, lambda _: reply(listed(size)), limits=LIMITS)


@pytest.mark.parametrize("mime", ["application/json", "text/plain"])
@pytest.mark.parametrize("size", [CAP + 1, MOST])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_what_does_not_is_whole_in_an_artifact(mime: str, size: int, packed: bool) -> None:
    content = listed(size)

    async def use(client: Client, _server: Server) -> None:
        value = await client.call("read")
        kept = value["artifact"]
        assert isinstance(kept, ArtifactRef)
        assert (kept.mime, kept.size) == (mime, size)
        assert client.artifacts.read(kept) == content
        assert (value["truncated"], value["preview"]) == (True, content[:PREVIEW].decode())

    encoded = [("content-encoding", "gzip")] if packed else []
    answer = reply(gzip.compress(content) if packed else content, mime, *encoded)
    run(get(), use, lambda _: answer, limits=LIMITS)


def test_a_long_file_is_one_artifact() -> None:
    content = bytes(range(256)) * (MOST // 256)
    named = ("content-disposition", 'attachment; filename="export.zip"')

    async def use(client: Client, _server: Server) -> None:
        kept = await client.call("read")
        assert (kept.mime, kept.name, client.artifacts.read(kept)) == ("application/zip", "export.zip", content)

    run(get(), use, lambda _: reply(content, "application/zip", named), limits=LIMITS)


def test_past_the_limit_it_is_an_error_with_what_was_read() -> None:
    async def use(client: Client, _server: Server) -> None:
        with pytest.raises(CallError, match="longer than the 50,000 bytes that are read") as caught:
            await client.call("read")
        kept = cast("ArtifactRef", caught.value.data)
        assert (caught.value.kind, client.artifacts.read(kept)) == ("invalid_result", listed(MOST + 1)[:MOST])

    run(get(), use, lambda _: reply(listed(MOST + 1)), limits=LIMITS)


def test_an_error_of_the_server_is_never_kept_in_a_file() -> None:
    async def use(client: Client, _server: Server) -> None:
        with pytest.raises(CallError) as caught:
            await client.call("read")
        data = cast("dict[str, Any]", caught.value.data)
        assert (data["status"], data["truncated"], client.artifacts.contents) == (500, True, {})

    run(get(), use, lambda _: Reply(listed(MOST), 500, (("content-type", "application/json"),)), limits=LIMITS)


def test_raw_has_it_in_place_of_the_body() -> None:
    async def use(client: Client, _server: Server) -> None:
        found = await client.call("read", "raw")
        assert (found["status"], found["body"]["artifact"].size) == (200, CAP + 1)

    run(get(), use, lambda _: reply(listed(CAP + 1)), limits=LIMITS)


@pytest.mark.parametrize(("variant", "options"), [("pages", {}), ("", {"strict_responses": True})])
def test_what_has_to_be_looked_into_is_an_error_that_keeps_it(variant: Any, options: dict[str, Any]) -> None:  # noqa: ANN401
    """A page has items; an answer that is checked has to be read."""
    typed: dict[str, object] = {"200": {"content": {"application/json": {"schema": {"type": "array"}}}}}
    document = get(a("page", schema={"type": "integer"}), responses=typed if options else JSON_ANY)

    async def use(client: Client, _server: Server) -> None:
        with pytest.raises(CallError, match="10,001 bytes are too long for a value") as caught:
            await client.call("read", variant)
        kept = cast("ArtifactRef", caught.value.data)
        assert json.loads(client.artifacts.read(kept)) == json.loads(listed(CAP + 1))
        assert "in pieces" in str(caught.value.hint)

    run(document, use, lambda _: reply(listed(CAP + 1)), limits=LIMITS, **options)


def test_no_secret_is_in_the_file() -> None:
    secret = "very-" + "secret-key"
    content = b'["' + b"x" * (CAP - 5) + secret.encode() + b"y" * CAP + secret.encode() + b'"]'
    document = {
        **get(security=[{"key": []}]),
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    }

    async def use(client: Client, _server: Server) -> None:
        value = await client.call("read")
        assert client.artifacts.read(value["artifact"]) == content.replace(secret.encode(), MASK.encode())

    key = ApiKey("X-Key", Secret(lambda: secret, "the tests"))
    run(document, use, lambda _: reply(content), limits=LIMITS, auth={"key": key})


@pytest.mark.parametrize("before", [*range(PIECE - 20, PIECE + 3), 0, 2 * PIECE - 7])
def test_a_secret_is_found_wherever_the_pieces_end(before: int) -> None:
    """The same as in one go: also where one spelling is the beginning of another."""
    values = ("secret-key", "secret-key-2")
    content = b"." * before + b"secret-key-2/secret-ke" + b"-" * PIECE + b"secret-key"
    masked = redact_file(ByteFile.of(content), values)
    assert masked.read() == redact_bytes(content, values)
    assert redact_file(ByteFile.of(content[:-1]), values, cut=True).read() == redact_bytes(
        content[:-1], values, cut=True
    )


def test_many_at_once_are_all_whole() -> None:
    content = listed(MOST)

    async def use(client: Client, _server: Server) -> None:
        values = await asyncio.gather(*(client.call("read") for _ in range(12)))
        assert [client.artifacts.read(value["artifact"]) for value in values] == [content] * 12

    limits = Limits(body_bytes=CAP, answer_bytes=MOST, files=2)
    run(get(), use, lambda _: reply(content), limits=limits)
