"""The rules of the house that no tool checks by itself, and the tools that check the others."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (ROOT / "runtime", ROOT / "bindings", ROOT / "host")
MAX_LINES_OF_A_FILE = 400
MAX_LINES_OF_A_FUNCTION = 60


def sources(*roots: Path) -> list[Path]:
    return [path for root in roots for path in sorted(root.rglob("*.py"))]


def imported(path: Path) -> set[str]:
    """The top-level names of the modules a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_holds_one_concept(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= MAX_LINES_OF_A_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < MAX_LINES_OF_A_FUNCTION, node.name


def test_wasmtime_is_known_to_the_runtime_only() -> None:
    users = {path.relative_to(ROOT).parts[0] for path in sources(*PACKAGES) if "wasmtime" in imported(path)}
    assert users == {"runtime"}


def test_sql_is_written_in_the_journal_only() -> None:
    """With one exception, which keeps nothing: the index that search has in memory."""
    users = {
        path.relative_to(ROOT).as_posix()
        for path in sources(*PACKAGES)
        if imported(path) & {"sqlalchemy", "sqlite3", "psycopg"} and "guest" not in path.parts
    }
    outside = {user for user in users if not user.startswith("host/isolith/journal/")}
    assert outside <= {"bindings/isolith_bindings/postings.py"}
    for user in outside:
        text = (ROOT / user).read_text()
        assert text.count("connect(") == text.count('connect(":memory:"') == 1


def test_nothing_of_a_script_is_ever_run_on_the_host() -> None:
    """`exec`, `eval` and `compile` are called in the guest, and nowhere else."""
    for path in sources(*PACKAGES):
        if "guest" in path.parts:
            continue
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        names = {node.func.id for node in calls if isinstance(node.func, ast.Name)}
        assert not names & {"exec", "eval", "compile"}, path
        assert not imported(path) & {"pickle", "marshal", "shelve"}, path


def test_the_guest_imports_the_standard_library_only() -> None:
    for path in sources(ROOT / "runtime" / "isolith_runtime" / "guest"):
        assert imported(path) <= {*sys.stdlib_module_names, "isolith_runtime"}, path


def test_top_level_holds_what_tools_insist_on() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {line.split("/")[0] for line in listed.splitlines()}
    allowed = {".ci", ".gitignore", "README.md", "bindings", "fixtures", "host", "pyproject.toml", "runtime", "tests"}
    assert top <= allowed


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["lint-imports"],
        ["mypy", "runtime", "bindings", "host", "tests"],
        ["pyright", "--pythonpath", sys.executable],
    ],
    ids=lambda command: "-".join(command[:2]),
)
@pytest.mark.timeout(1_800)  # a checker reads everything, on a machine that may be busy
def test_tool_is_content(command: list[str]) -> None:
    tool = Path(sys.executable).parent / command[0]
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
