"""What begins before the command line is there."""

from __future__ import annotations

import atexit
import gc
import subprocess
import sys
from importlib.metadata import version

import pytest

from isolith.command_line import cli, start
from isolith.run import type_checker


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        (["check", "s.py", "--connect", "crm.py"], True),
        (["check", "s.py", "--connect=crm.py"], True),
        (["check", "s.py", "--config", "isolith.toml"], True),
        (["check", "s.py"], False),
        (["check", "s.py", "--connect", "crm.py", "--types", "off"], False),
        (["check", "s.py", "--connect", "crm.py", "--types=mypy"], False),
        (["run", "s.py", "--connect", "crm.py"], False),
        ([], False),
    ],
)
def test_a_check_has_its_type_checker_get_ready_meanwhile(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, *, begins: bool
) -> None:
    done: list[object] = []
    monkeypatch.setattr(atexit, "register", done.append)
    monkeypatch.delenv("ISOLITH_CONFIG", raising=False)
    monkeypatch.setattr(sys, "argv", ["isolith", *arguments])
    monkeypatch.setattr(type_checker, "get_ready", done.append)
    monkeypatch.setattr(cli, "main", lambda: done.append("main"))
    start.main()
    assert done == [*["auto"] * begins, gc.freeze, "main"]


def test_a_configuration_of_the_environment_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOLITH_CONFIG", "isolith.toml")
    assert start.will_check(["check", "s.py"])


def test_the_package_is_the_command() -> None:
    told = subprocess.run([sys.executable, "-m", "isolith", "--version"], capture_output=True, text=True, check=True)
    assert told.stdout == f"isolith {version('isolith')}\n"


def test_ctrl_c_before_there_is_a_command_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(name: str) -> object:
        raise KeyboardInterrupt(name)

    monkeypatch.setattr(atexit, "register", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["isolith", "run"])
    monkeypatch.setattr(start, "import_module", interrupted)
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert (ended.value.code, capsys.readouterr().err) == (1, "isolith: interrupted\n")
