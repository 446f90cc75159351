"""A wheel that carries the snapshot: a machine without npm compiles it once and runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from isolith_runtime.image.builder import open_store
from isolith_runtime.image.bundle import Bundle

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new venv in which a bundled wheel is installed, and nothing of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ("runtime", "bindings", "host"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "bundled"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source / name)
    open_store().bundle(Bundle(source / "runtime" / "isolith_runtime" / "image" / "bundled"))
    _run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder / "dist", source)
    _run(sys.executable, "-m", "venv", folder / "venv")
    [wheel] = (folder / "dist").glob("*.whl")
    _run(folder / "venv" / "bin" / "pip", "install", "-q", wheel)
    return folder


@pytest.mark.slow
@pytest.mark.timeout(1500)  # it installs everything anew: minutes, where the machine is busy
def test_a_bundled_wheel_needs_neither_npm_nor_a_boot(installed: Path) -> None:
    home = installed / "home"
    environment = {"PATH": str(installed / "venv" / "bin"), "ISOLITH_HOME": str(home), "HOME": str(installed)}
    assert shutil.which("npm", path=environment["PATH"]) is None
    for _ in range(2):
        done = subprocess.run(
            [installed / "venv" / "bin" / "isolith", "run", "--json", "-c", "[x * x for x in range(5)]"],
            env=environment,
            cwd=installed,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        outcome = json.loads(done.stdout)
        assert (outcome["status"], outcome["value"]) == ("completed", [0, 1, 4, 9, 16])
        assert outcome["value_type"] == "list[int]"
    # Compiled once, for this machine; nothing was obtained, booted or snapshotted.
    assert len(list((home / "images" / "compiled").glob("*.cwasm"))) == 1


def _run(*command: str | Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
