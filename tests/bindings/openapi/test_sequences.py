"""Items one after another, in both directions: the examples of OpenAPI 3.2, the rules of WHATWG, and streams without end."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bindings.openapi.bench import a_document, compiled, connected, operations
from tests.bindings.openapi.exchanges import answered, body, get, post, refused, sent
from tests.bindings.openapi.loopback import Reply

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.egress import Limits, Retries
from isolith_bindings.errors import CallError
from isolith_bindings.openapi import sequences
from isolith_bindings.openapi.answers import BESIDE
from isolith_bindings.openapi.items import Items
from isolith_bindings.openapi.partition import MAX_HEAD, MAX_PARTS, sections
from isolith_bindings.openapi.signatures import Signatures
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


def listed(media: str, item: object) -> dict[str, object]:
    return get(responses={"200": {"content": {media: {"itemSchema": item}}}})


def reply(media: str, content: bytes | str, **more: bool) -> Reply:
    whole = content.encode() if isinstance(content, str) else content
    return Reply(whole, headers=(("content-type", media),), **more)


def result_of(document: dict[str, object]) -> str:
    api = compiled(json.dumps(document).encode())
    return Signatures(api).of(api.operations[0]).partition(" -> ")[2]


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


# ------------------------------------------------------------------------------------------------------ parts of answers

PARTS = (
    b'ignored\r\n--b\r\nContent-Type: application/json\r\n\r\n{"a": 1}\r\n'
    b"--b \t\r\ncontent-type: text/plain; charset=latin-1\r\nX-Number: 7\r\nX-Other: no\r\n\r\n\xfc\r\n\r\n"
    b'--b\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename="../a.png"\r\n\r\n\x89PNG\r\n--c\r\n'
    b"--b\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==\r\n"
    b"--b\r\n\r\nbare\r\n--b\r\n\r\n\r\n--b--\r\nignored"
)  # fmt: skip
MIXED = 'multipart/mixed; boundary="b"'


def test_the_parts_of_an_answer_are_a_list() -> None:
    value, client = answered(listed("multipart/mixed", {}), reply(MIXED, PARTS))
    assert isinstance(value, list)
    picture = value[2]
    assert value == [{"a": 1}, "ü\r\n", picture, "a", "bare", ""]
    assert isinstance(picture, ArtifactRef)
    assert (picture.mime, picture.name, client.artifacts.read(picture)) == ("image/png", "a.png", b"\x89PNG\r\n--c")


def test_parts_whose_headers_are_described_come_with_them() -> None:
    encoding = {"headers": {"X-Number": {"schema": {"type": "integer"}}}}
    said = {"itemSchema": {}, "itemEncoding": encoding}
    document = get(responses={"200": {"content": {"multipart/mixed": said}}})
    value, _ = answered(document, reply(MIXED, PARTS))
    assert isinstance(value, list)
    assert value[:2] == [{"content": {"a": 1}, "headers": {}}, {"content": "ü\r\n", "headers": {"X-Number": 7}}]
    assert result_of(document) == "list[ReadResultItem]"
    required = {"itemSchema": {}, "itemEncoding": {"headers": {"X-Number": {"required": True, "schema": {}}}}}
    document = get(responses={"200": {"content": {"multipart/mixed": required}}})
    with pytest.raises(CallError, match="X-Number"):
        answered(document, reply(MIXED, PARTS), strict_responses=True)


def test_parts_have_types_by_their_position() -> None:
    meta, said = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}, {"type": "string"}
    whole = {"type": "array", "prefixItems": [meta, said], "items": {}}
    document = get(responses={"200": {"content": {"multipart/mixed": {"schema": whole, "prefixEncoding": [{}, {}]}}}})
    value, _ = answered(document, reply(MIXED, PARTS), strict_responses=True)
    assert isinstance(value, list)
    assert result_of(document) == "tuple[ReadResultItem, str, *tuple[Any, ...]]"
    wrong = PARTS.replace(b'{"a": 1}', b'{"a": ""}')
    with pytest.raises(CallError, match=r"`\[0\].a`: expected integer"):
        answered(document, reply(MIXED, wrong), strict_responses=True)


def test_a_long_list_is_read_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[bool] = []

    def read(*arguments: Any, **named: Any) -> list[object]:  # noqa: ANN401 - as given
        threads.append(threading.current_thread() is threading.main_thread())
        return actual(*arguments, **named)

    actual = sequences.read
    monkeypatch.setattr(sequences, "read", read)
    for count in (1, BESIDE):
        assert answered(listed("application/jsonl", {}), reply("application/jsonl", b"1\n" * count))[0] == [1] * count
    assert threads == [True, False]
    content = b"--b\r\nContent-Type: image/png\r\n\r\n" + b"x" * BESIDE + b"\r\n--b--"
    value, client = answered(listed("multipart/mixed", {}), reply(MIXED, content))
    assert isinstance(value, list)
    assert [client.artifacts.read(each) for each in value] == [b"x" * BESIDE]


def test_a_part_whose_head_does_not_end_is_none() -> None:
    content = b"--b\r\n" + b"a: b\r\n" * MAX_HEAD + b"\r\n--b--"
    with pytest.raises(CallError, match="the head of a part is longer than 65,536 bytes"):
        answered(listed("multipart/mixed", {}), reply(MIXED, content))
    with pytest.raises(ValueError, match="more than 10,000 parts"):
        sections(b"--b\r\n\r\nx\r\n" * (MAX_PARTS + 1) + b"--b--", "b")
    assert len(sections(b"--b\r\n\r\nx\r\n" * MAX_PARTS + b"--b--", "b")) == MAX_PARTS


def test_multipart_in_an_answer_is_a_list_in_the_list() -> None:
    inner = b"--i\r\n\r\nx\r\n--i\r\nContent-Type: application/json\r\n\r\n[1]\r\n--i--"
    content = b"--b\r\nContent-Type: multipart/mixed; boundary=i\r\n\r\n" + inner + b"\r\n--b--"
    said = {"itemSchema": {}, "itemEncoding": {"contentType": "multipart/mixed", "itemEncoding": {}}}
    document = get(responses={"200": {"content": {"multipart/mixed": said}}})
    assert answered(document, reply(MIXED, content))[0] == [["x", [1]]]


@pytest.mark.parametrize(
    "content", [b"", b"nothing", b"--b\r\n\r\na", b"--b\r\n\r\na\r\n--b\r\n", b"--bb\r\n\r\na\r\n--bb--"]
)
def test_parts_without_their_boundaries_are_none(content: bytes) -> None:
    if not content:
        assert answered(listed("multipart/mixed", {}), reply(MIXED, content))[0] is None
        return
    with pytest.raises(CallError, match="boundary"):
        answered(listed("multipart/mixed", {}), reply(MIXED, content))
    with pytest.raises(CallError, match="boundary"):
        answered(listed("multipart/mixed", {}), reply("multipart/mixed", content))


def test_parts_that_the_document_does_not_list_are_one_file() -> None:
    value, _ = answered(get(), reply(MIXED, PARTS))
    assert isinstance(value, ArtifactRef)


_PIECES = [
    b"--b", b"--b--", b"\r\n", b"\n", b"\r", b" ", b"Content-Type: ", b"application/json", b"text/plain; charset=idna", b"multipart/mixed; boundary=b",
    b"Content-Transfer-Encoding: base64\r\n", b"\xff", b"[", b"{}", b"data:", b"id:", b"\0", b"retry:9", b"\x1e", b"x", b":", b"X-Number: 7\r\n",
    b"Content-Disposition: x; filename*=utf-8''%ff\r\n", b"application/json-seq", b"text/event-stream",
]  # fmt: skip
_SAID: dict[str, object] = {"itemSchema": {}, "itemEncoding": {"contentType": "multipart/mixed", "headers": {"X-Number": {"schema": {"type": "integer"}}}, "itemEncoding": {}}}  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=25), st.booleans(), st.sampled_from(["lines", "records", "events"]))
def test_whatever_comes_is_items_or_none(pieces: list[bytes], cut: bool, kind: Kind) -> None:
    """No answer of a stranger is an error of ours."""
    content = b"".join(pieces)
    media = compiled(json.dumps(get(responses={"200": {"content": {"multipart/mixed": _SAID}}})).encode())
    for told in (
        MIXED,
        {"lines": "application/jsonl", "records": "application/json-seq"}.get(kind, "text/event-stream"),
    ):
        with contextlib.suppress(ValueError):
            Items(media.operations[0].answers[0].media[0], cut=cut).read(content, told)


# ------------------------------------------------------------------------------------------------- without an end


@pytest.mark.slow
def test_what_does_not_end_is_an_error_with_the_items_that_came() -> None:
    """A list is whole, or there is none: what came until the time was over is in the error."""
    streams = [
        ("text/event-stream", b"data: 1\n\ndata: 2\n\ndata: ha", [{"data": "1"}, {"data": "2"}]),
        ("application/jsonl", b"1\n2\n3", [1, 2]),
        ("application/json-seq", b"\x1e1\n\x1e2", [1]),
        (MIXED, b"--b\r\n\r\none\r\n--b\r\n\r\ntw", ["one"]),
        ("text/event-stream", b"", []),
    ]

    async def one(media: str, content: bytes) -> CallError:
        document = listed(media.partition(";")[0], {})
        answer = reply(media, content, endless=True)
        async with connected(document, lambda _: answer, limits=Limits(total_s=5)) as (client, server):
            with pytest.raises(CallError) as caught:
                await client.call("read")
            assert len(server.got) == 1
            return caught.value

    async def within() -> list[CallError]:
        return list(await asyncio.gather(*(one(media, content) for media, content, _ in streams)))

    errors = asyncio.run(within())
    assert [error.kind for error in errors] == ["tool_timeout"] * len(streams)
    assert [error.data for error in errors] == [items for _, _, items in streams]
    assert errors[0].message == (
        "read: the answer had not ended when the time of the call was over; 2 whole items came until then"
    )
    assert "error.data" in str(errors[0].hint)


@pytest.mark.slow
def test_what_is_compressed_and_quiet_for_long_is_cut_as_well() -> None:
    packed = gzip.compress(b"1\n2\n")[:-8]
    answer = Reply(packed, headers=(("content-type", "application/jsonl"), ("content-encoding", "gzip")), endless=True)

    async def within() -> tuple[object, int]:
        limits = Limits(total_s=60, idle_s=3)
        async with connected(listed("application/jsonl", {}), lambda _: answer, limits=limits) as (client, server):
            with pytest.raises(CallError, match="had not ended") as caught:
                await client.call("read")
            return caught.value.data, len(server.got)

    assert asyncio.run(within()) == ([1, 2], 1)


def test_what_breaks_off_is_an_error_with_the_items_that_came_and_is_not_asked_for_again() -> None:
    broken, nothing = reply("application/jsonl", b"1\n2\n3", broken=True), reply("application/jsonl", b"", broken=True)

    async def one(answer: Reply) -> tuple[CallError, int]:
        retries = Retries(base_s=0)
        async with connected(listed("application/jsonl", {}), lambda _: answer, retries=retries) as (client, server):
            with pytest.raises(CallError) as caught:
                await client.call("read")
            return caught.value, len(server.got)

    error, requests = asyncio.run(one(broken))
    assert (error.kind, error.data, error.retriable, requests) == ("tool_unavailable", [1, 2], True, 1)
    assert error.message == "read: the answer broke off before its end; 2 whole items came until then"
    # Of which nothing came, that is asked for again, as anything that is safe.
    error, requests = asyncio.run(one(nothing))
    assert (error.kind, error.data, requests) == ("tool_unavailable", None, 3)


@pytest.mark.slow
def test_an_answer_that_is_no_list_and_does_not_end_is_late_as_ever() -> None:
    answer = reply("application/json", b"[1", endless=True)

    async def within() -> CallError:
        async with connected(get(), lambda _: answer, limits=Limits(total_s=1)) as (client, _):
            with pytest.raises(CallError) as caught:
                await client.call("read")
            return caught.value

    error = asyncio.run(within())
    assert (error.kind, error.data) == ("tool_timeout", None)
    assert "gave no complete answer" in error.message


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
