"""Every block of the README runs as it stands and says what it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BIN = Path(sys.executable).parent


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def commands() -> list[tuple[str, str]]:
    """Each `$ command` of the console blocks with what it shows."""
    found = [re.split(r"^\$ ", block, flags=re.MULTILINE)[1:] for block in blocks("console")]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for block in found for part in block]


@pytest.mark.parametrize("code", blocks("python"))
def test_the_tour_prints_what_it_says(code: str, tmp_path: Path) -> None:
    script = tmp_path / "tour.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == re.findall(r"^\s*#> (.*)$", code, re.MULTILINE)


@pytest.mark.parametrize(("command", "shown"), commands(), ids=lambda text: text[:40])
def test_a_command_shows_what_it_says(command: str, shown: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'PATH="{BIN}:$PATH"; {command}'], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.stdout + done.stderr == shown


def test_the_first_command_ends_with_a_typed_result() -> None:
    """What the README's first command runs, once its `pip install` has."""
    [line] = [line.strip() for line in README.splitlines() if "isolith run fixtures" in line]
    command = line.rpartition("&& ")[2].replace(".venv/bin/", f"{BIN}/")
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert '"since": "2023-01-15"' in done.stdout


def test_ci_runs_exactly_the_command_of_the_readme() -> None:
    [line] = [line.strip() for line in README.splitlines() if ".venv/bin/pytest" in line]
    assert (ROOT / ".ci" / "run").read_text().rstrip().endswith(line)


def test_every_variable_of_a_command_is_set_by_an_earlier_one() -> None:
    lines = [line.strip() for line in README.splitlines() if line.startswith("    ")]
    for number, line in enumerate(lines):
        for name in re.findall(r"\$([A-Z_]+)", line):
            assert any(earlier.startswith(f"{name}=") for earlier in lines[:number]), line
