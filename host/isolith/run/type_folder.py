"""The private folder that a type checker reads: a script, the stubs of its tools, and nothing that could tell it more.

No configuration above it counts, nor any package of this machine: a script has the standard library and its connectors.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Change = Literal["created", "changed", "deleted"]

_TY = '[environment]\npython-version = "3.14"\nroot = ["."]\npython = "without-packages"\n'
_WITHOUT_PACKAGES = "without-packages/lib/python3.14/site-packages"
_CONFIGURATION: Final = {"ty.toml": _TY, "pyrightconfig.json": "{}\n"}


class TypeFolder:
    """Made at once, for this user alone. Gone with `close`, in the process that made it."""

    def __init__(self) -> None:
        # No TemporaryDirectory: at the end of a fork of this process that would remove the folder, too.
        self.path = Path(tempfile.mkdtemp(prefix="isolith-check-"))
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
