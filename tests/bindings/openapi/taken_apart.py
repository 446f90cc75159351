"""A multipart body as the standard library takes it apart, and the signature of what sends it."""

from __future__ import annotations

from email.parser import BytesParser
from typing import TYPE_CHECKING, cast

from tests.bindings.openapi.exchanges import run

if TYPE_CHECKING:
    from email.message import Message

    from tests.bindings.openapi.bench import Client
    from tests.bindings.openapi.loopback import Got, Server

Found = tuple[dict[str, str], object]


def parts_of(content: bytes, media: str | None) -> list[Found]:
    """What the standard library finds in a body: headers in lower case, and contents; nested ones as lists."""
    message = BytesParser().parsebytes(f"Content-Type: {media}\r\n\r\n".encode() + content)
    assert message.is_multipart()
    assert message.defects == []
    return [_part(part) for part in cast("list[Message]", message.get_payload())]


def _part(part: Message) -> Found:
    headers = {name.lower(): str(value) for name, value in part.items()}
    if part.is_multipart():
        return headers, [_part(each) for each in cast("list[Message]", part.get_payload())]
    return headers, part.get_payload(decode=True)


def found_in(got: Got) -> list[Found]:
    return parts_of(got.body, got.header("content-type"))


def signature(document: dict[str, object]) -> str:
    found: list[str] = []

    async def use(client: Client, _server: Server) -> None:
        found.append(client.connector.methods["make"].signature)

    run(document, use)
    return found[0]
