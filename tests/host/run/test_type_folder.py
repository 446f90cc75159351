"""What a type checker reads is in a folder of its own, and nothing but that."""

from __future__ import annotations

import os
import stat
import tempfile
from typing import TYPE_CHECKING

from isolith.run.type_folder import TypeFolder, sweep

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_it_holds_what_it_was_told_and_nothing_else() -> None:
    folder = TypeFolder()
    try:
        assert folder.hold({"a.pyi": "1", "b.pyi": "2"}) == {"a.pyi": "created", "b.pyi": "created"}
        assert folder.hold({"a.pyi": "1", "b.pyi": "3"}) == {"b.pyi": "changed"}
        assert folder.hold({"c.pyi": ""}) == {"a.pyi": "deleted", "b.pyi": "deleted", "c.pyi": "created"}
        assert [path.name for path in folder.path.glob("*.py*")] == ["c.pyi"]
        assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    finally:
        folder.close()
    assert not folder.path.exists()
    folder.close()


def test_a_file_that_is_written_again_at_once_is_another_by_its_time() -> None:
    folder = TypeFolder()
    try:
        times: set[int] = set()
        for number in range(20):
            folder.hold({"a.pyi": str(number)})
            times.add((folder.path / "a.pyi").stat().st_mtime_ns)
        assert len(times) == 20
    finally:
        folder.close()


def test_what_a_killed_process_left_is_removed_and_what_is_held_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held = TypeFolder()
    for name in ("isolith-check-left", "isolith-check-young", "another", "target"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "hub.pyi").touch()
    (tmp_path / "isolith-check-link").symlink_to(tmp_path / "target")
    (tmp_path / "isolith-check-file").touch()
    for path in (*tmp_path.iterdir(), held.path):
        if path.name != "isolith-check-young":
            os.utime(path, (1, 1), follow_symlinks=False)
    sweep()
    assert {path.name for path in tmp_path.iterdir()} == {
        *(held.path.name, "isolith-check-young", "another", "target"),
        *("isolith-check-link", "isolith-check-file"),
    }
    assert (tmp_path / "target" / "hub.pyi").exists()
    held.close()
    assert not held.path.exists()
