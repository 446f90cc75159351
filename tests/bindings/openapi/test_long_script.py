"""A script and an answer that is too long for a value: read in pieces, sent on as a file, and there after a pause."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.bindings.openapi.bench import OK, a_document
from tests.bindings.openapi.exchanges import JSON_ANY, body
from tests.bindings.openapi.loopback import Got, Reply, serving

from isolith import CodeMode, OpenApi
from isolith_bindings.egress import Limits

SIZE = 9 << 20
"""More than stays in memory when a run goes on (`files.IN_MEMORY`), and than a call may answer as a value."""
LINE = json.dumps({"text": "a line"}).encode() + b","
CONTENT = b"[" + LINE * (SIZE // len(LINE)) + b"0]"
DOCUMENT = a_document(
    {
        "/rows": {"get": {"operationId": "rows", "responses": JSON_ANY}},
        "/files": {
            "put": {
                "operationId": "store",
                "requestBody": body("application/octet-stream", {"type": "string", "format": "binary"}),
                "responses": OK,
            }
        },
    }
)
SCRIPT = """
found = await api.rows()
kept = found["artifact"]
pieces = [await kept.read(offset, 4_000_000) for offset in range(0, kept.size, 4_000_000)]
await api.store(body=kept)
last = await kept.read(kept.size - 2)
[found["truncated"], len(found["preview"]), kept.mime, kept.size, sum(map(len, pieces)), bytes(last)]
"""


def answer(got: Got) -> Reply:
    if got.method == "GET":
        return Reply(CONTENT, headers=(("content-type", "application/json"),))
    return Reply.of({"kept": len(got.body)})


@pytest.mark.slow
@pytest.mark.usefixtures("supply")
def test_it_is_read_in_pieces_sent_on_and_still_there_after_a_pause() -> None:
    async def within() -> None:
        async with serving(answer) as server:
            limits = Limits(body_bytes=1 << 20)
            api = OpenApi(DOCUMENT, name="api", server=server.url, limits=limits)
            async with CodeMode(connectors=[api], policy="careful") as code_mode:
                paused = await code_mode.execute(SCRIPT)
                assert (paused.status, paused.error) == ("paused", None)
                (waiting,) = paused.pending
                done = await code_mode.approve(paused.execution_id, waiting.call_id)
                assert (done.status, done.error) == ("completed", None)
                assert done.value == [True, 2000, "application/json", len(CONTENT), len(CONTENT), b"0]"]
                (record,) = done.artifacts
                assert (record.bytes, [got.method for got in server.got]) == (len(CONTENT), ["GET", "PUT"])
                assert server.last.body == CONTENT
                journal = (await code_mode.runs()).journal
                assert await journal.artifacts.read(done.execution_id, record.handle) == CONTENT

    asyncio.run(within())
