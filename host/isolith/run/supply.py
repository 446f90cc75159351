"""The guest image of this process: found or built once, then shared by every execution."""

from __future__ import annotations

import atexit
import threading
from typing import TYPE_CHECKING

from isolith_runtime import fuel
from isolith_runtime.driver import Supply
from isolith_runtime.engine import Engine, Variant
from isolith_runtime.image.builder import open_store
from isolith_runtime.image.progress import Progress, silent
from isolith_runtime.pool import IsolatePool
from isolith_runtime.threads import GuestThreads

if TYPE_CHECKING:
    from pathlib import Path

_lock = threading.Lock()
_supplies: dict[tuple[Path | None, Variant], Supply] = {}


def get_supply(variant: Variant = "epoch", home: Path | None = None, progress: Progress = silent) -> Supply:
    """The process's supply; builds the image where there is none, which takes half a minute. Blocks.

    One that counts fuel is seen to stop a script before it is handed out. Raises ImageError where no image can be had.
    """
    with _lock:
        supply = _supplies.get((home, variant))
        if supply is None:
            files = open_store(home).ensure(progress, variant)
            engine = Engine(str(files.compiled), files.meta, variant)
            supply = Supply(engine, IsolatePool(engine), GuestThreads())
            if variant == "fuel":
                _require_fuel(supply)
            supply.threads.submit(supply.pool.warm_up)
            _supplies[home, variant] = supply
        return supply


def _require_fuel(supply: Supply) -> None:
    try:
        fuel.require(supply)
    except BaseException:
        supply.close()
        raise


def ready_supply(variant: Variant = "epoch", home: Path | None = None) -> Supply | None:
    """The supply, if it is there already; never blocks."""
    return _supplies.get((home, variant))


def close_supplies() -> None:
    """Drop every supply with its threads and isolates; what runs is stopped. The next use makes new ones."""
    with _lock:
        for supply in _supplies.values():
            supply.close()
        _supplies.clear()


atexit.register(close_supplies)
