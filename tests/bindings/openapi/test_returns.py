"""The type of a result: by status and by media type, as the document says them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.bench import compiled, operations
from tests.bindings.openapi.exchanges import answered, get
from tests.bindings.openapi.loopback import Reply

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.openapi.signatures import Signatures

if TYPE_CHECKING:
    from isolith_bindings.openapi.model import Schema

THING: Schema = {"type": "object", "properties": {"a": {"type": "integer"}}}


def as_json(schema: object) -> dict[str, object]:
    return {"content": {"application/json": {"schema": schema}}}


def result_of(answers: dict[str, object]) -> str:
    api = compiled(json.dumps(get(responses=answers)).encode())
    return Signatures(api).of(operations(api)["read"]).partition(" -> ")[2]


@pytest.mark.parametrize(
    ("answers", "result"),
    [
        ({"200": as_json({"type": "integer"})}, "int"),
        ({"200": as_json({"type": "integer"}), "404": as_json({"type": "string"})}, "int"),
        ({"200": as_json({"type": "integer"}), "201": as_json({"type": "string"})}, "int | str"),
        ({"200": as_json({"type": "integer"}), "204": {}}, "int | None"),
        ({"2XX": as_json({"type": "integer"}), "default": as_json({"type": "string"})}, "int"),
        ({"2xx": as_json({"type": "integer"})}, "int"),
        ({"default": as_json({"type": "integer"})}, "int"),
        ({"204": {"description": "nothing"}}, "None"),
        ({"404": as_json({"type": "string"})}, "Any"),
        ({"200": {"content": {"text/plain": {}}}}, "str"),
        ({"200": {"content": {"application/xml": {"schema": THING}}}}, "str"),
        ({"200": {"content": {"image/png": {}}}}, "Artifact | bytes"),
        ({"200": {"content": {"application/json": {"schema": {"type": "string", "format": "binary"}}}}}, "Artifact | bytes"),
        ({"200": {"content": {"application/vnd.api+json": {"schema": THING}}}}, "ReadResult"),
        ({"200": {"content": {"application/x-www-form-urlencoded": {"schema": THING}}}}, "ReadResult"),
        ({"200": {"content": {"image/png": {}, **as_json(THING)["content"]}}}, "ReadResult"),  # type: ignore[dict-item]
    ],
)  # fmt: skip
def test_the_result_is_that_of_a_success(answers: dict[str, object], result: str) -> None:
    assert result_of(answers) == result


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        (Reply.of({"a": 1}), {"a": 1}),
        (Reply.of("made", 201), "made"),
        (Reply.of([1], 299), [1]),
        (Reply(status=204), None),
        (Reply(b"a,b", headers=(("content-type", "text/csv"),)), "a,b"),
    ],
)
def test_an_answer_is_read_by_its_status_and_its_media_type(reply: Reply, value: object) -> None:
    answers = {
        "200": {"content": {**as_json(THING)["content"], "text/*": {}, "image/*": {}}},  # type: ignore[dict-item]
        "201": as_json({"type": "string"}),
        "204": {},
        "2XX": as_json({"type": "array"}),
    }
    assert answered(get(responses=answers), reply, strict_responses=True)[0] == value
    picture = Reply(b"GIF", headers=(("content-type", "image/gif"),))
    assert isinstance(answered(get(responses=answers), picture, strict_responses=True)[0], ArtifactRef)
