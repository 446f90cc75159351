"""Locks where there is one thread: whoever would wait for a lock that is held waits for what can never happen.

CPython's own locks spin here until a budget ends the script. With these `threading`'s events, conditions, semaphores
and `queue`'s queues end it at once, and wait for a timeout without burning CPU.
"""

from __future__ import annotations

import queue
import threading
import time
from typing import Any

from isolith_runtime.guest.diagnosis import Deadlock


class OnlyLock:
    """`threading.Lock` for one thread."""

    def __init__(self) -> None:
        self._held = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002 - as CPython's
        """Take it; where it is held, wait for the timeout. Raises Deadlock where there is none."""
        if not self._held:
            self._held = True
            return True
        if blocking and timeout < 0:
            raise Deadlock("the script waits for a lock, an event or a queue, and there is no other thread to wake it")
        if blocking:
            time.sleep(timeout)
        return False

    def release(self) -> None:
        """Give it back."""
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held = False

    def locked(self) -> bool:
        """Whether it is held."""
        return self._held

    def _at_fork_reinit(self) -> None:
        self._held = False

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_error: object) -> None:
        self.release()


def install() -> None:
    """Put it in the place of CPython's; what was made before keeps its own."""
    module: Any = threading
    module.Lock = module._allocate_lock = OnlyLock
    module = queue
    module.SimpleQueue = module._PySimpleQueue
