"""`isolith policy explain`: the rule that decides, named, and nothing called."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from isolith.command_line import cli

SERVER = Path(__file__).parents[3] / "fixtures" / "mcp" / "sdk_server.py"
BANK = '''
"""Money."""
from isolith_bindings.functions import method

def transfer(amount: int, to: str = "me") -> str:
    raise AssertionError("called")

@method(policy="ask")
def close() -> None: ...

@method(policy="deny")
def burn() -> None: ...
'''
POLICY = """
[[rules]]
name = "small sums"
match = "bank.transfer"
where = { amount = { at_most = 100 }, to = "me" }
action = "allow"
reason = "up to 100 to myself needs nobody"

[[rules]]
match = "bank.transfer"
where = { amount = { at_most = 1000 } }
action = "ask"

[[rules]]
match = "bank.transfer"
action = "deny"
reason = "too much"
"""


@pytest.fixture
def flags(tmp_path: Path) -> list[str]:
    (tmp_path / "bank.py").write_text(BANK)
    (tmp_path / "policy.toml").write_text(POLICY)
    return ["--connect", str(tmp_path / "bank.py"), "--policy", str(tmp_path / "policy.toml")]


def explain(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["policy", "explain", *arguments])


@pytest.mark.parametrize(
    ("arguments", "action", "rule", "reason"),
    [
        ({"amount": 100}, "allow", "small sums", "up to 100 to myself needs nobody"),
        ({"amount": 100, "to": "you"}, "ask", "rule 2", "bank.transfer fits `bank.transfer`, what it asks of `amount`"),
        ({"amount": 1001}, "deny", "rule 3", "too much"),
        (
            {"amount": "100"},
            "deny",
            "rule 3",
            "too much",
        ),
    ],
)
def test_the_rule_that_decides_is_named(
    flags: list[str], arguments: dict[str, object], action: str, rule: str, reason: str
) -> None:
    result = explain("bank.transfer", *flags, "--arguments", json.dumps(arguments), "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "call": "bank.transfer",
        "arguments": arguments,
        "action": action,
        "rule": rule,
        "reason": reason,
        "hidden": False,
        "invalid": None,
    }


def test_for_people(flags: list[str]) -> None:
    result = explain("tools.bank.Transfer", *flags, "--arguments", '{"amount": 5}')
    assert result.stdout == "bank.transfer: allowed\n  rule: small sums\n  reason: up to 100 to myself needs nobody\n"


def test_arguments_that_the_method_would_refuse(flags: list[str]) -> None:
    lines = explain("bank.transfer", *flags, "--arguments", '{"amuont": 5}').stdout.splitlines()
    assert lines[0] == "bank.transfer: denied"
    assert lines[-1].startswith("  but no call is made with these arguments: bank.transfer has no argument `amuont`")


def test_arguments_that_the_schema_of_a_server_does_not_allow(flags: list[str], tmp_path: Path) -> None:
    servers = {"mcpServers": {"bench": {"command": sys.executable, "args": [str(SERVER)]}}}
    (tmp_path / "mcp.json").write_text(json.dumps(servers))
    call = ("bench.add", *flags[2:], "--connect", str(tmp_path / "mcp.json"), "--json", "--arguments")
    assert json.loads(explain(*call, '{"a": 1}').stdout)["invalid"] is None
    assert "`a`" in json.loads(explain(*call, '{"a": "one"}').stdout)["invalid"]


def test_before_the_arguments_are_known(flags: list[str]) -> None:
    lines = explain("bank.transfer", *flags).stdout.splitlines()
    assert lines[0] == "bank.transfer: a person is asked"
    assert lines[-1] == "  before its arguments are known: give them with --arguments"


def test_arguments_from_a_file(flags: list[str], tmp_path: Path) -> None:
    (tmp_path / "call.json").write_text('{"amount": 5000}')
    result = explain("bank.transfer", *flags, "--arguments", f"@{tmp_path}/call.json")
    assert result.stdout.startswith("bank.transfer: denied\n  rule: rule 3\n")


def test_what_is_denied_whatever_happens_is_hidden(flags: list[str]) -> None:
    lines = explain("bank.burn", *flags).stdout.splitlines()
    assert lines[:2] == ["bank.burn: denied", "  rule: the method's own policy"]
    assert lines[-1] == "  scripts do not see it"


@pytest.mark.parametrize(("preset", "action"), [("trusted", "a person is asked"), ("readonly", "a person is asked")])
def test_a_function_keeps_its_own_word_under_a_preset(flags: list[str], preset: str, action: str) -> None:
    assert explain("bank.close", *flags[:2], "--policy", preset).stdout.startswith(f"bank.close: {action}\n")


def test_a_configuration_says_the_policy(flags: list[str], tmp_path: Path) -> None:
    config = tmp_path / "isolith.toml"
    config.write_text('connect = ["bank.py"]\n[policy]\nrules = [{ match = "bank.*", action = "deny", name = "shut" }]')
    assert explain("bank.transfer", "--config", str(config)).stdout.startswith("bank.transfer: denied\n  rule: shut\n")
    (tmp_path / "other.toml").write_text('preset = "trusted"')
    overruled = explain("bank.transfer", "--config", str(config), "--policy", str(tmp_path / "other.toml"))
    assert overruled.stdout.startswith("bank.transfer: allowed\n")


@pytest.mark.parametrize("preset", ["trusted", "careful", "readonly"])
def test_the_rules_of_a_configuration_stay_beside_a_preset(flags: list[str], tmp_path: Path, preset: str) -> None:
    """`--policy readonly` used to open what the file denies, without a word."""
    config = tmp_path / "isolith.toml"
    config.write_text('connect = ["bank.py"]\n[policy]\nrules = [{ match = "bank.*", action = "deny", name = "shut" }]')
    result = explain("bank.transfer", "--config", str(config), "--policy", preset)
    assert result.stdout.startswith("bank.transfer: denied\n  rule: shut\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bank"], "`bank` is no connector.method"),
        (["bank.transfers"], "bank has no method `transfers`; did you mean `bank.transfer`?"),
        (["shop.buy"], "there is no connector `shop`"),
        (["bank.transfer", "--arguments", "[1]"], "`--arguments` is one JSON object"),
        (["bank.transfer", "--arguments", "{"], "`--arguments` is not JSON: line 1, column 2"),
        (["bank.transfer", "--policy", "lax"], "there is no policy `lax`: it is trusted, careful, readonly, or a file"),
    ],
)
def test_wrong_use(flags: list[str], arguments: list[str], said: str) -> None:
    result = explain(*flags, *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"isolith: {said}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command", [["policy", "explain", "bank.transfer"], ["check", "-"], ["connectors", "list"]], ids=" ".join
)
def test_a_rule_that_fits_nothing_is_said(flags: list[str], tmp_path: Path, command: list[str]) -> None:
    """`connectors list` alone used to say so; a prohibition that is misspelt forbids nothing."""
    (tmp_path / "policy.toml").write_text('rules = [{ match = "bank.brun", action = "deny" }]')
    result = CliRunner().invoke(cli.app, [*command, *flags], input="1")
    assert (result.exit_code, result.stderr) == (
        0,
        "isolith: rule 1 (`bank.brun`) fits no method of what is connected\n",
    )


def test_a_run_says_it_too(flags: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "policy.toml").write_text('rules = [{ match = "bank.brun", action = "deny" }]')
    assert CliRunner().invoke(cli.app, ["run", "-c", "1", *flags]).exit_code == 0
    assert caplog.messages == ["policy: rule 1 (`bank.brun`) fits no method of what is connected"]
