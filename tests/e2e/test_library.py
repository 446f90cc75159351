"""What of the standard library is in the guest, and what is not: the list of the runtime's README, both ways."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from isolith import CodeMode

README = (Path(__file__).resolve().parents[2] / "runtime" / "README.md").read_text()
THERE = [
    "sqlite3",
    "zoneinfo",
    "decimal",
    "re",
    "json",
    "csv",
    "datetime",
    "asyncio",
    "statistics",
    "difflib",
    "hashlib",
    "html",
    "xml.etree.ElementTree",
    "zlib",
    "dataclasses",
    "typing",
    "unittest.mock",
    "lzma",
    "bz2",
    "tomllib",
    "logging",
    "email",
    "configparser",
    "plistlib",
]


def not_there() -> list[str]:
    found = re.findall(r"`((?:ctypes|js) [a-z0-9 ]+)`", README)
    return [name for names in found for name in names.split()]


@pytest.mark.anyio
async def test_what_is_not_there_says_why(code_mode: CodeMode) -> None:
    assert len(not_there()) > 25
    for name in not_there():
        outcome = await code_mode.execute(f"import {name}")
        assert outcome.error is not None, name
        assert "is not available: " in outcome.error.message, name


@pytest.mark.anyio
async def test_what_is_expected_imports(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("\n".join(f"import {name}" for name in THERE) + "\n1")
    assert (outcome.value, outcome.error) == (1, None)


@pytest.mark.anyio
async def test_databases_in_memory_and_time_zones_work(code_mode: CodeMode) -> None:
    script = (
        "import sqlite3, zoneinfo, datetime\nc = sqlite3.connect(':memory:')\nc.execute('create table t(a)')\n"
        "c.execute('insert into t values (3)')\nberlin = zoneinfo.ZoneInfo('Europe/Berlin')\n"
        "(c.execute('select a from t').fetchall(), datetime.datetime(2026, 7, 1, tzinfo=berlin).utcoffset().seconds)"
    )
    assert (await code_mode.execute(script)).value == ([(3,)], 7200)
