"""Every spelling that a model is likely to try, over thousands of real tools: it resolves, or the right one is named."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from isolith_bindings import names
from isolith_bindings.catalog import Catalog
from isolith_bindings.errors import CallError
from isolith_bindings.testing import RecordingConnector

CATALOGUES = Path(__file__).resolve().parents[2] / "fixtures" / "catalogues"
REAL = sorted(path.name.partition(".")[0] for path in CATALOGUES.glob("*.jsonl.gz"))


def originals(connector: str) -> list[str]:
    with gzip.open(CATALOGUES / f"{connector}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["name"] for line in lines]


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def spellings(connector: str, name: str, original: str) -> list[str]:
    return [
        f"{connector}.{name}", f"tools.{connector}.{name}", f'tools["{connector}"]["{name}"]', f"{connector}['{original}']", f"{connector}.{camel(name)}", f"{connector}.{name.replace('_', '-')}",
        f"{connector}.{name.upper()}", f"{connector}.{name.replace('_', '.')}", f"{connector.upper()}.{name}", f"await {connector}.{name}(limit=3)", f"`{connector}.{name}`", f"{connector}/{name}",
        f"{connector}:{name}", f"mcp__{connector}__{name}", f"{connector}__{name}", f"{connector}_{name}", f"functions.{connector}.{name}", f" {connector}.{name}();\n",
    ]  # fmt: skip


@pytest.mark.parametrize("connector", REAL)
def test_every_spelling_of_every_real_tool(connector: str) -> None:
    bound, excluded = names.bind(originals(connector))
    assert len(excluded) < len(bound) / 20
    catalog = Catalog(
        [RecordingConnector(connector, dict.fromkeys(bound.values())), RecordingConnector("another", {"get": 1})]
    )
    methods = catalog.connectors[connector].methods
    every = max(1, len(methods) // 25)
    alike = Counter(map(names.fold, methods))
    for name, method in list(methods.items())[::every]:
        for spelling in spellings(connector, name, method.original):
            found, hint = described(catalog, spelling)
            if found != f"{connector}.{name}":
                # Two methods share the spelling: it leads to neither, and names them.
                assert (found, alike[names.fold(name)] > 1) == (None, True), spelling
                assert f"`{connector}.{name}`" in hint, spelling


def described(catalog: Catalog, path: str) -> tuple[str | None, str]:
    try:
        return catalog.describe(path, "summary").path, ""
    except CallError as error:
        return None, str(error.hint)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("crm.list", [("crm", "list")]), ("crm", [("crm", "")]), ("tools.crm.list", [("crm", "list")]), ("mcp__crm__list", [("mcp__crm__list", ""), ("crm", "list")]), ("crm_list", [("crm_list", ""), ("crm", "list")]),
        ("github_list", [("github_list", ""), ("github", "list")]), ("git_hub_list", [("git_hub_list", ""), ("git", "hub_list")]), ("", [("", "")]), ("crm['a(b)']", [("crm", "a(b)")]), ("crm->list", [("crm->list", ""), ("crm", "list")]),
        ("default_api.crm.list", [("crm", "list")]), ("crm.a.b", [("crm", "a.b")]),
    ],
)  # fmt: skip
def test_paths(text: str, expected: list[tuple[str, str]]) -> None:
    assert list(names.paths(text, ["git", "github", "crm"])) == expected


def test_a_connector_of_the_name_of_a_prefix_is_itself() -> None:
    assert list(names.paths("functions.crm.list", ["functions"])) == [("functions", "crm.list")]


def test_aliases_leave_out_the_connectors_name_and_what_is_unclear() -> None:
    bound = {
        "slack_post": "slack-post",
        "slack_list": "slack_list",
        "list": "list",
        "slack_a_b": "slack_a_b",
        "Slack_ab": "Slack_ab",
    }
    assert names.aliases("slack", bound) == {
        "slack-post": "slack_post",
        "post": "slack_post",
        "a_b": "slack_a_b",
        "ab": "Slack_ab",
    }


def test_a_tool_that_repeats_its_connector_is_reached_without() -> None:
    catalog = Catalog([RecordingConnector("slack", {"slack_post_message": 1})])
    assert catalog.granted()["slack"]["aliases"] == '{"post_message": "slack_post_message"}'
    assert catalog.describe("slack.postMessage").path == "slack.slack_post_message"


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("contacts_list", ["list_contacts", "other"], ["list_contacts"]),
        ("get_contacts", ["get_contact", "get_contract"], ["get_contact", "get_contract"]),
        ("contact", ["create_contact", "drop_all"], ["create_contact"]),
        ("zzz", ["list_contacts"], []),
        ("", ["a"], []),
    ],
)
def test_the_nearest_names(name: str, known: list[str], expected: list[str]) -> None:
    assert names.nearest(name, known) == expected


@pytest.mark.parametrize("name", ["x" * 100_000, "_" * 1_000, "é" * 500, "a_" * 10_000])
def test_long_names_are_compared_by_their_beginning(name: str) -> None:
    assert names.nearest(name, ["list_contacts"]) in ([], ["list_contacts"])


def test_the_connector_that_is_there_answers_with_its_own_names() -> None:
    catalog = Catalog(
        [RecordingConnector("crm", {"list_contacts": 1}), RecordingConnector("billing", {"list_contact": 1})]
    )
    for path in ("crm.list_contact", "crm/list_contact", "mcp__crm__list_contact"):
        with pytest.raises(CallError) as raised:
            catalog.describe(path)
        assert "billing" not in f"{raised.value} {raised.value.hint}"
