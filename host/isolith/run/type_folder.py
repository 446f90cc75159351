"""The private folder that a type checker reads: a script, the stubs of its tools, and nothing that could tell it more.

No configuration above it counts, nor any package of this machine: a script has the standard library and its connectors.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Mapping

Change = Literal["created", "changed", "deleted"]

_PREFIX = "isolith-check-"
_YOUNG_S = 60.0
"""One that was made just now may not be held yet."""
_swept: list[bool] = []
_TY = '[environment]\npython-version = "3.14"\nroot = ["."]\npython = "without-packages"\n'
_WITHOUT_PACKAGES = "without-packages/lib/python3.14/site-packages"
_CONFIGURATION: Final = {"ty.toml": _TY, "pyrightconfig.json": "{}\n"}


class TypeFolder:
    """Made at once, for this user alone. Gone with `close`, in the process that made it.

    What a process leaves that is killed is removed by the next one of this user.
    """

    def __init__(self) -> None:
        if not _swept:
            _swept.append(True)
            sweep()
        # No TemporaryDirectory: at the end of a fork of this process that would remove the folder, too.
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = _locked(self.path)
        self._held: dict[str, str] = {}
        self._versions = 0
        (self.path / _WITHOUT_PACKAGES).mkdir(parents=True)
        for name, content in _CONFIGURATION.items():
            (self.path / name).write_text(content, encoding="utf-8")

    def hold(self, files: Mapping[str, str]) -> dict[str, Change]:
        """Have it hold these files and no other; what has changed by that. Raises OSError."""
        changes: dict[str, Change] = {}
        for name in self._held.keys() - files.keys():
            (self.path / name).unlink()
            changes[name] = "deleted"
        for name, content in files.items():
            if self._held.get(name) != content:
                changes[name] = "changed" if name in self._held else "created"
                self._write(name, content)
        self._held = dict(files)
        return changes

    def _write(self, name: str, content: str) -> None:
        path = self.path / name
        path.write_text(content, encoding="utf-8")
        self._versions += 1
        # ty tells versions of a file by its time, and the clock of a file system may stand still for milliseconds.
        os.utime(path, (self._versions, self._versions))

    def close(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def sweep() -> None:
    """Remove the folders of this user that no process holds any more. Does not raise."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it is held, or just removed by another
            found = path.lstat()
            is_old = time.time() - found.st_mtime > _YOUNG_S
            lock = _locked(path) if is_old and found.st_uid == os.getuid() else None
            if lock is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)


def _locked(path: Path) -> int | None:
    """Hold a folder until this process ends; None where the system has no such locks. Raises OSError if it is held."""
    if sys.platform == "win32":
        return None
    held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise
    return held
