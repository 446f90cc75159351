"""Which calls a script may make, and that what is hidden is what is denied."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from isolith_bindings.catalog import Catalog
from isolith_bindings.connector import Annotations, Connector, offered
from isolith_bindings.connector import Policy as Action
from isolith_bindings.errors import CallError
from isolith_bindings.functions import as_connector, method
from isolith_bindings.policy import Policy, Preset, as_policy, govern, idle_rules, ungoverned
from isolith_bindings.rules import Rule, effect_of
from isolith_bindings.testing import RecordingConnector, a_context, a_method

if TYPE_CHECKING:
    from collections.abc import Mapping

READS = Annotations(read_only=True, trusted=True)
WRITES = Annotations(read_only=False, destructive=False, trusted=True)
DELETES = Annotations(destructive=True, trusted=True)
STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}
PRESETS: tuple[Preset, ...] = ("trusted", "careful", "readonly")


def a_server(*names: str, policy: Action = "allow", annotations: Annotations | None = None) -> RecordingConnector:
    """A connector called `docs`, with the methods `names`, all annotated alike."""
    connector = RecordingConnector("docs", dict.fromkeys(names or ("get",), 1), policy=policy)
    if annotations is not None:
        connector.methods = {
            name: dataclasses.replace(method, annotations=annotations) for name, method in connector.methods.items()
        }
    return connector


def decided(policy: Policy, connector: Connector, arguments: Mapping[str, object] | None = None) -> Action:
    """What is done with the connector's only method."""
    (only,) = connector.methods.values()
    return policy.decide(connector, only, arguments).action


def rules(*given: dict[str, object], preset: Preset = "trusted") -> Policy:
    return Policy.model_validate({"preset": preset, "rules": list(given)})


@method(policy="ask")
def asked() -> int:
    return 1


@method(policy="deny")
def denied() -> int:
    return 1


def free(amount: int = 5) -> int:
    return amount


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

LIMITED = rules(
    {"match": "docs.*", "where": {"amount": {"at_most": 100}}, "action": "allow"},
    {"match": "docs.*", "where": {"amount": {"at_most": 1000}}, "action": "ask"},
    {"match": "docs.*", "action": "deny"},
)


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


def test_a_rule_that_fits_nothing_is_told() -> None:
    policy = rules(
        {"match": "dosc.*", "action": "deny"},
        {"match": "docs.get", "action": "deny"},
        {"match": "*.drop", "action": "deny", "effect": "delete", "name": "no drops"},
    )
    server = govern(a_server("get"), policy)
    assert idle_rules(policy, [server]) == ["rule 1 (`dosc.*`)", "no drops (`*.drop`, effect delete)"]


# ---------------------------------------------------------------------------------------------- the governed view


def test_a_policy_that_changes_nothing_gives_the_connector_itself() -> None:
    server, functions = a_server(), as_connector([free])
    assert govern(server, Policy(preset="trusted")) is server
    assert govern(functions, Policy(preset="readonly")) is functions
    assert govern(server, Policy(preset="careful")) is not server


@pytest.mark.anyio
async def test_the_view_is_a_connector_and_passes_everything_on() -> None:
    server = a_server("get-page", "put")
    server.excluded = {"odd": "no name"}
    view = govern(server, rules({"match": "docs.put", "action": "deny"}))
    assert isinstance(view, Connector)
    assert (view.name, view.description, dict(view.excluded)) == ("docs", "the test double docs", {"odd": "no name"})
    assert ungoverned(govern(view, Policy(preset="readonly"))) is server
    await view.start()
    assert await view.call(view.methods["get_page"], {"a": 1}, a_context()) == 1
    await view.aclose()
    assert (server.started, server.closed, server.calls[0].arguments) == (1, 1, {"a": 1})
    assert "docs" in repr(view) or "RecordingConnector" in repr(view)


@pytest.mark.anyio
async def test_a_forged_call_is_refused_by_the_view_itself() -> None:
    server = a_server()
    view = govern(server, rules({"match": "docs.*", "action": "deny", "name": "closed", "reason": "it is Sunday"}))
    with pytest.raises(CallError) as caught:
        await view.call(server.methods["get"], {}, a_context())
    assert (caught.value.kind, str(caught.value)) == ("denied", "docs.get is not allowed here: it is Sunday (closed)")
    assert server.calls == []


@pytest.mark.anyio
async def test_arguments_are_judged_by_the_view_as_well() -> None:
    server = a_server()
    view = govern(server, LIMITED)
    assert await view.call(view.methods["get"], {"amount": 5}, a_context()) == 1
    with pytest.raises(CallError, match="not allowed here"):
        await view.call(view.methods["get"], {"amount": 5000}, a_context())


def test_a_method_of_the_view_is_judged_by_its_own_word() -> None:
    """It carries `ask`, which the policy put there and may take away again."""
    view = govern(a_server(), LIMITED)
    assert view.methods["get"].policy == "ask"
    assert decided(LIMITED, view, {"amount": 5}) == "allow"


def test_methods_that_change_are_decided_anew() -> None:
    server = a_server()
    view = govern(server, rules({"effect": "delete", "action": "deny"}))
    assert list(offered(view)) == ["get"]
    first = view.methods["get"]
    assert view.methods["get"] is first
    server.methods = {
        "get": dataclasses.replace(server.methods["get"], annotations=DELETES),
        "put": a_method("put"),
    }
    assert (list(offered(view)), len(view.methods)) == (["put"], 2)


