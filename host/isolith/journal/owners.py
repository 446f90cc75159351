"""Who holds a lease: a process, under a name by which others on its machine can tell that it has ended.

    HOST:PID:PLACE:MARK

`PLACE` stands for the kernel since it was started and for the namespace that the process id is of. A process id means
nothing in another one: there, and where the system does not say (only Linux does), nobody is taken for ended, and a
lease lasts until its time. Nor is one whose process id is another's by now.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")


class Owner:
    """A holder of leases in this process. Its name is of the process that asks: one may have been forked since."""

    def __init__(self) -> None:
        self._mark = secrets.token_hex(4)

    @property
    def name(self) -> str:
        """Unique to it."""
        return f"{socket.gethostname()}:{os.getpid()}:{_place()}:{self._mark}"


def is_gone(owner: str) -> bool:
    """Whether the process of this name has certainly ended."""
    _, _, rest = owner.partition(":")
    process, _, rest = rest.partition(":")
    place = rest.partition(":")[0]
    if not (place and process.isdecimal()) or place != _place():
        return False
    try:
        os.kill(int(process), 0)  # sends nothing; Linux, by the place
    except ProcessLookupError:
        return True
    except OSError:
        return False  # it is there, and another user's
    return False


def _place() -> str:
    """Empty where nobody can tell. Read each time: a process may move to another namespace."""
    try:
        told = f"{_BOOT.read_text(encoding='ascii').strip()} {_NAMESPACE.readlink()}"
    except (OSError, ValueError):
        return ""
    return hashlib.sha256(told.encode()).hexdigest()[:16]
