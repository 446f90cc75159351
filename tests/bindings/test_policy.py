"""Which calls a script may make: presets, rules, and the actual arguments."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, cast

import pytest
from pydantic import ValidationError
from tests.bindings.policies import (
    DELETES,
    LIMITED,
    PRESETS,
    READS,
    WRITES,
    a_server,
    asked,
    decided,
    denied,
    free,
    rules,
)

from isolith_bindings.connector import Annotations, offered
from isolith_bindings.connector import Policy as Action
from isolith_bindings.functions import as_connector
from isolith_bindings.policy import Policy, Preset, as_policy, govern
from isolith_bindings.rules import Rule, effect_of
from isolith_bindings.testing import RecordingConnector, a_method

if TYPE_CHECKING:
    from collections.abc import Mapping


# ---------------------------------------------------------------------------------------------- presets


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        (READS, ("allow", "allow", "allow")),
        (WRITES, ("allow", "ask", "deny")),
        (DELETES, ("allow", "ask", "deny")),
        (Annotations(), ("allow", "ask", "deny")),
        (Annotations(trusted=True), ("allow", "ask", "deny")),
        (Annotations(read_only=True), ("allow", "ask", "deny")),
    ],
)
def test_presets_over_what_is_said_of_a_method(annotations: Annotations, expected: tuple[Action, ...]) -> None:
    server = a_server(annotations=annotations)
    assert tuple(decided(as_policy(preset), server, {}) for preset in PRESETS) == expected


@pytest.mark.parametrize(
    ("preset", "mend"), [("careful", "to allow it unasked"), ("readonly", "to allow it")], ids=["careful", "readonly"]
)
def test_why_a_preset_holds_a_call_up_says_what_would_let_it_through(preset: Preset, mend: str) -> None:
    """ "It is not allowed here: a rule or another policy allows it" read as if it were allowed."""

    def reason(annotations: Annotations) -> str:
        server = a_server(annotations=annotations)
        return as_policy(preset).decide(server, next(iter(server.methods.values())), {}).reason

    assert reason(WRITES) == f"it may do more than read; {mend}, name it in a rule"
    assert reason(Annotations(read_only=True)) == (
        "its server says that it only reads, and is not trusted; "
        f"{mend}, set `trusted = true` for the server, or name it in a rule"
    )


def test_a_policy_is_written_as_one_writes_lists() -> None:
    """As it runs, so it is typed: both used to be refused by type checkers, which look at this file."""
    policy = Policy(preset="careful", rules=[Rule(match="crm.count", action="allow", where={"limit": 5})])
    assert (policy.rules, policy.rules[0].match) == (
        (Rule(match=("crm.count",), action="allow", where={"limit": 5}),),
        ("crm.count",),
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_functions_follow_their_own_word_under_each_preset(preset: Preset) -> None:
    connector = as_connector([free, asked, denied])
    found = {name: as_policy(preset).decide(connector, m, {}).action for name, m in connector.methods.items()}
    assert found == {"free": "allow", "asked": "ask", "denied": "deny"}


@pytest.mark.parametrize(("own", "careful"), [("allow", "allow"), ("ask", "ask"), ("deny", "deny")])
def test_no_preset_loosens_the_own_word(own: Action, careful: Action) -> None:
    server = a_server(policy=own, annotations=READS)
    assert [decided(as_policy(preset), server, {}) for preset in PRESETS] == [own, careful, careful]


def test_a_policy_stays_itself_and_an_unknown_preset_is_refused() -> None:
    policy = Policy(preset="readonly")
    assert as_policy(policy) is policy
    with pytest.raises(ValidationError, match="preset"):
        as_policy(cast("Preset", "lax"))


# ---------------------------------------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("patterns", "fits"),
    [
        ("*", True),
        ("docs.*", True),
        ("*.delete-*", True),
        ("docs.delete_page", True),
        ("docs.delete-page", True),
        ("d?cs.*", True),
        ("docs.[de]*", True),
        (["crm.*", "docs.*"], True),
        ("docs.delete", False),
        ("doc.*", False),
        ("Docs.*", False),
        ("*.*.page", False),
    ],
)
def test_patterns_fit_both_spellings(patterns: str | list[str], fits: bool) -> None:
    policy = rules({"match": patterns, "action": "deny"})
    assert decided(policy, a_server("delete-page"), {}) == ("deny" if fits else "allow")


def test_a_pattern_crosses_the_dots_within_a_method() -> None:
    server = RecordingConnector("github", {"list": 1})
    server.methods = {"issues.list": a_method("issues.list", "issues/list")}
    assert decided(rules({"match": "github.issues.*", "action": "deny"}), server, {}) == "deny"


def test_the_first_rule_that_fits_decides_and_is_named() -> None:
    policy = rules(
        {"match": "docs.get", "action": "ask", "name": "gets are asked", "reason": "someone reads along"},
        {"match": "docs.*", "action": "deny"},
    )
    server = a_server("get", "put")
    get, put = (policy.decide(server, server.methods[name], {}) for name in ("get", "put"))
    assert (get.action, get.rule, get.reason) == ("ask", "gets are asked", "someone reads along")
    assert (put.action, put.rule, put.reason) == ("deny", "rule 2", "docs.put fits `docs.*`")


@pytest.mark.parametrize(
    ("own", "pattern", "expected"),
    [("ask", "docs.get", "allow"), ("ask", "docs.*", "ask"), ("ask", "*", "ask"), ("deny", "docs.get", "deny")],
)
def test_only_a_rule_that_names_the_method_lifts_its_ask(own: Action, pattern: str, expected: Action) -> None:
    assert decided(rules({"match": pattern, "action": "allow"}), a_server(policy=own), {}) == expected


@pytest.mark.parametrize(
    ("annotations", "effect"),
    [
        (READS, "read"),
        (WRITES, "write"),
        (DELETES, "delete"),
        (Annotations(read_only=False), "write"),
        (Annotations(read_only=True, destructive=True), "read"),
        (Annotations(idempotent=True), None),
    ],
)
def test_the_effect_of_a_method(annotations: Annotations, effect: str | None) -> None:
    assert effect_of(annotations) == effect


def test_rules_by_effect() -> None:
    policy = rules(
        {"effect": "read", "action": "allow"},
        {"effect": ["write"], "action": "ask"},
        {"action": "deny"},
    )
    found = [decided(policy, a_server(annotations=a), {}) for a in (READS, WRITES, DELETES, Annotations(trusted=True))]
    assert found == ["allow", "ask", "deny", "deny"]


def test_rules_by_annotation() -> None:
    policy = rules({"annotations": {"idempotent": True, "open_world": False}, "action": "allow"}, preset="readonly")
    fits = Annotations(idempotent=True, open_world=False, trusted=True)
    other = dataclasses.replace(fits, open_world=None)
    assert [decided(policy, a_server(annotations=a), {}) for a in (fits, other)] == ["allow", "deny"]


def test_a_stranger_may_say_what_costs_it_calls_and_nothing_that_earns_it_one() -> None:
    says_reads, says_deletes = Annotations(read_only=True), Annotations(destructive=True)
    allow_reads = rules({"effect": "read", "action": "allow"}, preset="careful")
    deny_deletes = rules({"effect": "delete", "action": "deny"})
    assert decided(allow_reads, a_server(annotations=says_reads), {}) == "ask"
    assert decided(deny_deletes, a_server(annotations=says_deletes), {}) == "deny"
    assert not offered(govern(a_server(annotations=says_deletes), deny_deletes))
    # Nor may it slip past a stricter rule by fitting an earlier one.
    slip = rules({"effect": "delete", "action": "ask"}, {"match": "docs.*", "action": "deny"})
    assert decided(slip, a_server(annotations=says_deletes), {}) == "deny"


# ---------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"amount": 100}, "allow"),
        ({"amount": 101}, "ask"),
        ({"amount": 1001}, "deny"),
        ({}, "deny"),
        ({"amount": "1"}, "deny"),
    ],
)
def test_rules_over_the_actual_arguments(arguments: dict[str, object], expected: Action) -> None:
    assert decided(LIMITED, a_server(), arguments) == expected


@pytest.mark.parametrize("scalar", ["staging", 5, 1.5, True])
def test_a_scalar_says_equals(scalar: object) -> None:
    policy = rules({"where": {"env": scalar}, "action": "deny"})
    assert [decided(policy, a_server(), {"env": value}) for value in (scalar, None)] == ["deny", "allow"]


def test_before_arguments_are_known_the_strictest_that_may_come_is_told() -> None:
    assert decided(LIMITED, a_server(), None) == "ask"
    hidden = rules({"where": {"amount": 1}, "action": "deny"}, {"action": "deny"})
    assert decided(hidden, a_server(), None) == "deny"


def test_a_stranger_s_word_and_an_argument_together_are_told_as_what_may_come() -> None:
    """Used to be told as `allow`, and then asked."""
    policy = rules({"effect": "delete", "where": {"amount": 1}, "action": "ask"}, {"action": "allow"})
    server = a_server(annotations=Annotations(destructive=True))
    assert [decided(policy, server, arguments) for arguments in (None, {"amount": 1}, {"amount": 2})] == [
        "ask",
        "ask",
        "allow",
    ]


def test_a_denial_that_cannot_be_told_is_one() -> None:
    """A lax connector takes the text for the number."""
    policy = rules({"where": {"amount": {"more_than": 100}}, "action": "deny"})
    server = a_server()
    decision = policy.decide(server, server.methods["get"], {"amount": "5000"})
    assert decision.action == "deny"
    assert decision.reason == (
        "docs.get fits `*`, what it asks of `amount`; whether it does cannot be told, and then the stricter decision stands"
    )
    assert decided(policy, server, {"amount": 5}) == "allow"
    assert decided(policy, server, {}) == "allow"


def test_the_default_that_is_declared_is_judged() -> None:
    connector = as_connector([free], "docs")
    policy = rules({"where": {"amount": {"more_than": 4}}, "action": "deny"})
    assert [decided(policy, connector, arguments) for arguments in ({}, {"amount": 3})] == ["deny", "allow"]


@pytest.mark.parametrize(
    ("answer", "expected"), [(True, "allow"), (False, "ask"), (None, "ask"), ("yes", "ask"), (ValueError("x"), "ask")]
)
def test_a_function_of_the_arguments(answer: object, expected: Action) -> None:
    def small(arguments: Mapping[str, object]) -> bool:
        assert arguments == {"amount": 3}
        if isinstance(answer, Exception):
            raise answer
        return cast("bool", answer)

    policy = Policy(preset="careful", rules=(Rule(action="allow", when=small),))
    assert decided(policy, a_server(), {"amount": 3}) == expected


def test_a_function_that_fails_closes() -> None:
    policy = Policy(preset="trusted", rules=(Rule(action="deny", when=lambda arguments: bool(arguments["missing"])),))
    assert decided(policy, a_server(), {}) == "deny"


# ---------------------------------------------------------------------------------------------- what is no rule


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({}, "action"),
        ({"action": "maybe"}, "'allow', 'ask' or 'deny'"),
        ({"action": "deny", "match": "delete_page"}, "write `delete_page.*` or `*.delete_page`"),
        ({"action": "deny", "match": []}, "at least 1"),
        ({"action": "deny", "match": "docs."}, "is no connector.method"),
        ({"action": "deny", "effect": "destroy"}, "'read', 'write' or 'delete'"),
        ({"action": "deny", "annotations": {"readonly": True}}, "readonly"),
        ({"action": "deny", "when": "amount > 3"}, "callable"),
        ({"action": "deny", "matches": "docs.*"}, "matches"),
        ({"action": "deny", "where": {"amount": {"lower": 3}}}, "lower"),
    ],
)
def test_what_is_no_rule_is_refused(rule: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        rules(rule)
    assert said in str(caught.value)
