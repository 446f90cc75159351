"""Rules that fit no method of what is connected: told where that is certain, and never of what may still come."""

from __future__ import annotations

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
