"""The command line around an execution: forms of answer, exit codes, Ctrl-C, wrong use, a bug of ours."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pytest
from typer.testing import CliRunner, Result

from isolith.budgets import Budgets
from isolith.command_line import cli, doctor_command, image_command, run_command
from isolith.outcome import Diagnostic, Kind, Outcome, outcome_schema
from isolith_runtime.image.cache import ImageInfo
from isolith_runtime.image.doctor import Finding

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from isolith_bindings.connector import Connector


IMAGES = Path("images")
EVENTS: list[dict[str, object]] = [
    {"event": "log", "execution_id": "e", "seq": 1, "level": "info", "message": "hello", "attrs": {}},
    {"event": "emit", "execution_id": "e", "seq": 2, "value": {"n": {2, 1}}},
    {"event": "call_started", "execution_id": "e", "seq": 3, "connector": "crm", "method": "list"},
    {"event": "progress", "execution_id": "e", "seq": 4, "done": 1, "total": 2, "text": "half"},
    {"event": "outcome", "execution_id": "e", "seq": 5},
]
DONE = Outcome(execution_id="e", status="completed", value=[0, 1, 4], value_type="list[int]")


@dataclass
class Execution:
    """An execution that tells its events and then ends with `ends`; or, where that is None, when it is cancelled."""

    ends: Outcome | None
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    async def events(self) -> AsyncGenerator[dict[str, object]]:
        for event in EVENTS:
            yield event

    async def outcome(self) -> Outcome:
        if self.ends is None:
            os.kill(os.getpid(), signal.SIGINT)
            await self.cancelled.wait()
            error = Diagnostic(kind="cancelled", message="cancelled")
            return Outcome(execution_id="e", status="cancelled", error=error)
        return self.ends

    def cancel(self) -> None:
        self.cancelled.set()


@dataclass
class CodeMode:
    """What the command line needs of the real one, and a record of what it was given."""

    ends: Outcome | None = DONE
    fails: Exception | None = None
    made: dict[str, object] = field(default_factory=dict[str, object])
    started: dict[str, object] = field(default_factory=dict[str, object])
    connectors: tuple[Connector, ...] = ()

    def __call__(self, connectors: list[object], **options: object) -> Self:
        self.made = {"connectors": connectors, **options}
        return self

    async def __aenter__(self) -> Self:
        if self.fails:
            raise self.fails
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    def start(self, script: str | bytes, **options: object) -> Execution:
        self.started = {"script": script, **options}
        return Execution(self.ends)


def no_supply(_variant: str, *, progress: object) -> None:
    """Stands for an image that is there."""


@pytest.fixture
def code_mode(monkeypatch: pytest.MonkeyPatch) -> CodeMode:
    fake = CodeMode()
    monkeypatch.setattr(run_command, "CodeMode", fake)
    monkeypatch.setattr(run_command, "get_supply", no_supply)
    return fake


def isolith(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli.app, arguments, input=stdin)


def test_piped_the_value_is_on_stdout_and_the_logs_are_beside_it(code_mode: CodeMode) -> None:
    result = isolith("run", "-c", "[x*x for x in range(3)]")
    assert (result.exit_code, result.stdout) == (0, "[\n  0,\n  1,\n  4\n]\n")
    assert result.stderr == 'hello\n{"n": [1, 2]}\n'
    assert code_mode.started == {"script": "[x*x for x in range(3)]", "input": None, "budgets": Budgets()}
    assert (code_mode.made["connectors"], code_mode.made["policy"]) == ([], "trusted")


def test_json_is_one_document(code_mode: CodeMode) -> None:
    result = isolith("run", "-c", "1", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == DONE.to_json()
    assert result.stdout.count("\n") == 1


def test_a_stream_is_one_event_a_line_and_ends_with_the_outcome(code_mode: CodeMode) -> None:
    result = isolith("run", "-c", "1", "--stream")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["event"] for line in lines] == ["log", "emit", "call_started", "progress", "outcome"]
    assert lines[1]["value"] == {"n": [1, 2]}
    assert lines[-1] == {"event": "outcome", **DONE.to_json()}
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("kind", "code"),
    [("exception", 1), ("syntax", 1), ("invalid_input", 2), ("cpu_exceeded", 3), ("internal", 5)],
)
@pytest.mark.parametrize("form", [[], ["--json"], ["--stream"]])
def test_a_failure_ends_with_its_exit_code(code_mode: CodeMode, kind: Kind, code: int, form: list[str]) -> None:
    code_mode.ends = Outcome(
        execution_id="e", status="failed", error=Diagnostic(kind=kind, message="it failed", line=2)
    )
    result = isolith("run", "-c", "1", *form)
    assert result.exit_code == code
    if form:
        assert json.loads(result.stdout.splitlines()[-1])["error"]["kind"] == kind
    else:
        assert result.stdout == ""
        hint = "  hint: give it more with `--cpu-ms N`\n" if kind == "cpu_exceeded" else ""
        assert result.stderr.endswith(f"error[{kind}]: it failed\n  line 2\n{hint}")


def test_everything_that_can_be_given_arrives(code_mode: CodeMode, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("input")
    flags = "--policy careful --cpu-ms 5 --fuel 6 --timeout 1.5 --memory-mb 64 --max-calls 7 --value-tokens 8"
    result = isolith("run", str(script), "--input", '{"a": 1}', "--max-output-bytes", "9", *flags.split())
    assert result.exit_code == 0
    assert code_mode.made["policy"] == "careful"
    budgets = Budgets(cpu_ms=5, fuel=6, wall_s=1.5, memory_mb=64, calls=7, value_tokens=8, value_bytes=9)
    assert code_mode.started == {"script": b"input", "input": {"a": 1}, "budgets": budgets}


@pytest.mark.parametrize("form", [[], ["--json"], ["--stream"]])
def test_a_failure_of_a_run_with_nothing_connected_says_so_in_every_form(code_mode: CodeMode, form: list[str]) -> None:
    line, message = "await crm.revenue(year=2025)", "NameError: name 'crm' is not defined"
    error = Diagnostic(kind="exception", message=message, source_line=line)
    code_mode.ends = Outcome(execution_id="e", status="failed", error=error)
    result = isolith("run", "-c", line, *form)
    assert "nothing is connected: say what the script calls with `--connect FILE`" in result.output


@pytest.mark.parametrize("arguments", [["search", "foo"], ["describe", "foo"], ["catalog"], ["catalog", "--json"]])
def test_looking_for_tools_with_nothing_connected_names_what_connects(arguments: list[str]) -> None:
    result = isolith(*arguments)
    assert "`--connect FILE`" in result.stderr
    assert "--json" not in arguments or json.loads(result.stdout)


def test_the_help_names_everything_that_can_be_connected() -> None:
    shown = " ".join(isolith("run", "--help").stdout.replace("│", " ").split())
    for spec in ("FILE.py", "module:object", "mcp.json", "OpenAPI", "name=PATH", "name=https://", "isolith.toml"):
        assert spec in shown


def test_a_script_comes_from_stdin(code_mode: CodeMode) -> None:
    assert isolith("run", "-", stdin=b"1 + 1\xff").exit_code == 0
    assert code_mode.started["script"] == b"1 + 1\xff"


@pytest.mark.parametrize("form", [[], ["--json"], ["--stream"]])
def test_ctrl_c_cancels_and_the_outcome_is_printed(code_mode: CodeMode, form: list[str]) -> None:
    code_mode.ends = None
    before = signal.getsignal(signal.SIGINT)
    result = isolith("run", "-c", "1", *form)
    assert result.exit_code == 1
    assert "cancelled" in (result.stdout if form else result.stderr)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_home_that_cannot_be_made_is_no_bug_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ISOLITH_HOME", str(tmp_path / "file" / "home"))
    result = isolith("run", "-c", "1")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the journal has no place: " in result.stderr
    assert "set ISOLITH_HOME to a folder that you can write" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "isolith: no script: give a file,"),
        (["run", "x.py", "-c", "1"], "isolith: both a script, `x.py`, and `-c` are given: keep one\n"),
        (["run", "-c", "1", "--json", "--stream"], "isolith: both `--json` and `--stream` are given: keep one\n"),
        (["run", "none.py"], "isolith: the script `none.py` does not exist: give the path of a file\n"),
        (["run", "-c", "1", "--input", "{"], "isolith: `--input` is not JSON: line 1, column 2: "),
        (["run", "-c", "1", "--cpu-ms", "0"], "isolith: budget `cpu_ms` must be greater than or equal to 1, not 0\n"),
        (["run", "-c", "1", "--cpu-ms", "abc"], "--cpu-ms"),
        (["run", "-c", "1", "--policy", "lax"], "lax"),
        (["run", "-c", "1", "--connect", "none.py"], "none.py"),
        (["walk"], "No such command"),
    ],
)
def test_wrong_use_ends_with_2_and_says_what_to_do(
    code_mode: CodeMode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = isolith(*arguments)
    assert result.exit_code == 2
    if "--json" in arguments:
        assert json.loads(result.stdout)["error"]["message"]
    else:
        assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert code_mode.started == {}


@pytest.mark.parametrize("form", [[], ["--json"], ["--stream"]])
def test_a_bug_of_ours_has_an_id_that_the_log_resolves_and_no_text(code_mode: CodeMode, form: list[str]) -> None:
    code_mode.fails = RuntimeError("the password is hunter2")
    result = isolith("run", "-c", "1", *form)
    assert result.exit_code == 5
    log = json.loads(next(line for line in result.stderr.splitlines() if line.startswith("{")))
    assert (log["event"], log["error"], log["level"]) == ("internal error", "RuntimeError", "error")
    assert log["where"][0].startswith("test_cli.py:")
    if form:
        error = json.loads(result.stdout)["error"]
        assert (error["kind"], error["error_id"]) == ("internal", log["error_id"])
    else:
        assert f"report it with what the host's log says about error {log['error_id']}" in result.stderr
    assert "hunter2" not in result.output
    assert "Traceback" not in result.output


def test_the_schema_is_printed(code_mode: CodeMode) -> None:
    result = isolith("schema", "outcome")
    assert (result.exit_code, json.loads(result.stdout)) == (0, outcome_schema())


def test_the_version_is_printed() -> None:
    result = isolith("--version")
    assert (result.exit_code, result.stdout) == (0, f"isolith {version('isolith')}\n")


@pytest.mark.parametrize(
    "command",
    [
        "",
        "run",
        "search",
        "describe",
        "catalog",
        "image",
        "image build",
        "image info",
        "image clear",
        "schema",
        "schema outcome",
        "doctor",
    ],
)
def test_the_help_of_every_command_shows_an_example(command: str) -> None:
    result = isolith(*command.split(), "--help")
    assert result.exit_code == 0
    assert f"Example: isolith {command}".rstrip() in result.stdout


@pytest.mark.parametrize(("command", "policy"), [("run", "trusted"), ("serve", "careful")])
def test_the_help_says_what_is_allowed_where_nothing_is_said(command: str, policy: str) -> None:
    assert f"[default: ({policy})]" in isolith(command, "--help").stdout


CRM = '''"""Contacts."""
print("loading")


def list_contacts(limit: int = 3) -> list[str]:
    """The contacts, by name."""
    return ["Ann"][:limit]


def drop(name: str) -> None:
    """Forget a contact."""
'''


@pytest.fixture
def crm(tmp_path: Path) -> str:
    file = tmp_path / "crm.py"
    file.write_text(CRM)
    return str(file)


def test_what_can_be_called_is_listed_and_what_a_connector_prints_is_not_in_it(crm: str) -> None:
    result = isolith("catalog", "--connect", crm)
    assert (result.exit_code, result.stderr) == (0, "loading\n")
    assert result.stdout.startswith("All 2 tools:\ncrm (2 tools, ready)")
    assert "list_contacts(" in result.stdout
    assert "Forget a contact." in result.stdout


def test_a_method_is_described(crm: str) -> None:
    result = isolith("describe", "crm.list_contacts", "--connect", crm, "--json")
    document = json.loads(result.stdout)
    assert (result.exit_code, document["path"], document["kind"]) == (0, "crm.list_contacts", "method")


def test_a_method_is_found(crm: str) -> None:
    result = isolith("search", "forget contact", "--connect", crm, "--limit", "1")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "crm.drop: Forget a contact.",
        "    async def drop(*, name: str) -> None",
        "and 2 more: --offset 1",
    ]
    assert isolith("search", "zebra", "--connect", crm).stdout == "nothing fits\n"


def test_an_unknown_method_is_wrong_use_with_the_nearest_name(crm: str) -> None:
    result = isolith("describe", "crm.list_contact", "--connect", crm)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.endswith("isolith: crm has no method `list_contact`; did you mean `crm.list_contacts`?\n")


def test_what_a_connector_prints_is_not_in_the_answer(code_mode: CodeMode, crm: str) -> None:
    result = isolith("run", "-c", "1", "--json", "--connect", crm)
    assert (result.exit_code, result.stderr) == (0, "loading\n")
    assert json.loads(result.stdout) == DONE.to_json()


@dataclass
class Store:
    """A store without an image."""

    def info(self) -> ImageInfo:
        return ImageInfo(IMAGES, None, None, bundled=False, total_bytes=0)

    def clear(self) -> int:
        return 48_000_000


def test_the_image_is_looked_at_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_command, "open_store", Store)
    expected = {"folder": str(IMAGES), "image": None, "created": None, "bundled": False, "total_bytes": 0}
    assert json.loads(isolith("image", "info").stdout) == expected
    assert isolith("image", "info", "--json").stdout == isolith("image", "info").stdout
    assert isolith("image", "clear").stderr == "48 MB freed\n"


def test_doctor_says_what_mends_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = [Finding("python", ok=True, detail="3.13"), Finding("image", ok=False, detail="none", mend="build it")]
    monkeypatch.setattr(doctor_command, "open_store", Store)
    monkeypatch.setattr(doctor_command, "examine", lambda _store: findings)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    result = isolith("doctor")
    assert result.exit_code == 1
    assert result.stdout == "ok       python: 3.13\nmissing  image: none\n         build it\n"
    result = isolith("doctor", "--json")
    fine = {"name": "python", "ok": True, "detail": "3.13", "mend": ""}
    missing = {"name": "image", "ok": False, "detail": "none", "mend": "build it"}
    assert (result.exit_code, json.loads(result.stdout)) == (1, {"ok": False, "findings": [fine, missing]})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "-c", "1", "--cpu-mss", "3"], "--cpu-mss"),
        (["run", "-c", "1", "--cpu-ms", "many"], "--cpu-ms"),
        (["executions", "shwo"], "No such command 'shwo'"),
        (["describe"], "TARGET"),
    ],
)
def test_a_wrong_flag_beside_json_is_told_in_json(arguments: list[str], said: str) -> None:
    result = isolith(*arguments, "--json")
    assert result.exit_code == 2
    message = json.loads(result.stdout)["error"]["message"]
    assert said in message
    assert result.stderr == f"isolith: {message}\n"
    assert isolith(*arguments).stdout == ""
