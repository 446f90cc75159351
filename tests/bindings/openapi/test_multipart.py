"""Multipart bodies: files, their names and media types, and the head of each part."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from email.parser import BytesParser
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.applications import receiving_app
from tests.bindings.openapi.asgi import started
from tests.bindings.openapi.bench import a_document
from tests.bindings.openapi.exchanges import JSON_ANY, body, post, refused, run, sent

if TYPE_CHECKING:
    from tests.bindings.openapi.bench import Client
    from tests.bindings.openapi.loopback import Got, Server


def parts_of(got: Got) -> dict[str, tuple[str | None, str, bytes]]:
    """By name: the file name, the media type and the content of each part."""
    head = f"Content-Type: {got.header('content-type')}\r\n\r\n".encode()
    message = BytesParser().parsebytes(head + got.body)
    found: dict[str, tuple[str | None, str, bytes]] = {}
    for part in message.get_payload():
        assert not isinstance(part, str)
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        found[str(name)] = (part.get_filename(), part.get_content_type(), content)
    return found


def test_multipart_with_files_of_every_kind() -> None:
    schema = {
        "type": "object",
        "properties": {
            "file": {"type": "string", "format": "binary"},
            "kept": {"type": "string", "format": "binary"},
            "text": {"type": "string", "format": "binary"},
            "note": {"type": "string"},
            "data": {"type": "object"},
            "many": {"type": "array", "items": {"type": "string", "format": "binary"}},
        },
    }
    document = post(body("multipart/form-data", schema, encoding={"text": {"contentType": "text/csv"}}))

    async def use(client: Client, server: Server) -> None:
        kept = client.artifacts.keep(b"\x89PNG", mime="image/png", name='a"b\r\n.png')
        await client.call("make", file=b"\x00\r\n--", kept=kept, text="a,b", note="ü", data={"a": [1]})
        first = server.last
        assert parts_of(first) == {
            "file": ("file", "application/octet-stream", b"\x00\r\n--"),
            "kept": ("a%22b%0D%0A.png", "image/png", b"\x89PNG"),
            "text": ("text", "text/csv", b"a,b"),
            "note": (None, "text/plain", "ü".encode()),
            "data": (None, "application/json", b'{"a":[1]}'),
        }
        await client.call("make", many=[b"1", b"2"])
        assert server.last.body.count(b'; name="many"') == 2
        await client.call("make", file=b"\x00\r\n--", kept=kept, text="a,b", note="ü", data={"a": [1]})
        assert server.last.body == first.body

    run(document, use)


def test_a_part_has_the_headers_to_which_the_document_gives_a_value() -> None:
    schema = {"type": "object", "properties": {"note": {"type": "string"}}}
    headers = {
        "X-Kind": {"schema": {"const": "note"}},
        "X-One": {"schema": {"enum": ["only"]}},
        "X-Usual": {"$ref": "#/components/headers/Usual"},
        "X-Free": {"schema": {"type": "string"}},
        "Content-Type": {"schema": {"const": "text/html"}},
    }
    document = post(body("multipart/form-data", schema, encoding={"note": {"headers": headers}}))
    usual = {"schema": {"type": "integer", "default": 7}}
    got = sent({**document, "components": {"headers": {"Usual": usual}}}, "make", note="a")
    head = got.body.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]
    assert head == [b'Content-Disposition: form-data; name="note"', b"X-Kind: note", b"X-One: only", b"X-Usual: 7"]


def test_a_header_of_a_part_is_no_other_part() -> None:
    schema = {"type": "object", "properties": {"note": {"type": "string"}}}
    headers = {"X-A": {"schema": {"const": "a\r\n\r\nsmuggled"}}}
    document = post(body("multipart/form-data", schema, encoding={"note": {"headers": headers}}))
    assert (
        "the header `X-A` of a part: a header may hold printable ASCII only"
        in refused(document, "make", note="a").message
    )


RECEIVED = {
    "file": {"type": "string", "format": "binary"},
    "picture": {"type": "string", "format": "binary"},
    "table": {"type": "string", "format": "binary"},
    "many": {"type": "array", "items": {"type": "string", "format": "binary"}},
    "note": {"type": "string"},
    "data": {"type": "object"},
}
ENCODING = {
    "picture": {"contentType": "image/png, image/jpeg", "headers": {"X-Kind": {"schema": {"const": "portrait"}}}},
    "table": {"contentType": "text/csv"},
}


def received(use: Callable[[Client], Awaitable[object]]) -> object:
    """What another's parser finds in a body that is sent over a socket."""
    parts = body("multipart/form-data", {"type": "object", "properties": RECEIVED}, encoding=ENCODING)
    operation = {"operationId": "make", "requestBody": parts, "responses": JSON_ANY}
    document = a_document({"/upload": {"post": operation}}, servers=[{"url": "/"}])

    async def within() -> object:
        async with started(receiving_app(document), "/openapi.json") as client:
            return await use(client)

    return asyncio.run(within())


def test_a_script_chooses_name_and_type_of_a_part_by_its_artifact() -> None:
    async def use(client: Client) -> object:
        keep = client.artifacts.keep
        return await client.call(
            "make",
            file=keep(b"PK\x00", mime="application/zip", name='été "1".zip'),
            many=[keep(b"1", mime="text/plain", name="one.txt"), b"2"],
            note="ü",
            data={"a": [1]},
        )

    assert received(use) == [
        ["file", "été %221%22.zip", "application/zip", {}, "PK\x00"],
        ["many", "one.txt", "text/plain", {}, "1"],
        ["many", "many", "application/octet-stream", {}, "2"],
        ["note", None, None, {}, "ü"],
        ["data", None, None, {}, '{"a":[1]}'],
    ]


def test_bytes_of_no_type_are_not_sent_where_the_document_leaves_the_type_to_the_part() -> None:
    schema = {"type": "object", "properties": {"me": {"type": "string", "format": "binary"}}}
    document = post(body("multipart/form-data", schema, encoding={"me": {"contentType": "image/*"}}))
    assert "the part `me` is image/*, and what was given is application/octet-stream: give an artifact" in refused(document, "make", me=b"GIF").message  # fmt: skip
    anything = post(body("multipart/form-data", schema, encoding={"me": {"contentType": "*/*"}}))
    assert parts_of(sent(anything, "make", me=b"GIF"))["me"] == ("me", "application/octet-stream", b"GIF")


@pytest.mark.parametrize(
    ("mime", "sent_as"),
    [("image/jpeg", "image/jpeg"), ("image/png", "image/png"), ("application/octet-stream", "image/png")],
)
def test_of_the_types_that_the_document_allows_it_is_the_artifacts_own_else_the_first(mime: str, sent_as: str) -> None:
    async def use(client: Client) -> object:
        picture = client.artifacts.keep(b"...", mime=mime, name="me")
        return await client.call("make", picture=picture, table=b"a,b")

    assert received(use) == [
        ["picture", "me", sent_as, {"x-kind": "portrait"}, "..."],
        ["table", "table", "text/csv", {}, "a,b"],
    ]
