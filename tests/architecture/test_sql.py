"""SQL is written in the journal only, and in the index that a search takes what fits from."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATABASES = {"aiosqlite", "asyncpg", "psycopg", "psycopg2", "sqlalchemy", "sqlite3"}
ALLOWED = ("host/isolith/journal/", "bindings/isolith_bindings/postings.py")


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    return {name.partition(".")[0] for name in names}


def test_databases_are_known_to_the_journal_and_the_search_only() -> None:
    files = [path for room in ("runtime", "bindings", "host") for path in (ROOT / room).rglob("*.py")]
    using = {path.relative_to(ROOT).as_posix() for path in files if imported(path) & DATABASES}
    assert ALLOWED[1] in using
    assert {name for name in using if not name.startswith(ALLOWED)} == set()
