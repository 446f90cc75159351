"""Multipart bodies: files, their names and media types, and the head of each part."""

from __future__ import annotations

from email.parser import BytesParser
from typing import TYPE_CHECKING

from tests.bindings.openapi.exchanges import body, post, refused, run, sent

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
    assert "is nothing that the head of a part may hold" in refused(document, "make", note="a").message
