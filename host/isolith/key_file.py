"""A key that lives in a file of this user's: made once, by whoever needs it first, and read by all."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import TYPE_CHECKING, Final

from isolith.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

KEY_BYTES: Final = 32


def kept_key(file: Path) -> bytes:
    """The 32 random bytes in `file`, mode 0600, made where there are none yet. Raises UsageError, OSError."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not file.exists():
        made = file.with_name(f"{file.stem}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as opened:
            opened.write(secrets.token_bytes(KEY_BYTES))
        with contextlib.suppress(FileExistsError):  # another process was first
            os.link(made, file)
        made.unlink()
    key = file.read_bytes()
    if len(key) != KEY_BYTES:
        raise UsageError(f"{file} is no key of {KEY_BYTES} bytes: remove it, and a new one is made")
    return key
