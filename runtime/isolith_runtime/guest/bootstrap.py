"""Where the host enters: `step`, called once for each batch of frames, and the preparation before the snapshot."""

from __future__ import annotations

import array
import gc
import importlib
import os
import signal
import sys
from collections.abc import Iterable
from types import ModuleType

from isolith_runtime.guest import absent, channel, importer, locks, logging_records
from isolith_runtime.guest.run import RESERVE, Run, reserve

_BATCH = 4096

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
    locks.install()
    logging_records.install()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.setrecursionlimit(1000)
    sys.argv[:] = [""]


def forget_runs() -> None:
    """Drop the rehearsals; the snapshot is taken after this."""
    global _current  # noqa: PLW0603
    _current = None
    sys.modules["__main__"] = ModuleType("__main__")
    reserve[:] = bytes(RESERVE)
    for name in ("stdout", "stderr", "__stdout__", "__stderr__", "last_exc"):
        setattr(sys, name, None)
    gc.collect()
    _send_addresses()
    gc.freeze()


def _send_addresses() -> None:
    """Send the address of every object that is alive and of what it refers to, 32 bits each.

    The build makes them immortal (PEP 683): nothing of the image is freed in the life of an isolate, and a reference
    that is not counted leaves its page as it is in the image.
    """
    objects = gc.get_objects()
    batch: list[int] = []
    mine = {id(objects), id(batch)}
    for thing in objects:
        if id(thing) not in mine:
            batch.append(id(thing))
            batch.extend(map(id, gc.get_referents(thing)))
        if len(batch) > _BATCH:
            os.write(channel.DESCRIPTOR, array.array("I", batch).tobytes())
            batch.clear()
    os.write(channel.DESCRIPTOR, array.array("I", batch).tobytes())
