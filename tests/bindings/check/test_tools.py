"""Connectors that are not functions: dotted names, variants, alike spellings, open schemas, nothing known yet."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from isolith_bindings.check import Finding, calls, check
from isolith_bindings.check.by_name import called_by_name
from isolith_bindings.check.state import MAX_FINDINGS
from isolith_bindings.connector import JsonSchema, Method, Variant
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from isolith_bindings.check.tools import Toolbox

ROWS: JsonSchema = {"type": "array", "items": {"type": "object", "properties": {"title": {"type": "string"}}}}


def a_method(
    name: str,
    original: str,
    parameters: JsonSchema | None = None,
    returns: JsonSchema | None = None,
    variants: frozenset[Variant] = frozenset(),
) -> Method:
    taken: JsonSchema = parameters if parameters is not None else {"type": "object", "properties": {}}
    return Method(name, original, "", taken, returns, f"async def {name}()", variants=variants)


def hub(*methods: Method, name: str = "hub") -> dict[str, RecordingConnector]:
    connector = RecordingConnector(name, {})
    connector.methods = {method.name: method for method in methods}
    return {name: connector}


HUB = hub(
    a_method("issues_list", "issues/list", returns=ROWS, variants=frozenset({"raw", "pages"})),
    a_method("repos.get", "repos.get"),
    a_method("getIt", "getIt"),
    a_method("get_it", "get-it"),
)


def found(text: str, connectors: dict[str, RecordingConnector] | None = None) -> tuple[Finding, ...]:
    return check(text, HUB if connectors is None else connectors).findings


@pytest.mark.parametrize(
    "text",
    [
        "hub.issues.list()",
        "hub.issues_list()",
        'hub["issues/list"]()',
        "hub.issuesList()",
        "hub.repos.get()",
        'hub["repos.get"]()',
        "tools.HUB.issues.list()",
        "hub.getIt()",
        "hub.get_it()",
        "hub.GETIT()",
        "hub.issues.list.raw()",
        "for page in hub.issues.list.pages():\n    page",
        "async for page in hub.issues_list.pages():\n    page['anything']",
        "(await hub.issues_list.raw())['anything'].else_",
        "list_them = hub.issues\nlist_them.list()",
        "x = hub.repos",
    ],
)
def test_a_spelling_that_the_guest_resolves_raises_no_alarm(text: str) -> None:
    assert found(text) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hub.issues.lst()", "hub has no method 'issues.lst'"),
        ("hub.issues()", "hub has no method 'issues'"),
        ("hub.issues_list.pagess()", "hub has no method 'issues_list.pagess'"),
        ("hub.repos.raw()", "hub has no method 'repos.raw'"),
    ],
)
def test_a_dotted_name_that_leads_nowhere(text: str, message: str) -> None:
    assert [(finding.message, finding.certain) for finding in found(text)] == [(message, True)]


def test_of_a_connector_that_changes_under_a_script_no_missing_method_is_certain() -> None:
    connectors = hub(a_method("login", "login"))
    connectors["hub"].changing = True  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
    [finding] = found("hub.login()\nhub.unlocked()", connectors)
    assert (finding.certain, finding.hint) == (False, "its methods: login")


def test_where_no_run_follows_what_changes_is_held_to_what_it_says_now() -> None:
    listed: JsonSchema = {"type": "object", "properties": {"title": {}}}
    connectors = hub(a_method("add", "add", listed), a_method("any", "any", {**listed, "additionalProperties": True}))
    connectors["hub"].changing = True  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
    text = "hub.any(titel=1)\nhub.ad()\nhub.add(titel=1)"
    for settled in (False, True):
        findings = check(text, connectors, settled=settled).findings
        assert [(finding.line, finding.certain) for finding in findings] == [(2, settled), (3, settled)]


@pytest.mark.parametrize("settled", [False, True])
def test_of_a_connector_that_is_not_there_nothing_is_said(*, settled: bool) -> None:
    connectors = hub()
    connectors["hub"].unavailable = "it does not answer"  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
    assert check("hub.issues.list()\nfrom hub import issues", connectors, settled=settled).findings == ()


def test_the_connector_s_name_may_be_left_out() -> None:
    connectors = hub(a_method("hub_issues", "hub_issues"))
    assert found("hub.issues()\nhub.hub_issues()", connectors) == ()


def test_of_a_connector_without_methods() -> None:
    [finding] = found("hub.issues.list()", hub())
    assert (finding.certain, finding.hint) == (True, "its methods: none")


def test_no_connector_at_all() -> None:
    [finding] = found("tools.crm.list()", {})
    assert (finding.hint, finding.certain) == ("this run has no connectors", True)


@pytest.mark.parametrize(
    ("parameters", "call", "certain"),
    [
        ({"properties": {"a": {}}}, "hub.go(b=1)", [False]),
        ({"properties": {"a": {}}, "additionalProperties": False}, "hub.go(b=1)", [True]),
        ({"properties": {}, "additionalProperties": False}, "hub.go(b=1)", [True]),
        ({"properties": {"a": {}}, "additionalProperties": True}, "hub.go(b=1)", []),
        ({"properties": {}}, "hub.go(b=1)", []),
        ({}, "hub.go(b=1)", []),
        ({"anyOf": [{"required": ["a"]}], "properties": {"a": {}}}, "hub.go(b=1)", []),
        ({"$ref": "#/$defs/p", "$defs": {"p": {"properties": {"a": {}}, "required": ["a"]}}}, "hub.go()", [True]),
        ({"properties": {"a": {}}, "required": ["a"]}, "hub.go(**input)", []),
        ({"properties": {"a": {}}, "required": ["a"]}, "hub.go(input)", []),
        ({"properties": {"a": {}}, "required": ["a"]}, "hub.go(*input)", []),
        ({"properties": {"a": {}}, "required": ["a"]}, "hub.go(**{'a': 1})", []),
        ({"properties": {"a": {}}, "required": ["a"]}, "hub.go({})", [True]),
        ({"properties": {"a": {"type": "string"}}}, "hub.go(a=None)", [False]),
        ({"properties": {"a": {"type": "string"}}, "required": ["a"]}, "hub.go(a=None)", [True]),
        ({"properties": "odd", "required": "odd"}, "hub.go(a=1)", []),
        ({"properties": {"a": {"type": "integer"}}}, "n = 'x'\nhub.go(a=n)", [True]),
        ({"properties": {"a": {"type": "integer"}}}, "n = 'x'\nn = 1\nhub.go(a=n)", []),
    ],
)
def test_arguments_against_schemas_as_servers_write_them(
    parameters: JsonSchema, call: str, certain: list[bool]
) -> None:
    assert [finding.certain for finding in found(call, hub(a_method("go", "go", parameters)))] == certain


@pytest.mark.parametrize(
    ("returns", "use", "certain"),
    [
        (ROWS, "r[0]['title'].upper()", []),
        (ROWS, "r[0]['titel']", [False]),
        (ROWS, "r[0].title", [False]),  # a text has such an attribute: what was declared may not be what came
        (ROWS, "r[0].label", [True]),
        (ROWS, "r.name", [False]),
        (ROWS, "[x['titel'] for x in r]", [False]),
        (ROWS, "r[1:][0].label", [True]),
        (ROWS, "a, b = r\na.label", [True]),
        ({"type": "string", "format": "date-time"}, "r.year", []),
        ({"type": "string"}, "r.year", [True]),
        ({"type": ["object", "null"]}, "r.year", [True]),
        ({"type": "array", "uniqueItems": True}, "r.union", []),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"type": "object"}}}, "r.year", [True]),
        ({"$ref": "#"}, "r.year", []),
        ({"anyOf": [{"type": "object"}, {}]}, "r.year", []),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "r['a'].label", [True]),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": False}, "r['zz']", [False]),
        ({"type": "object", "properties": {"a": {}}}, "r['zz']", []),
        ({"type": "object", "properties": {"price": {}}}, "r['prices'] = 1\nr['prices']", []),
        ({}, "r.year", []),
        (None, "r.year", []),
    ],
)
def test_results_against_schemas_as_servers_write_them(
    returns: JsonSchema | None, use: str, certain: list[bool]
) -> None:
    script = f"r = hub.go()\n{use}"
    assert [finding.certain for finding in found(script, hub(a_method("go", "go", returns=returns)))] == certain


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("hub.list_open_issues()", "hub.issues.list_open"),  # the same words in another order
        ("issues.list_open()", "`hub.issues`"),  # the connector is left out
        ("tools.issues.list_open()", "hub.issues"),
    ],
)
def test_the_same_words_elsewhere_are_what_is_meant(text: str, meant: str) -> None:
    connectors = hub(
        a_method("issues.list_open", "issues/list-open"),
        a_method("orgs.list_issue_types", "orgs/list-issue-types"),
        a_method("orgs.list_open_invites", "orgs/list-open-invites"),
    )
    [finding] = found(text, connectors)
    assert finding.hint is not None
    assert finding.hint.startswith(f"did you mean {meant}")


def test_a_name_that_begins_others_is_no_namespace() -> None:
    [finding] = found("iss.list()", hub(a_method("issues.list", "issues/list"), a_method("issue", "issue")))
    assert not (finding.hint or "").startswith("did you mean `hub")


GENERAL = "CONNECTOR.METHOD(NAME=VALUE)"


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        ("call_tool('hub.get_it', {'a': 1, 'b': [x]})", "hub.get_it(a=1, b=[x])"),
        ("call_tool('hub_issues_list')", "hub.issues_list()"),
        ("callTool('hub', 'issues/list', {})", "hub.issues_list()"),
        ("use_mcp_tool('mcp__hub__get_it', arguments={'a': 1})", "hub.get_it(a=1)"),
        ("call_tool(tool_name='get_it', a=1)", "hub.get_it(a=1)"),
        ("call_tool({'a': 1}, name='get_it')", "hub.get_it(a=1)"),
        ("call_tool('hub.get_it', x)", "hub.get_it(x)"),
        ("call_tool('hub.get_it', {'a-b': 1, 'from': 2})", "hub.get_it({'a-b': 1, 'from': 2})"),
        ("call_tool('hub.get_it', {**x})", "hub.get_it({**x})"),
        (f"call_tool('hub.get_it', {{'a': {'x' * 400!r}}})", "hub.get_it(...)"),
        ("call_tool('hub.get_it', " + "1 + " * 150 + "1)", "hub.get_it(...)"),
        ("call_tool('hub.nothing_like_it_is_here', {})", GENERAL),
        ("call_tool(x, {})", GENERAL),
        ("call_tool()", GENERAL),
    ],
)
def test_a_method_called_through_a_function_that_is_not_there_is_told_as_it_is_called(call: str, meant: str) -> None:
    [first, *_] = found(f"x = 1\nawait {call}")
    assert first.message == f"NameError: name '{call.partition('(')[0]}' is not defined"
    assert first.hint == f"a method is called by its own name: write `await {meant}`"


def test_without_await_it_is_told_without_it_and_a_function_of_the_scripts_own_is_its_own() -> None:
    [only] = found("call_tool('hub.get_it', {})")
    assert only.hint == "a method is called by its own name: write `hub.get_it()`"
    assert found("def call_tool(name, arguments):\n    return name\ncall_tool('hub.get_it', {})") == ()


def test_what_is_called_by_its_name_is_looked_for_no_more_once_enough_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of a thousand such calls used to go through all methods of all connectors."""
    looked: list[object] = []

    def counted(node: ast.Call, toolbox: Toolbox) -> str | None:
        looked.append(node)
        return called_by_name(node, toolbox)

    monkeypatch.setattr(calls, "called_by_name", counted)
    report = check("\n".join(f"call_tool('nowhere{number}')" for number in range(300)), {})
    assert len(report.findings) == MAX_FINDINGS
    assert len(looked) == MAX_FINDINGS
