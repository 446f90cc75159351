"""Folders and files that nobody else could have written: the ground that compiled code stands on.

wasmtime does not check a module that it deserialises, so a file from elsewhere would be native code from elsewhere.
Owner and mode are POSIX's; on Windows the user's own folders are private by their ACL and only links are refused.
"""

from __future__ import annotations

import os
import shlex
import stat
from typing import TYPE_CHECKING

from isolith_runtime.errors import UnsafeStoreError

if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path

_POSIX = os.name == "posix"
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def make_private_directory(path: Path) -> None:
    """Make the folder, mode 0700, or raise `UnsafeStoreError` if what is there is not private."""
    if not os.path.lexists(path):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    refuse_unsafe(path)


def refuse_unsafe(path: Path) -> None:
    """Raise `UnsafeStoreError` if another user (root excepted) owns the path or may write it, or it is a link."""
    _refuse(path, path.lstat())


def open_private(path: Path) -> BufferedReader:
    """Open a file for reading; raise `UnsafeStoreError` unless it is a regular file that is ours alone to write."""
    refuse_unsafe(path)
    file = open(path, "rb", opener=_without_links)  # noqa: SIM115 - the caller closes it
    try:
        _refuse(path, os.fstat(file.fileno()))
    except UnsafeStoreError:
        file.close()
        raise
    return file


def write_private(path: Path, content: bytes, workdir: Path) -> None:
    """Put a file, mode 0600, in place: whole and on disk, or not at all.

    `workdir`, on the same file system, holds the unfinished file; one that is killed leaves its leavings there.
    """
    make_private_directory(path.parent)
    unfinished = workdir / f"unfinished-{path.name}"
    unfinished.unlink(missing_ok=True)
    with open(unfinished, "xb", opener=_without_links) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    if _POSIX:  # the new name has to reach the disk as well
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | _NOFOLLOW, 0o600)


def _refuse(path: Path, status: os.stat_result) -> None:
    quoted = shlex.quote(str(path))
    if stat.S_ISLNK(status.st_mode):
        raise UnsafeStoreError(f"{path} is a symbolic link, and images are kept in real folders only. `rm {quoted}`")
    if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
        raise UnsafeStoreError(f"{path} is neither a folder nor a file. Remove it.")
    if not _POSIX:
        return
    if status.st_uid not in (0, os.getuid()):
        raise UnsafeStoreError(
            f"{path} belongs to user {status.st_uid}, who could have put anything there; you are user {os.getuid()}. "
            f"`rm -r {quoted}` (as its owner), or set ISOLITH_HOME to a folder of your own."
        )
    if status.st_mode & _OTHERS_WRITE:
        raise UnsafeStoreError(
            f"{path} can be written by other users (mode {stat.S_IMODE(status.st_mode):04o}). "
            f"`chmod go-w {quoted}`, or set ISOLITH_HOME to a folder of your own."
        )
