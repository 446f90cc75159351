"""JSON that stands as text in an answer: read and checked where answers are, believed where they are not."""

from __future__ import annotations

import base64
import json

import pytest
from tests.bindings.openapi.exchanges import answered, get, listed, reply, result_of
from tests.bindings.openapi.loopback import Reply

from isolith_bindings.errors import CallError

FOO = {"type": "object", "required": ["foo"], "properties": {"foo": {"type": "integer"}}}
# OpenAPI 3.2, "Special Considerations for Server-Sent Events": the type of the data hangs on that of the event.
EVENT = {
    "type": "object",
    "required": ["data", "event"],
    "properties": {"data": {"type": "string"}, "event": {"type": "string"}},
    "oneOf": [
        {"properties": {"event": {"const": "addString"}}},
        {"properties": {"event": {"const": "addInt64"}, "data": {"pattern": "^[0-9]{1,19}$"}}},
        {
            "properties": {
                "event": {"const": "addJSON"},
                "data": {"contentMediaType": "application/json", "contentSchema": FOO},
            }
        },
    ],
}
GOOD = 'event: addString\ndata: {\n\nevent: addInt64\ndata: 12\n\nevent: addJSON\ndata: {"foo":\ndata: 42}\n\n'


def events(content: str) -> Reply:
    return reply("text/event-stream", content)


def test_the_data_of_an_event_are_what_the_document_says() -> None:
    document = listed("text/event-stream", EVENT)
    value, _ = answered(document, events(GOOD), strict_responses=True)
    assert value == [
        {"event": "addString", "data": "{"},
        {"event": "addInt64", "data": "12"},
        {"event": "addJSON", "data": '{"foo":\n42}'},
    ]


PLAIN = {"type": "object", "properties": {"data": {"type": "string", "contentMediaType": "application/json", "contentSchema": FOO}}}  # fmt: skip


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ('{"foo": "x"}', r"`\[0\].data.foo`: expected integer"),
        ("{}", r"`\[0\].data.foo`: is missing|`\[0\].data`: .*foo"),
        ("{foo}", r"`\[0\].data`: expected text that is application/json, and it is not"),
        ("[" * 1000, ""),
    ],
)
def test_data_that_are_something_else_are_said_and_kept(data: str, told: str) -> None:
    document = listed("text/event-stream", PLAIN)
    assert answered(document, events(f"data: {data}\n\n"))[0] == [{"data": data}]
    if not told:  # what cannot be decided is nobody's mistake
        return
    with pytest.raises(CallError, match=told) as caught:
        answered(document, events(f"data: {data}\n\n"), strict_responses=True)
    assert (caught.value.kind, caught.value.data) == ("invalid_result", [{"data": data}])


def test_which_event_is_wrong_is_found_among_alternatives() -> None:
    document = listed("text/event-stream", EVENT)
    with pytest.raises(CallError, match=r"`\[2\]") as caught:
        answered(document, events(GOOD.replace("42", '"42"')), strict_responses=True)
    assert caught.value.kind == "invalid_result"


@pytest.mark.parametrize(
    ("schema", "text", "wrong"),
    [
        ({"contentSchema": FOO}, '{"foo": ""}', False),  # without a media type it says nothing
        ({"contentMediaType": "text/html", "contentSchema": FOO}, '{"foo": ""}', False),
        ({"contentMediaType": "application/json"}, '{"foo": ""}', False),
        ({"contentMediaType": "application/json"}, "{", True),
        ({"contentMediaType": "application/vnd.a+json; charset=utf-8", "contentSchema": FOO}, '{"foo": ""}', True),
        ({"contentMediaType": "application/json", "contentSchema": {"$ref": "#/components/schemas/Foo"}}, '{"foo": ""}', True),
        ({"contentMediaType": "application/json", "contentSchema": False}, "1", True),
        ({"contentMediaType": "application/json", "contentEncoding": "base64", "contentSchema": FOO}, "eyJmb28iOjF9", False),
        ({"contentMediaType": "application/json", "contentEncoding": "base64", "contentSchema": FOO}, "eyJmb28iOiIifQ==", True),
        ({"contentMediaType": "application/json", "contentEncoding": "base64", "contentSchema": FOO}, '{"foo": 1}', True),
        ({"contentMediaType": "application/json", "contentEncoding": "base64"}, "/w==", True),
        ({"contentMediaType": "application/json", "contentEncoding": "base64url", "contentSchema": FOO}, base64.urlsafe_b64encode(b'{"foo":"\xc3\xbf\xc3\xbf"}').decode(), True),
        # Mostly written without what fills it up (RFC 4648, 3.2).
        ({"contentMediaType": "application/json", "contentEncoding": "base64url", "contentSchema": FOO}, "eyJmb28iOjEyfQ", False),
        ({"contentMediaType": "application/json", "contentEncoding": "base64url", "contentSchema": FOO}, "eyJmb28iOjEyfQ==", False),
        ({"contentMediaType": "application/json", "contentEncoding": "base64url", "contentSchema": FOO}, "eyJmb28iOiIifQ", True),
        ({"contentMediaType": "application/json", "contentEncoding": "base16", "contentSchema": FOO}, b'{"foo": 1}'.hex(), False),
        ({"contentMediaType": "application/json", "contentEncoding": "base32", "contentSchema": FOO}, base64.b32encode(b"1").decode(), True),
        ({"contentMediaType": "application/json", "contentEncoding": "zip", "contentSchema": FOO}, "x", False),
    ],
)  # fmt: skip
def test_text_in_any_answer_is_read_as_its_schema_says(schema: dict[str, object], text: str, wrong: bool) -> None:
    whole = {"type": "object", "properties": {"inner": {"type": "string", **schema}}}
    document = get(responses={"200": {"content": {"application/json": {"schema": whole}}}})
    document |= {"components": {"schemas": {"Foo": FOO}}}
    value = {"inner": text}
    assert answered(document, Reply.of(value))[0] == value
    if not wrong:
        assert answered(document, Reply.of(value), strict_responses=True)[0] == value
        return
    with pytest.raises(CallError, match="`inner") as caught:
        answered(document, Reply.of(value), strict_responses=True)
    assert (caught.value.kind, caught.value.data) == ("invalid_result", value)


