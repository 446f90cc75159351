"""The CPU clock of a guest's thread, which stands still while the host's garbage is collected on it.

CPython collects on whatever thread happens to make the next object. A full collection walks all that the host process
holds, for seconds where that is much, and runs finalizers of others. That it came on a guest's thread costs the guest
nothing.
"""

from __future__ import annotations

import gc
import threading
import time

_FULL = 2
"""The generation of a full collection. The younger ones walk what was made lately, which is the guest's own doing."""


class _Collections(threading.local):
    begun_ns = 0
    total_ns = 0


_collections = _Collections()


def guest_clock_ns() -> int:
    """Nanoseconds of CPU time of this thread, less those of full collections; only differences mean something."""
    return time.thread_time_ns() - _collections.total_ns


def _note(phase: str, info: dict[str, int]) -> None:
    if info["generation"] != _FULL:
        return
    if phase == "start":
        _collections.begun_ns = time.thread_time_ns()
    else:
        _collections.total_ns += time.thread_time_ns() - _collections.begun_ns


gc.callbacks.append(_note)
