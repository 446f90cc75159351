"""A script in the guest: parts with headers of their own, lists that come as events, and streams that do not end."""

from __future__ import annotations

import asyncio
from email.parser import BytesParser

import pytest
from tests.bindings.openapi.bench import a_document
from tests.bindings.openapi.exchanges import JSON_ANY, body
from tests.bindings.openapi.loopback import Got, Reply, serving

from isolith import CodeMode, OpenApi
from isolith_bindings.egress import Limits

EVENT = {"type": "object", "required": ["data"], "properties": {"data": {"type": "string"}, "id": {"type": "string"}}}
EVENTS = {"200": {"content": {"text/event-stream": {"itemSchema": EVENT}}}}
LOCATED = {"headers": {"Content-Location": {"required": True, "schema": {"type": "string"}}}}
PARTS = body("multipart/mixed", {"type": "array", "items": {}}, itemEncoding=LOCATED)
DOCUMENT = a_document(
    {
        "/events": {"get": {"operationId": "events", "responses": EVENTS}},
        "/watch": {"get": {"operationId": "watch", "responses": EVENTS}},
        "/pages": {"post": {"operationId": "send_pages", "requestBody": PARTS, "responses": JSON_ANY}},
    },
    "3.2.0",
)
SCRIPT = """
found = await api.events()
try:
    await api.watch()
    late = None
except ToolError as error:
    late = [error.kind, error.data]
page = {"content": await artifact(b"<p>", mime="text/html"), "headers": {"Content-Location": "http://a.test/"}}
await api.send_pages(body=[page, {"content": {"n": 1}, "headers": {"Content-Location": "http://a.test/n"}}])
[found, late]
"""
WRONG = """
headers = {"Content-Location": "http://a.test/" + chr(13) + chr(10) + "X-Evil: 1"}
await api.send_pages(body=[{"content": "a", "headers": headers}])
"""


def answer(got: Got) -> Reply:
    if got.path == "/pages":
        return Reply.of({})
    content = b"id: 1\ndata: a\n\ndata: b\n\n"
    return Reply(content, headers=(("content-type", "text/event-stream"),), endless=got.path == "/watch")


@pytest.mark.slow
@pytest.mark.usefixtures("supply")
def test_a_script_gives_headers_to_parts_and_reads_events() -> None:
    async def within() -> None:
        async with serving(answer) as server:
            connector = OpenApi(DOCUMENT, name="api", server=server.url, limits=Limits(total_s=5))
            async with CodeMode(connectors=[connector], policy="trusted") as code_mode:
                done = await code_mode.execute(SCRIPT)
                events = [{"id": "1", "data": "a"}, {"data": "b"}]
                assert (done.error, done.value) == (None, [events, ["tool_timeout", events]])
                head = f"Content-Type: {server.last.header('content-type')}\r\n\r\n".encode()
                parts = BytesParser().parsebytes(head + server.last.body).get_payload()
                assert [(part["Content-Type"], part["Content-Location"], part.get_payload()) for part in parts] == [  # type: ignore[index, union-attr]
                    ("text/html", "http://a.test/", "<p>"),
                    ("application/json", "http://a.test/n", '{"n":1}'),
                ]
                before = len(server.got)
                wrong = await code_mode.execute(WRONG)
                assert wrong.error is not None
                assert (wrong.error.kind, wrong.error.line) == ("invalid_arguments", 3)
                assert "the header `Content-Location` of a part" in wrong.error.message
                assert len(server.got) == before

    asyncio.run(within())