def test_content_that_is_nested_too_deeply_is_not_looked_at_and_all_beside_it_is() -> None:
    inner = {"type": "string", "contentMediaType": "application/json", "contentSchema": FOO}
    whole = {"type": "object", "properties": {"inner": inner, "number": {"type": "integer"}}}
    document = get(responses={"200": {"content": {"application/json": {"schema": whole}}}})
    for depth in (300, 1500, 9000, 100_000):
        value = {"inner": "[" * depth + "]" * depth, "number": "one"}
        with pytest.raises(CallError, match="`number`: expected integer"):
            answered(document, Reply.of(value), strict_responses=True)


def test_data_that_are_nested_too_deeply_stay_text() -> None:
    event = {"type": "object", "properties": {"data": {"type": "object"}}}
    deep = "[" * 1500 + "]" * 1500
    assert answered(listed("text/event-stream", event), events(f"data: {deep}\n\n"))[0] == [{"data": deep}]


def test_the_keys_of_the_content_are_none_of_the_value_around_it() -> None:
    inner = {"contentMediaType": "application/json", "contentSchema": {"properties": {"foo": {}}}}
    schema = {"type": "array", "items": {**inner, "unevaluatedProperties": False}}
    document = get(responses={"200": {"content": {"application/json": {"schema": schema}}}})
    assert answered(document, Reply.of(['{"foo": 1}']), strict_responses=True)[0] == ['{"foo": 1}']
    with pytest.raises(CallError, match="foo"):
        answered(document, Reply.of([{"foo": 1}]), strict_responses=True)


TODO = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}


def test_data_that_the_document_has_as_no_text_are_read() -> None:
    """As some frameworks describe their events: the type of the data is that of the JSON in it."""
    event = {"type": "object", "properties": {"data": {"$ref": "#/components/schemas/Todo"}, "event": {"type": "string"}}}  # fmt: skip
    document = listed("text/event-stream", event) | {"components": {"schemas": {"Todo": TODO}}}
    assert result_of(document) == "list[ReadResultItem]"
    assert answered(document, events('data: {"id": 1}\n\ndata: [DONE]\n\n'))[0] == [
        {"data": {"id": 1}},
        {"data": "[DONE]"},
    ]
    assert answered(document, events('data: {"id": 1}\n\n'), strict_responses=True)[0] == [{"data": {"id": 1}}]
    # The mark at the end of such a stream breaks no promise; any other text does.
    assert answered(document, events('data: {"id": 1}\n\ndata: [DONE]\n\n'), strict_responses=True)[0] == [
        {"data": {"id": 1}},
        {"data": "[DONE]"},
    ]
    with pytest.raises(CallError, match=r"`\[1\].data`: expected object"):
        answered(document, events('data: {"id": 1}\n\ndata: [ENDED]\n\n'), strict_responses=True)


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize(
    "schema", [TODO, {"type": "object", "properties": {"data": TODO, "event": {"type": "string"}}}]
)
def test_before_items_had_a_schema_documents_had_that_of_each_event_or_of_its_data(
    version: str, schema: object
) -> None:
    """As real documents of streaming APIs have it."""
    answers = {"200": {"content": {"text/event-stream": {"schema": schema}}}}
    document = get(responses=answers, openapi=version)
    assert result_of(document).startswith("list[")
    found, _ = answered(document, events('data: {"id": 1}\n\ndata: [DONE]\n\n'))
    assert found == [{"data": {"id": 1}}, {"data": "[DONE]"}]
    with pytest.raises(CallError, match=r"`\[0\].data.id`: expected integer"):
        answered(document, events('data: {"id": ""}\n\n'), strict_responses=True)


@pytest.mark.parametrize(
    "event",
    [
        EVENT,
        {"properties": {"data": {}}},
        {"properties": {"data": {"type": ["string", "object"]}}},
        {"oneOf": [{"properties": {"data": TODO}}, {"properties": {"data": {"type": "string"}}}]},
        {"properties": {"data": {"anyOf": [TODO, {"const": "[DONE]"}]}}},
    ],
)
def test_data_that_may_be_text_stay_text(event: object) -> None:
    text = json.dumps({"id": 1})
    document = listed("text/event-stream", event)
    assert answered(document, events(f"data: {text}\n\n"))[0] == [{"data": text}]
