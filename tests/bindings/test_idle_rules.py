"""Rules that fit no method of what is connected: told where that is certain, and never of what may still come."""

from __future__ import annotations

from dataclasses import replace

import pytest

from isolith_bindings.idle_rules import idle_rules
from isolith_bindings.policy import Policy, govern
from isolith_bindings.testing import RecordingConnector


class Server(RecordingConnector):
    def __init__(self, *names: str, unavailable: str | None = None) -> None:
        super().__init__("docs", dict.fromkeys(names, 1))
        self.unavailable = unavailable


def denies(*patterns: str) -> Policy:
    return Policy.model_validate({"rules": [{"match": pattern, "action": "deny"} for pattern in patterns]})


def test_a_rule_that_fits_nothing_is_told() -> None:
    rules = [
        {"match": "dosc.*", "action": "deny"},
        {"match": "docs.get", "action": "deny"},
        {"match": "*.drop", "action": "deny", "effect": "delete", "name": "no drops"},
    ]
    policy = Policy.model_validate({"rules": rules})
    assert idle_rules(policy, [govern(Server("get"), policy)]) == [
        "rule 1 (`dosc.*`) fits no method of what is connected",
        "no drops (`*.drop`, effect delete) fits no method of what is connected",
    ]


@pytest.mark.parametrize("pattern", ["docs.delte_*", "*.drop", "doc?.get"])
def test_of_a_server_that_has_not_said_what_it_offers_nothing_is_told(pattern: str) -> None:
    """It used to be told of every server that was away."""
    away = Server(unavailable="it has not been started")
    crm = RecordingConnector("crm", {"find": 1})
    assert idle_rules(denies(pattern), [crm, away]) == []
    assert idle_rules(denies(pattern), [crm, Server("find")]) != []
    assert idle_rules(denies("dosc.*"), [crm, away]) != []  # whatever it offers


def test_what_may_be_approved_later_and_what_is_not_connected_at_all_is_not_told() -> None:
    assert idle_rules(denies("snippets.pay_*"), [Server("get")]) == []
    assert idle_rules(denies("docs.get"), []) == []


# ---------------------------------------------------------------------------------------------- arguments

CLOSED: dict[str, object] = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "maxBytes": {"type": "integer"},
        "author": {"anyOf": [{"$ref": "#/$defs/Author"}, {"type": "null"}]},
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"sku": {}}, "additionalProperties": False},
        },
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "additionalProperties": False,
    "$defs": {"Author": {"type": "object", "properties": {"name": {"type": "string"}, "born": {"type": "string"}}}},
}


def files(**schemas: dict[str, object]) -> RecordingConnector:
    """A connector whose methods take what these schemas say."""
    made = RecordingConnector("files", dict.fromkeys(schemas, 1))
    made.methods = {name: replace(made.methods[name], parameters=schema) for name, schema in schemas.items()}
    return made


def asks(path: str, match: str = "files.write") -> Policy:
    rule = {"match": match, "where": {path: {"matches": ".*secret.*"}}, "action": "deny"}
    return Policy.model_validate({"rules": [rule]})


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("pth", "asks about `pth`, and files.write has no such argument; did you mean `path`?"),
        ("zzz", "asks about `zzz`, and files.write has no such argument"),
        ("author.nam", "asks about `nam` of `author.nam`, and files.write has no such argument; did you mean `name`?"),
        ("/pth", "asks about `pth` of `/pth`, and files.write has no such argument; did you mean `path`?"),
        ("lines.0.sk", "asks about `sk` of `lines.0.sk`, and files.write has no such argument; did you mean `sku`?"),
    ],
)
def test_an_argument_that_no_call_can_have_is_told(path: str, told: str) -> None:
    """A prohibition used to be switched off by it, without a word."""
    policy = asks(path)
    assert idle_rules(policy, [govern(files(write=CLOSED), policy)]) == [
        f"rule 1 (`files.write`, what it asks of `{path}`) {told}"
    ]


@pytest.mark.parametrize(
    "path",
    [
        "path",
        "max_bytes",
        "MAX-BYTES",
        "author.name",
        "author.email",
        "author.name.x",
        "labels.env",
        "lines.sku",
        "/path",
    ],
)
def test_an_argument_that_a_call_may_have_is_not_told(path: str) -> None:
    """`author` lists its fields and does not say that there are no others: only what is like one of them is told."""
    assert idle_rules(asks(path), [files(write=CLOSED)]) == []


def test_an_argument_is_told_where_no_method_can_have_it_and_all_say_what_they_take() -> None:
    other: dict[str, object] = {"type": "object", "properties": {"pattern": {}}, "additionalProperties": False}
    unclear: list[dict[str, object]] = [
        {"type": "object", "additionalProperties": True},
        {"type": "object", "properties": {}},
        {**CLOSED, "patternProperties": {}},
    ]
    [told] = idle_rules(asks("pth", "files.*"), [files(write=CLOSED, find=other)])
    assert told.endswith(" none of the 2 methods that it fits has such an argument; did you mean `path`?")
    assert idle_rules(asks("pattern", "files.*"), [files(write=CLOSED, find=other)]) == []
    for anything in unclear:
        assert idle_rules(asks("pth", "files.*"), [files(write=CLOSED, find=anything)]) == []
    assert idle_rules(asks("pth", "*"), [files(write=CLOSED), Server(unavailable="it has not been started")]) == []
    assert idle_rules(asks("pth", "snippets.write"), [files(write=CLOSED)]) == []
