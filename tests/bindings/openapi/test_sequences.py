"""Items one after another, in both directions: the examples of OpenAPI 3.2 and the rules of WHATWG."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.bench import a_document, compiled, connected, operations
from tests.bindings.openapi.exchanges import answered, body, get, listed, post, refused, reply, result_of, sent
from tests.bindings.openapi.loopback import Reply

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.egress import Limits
from isolith_bindings.errors import CallError
from isolith_bindings.openapi import sequences
from isolith_bindings.openapi.styles import UnsendableError

if TYPE_CHECKING:
    from isolith_bindings.openapi.media import Kind

EVENT = {
    "type": "object",
    "required": ["data"],
    "properties": {
        "data": {"type": "string"},
        "event": {"type": "string"},
        "id": {"type": "string"},
        "retry": {"type": "integer", "minimum": 0},
    },
}
ENTRY = {
    "type": "object",
    "required": ["level"],
    "properties": {"level": {"type": "integer"}, "message": {"type": "string"}},
}
LOG = [{"level": 1, "message": "Hi!\u2028"}, {"level": 2}]
# The specification's own, and what it says that this is as lines.
STREAM = """event: addString
data: This data is formatted
data: across two lines
retry: 5

event: addInt64
data: 1234
unknownField: this is ignored

: This is a comment
event: addJSON
data: {"foo": 42}
"""
EVENTS = [
    {"event": "addString", "data": "This data is formatted\nacross two lines", "retry": 5},
    {"event": "addInt64", "data": "1234"},
    {"event": "addJSON", "data": '{"foo": 42}'},
]
LINES = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in LOG)
RECORDS = "".join(f"\x1e{json.dumps(item, indent=2)}\n" for item in LOG)


@pytest.mark.parametrize(
    ("media", "content", "value"),
    [
        ("application/jsonl", LINES, LOG),
        ("application/x-ndjson", LINES.replace("\n", "\r\n"), LOG),
        ("application/json-seq", RECORDS, LOG),
        ("application/geo+json-seq; charset=utf-8", RECORDS, LOG),
        ("text/event-stream", STREAM, EVENTS),
        ("application/jsonl", "\n\n1", [1]),
    ],
)
def test_an_answer_is_the_list_of_its_items(media: str, content: str, value: object) -> None:
    assert answered(listed(media, {}), reply(media, content))[0] == value
    # What the document does not say is in the media type.
    assert answered(get(), reply(media, content))[0] == value


def test_the_result_is_a_list_of_the_items_type() -> None:
    media = {
        "application/jsonl": ({"itemSchema": {"$ref": "#/components/schemas/Entry"}}, "list[Entry]"),
        "application/json-seq": ({"itemSchema": {"$ref": "#/components/schemas/Entry"}}, "list[Entry]"),
        "text/event-stream": ({"itemSchema": {"$ref": "#/components/schemas/Event"}}, "list[Event]"),
        "application/x-ndjson": ({"schema": {"$ref": "#/components/schemas/Log"}}, "list[Entry]"),
        "application/ndjson": ({"schema": {"$ref": "#/components/schemas/Entry"}}, "list[Entry]"),
        "multipart/mixed": ({"itemSchema": {}, "itemEncoding": {"contentType": "image/jpg"}}, "list[Artifact | bytes]"),
        "text/plain": ({"schema": {"type": "string"}}, "str"),
    }
    paths = {
        f"/{at}": {"get": {"operationId": f"read{at}", "responses": {"200": {"content": {name: said}}}}}
        for at, (name, (said, _)) in enumerate(media.items())
    }
    schemas = {
        "Entry": ENTRY,
        "Event": EVENT,
        "Log": {"type": "array", "items": {"$ref": "#/components/schemas/Entry"}},
    }
    document = a_document(paths, "3.2.0", components={"schemas": schemas})

    async def within() -> list[str]:
        async with connected(document, lambda _: Reply()) as (client, _):
            return [method.signature.partition(" -> ")[2] for method in client.connector.methods.values()]

    assert asyncio.run(within()) == [told for _, told in media.values()]


def test_events_of_which_nothing_is_said_are_events() -> None:
    document = get(responses={"200": {"content": {"text/event-stream": {}}}})
    assert answered(document, reply("text/event-stream", "data: a\n\n"))[0] == [{"data": "a"}]
    returns = operations(compiled(json.dumps(document).encode()))["read"].returns
    assert isinstance(returns, dict)
    assert returns["items"] == sequences.EVENT


def test_events_that_the_document_calls_one_text_stay_one() -> None:
    """As documents before 3.2 have it."""
    document = get(responses={"200": {"content": {"text/event-stream": {"schema": {"type": "string"}}}}})
    assert answered(document, reply("text/event-stream", "data: a\n\n"))[0] == "data: a\n\n"


def test_items_are_believed_unless_they_are_to_be_checked() -> None:
    document, wrong = listed("application/jsonl", ENTRY), reply("application/jsonl", '{"level": 1}\n{"level": "x"}\n')
    assert answered(document, wrong)[0] == [{"level": 1}, {"level": "x"}]
    assert answered(document, reply("application/jsonl", LINES), strict_responses=True)[0] == LOG
    with pytest.raises(CallError, match=r"`\[1\].level`: expected integer") as caught:
        answered(document, wrong, strict_responses=True)
    assert (caught.value.kind, caught.value.data) == ("invalid_result", [{"level": 1}, {"level": "x"}])
    events = listed("text/event-stream", {**EVENT, "required": ["event"]})
    with pytest.raises(CallError, match=r"\[0\]"):
        answered(events, reply("text/event-stream", "data: a\n\n"), strict_responses=True)


def test_what_is_no_item_keeps_the_text() -> None:
    for media, content in (("application/jsonl", "{"), ("application/json-seq", "\x1e{}\n\x1enonsense\n")):
        with pytest.raises(CallError, match="and is not") as caught:
            answered(listed(media, {}), reply(media, content))
        assert (caught.value.kind, caught.value.data) == ("invalid_result", content)


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("", []),
        ("\ufeffdata: a\r\n\r\ndata:b\r\rdata:  c\n\n", [{"data": "a"}, {"data": "b"}, {"data": " c"}]),
        ("data\n\ndata\ndata\n\n", [{"data": ""}, {"data": "\n"}]),
        ("event: only\nid: 1\n\ndata: x\n\n", [{"data": "x"}]),
        ("id: a\0b\ndata: x\n\n", [{"data": "x"}]),
        ("id: 6\nid: 7\nretry: 1s\nretry: 10\ndata: x\n\n", [{"data": "x", "id": "7", "retry": 10}]),
        ("retry: -1\nretry: ٣\nid\nevent:\ndata: x\n\n", [{"data": "x", "id": "", "event": ""}]),
        (": c\n:\n\n\n\ndata: \u2028\x0b\x85\n\n", [{"data": "\u2028\x0b\x85"}]),
        ("Data: x\n data: y\n\n", []),
        ("data: half", [{"data": "half"}]),
    ],
)
def test_events_are_read_as_whatwg_has_it(text: str, events: list[object]) -> None:
    assert sequences.read("events", text) == events


@pytest.mark.parametrize(
    ("kind", "text", "whole"),
    [
        ("events", "data: a\n\ndata: ha", [{"data": "a"}]),
        ("events", "data: a\n\ndata: whole?\n", [{"data": "a"}]),
        ("lines", "1\n2", [1]),
        ("lines", '{"a', []),
        ("records", "\x1e1\n\x1e2", [1]),
    ],
)
def test_of_a_text_without_an_end_half_an_item_is_none(kind: Kind, text: str, whole: list[object]) -> None:
    assert sequences.read(kind, text, cut=True) == whole


# ------------------------------------------------------------------------------------------------------- requests


@pytest.mark.parametrize(
    ("media", "value", "content"),
    [
        ("application/jsonl", [{"a": "\n"}, None], b'{"a":"\\n"}\nnull\n'),
        ("application/x-ndjson", [], b""),
        ("application/json-seq", [1, "x"], b'\x1e1\n\x1e"x"\n'),
        ("application/geo+json-seq", [[]], b"\x1e[]\n"),
        (
            "text/event-stream",
            [{"data": "a\nb", "event": "e", "id": "1", "retry": 5}, {"data": ""}],
            b"event: e\nid: 1\nretry: 5\ndata: a\ndata: b\n\ndata: \n\n",
        ),
    ],
)
def test_a_list_is_sent_as_its_items(media: str, value: list[object], content: bytes) -> None:
    got = sent(post({"required": True, "content": {media: {"itemSchema": {}}}}), "make", body=value)
    assert (got.header("content-type"), got.body) == (media, content)


def test_events_that_are_sent_are_read_as_they_were_given() -> None:
    got = sent(post({"required": True, "content": {"text/event-stream": {"itemSchema": EVENT}}}), "make", body=EVENTS)
    assert sequences.read("events", got.body.decode()) == EVENTS


@pytest.mark.parametrize(
    ("item", "told"),
    [
        ({"data": "a", "event": "b\ndata: smuggled"}, "one line"),
        ({"data": "a", "id": "1\r2"}, "one line"),
        ({"data": "a", "id": "1\0"}, "one line"),
        ({"data": "a", "retry": 1.5}, "whole number"),
        ({"data": "a", "retry": -1}, "whole number"),
        ({"data": "a", "Data": "b"}, "no field `Data`"),
        ("a", "a mapping with `data`"),
    ],
)
def test_an_event_stays_one_event(item: object, told: str) -> None:
    with pytest.raises(UnsendableError, match=told):
        sequences.write("events", [item])


def test_items_are_checked_before_they_are_sent() -> None:
    document = post({"required": True, "content": {"application/jsonl": {"itemSchema": ENTRY}}})
    assert "`body[1].level`" in refused(document, "make", body=[{"level": 1}, {"level": "x"}]).message
    assert "expected array" in refused(document, "make", body={"level": 1}).message


def test_schema_is_that_of_all_items_where_it_is_a_list() -> None:
    """Since 3.2; before, many documents wrote the schema of each."""
    of_all = post(body("application/jsonl", {"type": "array", "items": ENTRY, "maxItems": 1}))
    assert sent(of_all, "make", body=[{"level": 1}]).body == b'{"level":1}\n'
    assert "body" in refused(of_all, "make", body=[{"level": 1}, {"level": 2}]).message
    of_each = post(body("application/jsonl", ENTRY))
    assert sent(of_each, "make", body=[{"level": 1}, {"level": 2}]).body == b'{"level":1}\n{"level":2}\n'


@pytest.mark.parametrize(
    ("media", "result"), [("application/json", "dict[str, Any]"), ("application/x-own", "Artifact | bytes")]
)
def test_a_media_type_that_is_no_sequence_has_no_items(media: str, result: str) -> None:
    said = {"itemSchema": ENTRY, "schema": {"type": "object"}}
    sending = compiled(json.dumps(post({"required": True, "content": {media: said}})).encode())
    assert f"`{media}` is not known as one item after another" in sending.excluded["make"]
    assert result_of(get(responses={"200": {"content": {media: said}}})) == result
    anything = post({"required": True, "content": {"*/*": {"itemSchema": ENTRY}}})
    got = sent(anything, "make", body=[{"level": 1}])
    assert (got.header("content-type"), got.body) == ("application/jsonl", b'{"level":1}\n')


def test_both_schemas_count_where_there_are_both() -> None:
    both = {"itemSchema": ENTRY, "schema": {"type": "array", "maxItems": 1}}
    document = post(
        {"required": True, "content": {"application/jsonl": both}},
        responses={"200": {"content": {"application/jsonl": both}}},
    )
    assert result_of(document) == "list[MakeResultItem]"
    assert sent(document, "make", body=[{"level": 1}]).body == b'{"level":1}\n'
    assert "`body[0].level`" in refused(document, "make", body=[{"level": "x"}]).message
    assert "`body`" in refused(document, "make", body=[{"level": 1}, {"level": 2}]).message


def test_items_past_the_limit_are_an_error_with_the_beginning() -> None:
    limits = Limits(body_bytes=500, answer_bytes=1000)
    with pytest.raises(CallError, match="is longer than the 1,000 bytes that are read") as caught:
        answered(listed("application/jsonl", {}), reply("application/jsonl", b"1\n" * 600), limits=limits)
    assert isinstance(caught.value.data, ArtifactRef)
    assert caught.value.data.size == 1000


def test_too_many_items_for_a_value_are_whole_in_an_artifact() -> None:
    limits = Limits(body_bytes=500, answer_bytes=5000)
    value, client = answered(
        listed("text/event-stream", {}), reply("text/event-stream", b"data: 1\n\n" * 100), limits=limits
    )
    assert isinstance(value, dict)
    assert client.artifacts.read(value["artifact"]) == b"data: 1\n\n" * 100


def test_an_answer_of_any_kind_still_has_a_type() -> None:
    """Where a document offers lines and JSON, a script chooses."""
    media = {"application/json": {"schema": {"type": "object"}}, "application/jsonl": {"itemSchema": ENTRY}}
    api = compiled(json.dumps(get(responses={"200": {"content": media}})).encode())
    assert operations(api)["read"].accept_argument == "accept"
