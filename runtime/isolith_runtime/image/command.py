"""Running the two programs that can fetch Pyodide, npm and pyodide-build, with an end to every wait."""

from __future__ import annotations

import subprocess
import tempfile
from typing import TYPE_CHECKING

from isolith_runtime.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_NPM = "npm error "
_NOISE = "A complete log of this run"


def run(command: Sequence[str], *, cwd: Path, timeout_s: float, env: Mapping[str, str]) -> str:
    """Run a command to its end and return what it wrote to stdout.

    Raises `DistributionError` with what it said if it fails, cannot start or takes longer than `timeout_s`.
    """
    name = " ".join(command)
    # Files and not pipes: after a timeout, a pipe would wait for whatever the killed program had started.
    with tempfile.TemporaryFile(dir=cwd) as out, tempfile.TemporaryFile(dir=cwd) as err:
        try:
            done = subprocess.run(  # noqa: S603 - our own fixed commands, no shell
                command,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                timeout=timeout_s,
                env=env,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise DistributionError(f"`{name}` did not finish within {timeout_s:g} seconds") from error
        except OSError as error:
            raise DistributionError(f"`{name}` could not be started: {error}") from error
        out.seek(0)
        err.seek(0)
        if done.returncode:
            raise DistributionError(f"`{name}` failed with exit code {done.returncode}: {_gist(err.read())}")
        return out.read().decode(errors="replace")


def _gist(output: bytes) -> str:
    """What was said about the failure: npm begins with it, a Python traceback ends with it."""
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    npm = [line.removeprefix(_NPM) for line in lines if line.startswith(_NPM) and _NOISE not in line]
    return " | ".join(npm[:4] or lines[-1:])[:600] or "it said nothing"
