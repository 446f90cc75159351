"""What is read-only or write-only is required of nobody, wherever it is said: beside a reference, or in another part."""

from __future__ import annotations

import json

import pytest
from tests.bindings.openapi.exchanges import answered, body, get, post, refused, sent
from tests.bindings.openapi.loopback import Reply

from isolith_bindings.errors import CallError

BASE = {"type": "object", "properties": {"id": {"type": "integer", "readOnly": True}, "name": {"type": "string"}, "key": {"$ref": "#/components/schemas/Key"}}}  # fmt: skip
SHARED = {"schemas": {"Base": BASE, "Key": {"type": "string", "writeOnly": True}, "Loop": {"allOf": [{"$ref": "#/components/schemas/Loop"}], "required": ["name"]}}}  # fmt: skip
REQUIRED = {"required": ["id", "name", "key"]}


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize(
    "schema",
    [
        {**BASE, **REQUIRED},
        {"allOf": [{"$ref": "#/components/schemas/Base"}, {"type": "object", **REQUIRED}]},
        {"allOf": [{"$ref": "#/components/schemas/Base"}], **REQUIRED},
        {"allOf": [{"allOf": [{"$ref": "#/components/schemas/Base"}]}, {"allOf": [{"type": "object", **REQUIRED}]}]},
    ],
)
def test_what_goes_one_way_is_required_of_neither(version: str, schema: dict[str, object]) -> None:
    document = post(body("application/json", schema)) | {"openapi": version, "components": SHARED}
    assert json.loads(sent(document, "make", name="x", key="k").body) == {"name": "x", "key": "k"}
    assert "`name`" in refused(document, "make", key="k").message
    answers = {"200": {"content": {"application/json": {"schema": schema}}}}
    asks = get(responses=answers, openapi=version) | {"components": SHARED}
    assert answered(asks, Reply.of({"id": 1, "name": "x"}), strict_responses=True)[0] == {"id": 1, "name": "x"}
    with pytest.raises(CallError, match="`name` is missing"):
        answered(asks, Reply.of({"id": 1}), strict_responses=True)


def test_a_schema_that_is_composed_of_itself_ends() -> None:
    loop = body("application/json", {"$ref": "#/components/schemas/Loop"})
    document = post(loop) | {"components": SHARED}
    assert "name" in refused(document, "make", body={}).message
