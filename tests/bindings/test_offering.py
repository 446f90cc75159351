"""What a connector offers is read once, for as long as it is the same."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from isolith_bindings import names
from isolith_bindings.catalog import Catalog
from isolith_bindings.offering import offering
from isolith_bindings.policy import Policy, govern
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.connector import CallContext, Method


def slack() -> RecordingConnector:
    return RecordingConnector("slack", {"slack_post": 1, "list-all": 2})


@pytest.mark.parametrize("policy", [None, Policy(preset="careful")], ids=["free", "governed"])
def test_it_is_the_same_while_the_methods_are(policy: Policy | None) -> None:
    plain = slack()
    connector = plain if policy is None else govern(plain, policy)
    first = offering(connector)
    assert offering(connector) is first
    plain.methods["other"] = plain.methods["slack_post"]  # the same method under another name
    assert list(offering(connector).methods) == [*first.methods, "other"]
    del plain.methods["other"]
    assert list(offering(connector).methods) == list(first.methods)


def test_what_is_denied_is_not_offered_and_whether_one_asks_is_known() -> None:
    rules = {"rules": [{"action": "deny", "match": ["slack.slack_post"]}, {"action": "ask", "match": ["*.list*"]}]}
    governed = offering(govern(slack(), Policy.model_validate(rules)))
    assert list(governed.methods) == ["list_all"]
    assert governed.asks
    assert not offering(slack()).asks


def test_every_spelling_is_in_it() -> None:
    found = offering(slack())
    assert found.exact == {
        "slack_post": "slack_post",
        "list_all": "list_all",
        "list-all": "list_all",
        "post": "slack_post",
    }
    assert found.folded == {"slackpost": "slack_post", "listall": "list_all", "post": "slack_post"}
    assert found.granted["methods"] == "slack_post list_all"
    assert json.loads(str(found.granted["aliases"])) == {"list-all": "list_all", "post": "slack_post"}


def test_names_that_are_told_apart_by_case_alone_are_no_folded_spelling() -> None:
    assert offering(RecordingConnector("docs", {"get_it": 1, "getIt": 2})).folded == {"getit": ""}


def test_runs_that_follow_do_not_read_the_names_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    aliases = names.aliases

    def counted(connector: str, bound: Mapping[str, str]) -> dict[str, str]:
        read.append(connector)
        return aliases(connector, bound)

    monkeypatch.setattr(names, "aliases", counted)
    catalog = Catalog([slack()])
    assert catalog.granted() == catalog.granted()
    assert read == ["slack"]


@dataclass
class Unhashable:
    """A connector of somebody's own, in which nothing can be kept."""

    name: str = "own"
    description: str = ""
    methods: dict[str, Method] = field(default_factory=dict["str", "Method"])
    excluded: dict[str, str] = field(default_factory=dict[str, str])

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        raise NotImplementedError

    async def start(self) -> None: ...

    async def aclose(self) -> None: ...


def test_a_connector_that_cannot_be_a_key_is_read_each_time() -> None:
    connector = Unhashable(methods=dict(slack().methods))
    assert offering(connector).granted == {**offering(slack()).granted, "aliases": '{"list-all": "list_all"}'}
    connector.methods.pop("list_all")
    assert offering(connector).granted == {"methods": "slack_post"}
