"""`isolith check DIR`: which files of a folder are scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from isolith.command_line import cli
from isolith.command_line.script_files import script_names
from isolith.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("b.py", "sub/a.py", "sub/notes.txt", ".venv/c.py", "crm.py"):
        path = tmp_path / "scripts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("nope" if name == "sub/a.py" else "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "scripts"


@pytest.mark.parametrize("spec", ["scripts/crm.py", "shop=scripts/crm.py"])
def test_a_folder_stands_for_the_scripts_in_it(folder: Path, spec: str) -> None:
    assert script_names(["-", "x.py", "scripts"], [spec]) == ["-", "x.py", "scripts/b.py", "scripts/sub/a.py"]
    (folder / "empty").mkdir()
    with pytest.raises(UsageError, match="there are no scripts in the folder `scripts/empty`"):
        script_names(["scripts/empty"])


@pytest.mark.usefixtures("folder")
def test_all_of_them_are_checked() -> None:
    done = CliRunner().invoke(cli.app, ["check", "scripts"])
    assert done.exit_code == 1
    assert "scripts/sub/a.py:1:1: error" in done.stdout
    assert "3 scripts, 1 error" in done.stdout


@pytest.mark.parametrize("option", ["--config", "--connect"])
def test_what_a_configuration_connects_is_no_script(folder: Path, option: str) -> None:
    (folder / "crm.py").write_text(
        "from isolith import connector\n@connector('crm')\nclass Crm:\n    def read(self) -> int:\n        return 1\n"
    )
    (folder / "sub" / "a.py").write_text("1")
    (folder / "isolith.toml").write_text('connect = ["crm.py"]')
    done = CliRunner().invoke(cli.app, ["check", "scripts", option, "scripts/isolith.toml"])
    assert (done.exit_code, done.stdout) == (0, "2 scripts, 0 errors, 0 warnings\n")
