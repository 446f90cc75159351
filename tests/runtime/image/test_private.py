from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from isolith_runtime.errors import UnsafeStoreError
from isolith_runtime.image.private import make_private_directory, open_private, refuse_unsafe, write_private

if TYPE_CHECKING:
    from pathlib import Path

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")


def test_makes_a_folder_for_the_user_alone(tmp_path: Path) -> None:
    make_private_directory(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def test_an_own_folder_others_can_read_is_fine(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private_directory(tmp_path)


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o1777])
def test_a_folder_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "it's shared"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(UnsafeStoreError, match=rf"\(mode {mode:04o}\)\. `chmod go-w '.*it'\"'\"'s shared'`"):
        make_private_directory(folder)


@pytest.mark.parametrize("target", ["real", "nowhere"])
def test_a_link_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / target)
    with pytest.raises(UnsafeStoreError, match=r"link is a symbolic link, .* `rm .*link`$"):
        make_private_directory(tmp_path / "link")
    with pytest.raises(UnsafeStoreError, match="is a symbolic link"):
        open_private(tmp_path / "link")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnsafeStoreError, match="is neither a folder nor a file"):
        open_private(tmp_path / "pipe")


@as_root
def test_what_another_user_owns_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch(mode=0o600)
    os.chown(file, 65534, 65534)
    message = r"file belongs to user 65534, who could have put anything there; you are user 0\. `rm -r .*file` \(as its"
    with pytest.raises(UnsafeStoreError, match=message):
        refuse_unsafe(file)
    with pytest.raises(UnsafeStoreError, match=message):
        open_private(file)


def test_writes_whole_files_and_leaves_no_other(tmp_path: Path) -> None:
    work = tmp_path / "work"
    make_private_directory(work)
    (work / "unfinished-it").write_text("of a build that was killed")
    path = tmp_path / "kept" / "it"
    for content in (b"first", b"second"):
        write_private(path, content, work)
        with open_private(path) as file:
            assert file.read() == content
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(work.iterdir()) == []
