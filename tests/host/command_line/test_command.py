"""What commands have in common: a policy by name or file, a configuration below the flags, questions to a person."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from tests.host.command_line.test_cli import CodeMode, no_supply
from typer.testing import CliRunner

from isolith.budgets import CEILINGS, Budgets, HostPolicy
from isolith.command_line import cli, command, run_command
from isolith.configuration.variables import Input
from isolith.errors import UsageError
from isolith_bindings.availability import why_absent
from isolith_bindings.policy import Policy


@pytest.fixture
def code_mode(monkeypatch: pytest.MonkeyPatch) -> CodeMode:
    fake = CodeMode()
    monkeypatch.setattr(run_command, "CodeMode", fake)
    monkeypatch.setattr(run_command, "get_supply", no_supply)
    return fake


def run(*arguments: str) -> int:
    return CliRunner().invoke(cli.app, ["run", "-c", "1", *arguments]).exit_code


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "isolith.toml"
    (tmp_path / "crm.py").write_text("def get() -> int: return 1")
    path.write_text(
        'connect = ["crm.py"]\npolicy = "careful"\n[budgets]\ncpu_ms = 700\nwall_s = 9\n[ceilings]\ncpu_ms = 800\n'
    )
    return str(path)


def test_a_run_follows_its_configuration(code_mode: CodeMode, config: str) -> None:
    assert run("--config", config) == 0
    assert [connector.name for connector in code_mode.made["connectors"]] == ["crm"]  # type: ignore[attr-defined]
    assert code_mode.made["policy"] == Policy(preset="careful")
    assert code_mode.made["ceilings"] == HostPolicy(CEILINGS.model_copy(update={"cpu_ms": 800}))
    assert code_mode.started["budgets"] == Budgets(cpu_ms=700, wall_s=9)


def test_a_flag_is_above_the_configuration(code_mode: CodeMode, config: str) -> None:
    assert run("--config", config, "--policy", "readonly", "--cpu-ms", "5") == 0
    assert code_mode.made["policy"] == "readonly"
    assert code_mode.started["budgets"] == Budgets(cpu_ms=5, wall_s=9)


def test_a_preset_beside_a_configuration_is_in_place_of_its_preset_alone(code_mode: CodeMode, config: str) -> None:
    rule = {"match": ["crm.get"], "action": "deny"}
    Path(config).write_text(
        Path(config).read_text().replace('"careful"', '{ rules = [{ match = "crm.get", action = "deny" }] }')
    )
    assert run("--config", config, "--policy", "readonly") == 0
    assert code_mode.made["policy"] == Policy.model_validate({"preset": "readonly", "rules": [rule]})


def test_a_configuration_from_the_environment(
    code_mode: CodeMode, config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOLITH_CONFIG", config)
    assert run() == 0
    assert code_mode.started["budgets"] == Budgets(cpu_ms=700, wall_s=9)


def test_a_configuration_that_merely_lies_there_starts_nothing(
    code_mode: CodeMode, config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever wrote the folder that one works in should not choose what is run."""
    monkeypatch.chdir(Path(config).parent)
    assert run() == 0
    assert code_mode.made["connectors"] == []


def test_a_policy_in_a_file(code_mode: CodeMode, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text('{"preset": "readonly", "rules": [{"match": "crm.*", "action": "ask"}]}')
    assert run("--policy", str(path)) == 0
    assert code_mode.made["policy"] == Policy.model_validate(
        {"preset": "readonly", "rules": [{"match": "crm.*", "action": "ask"}]}
    )


@pytest.mark.parametrize("flag", ["--policy", "--config"])
def test_a_file_that_is_broken(code_mode: CodeMode, tmp_path: Path, flag: str) -> None:
    path = tmp_path / "broken.toml"
    path.write_text("preset = ")
    assert run(flag, str(path)) == 2
    assert code_mode.made == {}


def test_what_is_no_policy() -> None:
    with pytest.raises(UsageError, match="there is no policy `lax`"):
        command.policy_of("lax", None)
    assert command.policy_of(None, None, "careful") == "careful"


# ---------------------------------------------------------------------------------------------- questions

ASKS = '{"inputs": [{"type": "promptString", "id": "key", "description": "The key", "password": true}], "servers": {"docs": {"command": "x", "env": {"KEY": "${input:key}"}}}}'


class Typing(io.StringIO):
    """A terminal that a person types at."""

    def isatty(self) -> bool:
        return True


def test_a_person_at_a_terminal_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text(ASKS)
    asked: list[tuple[str, object]] = []

    def prompt(text: str, **options: object) -> str:
        asked.append((text, options["hide_input"]))
        return "typed-4451"

    monkeypatch.setattr("sys.stdin", Typing())
    monkeypatch.setattr("typer.prompt", prompt)
    [docs] = command.connectors_of([str(tmp_path / "mcp.json")], None)
    assert (docs.name, asked) == ("docs", [("The key", True)])


def test_nobody_is_asked_where_nobody_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text(ASKS)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    [docs] = command.connectors_of([str(tmp_path / "mcp.json")], None)
    assert "set ISOLITH_INPUT_KEY in the environment" in str(why_absent(docs))


def test_a_choice_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def prompt(text: str, **_options: object) -> str:
        return text

    monkeypatch.setattr("typer.prompt", prompt)
    question = Input(id="where", options=("here", "there"))
    assert command.ask_person(question) == "where (here, there)"