def test_two_policies_are_both_kept() -> None:
    inner = govern(a_server("get", "put"), rules({"match": "docs.get", "action": "deny"}))
    outer = govern(inner, rules({"match": "*", "action": "allow"}))
    assert list(offered(outer)) == ["put"]


# ---------------------------------------------------------------------------------------------- for any rules (D-7)

NAMES = ("get", "put-page", "delete_page", "list")
PATTERNS = st.sampled_from(
    ["*", "docs.*", "crm.*", "*.get", "docs.put-page", "docs.put_page", "*.delete_*", "crm.l?st", "*.[gp]*"]
)
TRUTH = st.none() | st.booleans()
SAID = st.builds(Annotations, TRUTH, TRUTH, TRUTH, TRUTH, st.booleans())
CLAIMS = st.dictionaries(st.sampled_from(["read_only", "destructive", "idempotent"]), st.booleans(), min_size=1)
CONDITIONS = st.sampled_from(
    [{"equals": 1}, {"less_than": 3}, {"not_equals": "a"}, {"present": True}, {"in": [1, "a"]}]
)
ARGUMENTS = st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from([0, 1, 5, "a", "1", None, True]))
UNCONDITIONAL: st.SearchStrategy[Mapping[str, object]] = st.fixed_dictionaries(
    {"action": st.sampled_from(["allow", "ask", "deny"]), "match": st.lists(PATTERNS, min_size=1, max_size=2)},
    optional={"effect": st.sampled_from(["read", "write", "delete"]), "annotations": CLAIMS},
)


def _with(rule: Mapping[str, object], where: Mapping[str, object]) -> Mapping[str, object]:
    return {**rule, "where": where}


ANY_RULE: st.SearchStrategy[Mapping[str, object]] = UNCONDITIONAL | st.builds(
    _with,
    UNCONDITIONAL,
    st.dictionaries(st.sampled_from(["a", "b"]), CONDITIONS, min_size=1),
)


def policies(rule: st.SearchStrategy[Mapping[str, object]]) -> st.SearchStrategy[Policy]:
    return st.builds(
        lambda preset, found: Policy.model_validate({"preset": preset, "rules": found}),
        st.sampled_from(PRESETS),
        st.lists(rule, max_size=5),
    ).filter(lambda policy: bool(policy.rules) or policy.preset != "trusted")


@st.composite
def servers(draw: st.DrawFn) -> list[RecordingConnector]:
    found: list[RecordingConnector] = []
    for name in ("docs", "crm"):
        server = RecordingConnector(name, dict.fromkeys(NAMES, 1))
        server.methods = {
            python: dataclasses.replace(
                bound, annotations=draw(SAID), policy=draw(st.sampled_from(["allow", "allow", "ask", "deny"]))
            )
            for python, bound in server.methods.items()
        }
        found.append(server)
    return found


def reached(catalog: Catalog) -> set[str]:
    """What can be called for some arguments, each tried at the connector itself, hidden or not."""
    found: set[str] = set()
    for connector in catalog.connectors.values():
        for name in connector.methods:
            resolved = catalog.resolve(connector.name, name)[1]
            try:
                asyncio.run(connector.call(resolved, {}, a_context()))
            except CallError:
                continue
            else:
                found.add(f"{connector.name}.{name}")
    return found


def searched(catalog: Catalog) -> set[str]:
    return {result.path for result in catalog.search("", kind="method", limit=50).results}


def described(catalog: Catalog, path: str) -> bool:
    try:
        catalog.describe(path)
    except CallError:
        return False
    return True


@given(policies(UNCONDITIONAL), servers())
def test_what_is_listed_searched_described_callable_and_allowed_is_the_same(
    policy: Policy, found: list[RecordingConnector]
) -> None:
    catalog = Catalog([govern(server, policy) for server in found])
    paths = {f"{server.name}.{name}": (server, m) for server in found for name, m in server.methods.items()}
    allowed = {path for path, (server, m) in paths.items() if policy.decide(server, m, {}).action != "deny"}
    listed = {f"{name}.{m}" for name, methods in catalog.capabilities().items() for m in methods}
    assert listed == searched(catalog) == {path for path in paths if described(catalog, path)} == allowed
    assert reached(catalog) == allowed


@given(policies(ANY_RULE), servers(), ARGUMENTS)
def test_what_may_be_called_with_some_arguments_is_never_hidden(
    policy: Policy, found: list[RecordingConnector], arguments: dict[str, object]
) -> None:
    for server in found:
        view = govern(server, policy)
        for bound in server.methods.values():
            action = policy.decide(server, bound, arguments).action
            assert action == policy.decide(view, view.methods[bound.name], arguments).action
            if action != "deny":
                assert bound.name in offered(view)
                assert STRICTNESS[view.methods[bound.name].policy] >= STRICTNESS[action]


@given(policies(ANY_RULE), servers(), ARGUMENTS)
def test_what_a_stranger_says_never_loosens_anything(
    policy: Policy, found: list[RecordingConnector], arguments: dict[str, object]
) -> None:
    for server in found:
        for bound in server.methods.values():
            said = dataclasses.replace(bound, annotations=dataclasses.replace(bound.annotations, trusted=False))
            silent = dataclasses.replace(bound, annotations=Annotations())
            for given_arguments in (arguments, None):
                with_words = policy.decide(server, said, given_arguments).action
                without = policy.decide(server, silent, given_arguments).action
                assert STRICTNESS[with_words] >= STRICTNESS[without]
