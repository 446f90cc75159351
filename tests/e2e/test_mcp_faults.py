"""Servers that misbehave, as a person meets them: `isolith run --connect mcp.json`, its lines to the letter, none left.

In this process, for the sake of time: what is tested is what the command writes, and what it leaves running.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from tests.bindings.mcp.faulty_http import Faulty, Handler, faulty_http
from typer.testing import CliRunner, Result

from isolith.command_line import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
SERVER = Path(__file__).parents[2] / "fixtures" / "mcp" / "raw_server.py"
PYTHON = Path(sys.executable).name
MARK = "ISOLITH_TEST_MARK"
STATUS = (
    "  hint: `isolith connectors status box`, with the --connect or --config of this run, says more; "
    "other connectors are not concerned"
)
ECHO = "await box.echo(n=1)"
SHOWN = ["    1 | await box.echo(n=1)", "      |       ^"]


@dataclass
class Shell:
    """A folder with an `mcp.json`, and the command in it."""

    folder: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def connect(self, *faults: str, env: dict[str, str] | None = None, **options: object) -> None:
        """One server, `box`, that misbehaves as told."""
        arguments = [str(SERVER), *(fault.replace("FOLDER", str(self.folder)) for fault in faults)]
        marked = {**(env or {}), MARK: self.mark}
        self.write(box={"command": sys.executable, "args": arguments, "env": marked, "isolith": options})

    def write(self, **servers: object) -> None:
        (self.folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))

    def run(self, code: str, *more: str) -> Result:
        result = CliRunner().invoke(cli.app, ["run", "--connect", str(self.folder / "mcp.json"), "-c", code, *more])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert self._left() == []
        return result

    def lines(self, code: str = ECHO, *more: str) -> list[str]:
        """What a script that cannot work has the command say."""
        result = self.run(code, *more)
        assert (result.exit_code, result.stdout) == (1, "")
        return result.stderr.splitlines()

    def value(self, code: str = ECHO) -> object:
        """What a script gives, of which there is nothing to say."""
        result = self.run(code)
        assert (result.exit_code, result.stderr) == (0, "")
        return json.loads(result.stdout)

    def _left(self) -> list[int]:
        """What still runs of all that was started with this mark, after a moment for signals to arrive."""
        deadline = time.monotonic() + 240
        while (left := list(self._running())) and time.monotonic() < deadline:
            time.sleep(0.02)
        return left

    def _running(self) -> Iterator[int]:
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get(MARK) == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    yield process.pid


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_killed_in_the_middle_of_a_call(shell: Shell) -> None:
    shell.connect("die=FOLDER/died")
    assert shell.lines() == [
        "error[tool_unavailable]: box.echo got no answer: it was ended by SIGKILL. It may have been carried out all "
        "the same",
        *SHOWN,
        "  hint: look whether it happened before you call it again",
    ]


def test_hangs_at_its_start(shell: Shell) -> None:
    shell.connect("mute", start_s=0.5)
    assert shell.lines() == [
        f"error[tool_unavailable]: box is not there: `{PYTHON}` started but did not answer as an MCP server within "
        "0.5 s",
        *SHOWN,
        STATUS,
    ]


def test_ends_at_its_start_and_says_why_without_its_secret(shell: Shell) -> None:
    shell.connect("exit", "tell=KEY", env={"KEY": "sesame-open-12345"})
    assert shell.lines() == [
        f"error[tool_unavailable]: box is not there: `{PYTHON}` did not answer as an MCP server: it ended with exit "
        "code 3",
        *SHOWN,
        STATUS,
        "  box wrote: refused: [secret]",
    ]


def test_is_no_program(shell: Shell) -> None:
    shell.write(box={"command": "no-such-program"})
    assert shell.lines() == [
        "error[tool_unavailable]: box is not there: there is no program `no-such-program`: install it, or give its "
        "whole path",
        *SHOWN,
        STATUS,
    ]


def test_nothing_listens(shell: Shell) -> None:
    shell.write(box={"url": "http://127.0.0.1:9/mcp"})
    assert shell.lines() == [
        "error[tool_unavailable]: box is not there: http://127.0.0.1:9/mcp: 127.0.0.1 cannot be reached: All "
        "connection attempts failed",
        *SHOWN,
        STATUS,
    ]


def test_half_open_from_the_start(shell: Shell) -> None:
    with faulty_http(Faulty(silent=True)) as told:
        shell.write(box={"url": told.url, "isolith": {"start_s": 0.5}})
        assert shell.lines() == [
            f"error[tool_unavailable]: box is not there: {told.url} started but did not answer as an MCP server "
            "within 0.5 s",
            *SHOWN,
            STATUS,
        ]


class SilentInCalls(Handler):
    def _call(self, message: dict[str, object]) -> None:
        del message
        self.faulty.released.wait(60)


def test_half_open_in_a_call(shell: Shell) -> None:
    config = shell.folder / "isolith.toml"
    config.write_text("[budgets]\ncall_s = 3\n")
    with faulty_http(handler=SilentInCalls) as told:
        shell.write(box={"url": told.url})
        first, *rest = shell.lines("await box.work()", "--config", str(config))
    assert re.fullmatch(r"error\[tool_timeout\]: box\.work gave no answer in [\d.]+ s", first)
    assert rest == [
        "    1 | await box.work()",
        "      |       ^",
        "  hint: ask for less at a time; `call_s` is the budget of a call",
    ]


def test_a_caller_who_does_not_use_it_hears_nothing_of_it(shell: Shell) -> None:
    shell.connect("mute")
    assert shell.value("1 + 1") == 2


@pytest.mark.parametrize("era", [(), ("--modern",)], ids=["legacy", "modern"])
@pytest.mark.parametrize(
    ("faults", "code", "value"),
    [
        (("garbage",), ECHO, {"n": 1}),
        (("cycle",), "[await box.page_0(n=0), await box.page_2(n=2)]", [{"n": 0}, {"n": 2}]),
        (("progress", "large=900000"), "len(await box.echo())", 900_000),
        (("bare",), ECHO, {"n": 1}),
        ((), f"await box.echo(n={2**80 + 1})", {"n": 2**80 + 1}),
        (("collisions",), "await box.plain(n=1)", {"n": 1}),
        (("many=5000",), "await box.tool_4999(n=1)", {"n": 1}),
        (('answer={"content": [], "structuredContent": null}',), ECHO, None),
    ],
    ids=["garbage", "cycle", "large", "untyped", "integers", "collisions", "many", "null"],
)
def test_what_costs_nobody_anything(
    shell: Shell, era: tuple[str, ...], faults: tuple[str, ...], code: str, value: object
) -> None:
    shell.connect(*era, *faults)
    assert shell.value(code) == value


def test_a_list_that_changes_under_a_running_script(shell: Shell) -> None:
    shell.connect("change")
    result = shell.run("await box.echo()\nawait box.extra(n=2)")
    assert (result.exit_code, json.loads(result.stdout)) == (0, {"n": 2})
    assert result.stderr.splitlines()[0] == "warning[check]: box has no method 'extra'"


def test_a_tool_that_goes_under_a_running_script(shell: Shell) -> None:
    shell.connect("change")
    code = "await box.echo()\nawait box.extra()\nawait box.extra()"
    assert shell.lines(code)[-4:] == [
        "error[unknown_tool]: box has no method `extra`",
        "    3 | await box.extra()",
        "      |       ^",
        "  hint: there are: echo",
    ]


def test_names_that_would_be_the_same(shell: Shell) -> None:
    shell.connect("collisions")
    assert shell.lines("await box.a_b(n=1)") == [
        "error[unknown_tool]: box has no method `a_b`: `a-b` and `a_b` and `a.b` would both be called `a_b`: rename one",
        "    1 | await box.a_b(n=1)",
        "      |       ^",
    ]


def test_two_servers_that_would_be_called_the_same(shell: Shell) -> None:
    shell.write(**{"my-box": {"command": sys.executable}, "my_box": {"command": sys.executable}})
    result = shell.run(ECHO)
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        f"isolith: `{shell.folder / 'mcp.json'}`: `my-box` and `my_box` would both be called `my_box` in scripts; "
        "change the key of one of them in that file"
    ]
