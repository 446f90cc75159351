"""Cases of `isolith test` as tests of pytest. Loaded by every pytest where Isolith is installed: it imports nothing.

    [tool.pytest.ini_options]
    isolith_scripts = ["scripts"]            # folders with NAME.py and NAME.expect.json
    isolith_connect = ["crm.py"]             # as `--connect`
    isolith_config = "isolith.toml"          # as `--config`
    isolith_policy = "trusted"               # as `--policy`

Without `isolith_scripts` it does nothing at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_SUFFIXES = (".expect.json", ".expect.toml")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The settings; they have no flags, so that none of another plugin is taken."""
    parser.addini("isolith_scripts", "Folders of scripts with expectations beside them.", type="paths", default=[])
    parser.addini("isolith_connect", "What the scripts may call, as `isolith test --connect`.", type="linelist")
    parser.addini("isolith_config", "An isolith.toml, as `isolith test --config`.", default="")
    parser.addini("isolith_policy", "What is allowed, as `isolith test --policy`.", default="")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """An expectation in one of the folders is a file with one test."""
    if not file_path.name.endswith(_SUFFIXES):
        return None
    folders: list[Path] = parent.config.getini("isolith_scripts")
    if not any(file_path.is_relative_to(folder) for folder in folders):
        return None
    from isolith.testing.pytest_items import ExpectationFile  # noqa: PLC0415 - a second that only this pays

    return ExpectationFile.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownMemberType]
