"""A folder of cases, and the command over it in this process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from isolith.command_line.cli import app
from isolith.run.supply import get_supply

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

CRM = """
from isolith import connector, method

@connector("crm")
class Crm:
    async def revenue(self, year: int) -> int:
        '''Revenue of one year.'''
        return year * 2

    @method(policy="ask")
    async def delete(self, id: int) -> str:
        '''Delete one.'''
        return f"deleted {id}"
"""


@pytest.fixture(autouse=True, scope="session")
def image() -> None:
    get_supply()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "crm.py").write_text(CRM)
    (tmp_path / "cases").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def put(folder: Path) -> Callable[[str, str, object], Path]:
    """A script in `cases`, and what is expected of it."""

    def write(name: str, script: str, expected: object) -> Path:
        path = folder / "cases" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script)
        if expected is not None:
            path.with_name(f"{path.stem}.expect.json").write_text(json.dumps(expected))
        return path

    return write


@pytest.fixture
def run(folder: Path) -> Callable[..., Result]:
    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["test", *arguments, "--connect", "crm.py"])

    return invoke
