"""`isolith connectors`, over real servers: what is shown, of what it tells, and what is said of broken ones."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from pathlib import Path
from typing import cast

import pytest
from typer.testing import CliRunner, Result

from isolith import CodeMode
from isolith.command_line import cli
from isolith.configuration.connect import connect_all
from isolith.configuration.documents import parse_json
from isolith.connector_views import status_of

SERVERS = Path(__file__).parents[3] / "fixtures" / "mcp"
RAW, SDK = SERVERS / "raw_server.py", SERVERS / "sdk_server.py"
CRM = '''
"""Contacts."""
from isolith_bindings.functions import method

def find(name: str) -> str:
    return name

@method(policy="ask")
def drop(name: str) -> None: ...

@method(policy="deny")
def purge() -> None: ...
'''


@pytest.fixture
def specs(tmp_path: Path) -> list[str]:
    """A Python connector, a server that works and one that cannot start."""
    (tmp_path / "crm.py").write_text(CRM)
    servers = {
        "docs": {"command": sys.executable, "args": [str(RAW)], "isolith": {"scope": "session"}},
        "broken": {"command": "no-such-program-here"},
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return ["--connect", str(tmp_path / "crm.py"), "--connect", str(tmp_path / "mcp.json")]


def isolith(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, arguments)


def found(result: Result) -> dict[str, dict[str, object]]:
    document = parse_json(result.stdout, "stdout")
    assert isinstance(document, dict)
    return {one["connector"]: one for one in document["connectors"]}


def test_what_is_connected(specs: list[str]) -> None:
    result = isolith("connectors", "list", *specs, "--json")
    assert result.exit_code == 0
    listed = found(result)
    assert list(listed) == ["crm", "docs", "broken"]
    assert {key: listed["crm"][key] for key in ("description", "methods", "asks", "denied", "scope")} == {
        "description": "Contacts.",
        "methods": 2,
        "asks": 1,
        "denied": 1,
        "scope": "this process",
    }
    assert (listed["docs"]["methods"], listed["broken"]["methods"]) == (1, 0)
    assert "session" in str(listed["docs"]["scope"])
    assert result.stderr.startswith("isolith: broken is not there: there is no program `no-such-program-here`")
    assert result.stderr.count("\n") == 1


def test_a_policy_is_seen_in_the_list(specs: list[str]) -> None:
    assert found(isolith("connectors", "list", *specs, "--policy", "careful", "--json"))["docs"]["asks"] == 1
    assert found(isolith("connectors", "list", *specs, "--policy", "readonly", "--json"))["docs"]["denied"] == 1


def test_a_rule_that_fits_nothing_is_said(specs: list[str], tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('rules = [{ match = "cmr.*", action = "deny" }]')
    result = isolith("connectors", "list", *specs[:2], "--policy", str(tmp_path / "policy.toml"))
    assert result.stderr == "isolith: rule 1 (`cmr.*`) fits no method of what is connected\n"


def test_the_list_for_people(specs: list[str]) -> None:
    lines = isolith("connectors", "list", *specs).stdout.splitlines()
    assert lines[:2] == ["crm: Contacts.", "    2 tools, 1 of them asked, 1 denied (this process)"]


def test_how_they_are(specs: list[str]) -> None:
    result = isolith("connectors", "status", *specs, "--json")
    assert (result.exit_code, result.stderr) == (1, "")
    states = {name: (one["state"], one["tools"]) for name, one in found(result).items()}
    assert states == {"crm": ("ready", 3), "docs": ("connected", 1), "broken": ("failed", 0)}
    assert all(one["scope"] for one in found(result).values())


def test_the_command_line_says_of_its_servers_what_the_library_says_of_its_own(tmp_path: Path) -> None:
    chance = random.Random(20_261_130)  # noqa: S311 - to be repeated
    faults = ("", "--modern", "exit", "collisions", "cycle", "many=3")
    servers = {
        f"server{number}": {"command": sys.executable, "args": [str(RAW), *filter(None, [fault])]}
        for number, fault in enumerate(chance.sample(faults, k=len(faults)))
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    shown = found(isolith("connectors", "status", "--connect", str(tmp_path / "mcp.json"), "--json"))
    own = ("connector", "scope", "place", "state", "reason", "tools", "era", "protocol_version", "server")

    async def told() -> dict[str, dict[str, object]]:
        async with CodeMode(connect_all([str(tmp_path / "mcp.json")])) as code_mode:
            await code_mode.ready()
            return {one.name: status_of(one) for one in code_mode.connectors}

    for name, one in asyncio.run(told()).items():
        assert {key: shown[name][key] for key in (*own, "problems", "excluded")} == {
            key: list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value
            for key, value in one.items()
            if key in {*own, "problems", "excluded"}
        }
    assert {one["state"] for one in shown.values()} == {"connected", "failed"}


def test_one_that_is_well(specs: list[str]) -> None:
    result = isolith("connectors", "status", "docs", *specs)
    assert result.exit_code == 0
    assert result.stdout.startswith("docs: connected\n    1 tool (")


@pytest.mark.parametrize("command", ["status", "reconnect"])
def test_what_there_is_beside_the_tools_of_a_server_is_counted_apart(command: str) -> None:
    result = isolith("connectors", command, "--connect", f"box={sys.executable} {SDK}")
    assert "19 tools, 5 for its resources and prompts (" in result.stdout


@pytest.mark.parametrize("command", ["status", "reconnect"])
def test_the_help_says_that_names_may_be_left_out(command: str) -> None:
    assert f"isolith connectors {command} [OPTIONS] [NAME]..." in " ".join(
        isolith("connectors", command, "--help").stdout.split()
    )


def test_one_that_is_not_says_why_and_what_to_do(specs: list[str]) -> None:
    result = isolith("connectors", "status", "broken", *specs)
    assert result.exit_code == 1
    first = result.stdout.splitlines()[0]
    assert first == "broken: failed: there is no program `no-such-program-here`: install it, or give its whole path"


def test_connecting_anew(specs: list[str]) -> None:
    result = isolith("connectors", "reconnect", "docs", "crm", *specs, "--json")
    assert result.exit_code == 0
    docs, crm = found(result)["docs"], found(result)["crm"]
    assert (docs["ok"], docs["tools"], docs["added"], docs["removed"]) == (True, 1, [], [])
    assert docs["connection_id"]
    assert crm["reason"] == "it is no server: there is nothing to connect to"
    broken = isolith("connectors", "reconnect", "broken", *specs)
    assert broken.exit_code == 1
    assert broken.stdout.startswith("broken: not connected: there is no program `no-such-program-here`")


def test_a_server_that_is_connected_anew_is_started_once(tmp_path: Path) -> None:
    servers = {
        name: {"command": sys.executable, "args": [str(RAW), f"trace={tmp_path / name}"], "isolith": {"least": least}}
        for name, least in (("lazy", 0), ("eager", 1))
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    result = isolith("connectors", "reconnect", "--connect", str(tmp_path / "mcp.json"), "--json")
    assert {name: (one["ok"], one["added"]) for name, one in found(result).items()} == dict.fromkeys(
        servers, (True, [])
    )
    for name in servers:
        assert (tmp_path / name).read_text().splitlines().count("list") == 1


def test_reconnecting_for_people(specs: list[str]) -> None:
    lines = isolith("connectors", "reconnect", "docs", "crm", *specs).stdout.splitlines()
    assert lines[0].startswith("docs: connected as docs-")
    assert ", 1 tool (" in lines[0]
    assert lines[1] == "crm: it is no server: there is nothing to connect to (this process)"


def test_a_name_that_is_not_there(specs: list[str]) -> None:
    result = isolith("connectors", "status", "doc", *specs)
    assert (result.exit_code, result.stderr) == (2, "isolith: there is no connector `doc`; did you mean `docs`?\n")
    assert isolith("connectors", "status", "zzz").stderr == "isolith: there is no connector `zzz`; there are: none\n"


def test_nothing_is_connected() -> None:
    result = isolith("connectors", "list")
    assert (result.exit_code, result.stdout) == (0, "nothing is connected\n")


def test_a_configuration_names_them(specs: list[str], tmp_path: Path) -> None:
    (tmp_path / "isolith.toml").write_text('connect = ["crm.py"]\npolicy = "careful"')
    listed = found(isolith("connectors", "list", "--config", str(tmp_path / "isolith.toml"), "--json"))
    assert list(listed) == ["crm"]


def test_a_server_is_searched_and_described(specs: list[str]) -> None:
    assert isolith("search", "echo", *specs).stdout.startswith("docs.echo")
    assert "echo" in isolith("describe", "docs.echo", *specs).stdout
    assert "docs" in isolith("catalog", *specs).stdout
    hidden = isolith("describe", "docs.echo", *specs, "--policy", "readonly")
    assert hidden.exit_code == 2
    assert "docs has no method `echo`" in hidden.stderr


def test_signing_in_is_for_servers_that_ask(specs: list[str]) -> None:
    result = isolith("connectors", "sign-in", "crm", *specs)
    assert (result.exit_code, result.stderr) == (2, "isolith: `crm` is no server that a person could sign in to\n")
    result = isolith("connectors", "sign-in", "docs", *specs)
    assert result.exit_code == 2
    assert "docs has no OAuth to sign in with" in result.stderr


def test_a_document_that_cannot_be_read_costs_no_other(specs: list[str], tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text("openapi: 3.1.0\ninfo: nothing\npaths: [")
    result = isolith("connectors", "status", "crm", "shop", *specs, "--connect", str(path))
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == "crm: ready"
    assert "shop: failed: " in result.stdout
    assert result.stdout.count("\n") == 5


def test_what_a_document_says_wrongly_is_named_with_its_reason(tmp_path: Path) -> None:
    gone = {"operationId": "gone", "parameters": [{"$ref": "#/components/parameters/no"}], "responses": {}}
    paths = {"/good": {"get": {"operationId": "good", "responses": {}}}, "/gone": {"get": gone}}
    document = {"openapi": "3.1.0", "servers": [{"url": "https://api.test"}], "paths": paths}
    (tmp_path / "shop.json").write_text(json.dumps(document))
    specs = ("--connect", str(tmp_path / "shop.json"))
    why = "gone: `$ref` to `#/components/parameters/no` at #/paths/~1gone/get/parameters/0 leads nowhere"
    result = isolith("connectors", "status", *specs)
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, f"    left out: {why}")
    assert found(isolith("connectors", "status", *specs, "--json"))["shop"]["excluded"] == [why]


def test_a_credential_that_is_not_set_is_told_before_there_is_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status was `ready`, and the dry run showed a masked secret, as if there were one."""
    get = {"operationId": "good", "responses": {}}
    document = {"openapi": "3.1.0", "servers": [{"url": "https://api.test"}], "paths": {"/good": {"get": get}}}
    (tmp_path / "shop.json").write_text(json.dumps(document))
    auth = 'auth = { env = "TOKEN_OF_THE_TEST" }'
    (tmp_path / "isolith.toml").write_text(f'[connectors.shop]\nopenapi = "shop.json"\n{auth}\n')
    specs = ("--config", str(tmp_path / "isolith.toml"))
    unset = "the environment variable TOKEN_OF_THE_TEST is not set"
    monkeypatch.delenv("TOKEN_OF_THE_TEST", raising=False)
    status = isolith("connectors", "status", *specs)
    assert (status.exit_code, status.stdout.splitlines()[-1]) == (0, f"    problem: {unset}")
    request = isolith("connectors", "request", "shop.good", *specs)
    assert "Authorization: Bearer [secret of env TOKEN_OF_THE_TEST]" in request.stdout
    told = f"isolith: as things are, a call is refused before it is sent: {unset}; export TOKEN_OF_THE_TEST=..."
    assert (request.exit_code, request.stderr.splitlines()) == (0, [told])
    assert unset in json.loads(isolith("connectors", "request", "shop.good", *specs, "--json").stdout)["refused"]
    monkeypatch.setenv("TOKEN_OF_THE_TEST", "one that is set")
    assert "problem" not in isolith("connectors", "status", *specs).stdout
    assert isolith("connectors", "request", "shop.good", *specs).stderr == ""


def test_the_status_says_how_many_tools_no_script_sees(specs: list[str], tmp_path: Path) -> None:
    """It counted one more than `list`, without a word."""
    assert "    3 tools, 1 of them denied (this process)" in isolith("connectors", "status", "crm", *specs).stdout
    (tmp_path / "isolith.toml").write_text('[policy]\nrules = [{ match = "crm.find", action = "deny" }]\n')
    told = isolith("connectors", "status", "crm", *specs, "--config", str(tmp_path / "isolith.toml"))
    assert "    3 tools, 2 of them denied (this process)" in told.stdout


def test_only_what_is_asked_about_is_started(specs: list[str]) -> None:
    result = CliRunner().invoke(cli.app, ["policy", "explain", "crm.find", *specs])
    assert (result.exit_code, result.stderr) == (0, "")
