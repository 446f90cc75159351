"""Where the host enters: `step`, called once for each batch of frames, and the preparation before the snapshot."""

from __future__ import annotations

import gc
import importlib
import signal
import sys
from collections.abc import Iterable

from isolith_runtime.guest import absent, channel, importer
from isolith_runtime.guest.run import RESERVE, Run, reserve

_current: Run | None = None


def step() -> None:
    """Take what the host sent, run until nothing is ready, send what is wanted."""
    global _current  # noqa: PLW0603 - one isolate runs one script; the host keeps no reference into the guest
    try:
        frames = channel.receive()
        if frames and frames[0][0] == "start":
            [_, start] = frames.pop(0)
            _current = Run(start)
            _current.begin()
        if _current is not None:
            _current.deliver(frames)
            _current.turn()
    except BaseException as error:  # what asyncio lets through, such as an interrupt or an exit inside a task
        if _current is None or _current.done:
            raise
        _current.fail(error)


def import_ahead(modules: Iterable[str]) -> None:
    """Import what scripts will want, so that it is in the snapshot."""
    for module in modules:
        importlib.import_module(module)


def close_the_house() -> None:
    """Leave nothing of the boot: importers, refusals, signals; then freeze what is there."""
    importer.install()
    importer.install_zones()
    absent.install_network_and_threads()
    absent.install()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.setrecursionlimit(1000)
    sys.argv[:] = [""]


def forget_runs() -> None:
    """Drop the rehearsals; the snapshot is taken after this."""
    global _current  # noqa: PLW0603
    _current = None
    reserve[:] = bytes(RESERVE)
    for name in ("stdout", "stderr", "__stdout__", "__stderr__", "last_exc"):
        setattr(sys, name, None)
    gc.collect()
    gc.freeze()
