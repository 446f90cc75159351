"""`isolith snippets import`, of files and folders. No script runs here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner, Result

from isolith.command_line import cli
from isolith.snippets.files import Header

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ISOLITH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for name in ("ISOLITH_JOURNAL", "ISOLITH_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def write(path: Path, name: str) -> None:
    """A file as `export` writes it."""
    header = Header(name=name, description=f"The {name}.", image="", input={"type": "object"}, methods={})
    told = json.dumps(header.model_dump(), indent=2).split("\n")
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["# /// isolith-snippet", *(f"# {line}" for line in told), "# ///", "1 + 1", ""]))


def snippets(url: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["snippets", *arguments, "--journal", url])


def names(url: str) -> list[str]:
    return [one["name"] for one in json.loads(snippets(url, "list", "--json").stdout)]


def test_a_folder_is_what_is_in_it(url: str, tmp_path: Path) -> None:
    """`export --folder out` wrote it, and `import out` said that it is a directory."""
    for name in ("week", "day"):
        write(tmp_path / "out" / f"{name}.py", name)
    (tmp_path / "out" / "README.md").write_text("Reviewed scripts.")
    result = snippets(url, "import", "out")
    assert (result.exit_code, result.stdout) == (0, "day, version 1: proposed\nweek, version 1: proposed\n")


def test_a_file_that_holds_none_costs_all(url: str, tmp_path: Path) -> None:
    write(tmp_path / "week.py", "week")
    assert snippets(url, "import", "week.py").exit_code == 0
    write(tmp_path / "out" / "day.py", "day")
    (tmp_path / "out" / "other.py").write_text("1")
    result = snippets(url, "import", "out")
    assert result.exit_code == 2
    assert result.stderr.startswith("isolith: `out/other.py`: ")
    assert names(url) == ["week"]


def test_a_folder_with_nothing_in_it(url: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    result = snippets(url, "import", "out")
    assert result.exit_code == 2
    assert result.stderr.startswith("isolith: `out` is a folder without a .py file")
