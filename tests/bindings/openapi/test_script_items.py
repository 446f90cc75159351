"""A script in the guest: parts with headers of their own and by their names, events, and streams that do not end."""

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
NAMED = {
    "type": "object",
    "properties": {
        "meta": {"type": "object", "properties": {"id": {"type": "integer"}}},
        "file": {"type": "string", "format": "binary"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}
FORM = {"200": {"content": {"multipart/form-data": {"schema": NAMED}}}}
DOCUMENT = a_document(
    {
        "/form": {"get": {"operationId": "form", "responses": FORM}},
        "/torn": {"get": {"operationId": "torn", "responses": FORM}},
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
READ = """
found = await api.form()
try:
    await api.torn()
    torn = None
except ToolError as error:
    torn = [error.kind, error.data.mime, bytes(await error.data.read())]
[found["meta"]["id"], found["file"].name, bytes(await found["file"].read()), found["tags"], torn]
"""
CONTENT = (
    b'--b\r\nContent-Disposition: form-data; name="meta"\r\nContent-Type: application/json\r\n\r\n{"id": 7}\r\n'
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n'
    b'--b\r\nContent-Disposition: form-data; name="tags"\r\n\r\nx\r\n--b--\r\n'
)
WRONG = """
headers = {"Content-Location": "http://a.test/" + chr(13) + chr(10) + "X-Evil: 1"}
await api.send_pages(body=[{"content": "a", "headers": headers}])
"""


def answer(got: Got) -> Reply:
    if got.path == "/pages":
        return Reply.of({})
    if got.path in {"/form", "/torn"}:
        whole = CONTENT if got.path == "/form" else CONTENT[:-9]
        return Reply(whole, headers=(("content-type", "multipart/form-data; boundary=b"),))
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


@pytest.mark.slow
@pytest.mark.usefixtures("supply")
def test_a_script_reads_parts_by_their_names() -> None:
    async def within() -> None:
        async with serving(answer) as server:
            connector = OpenApi(DOCUMENT, name="api", server=server.url)
            async with CodeMode(connectors=[connector], policy="trusted") as code_mode:
                done = await code_mode.execute(READ)
                torn = ["invalid_result", "multipart/form-data", CONTENT[:-9]]
                assert (done.error, done.value) == (None, [7, "a.png", b"\x89PNG", ["x"], torn])

    asyncio.run(within())
