"""`ByteFile`: bytes in a file that has no name and goes with its last reference: not in memory."""

from __future__ import annotations

import tempfile
import threading
import weakref
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from typing import IO

IN_MEMORY = 8 << 20
"""Bytes up to which content that may be either stays in memory."""
PIECE = 1 << 20
"""Bytes that are read or written at a time."""


class ByteFile:
    """Bytes in a temporary file of this machine, for any thread. Writing raises OSError where the disk is full."""

    def __init__(self) -> None:
        # Closed by `weakref.finalize`: it has as many owners as there are references.
        self._file = cast("IO[bytes]", tempfile.TemporaryFile())  # noqa: SIM115
        self._lock = threading.Lock()
        self.size = 0
        self.close = weakref.finalize(self, self._file.close)
        """Give the bytes up before the last reference goes. Idempotent."""

    @classmethod
    def of(cls, content: bytes) -> ByteFile:
        """The same bytes."""
        made = cls()
        made.append(content)
        return made

    def append(self, content: bytes | bytearray) -> None:
        """Put bytes behind the others. Raises OSError."""
        with self._lock:
            self._file.seek(self.size)
            self._file.write(content)
            self.size += len(content)

    def read(self, offset: int = 0, size: int | None = None) -> bytes:
        """The bytes from `offset` on, at most `size` of them."""
        with self._lock:
            self._file.seek(offset)
            return self._file.read(-1 if size is None else size)

    def __len__(self) -> int:
        return self.size


Stored = bytes | ByteFile
"""What an artifact may be made of."""


def compact(content: bytes) -> Stored:
    """Bytes that stay as they are, or in a file where they are more than `IN_MEMORY`."""
    return ByteFile.of(content) if len(content) > IN_MEMORY else content
