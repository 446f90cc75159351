"""An argument that belongs elsewhere: a finding says where."""

from __future__ import annotations

import pytest

from isolith_bindings.check import belonging, check
from isolith_bindings.check.fits import resolve
from isolith_bindings.connector import JsonSchema, Method
from isolith_bindings.testing import RecordingConnector

MERGE: JsonSchema = {
    "type": "object",
    "properties": {"number": {"type": "integer"}, "body": {"anyOf": [{"$ref": "#/$defs/merge"}, {"type": "null"}]}},
    "required": ["number"],
    "additionalProperties": False,
    "$defs": {"merge": {"type": "object", "properties": {"merge_method": {"type": "string"}}}},
}
FLAT: JsonSchema = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "spec": {"type": "object"}},
    "additionalProperties": False,
}


def hint(text: str) -> str | None:
    hub = RecordingConnector("hub", {})
    hub.methods = {
        "merge": Method("merge", "merge", "", MERGE, None, "async def merge()"),
        "replace": Method("replace", "replace", "", FLAT, None, "async def replace()"),
    }
    report = check(text, {"hub": hub})
    assert report.fatal is not None
    assert report.fatal.kind == "invalid_arguments"
    return report.fatal.hint


def test_a_field_of_the_body_is_sent_into_the_body() -> None:
    said = "`merge_method` belongs into `body`: body={'merge_method': ...}; hub.merge()"
    assert hint("hub.merge(number=1, merge_method='squash')") == said


@pytest.mark.parametrize("text", ["hub.replace(body=input)", "hub.replace(name='x', body={'spec': {}})"])
def test_what_is_given_as_a_whole_is_given_one_by_one(text: str) -> None:
    said = hint(text)
    assert said is not None
    assert said.startswith(
        "what is in `body` are arguments themselves: write each as NAME=..., or all of them as **body"
    )


@pytest.mark.parametrize(
    "text", ["hub.replace(body={'other': 1})", "hub.replace(body={})", "hub.replace(mode='x')", "hub.merge(params={})"]
)
def test_nothing_is_said_of_what_nobody_knows(text: str) -> None:
    assert hint(text) in {"hub.replace()", "hub.merge()"}


def test_a_schema_that_leads_round_in_circles_is_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way round used to be gone: millions of them."""
    resolved: list[object] = []

    def counted(schema: JsonSchema, root: JsonSchema) -> JsonSchema | bool | None:
        resolved.append(schema)
        assert len(resolved) < 1000
        return resolve(schema, root)

    monkeypatch.setattr(belonging, "resolve", counted)
    again = [{"$ref": "#/$defs/a"}] * 20
    circle: JsonSchema = {"anyOf": again, "oneOf": again, "allOf": again}
    parameters = {**FLAT, "properties": {"spec": {"$ref": "#/$defs/a"}}, "$defs": {"a": circle}}
    hub = RecordingConnector("hub", {})
    hub.methods = {"replace": Method("replace", "replace", "", parameters, None, "async def replace()")}
    report = check("hub.replace(zzz=1)", {"hub": hub})
    assert report.fatal is not None
    assert report.fatal.hint == "hub.replace()"
    assert resolved
