"""Answers that are not what the document promised: believed, and told; refused where that is asked for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.bench import OK, a_document
from tests.bindings.openapi.exchanges import answered, get, reply
from tests.bindings.openapi.loopback import Answer, Got, Reply, serving

from isolith import CodeMode, OpenApi
from isolith_bindings.errors import CallError
from isolith_bindings.openapi import checking

if TYPE_CHECKING:
    from pathlib import Path

    from isolith import Outcome

WHERE = "#/paths/~1things/get/responses/200"
NUMBERS: dict[str, object] = {
    "200": {"content": {"application/json": {"schema": {"type": "array", "items": {"type": "integer"}}}}}
}
HAL = (("content-type", "application/hal+json"),)
HTML = Reply(b"<p>", headers=(("content-type", "text/html"),))
PAGES = """
async for number in api.list.pages():
    pass
[await api.read(), await api.read(), await api.raw()]
"""
ASKED = """
seen = await api.read()
await api.write()
[seen, await api.read()]
"""


@pytest.mark.parametrize(
    ("reply", "value", "told"),
    [
        (Reply.of([1]), [1], []),
        (Reply.of([1, "x"]), [1, "x"], [f"`[1]`: expected integer, was given 'x' (string) ({WHERE})"]),
        (Reply.of([1], 201), [1], ["status 201 is not in the document, which has 200"]),
        (Reply(status=204), None, ["status 204 is not in the document, which has 200"]),
        (Reply(b"[1]", headers=HAL), [1], []),
        (Reply(b'["x"]', headers=HAL), ["x"], [f"`[0]`: expected integer, was given 'x' (string) ({WHERE})"]),
        (HTML, "<p>", ["text/html was answered; documented: application/json"]),
    ],
)
def test_what_was_not_promised_is_believed_and_told(reply: Reply, value: object, told: list[str]) -> None:
    found, client = answered(get(responses=NUMBERS), reply)
    assert (found, client.doubts) == (value, told)


@pytest.mark.parametrize("strict", [False, True])
def test_the_mark_at_the_end_of_a_stream_is_no_item_of_it(strict: bool) -> None:
    """As OpenAI ends its streams, whose description has them as events of objects."""
    item = {"type": "object", "required": ["id"]}
    document = get(responses={"200": {"content": {"text/event-stream": {"schema": item}}}})
    stream = reply("text/event-stream", 'data: {"id": 1}\n\ndata: [DONE]\n\n')
    found, client = answered(document, stream, strict_responses=strict)
    assert (found, client.doubts) == ([{"data": {"id": 1}}, {"data": "[DONE]"}], [])
    early = reply("text/event-stream", 'data: [DONE]\n\ndata: {"id": 1}\n\n')
    assert "`[0].data`: expected object" in answered(document, early)[1].doubts[0]


@pytest.mark.parametrize("responses", [{"404": {"description": "not there"}}, OK])
def test_a_document_without_content_promises_none(responses: dict[str, object]) -> None:
    """Many frameworks describe no success, or none with what they answer."""
    found, client = answered(get(responses=responses), Reply.of([1], 201))
    assert (found, client.doubts) == ([1], [])
    with pytest.raises(CallError, match="status 201 is not in the document"):
        answered(get(responses=responses), Reply.of([1], 201), strict_responses=True)


def test_a_long_answer_is_looked_at_as_far_as_a_bound_and_to_its_end_where_it_is_to_be_strict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The bound counts steps, not time: it is the same on every machine."""
    monkeypatch.setattr(checking, "LENIENT_STEPS", 100)
    document, near, far = get(responses=NUMBERS), Reply.of(["x", *range(300)]), Reply.of([*range(300), "x"])
    assert answered(document, near)[1].doubts == [f"`[0]`: expected integer, was given 'x' (string) ({WHERE})"]
    assert answered(document, far)[1].doubts == []
    with pytest.raises(CallError, match=r"`\[300\]`: expected integer"):
        answered(document, far, strict_responses=True)


@pytest.mark.usefixtures("supply")
def test_what_a_server_says_is_no_longer_than_a_warning_may_be() -> None:
    closed: dict[str, object] = {"type": "object", "additionalProperties": False, "properties": {"a": {}}}
    document = get(responses={"200": {"content": {"application/json": {"schema": closed}}}})
    outcome = _run(document, "api.read()['b' * 5000]", lambda _: Reply.of({"b" * 5000: 1}))
    assert outcome.value == 1
    [warning] = outcome.warnings
    assert len(warning.message) <= 1000


def _answer(got: Got) -> Reply:
    if got.path == "/list":
        return Reply.of([1, "x"] if "page=3" not in got.query else [])
    return Reply.of({"status": "as it was"} if got.path == "/raw" else ["x"])


def _paths() -> dict[str, object]:
    page = {"name": "page", "in": "query", "schema": {"type": "integer"}}
    return {
        "/list": {"get": {"operationId": "list", "parameters": [page], "responses": NUMBERS}},
        "/read": {"get": {"operationId": "read", "responses": NUMBERS}},
        "/raw": {"get": {"operationId": "raw", "responses": OK}},
        "/write": {"post": {"operationId": "write", "responses": OK, "x-isolith-policy": "ask"}},
    }


def _run(document: dict[str, object], script: str, answer: Answer, journal: Path | None = None) -> Outcome:
    async def within() -> Outcome:
        async with serving(answer) as server:
            connector = OpenApi(document, name="api", server=server.url)
            async with CodeMode(connectors=[connector], journal=journal) as code_mode:
                outcome = await code_mode.execute(script)
                for call in outcome.pending:
                    outcome = await code_mode.approve(outcome.execution_id, call.call_id, digest=call.digest, who="ada")
                return outcome

    return asyncio.run(within())


@pytest.mark.usefixtures("supply")
def test_a_run_is_told_once_of_each_method() -> None:
    outcome = _run(a_document(_paths()), PAGES, _answer)
    assert (outcome.error, outcome.value) == (None, [["x"], ["x"], {"status": "as it was"}])
    assert [(told.kind, told.tool, told.line) for told in outcome.warnings] == [
        ("invalid_result", "api.list.pages", 2),
        ("invalid_result", "api.read", 4),
    ]
    assert outcome.warnings[1].message == (
        "api.read answered otherwise than it promises: "
        "`[0]`: expected integer, was given 'x' (string) (#/paths/~1read/get/responses/200)"
    )
    assert "as it came" in str(outcome.warnings[1].hint)


@pytest.mark.usefixtures("supply")
def test_what_was_told_before_a_pause_is_told_once(tmp_path: Path) -> None:
    outcome = _run(a_document(_paths()), ASKED, _answer, tmp_path / "journal.db")
    assert (outcome.error, outcome.value) == (None, [["x"], ["x"]])
    assert [told.tool for told in outcome.warnings] == ["api.read"]
