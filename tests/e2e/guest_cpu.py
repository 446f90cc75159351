"""How much of its own CPU time a guest takes after it was stopped: what a busy machine cannot change."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from isolith_runtime.driver import Guest
from isolith_runtime.limits import Meter, Stop

if TYPE_CHECKING:
    from collections.abc import Callable

WITHIN_MS = 250
"""Milliseconds of its CPU within which a cancelled guest has to be gone."""


class GuestCpu:
    """Notes what each guest had used when it was first stopped from outside."""

    def __init__(self) -> None:
        self._entered: dict[int, tuple[int, int]] = {}
        self._at_stop: dict[Guest, float] = {}

    def watch(self, patch: Callable[[type, str, object], object] = setattr) -> GuestCpu:
        """Look at every guest from now on; `patch` sets an attribute."""
        enter, leave, stop = Meter.enter, Meter.leave, Guest.stop

        def entering(meter: Meter) -> None:
            if hasattr(time, "pthread_getcpuclockid"):
                self._entered[id(meter)] = time.pthread_getcpuclockid(threading.get_ident()), time.thread_time_ns()
            enter(meter)

        def leaving(meter: Meter) -> None:
            leave(meter)
            self._entered.pop(id(meter), None)

        def stopping(guest: Guest, why: Stop) -> None:
            if guest not in self._at_stop and why is Stop.CANCELLED:
                self._at_stop[guest] = self._used_ns(guest)
            stop(guest, why)

        for owner, name, function in ((Meter, "enter", entering), (Meter, "leave", leaving), (Guest, "stop", stopping)):
            patch(owner, name, function)
        return self

    @property
    def running(self) -> bool:
        """Whether a guest is at work just now."""
        return bool(self._entered)

    def after_stop_ms(self) -> dict[Guest, float]:
        """For each guest that was stopped and is gone, its CPU time from then on."""
        return {guest: (guest.spent.cpu_ns - used) / 1e6 for guest, used in self._at_stop.items() if guest.departure}

    def _used_ns(self, guest: Guest) -> float:
        """By now, from another thread. Where the system does not tell, as much as can be: nothing is shown there."""
        if not hasattr(time, "pthread_getcpuclockid"):
            return float("inf")
        meter = getattr(guest._isolate, "meter", None)  # pyright: ignore[reportPrivateUsage]
        if meter is None:
            return 0
        used = float(meter.used_ns)
        clock, begun = self._entered.get(id(meter), (0, 0))
        return used + (time.clock_gettime_ns(clock) - begun if clock else 0)
