"""For any rules and any servers: what is hidden is what is denied (D-7)."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from tests.bindings.policies import PRESETS, STRICTNESS

from isolith_bindings.catalog import Catalog
from isolith_bindings.connector import Annotations, offered
from isolith_bindings.errors import CallError
from isolith_bindings.policy import Policy, govern
from isolith_bindings.testing import RecordingConnector, a_context

if TYPE_CHECKING:
    from collections.abc import Mapping


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
