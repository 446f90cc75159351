"""A policy from the guest's side: what is denied is nowhere, what is asked waits, what is allowed is called; each front."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from tests.e2e.conftest import ROOT, Crm, Isolith

from isolith import CodeMode, Policy
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

RAW = ROOT / "fixtures" / "mcp" / "raw_server.py"
LOOK = """
found = [r["path"] if isinstance(r, dict) else r.path for r in (await search("", connector="docs", kind="method", limit=50))["results"]]
called = []
for name in ["get", "put-page", "delete_page", "list"]:
    try:
        await docs[name]()
        called.append(name)
    except ToolError as error:
        assert error.kind == "denied", error
{"listed": dir(docs), "found": found, "told": await describe("docs"), "called": called}
"""


class Server(RecordingConnector):
    """May change under way, so that a script may ask for any name."""

    changing = True


def policy(*rules: dict[str, object], preset: str = "trusted") -> Policy:
    return Policy.model_validate({"preset": preset, "rules": list(rules)})


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        ([], ["get", "put_page", "delete_page", "list"]),
        ([{"match": "docs.put-page", "action": "deny"}], ["get", "delete_page", "list"]),
        ([{"match": "*.l?st", "action": "allow"}, {"match": "docs.*", "action": "deny"}], ["list"]),
        ([{"match": "*", "action": "deny"}], []),
    ],
)
async def test_what_is_denied_is_nowhere(rules: list[dict[str, object]], allowed: list[str]) -> None:
    docs = Server("docs", dict.fromkeys(["get", "put-page", "delete_page", "list"], 1))
    async with CodeMode([docs], policy=policy(*rules)) as code_mode:
        outcome = await code_mode.execute(LOOK)
    assert outcome.error is None
    assert isinstance(outcome.value, dict)
    assert sorted(outcome.value["listed"]) == sorted(allowed)
    assert sorted(outcome.value["found"]) == sorted(f"docs.{name}" for name in allowed)
    assert {
        name for name in ("get", "put_page", "delete_page", "list") if f"def {name}(" in str(outcome.value["told"])
    } == set(allowed)
    assert sorted(call.method for call in docs.calls) == sorted(allowed)
    # The refused are in the record of the run.
    refused = {call.method for call in outcome.calls if call.error is not None and call.error.kind == "denied"}
    assert refused == {"get", "put_page", "delete_page", "list"} - set(allowed)


async def test_arguments_decide(crm: Crm) -> None:
    rules = policy(
        {"match": "crm.get", "where": {"id": {"in": [1, 2]}}, "action": "allow"},
        {"match": "crm.get", "action": "deny", "name": "known contacts", "reason": "only 1 and 2 may be looked at"},
    )
    async with CodeMode([crm], policy=rules) as code_mode:
        outcome = await code_mode.execute("[await crm.get(id=1), await crm.get(id=3)]")
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.line) == ("denied", 1)
    assert outcome.error.message == "crm.get is not allowed here: only 1 and 2 may be looked at (known contacts)"
    assert crm.reached == ["get 1"]


async def test_a_number_as_text_slips_past_no_rule(crm: Crm) -> None:
    """The connector would take "3" for 3."""
    rules = policy({"match": "crm.get", "where": {"id": {"more_than": 2}}, "action": "deny"})
    async with CodeMode([crm], policy=rules) as code_mode:
        outcome = await code_mode.execute("crm.get(id='3')")
    assert outcome.error is not None
    assert outcome.error.kind == "denied"
    assert crm.reached == []


async def test_what_a_rule_asks_waits_for_a_person(crm: Crm) -> None:
    async with CodeMode(
        [crm], policy=policy({"match": "crm.get", "action": "ask", "reason": "a look costs"})
    ) as code_mode:
        outcome = await code_mode.execute("await crm.get(id=1)")
    assert outcome.status == "paused"
    assert [(call.method, call.reason) for call in outcome.pending] == [("get", "a look costs")]
    assert crm.reached == []


@pytest.fixture
def mcp_json(tmp_path: Path) -> str:
    servers = {
        "docs": {"command": sys.executable, "args": [str(RAW)]},
        "broken": {"command": "no-such-program-here"},
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return "mcp.json"


def test_servers_of_a_file_as_a_new_user_would_try_it(isolith: Isolith, mcp_json: str) -> None:
    done = isolith("run", "--connect", mcp_json, "-c", "await docs.echo(text='hello')", "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["error"], answer["value"]) == (0, None, {"text": "hello"})


def test_a_server_that_is_not_there_is_one_readable_line(isolith: Isolith, mcp_json: str) -> None:
    done = isolith("run", "--connect", mcp_json, "-c", "await broken.echo(text='hello')")
    assert done.returncode == 1
    first = "error[tool_unavailable]: broken is not there: there is no program `no-such-program-here`: install it, or give its whole path"
    assert done.stderr.splitlines()[0] == first


def test_the_command_line_obeys_a_policy_in_a_file(isolith: Isolith, mcp_json: str, tmp_path: Path) -> None:
    (tmp_path / "isolith.toml").write_text(
        f'connect = ["{mcp_json}"]\n[policy]\nrules = [{{ match = "docs.*", action = "deny", reason = "closed" }}]\n'
    )
    done = isolith("run", "--config", "isolith.toml", "-c", "await docs.echo(text='hello')", "--json")
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["kind"]) == (1, "denied")
    assert error["message"] == "docs.echo is not allowed here: closed (rule 1)"
    run = ("run", "--config", "isolith.toml", "-c", "await docs.echo(text='hello')", "--policy")
    assert isolith(*run, "trusted").returncode == 1
    (tmp_path / "open.toml").write_text('preset = "trusted"\n')
    assert isolith(*run, "open.toml").returncode == 0
