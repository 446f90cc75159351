from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import pytest

from isolith_runtime.errors import DistributionError
from isolith_runtime.image.command import run

if TYPE_CHECKING:
    from pathlib import Path

NPM_FAILS = """
import sys
sys.exit('''npm error code ETARGET
npm error notarget No matching version found for pyodide@999.
npm error A complete log of this run can be found in: /somewhere''')
"""


def python(code: str, cwd: Path, timeout_s: float = 60.0) -> str:
    return run([sys.executable, "-c", code], cwd=cwd, timeout_s=timeout_s, env=os.environ)


def test_returns_what_was_written(tmp_path: Path) -> None:
    assert python("import os; print(os.getcwd())", tmp_path).strip() == str(tmp_path.resolve())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (NPM_FAILS, r"exit code 1: code ETARGET \| notarget No matching version found for pyodide@999\.$"),
        ("raise OSError('unreachable')", r"exit code 1: OSError: unreachable$"),
        ("raise SystemExit(3)", r"exit code 3: it said nothing$"),
    ],
)
def test_a_failure_says_what_the_program_said(tmp_path: Path, code: str, said: str) -> None:
    with pytest.raises(DistributionError, match=said):
        python(code, tmp_path)


def test_a_program_that_hangs_is_ended_even_if_its_child_goes_on(tmp_path: Path) -> None:
    code = "import subprocess, time; subprocess.Popen(['sleep', '60']); time.sleep(60)"
    began = time.monotonic()
    with pytest.raises(DistributionError, match=r"did not finish within 0\.2 seconds$"):
        python(code, tmp_path, timeout_s=0.2)
    assert time.monotonic() - began < 50


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DistributionError, match=r"`/no/such` could not be started: .*No such file"):
        run(["/no/such"], cwd=tmp_path, timeout_s=1.0, env={})
