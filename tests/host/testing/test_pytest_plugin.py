"""The plugin in a pytest of its own: cases are tests where they are asked for, and nothing happens otherwise."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Put = Callable[[str, str, object], Path]

ROOT = Path(__file__).parents[3]


def run_pytest(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:langsmith_plugin",
        "-W",
        "error",
        *more,
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_cases_are_tests_where_the_settings_say_so(put: Put, folder: Path) -> None:
    put("good", "await crm.revenue(year=input)", {"input": 4, "value": 8})
    put("wrong", "print('seen')\n1 / 0", {"value": 8})
    put("broken", "1", {"state": 1})
    (folder / "pytest.ini").write_text("[pytest]\nisolith_scripts = cases\nisolith_connect = crm.py\n")
    (folder / "outside.expect.json").write_text("{}")
    (folder / "test_own.py").write_text("def test_own(): pass\n")
    done = run_pytest(folder, "-v")
    assert done.returncode == 1, done.stdout + done.stderr
    for text in (
        "good PASSED",
        "wrong FAILED",
        "broken FAILED",
        "test_own PASSED",
        "ZeroDivisionError",
        "seen",
        "state",
    ):
        assert text in done.stdout
    assert "2 failed, 2 passed" in done.stdout
    assert "outside" not in done.stdout
    assert "Traceback" not in done.stdout


def test_it_costs_nothing_and_is_silent_where_nobody_asks_for_it(folder: Path) -> None:
    (folder / "a.expect.json").write_text("{}")
    (folder / "test_own.py").write_text(
        "import sys\ndef test_own(): assert 'isolith_pytest' in sys.modules and 'isolith' not in sys.modules\n"
    )
    done = run_pytest(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 1 passed in" in done.stdout.splitlines()[-1]


def test_every_pytest_finds_it_once_it_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["entry-points"]["pytest11"] == {"isolith": "isolith_pytest"}
    assert "host/isolith_pytest" in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
