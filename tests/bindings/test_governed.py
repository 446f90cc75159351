"""A connector as a policy lets it be seen."""

from __future__ import annotations

import dataclasses

import pytest
from tests.bindings.policies import DELETES, LIMITED, a_server, decided, free, rules

from isolith_bindings.connector import Connector, offered
from isolith_bindings.errors import CallError
from isolith_bindings.functions import as_connector
from isolith_bindings.policy import Policy, govern, ungoverned
from isolith_bindings.testing import a_context, a_method


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
