"""Answers of many items: the parts of a multipart body, what is in them, and long lists."""

from __future__ import annotations

import contextlib
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bindings.openapi.bench import compiled
from tests.bindings.openapi.exchanges import MIXED, answered, get, listed, reply, result_of

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.errors import CallError
from isolith_bindings.openapi import sequences
from isolith_bindings.openapi.answers import BESIDE
from isolith_bindings.openapi.items import Items
from isolith_bindings.openapi.partition import MAX_HEAD, MAX_PARTS, sections

if TYPE_CHECKING:
    from isolith_bindings.openapi.media import Kind

PARTS = (
    b'ignored\r\n--b\r\nContent-Type: application/json\r\n\r\n{"a": 1}\r\n'
    b"--b \t\r\ncontent-type: text/plain; charset=latin-1\r\nX-Number: 7\r\nX-Other: no\r\n\r\n\xfc\r\n\r\n"
    b'--b\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename="../a.png"\r\n\r\n\x89PNG\r\n--c\r\n'
    b"--b\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==\r\n"
    b"--b\r\n\r\nbare\r\n--b\r\n\r\n\r\n--b--\r\nignored"
)  # fmt: skip


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
    b'Content-Disposition: form-data; name="a"\r\n', b"Content-Disposition: form-data; name*=utf-16''%ff\r\n", b"\r\n\r\n", b"1",
]  # fmt: skip
_SAID: dict[str, object] = {"itemSchema": {}, "itemEncoding": {"contentType": "multipart/mixed", "headers": {"X-Number": {"schema": {"type": "integer"}}}, "itemEncoding": {}}}  # fmt: skip
_NAMED: dict[str, object] = {"schema": {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}, "b": {"type": "string", "format": "binary"}}}}  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=25), st.booleans(), st.sampled_from(["lines", "records", "events"]))
def test_whatever_comes_is_items_or_none(pieces: list[bytes], cut: bool, kind: Kind) -> None:
    """No answer of a stranger is an error of ours."""
    content = b"".join(pieces)
    sequence = {"lines": "application/jsonl", "records": "application/json-seq"}.get(kind, "text/event-stream")
    for said, told in ((_SAID, MIXED), (_NAMED, MIXED), (_SAID, sequence)):
        api = compiled(json.dumps(get(responses={"200": {"content": {"multipart/mixed": said}}})).encode())
        with contextlib.suppress(ValueError):
            Items(api.operations[0].answers[0].media[0], api.definitions, cut=cut).read(content, told)
