"""Every limit fires; and one that an upgrade has turned into nothing is found, whichever it is, and nothing is served."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio.to_thread
import pytest
import wasmtime

from isolith.budgets import Budgets, HostPolicy
from isolith.calling.calls import CallDesk
from isolith.calling.turns import Turns
from isolith.code_mode import CodeMode
from isolith.command_line import serving
from isolith.command_line.serving import serve_mcp
from isolith.run import self_test, supply
from isolith.run.allowance import Allowance
from isolith.run.logs import LogKeeper
from isolith.run.said import Said
from isolith.run.self_test import TRIPS, Trip, trip_limits
from isolith_runtime import isolate, protocol, syscalls
from isolith_runtime.errors import UnmeteredError
from isolith_runtime.isolate import End, Isolate
from isolith_runtime.limits import Meter

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith.outcome import Diagnostic

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("supply")]


UNGRANTED = ("wall_s", "value_bytes", "value_tokens", "argument_bytes", "script_bytes", "input_bytes")


def no_cpu_time(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Meter, "spent_ns", lambda _meter: 0)


def no_fuel_limit(patch: pytest.MonkeyPatch) -> None:
    filled = wasmtime.Store.set_fuel
    patch.setattr(wasmtime.Store, "set_fuel", lambda store, _fuel: filled(store, 2**62))


def no_fuel_limit_for_a_module(patch: pytest.MonkeyPatch) -> None:
    no_fuel_limit(patch)
    patch.setattr(self_test, "_counting_guest", lambda: False)


def no_memory_limit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(wasmtime.Store, "set_limits", lambda *_, **__: None)


def no_allowance(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Allowance, "admit", lambda *_: None)


def no_turns(patch: pytest.MonkeyPatch) -> None:
    made = Turns.__init__

    def unlimited(self: Turns, budgets: Budgets) -> None:
        made(self, budgets.model_copy(update={"concurrent_calls": 99, "concurrent_calls_per_connector": 99}))

    patch.setattr(Turns, "__init__", unlimited)


def endless(name: str) -> Callable[[pytest.MonkeyPatch], None]:
    """A desk of calls for which one budget is as large as any."""

    def broken(patch: pytest.MonkeyPatch) -> None:
        made = CallDesk.__post_init__

        def unlimited(self: CallDesk) -> None:
            self.budgets = self.budgets.model_copy(update={name: 10**9})
            made(self)

        patch.setattr(CallDesk, "__post_init__", unlimited)

    return broken


def no_interrupt(patch: pytest.MonkeyPatch) -> None:
    """It is still stopped; but only so, and never at a line of its own."""
    patch.setattr(Isolate, "_set_signal_flag", lambda *_: None)


def ungranted(name: str) -> Callable[[pytest.MonkeyPatch], None]:
    """A run that is granted as much of one budget as it could ask for."""

    def broken(patch: pytest.MonkeyPatch) -> None:
        clamp = HostPolicy.clamp

        def unlimited(self: HostPolicy, requested: Budgets) -> tuple[Budgets, list[Diagnostic]]:
            granted, warnings = clamp(self, requested)
            return granted.model_copy(update={name: 10**9}), warnings

        patch.setattr(HostPolicy, "clamp", unlimited)
        if name == "wall_s":
            patch.setattr(self_test, "_PATIENCE_S", 0.3)  # nothing else ends a run that only waits

    return broken


def files_are_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(syscalls, "_BADF", 0)


def nothing_runs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Isolate, "step", lambda *_: End.DEAD)


def no_recursion(patch: pytest.MonkeyPatch) -> None:
    """CPython's own check is in the guest: it is put so far away there that it never comes; nor does the engine's."""
    patch.setattr(isolate, "_ENDS", {})
    begun = protocol.start

    def unlimited(parts: dict[str, object]) -> str:
        return begun({**parts, "source": f"import sys; sys.setrecursionlimit(2**31 - 1)\n{parts['source']}"})

    patch.setattr(protocol, "start", unlimited)


def no_log_limit(patch: pytest.MonkeyPatch) -> None:
    made = LogKeeper.__init__
    patch.setattr(LogKeeper, "__init__", lambda self, _limit: made(self, 10**9))


def no_emit_limit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Said, "_emit", lambda *_, **__: None)


BROKEN = {
    "cpu_ms, interrupt": no_interrupt,
    "cpu_ms, trap": no_cpu_time,
    "fuel": no_fuel_limit_for_a_module,
    "memory_mb": no_memory_limit,
    "calls": no_allowance,
    "calls_per_connector": no_allowance,
    "concurrent_calls": no_turns,
    "concurrent_calls_per_connector": no_turns,
    "call_s": endless("call_s"),
    "call_cap_s": endless("call_cap_s"),
    "result_bytes": endless("result_bytes"),
    "log_bytes": no_log_limit,
    "emit_events": no_emit_limit,
    **{name: ungranted(name) for name in UNGRANTED},
    "recursion": no_recursion,
    "file system": files_are_read,
    "": nothing_runs,
}


async def test_every_limit_fires() -> None:
    findings = await trip_limits()
    assert [finding for finding in findings if not finding.ok] == []
    assert len(findings) == len(TRIPS)


def test_every_budget_is_tripped() -> None:
    tripped = {trip.limit.partition(",")[0] for trip in TRIPS}
    assert set(Budgets.model_fields) - tripped == set()


def only(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(self_test, "TRIPS", tuple(trip for trip in TRIPS if trip.limit == limit))


async def test_where_no_guest_that_counts_fuel_is_compiled_a_module_trips_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_test, "_counting_guest", lambda: False)
    only(monkeypatch, "fuel")
    [finding] = await trip_limits()
    assert (finding.ok, finding.detail.partition(":")[0]) == (True, "fired, in a small module")


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_where_one_is_a_script_trips_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds the second compiled variant where there is none."""
    await anyio.to_thread.run_sync(supply.get_supply, "fuel")
    monkeypatch.setattr(self_test, "_PATIENCE_S", 240)  # where none is metered, a second of CPU time passes first
    only(monkeypatch, "fuel")
    [finding] = await trip_limits()
    assert (finding.ok, finding.detail) == (True, "fired, in a script")
    no_fuel_limit(monkeypatch)
    monkeypatch.setattr(supply, "_supplies", {})
    [finding] = await trip_limits()
    assert (finding.ok, finding.detail) == (False, "did not fire: the probe ended as internal, not as cpu_exceeded")
    with pytest.raises(UnmeteredError, match="stops no script"):
        supply.get_supply("fuel")
    assert supply.ready_supply("fuel") is None


HOW = {"wall_s": "nothing ends the probe any more", "fuel": "a small module ran on past it"}


@pytest.mark.parametrize("limit", BROKEN)
async def test_a_limit_that_does_nothing_is_found_and_nothing_is_served(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def served(*_: object) -> None:
        raise AssertionError("it served")

    [trip] = [trip for trip in TRIPS if trip.limit == limit]
    soon = trip.budgets if limit == "wall_s" else trip.budgets.model_copy(update={"wall_s": 0.3})
    monkeypatch.setattr(self_test, "TRIPS", (replace(trip, budgets=soon),))
    monkeypatch.setattr(serving, "_on_stdio", served)
    BROKEN[limit](monkeypatch)
    said: list[str] = []
    assert await serve_mcp(CodeMode(), None, said.append) is False
    how = f"limit {limit}: did not fire: {HOW.get(limit, 'the probe ended as ')}"
    assert said[0].startswith(f"isolith: {how if limit else 'after every limit: the next script ended as '}")
    assert "nothing is served" in said[1]


def test_for_each_limit_there_is_proof_that_its_loss_is_seen() -> None:
    assert set(BROKEN) == {trip.limit for trip in TRIPS}


async def test_what_nothing_ends_any_more_is_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    endless_wait = Trip("wall_s", "import time\ntime.sleep(60)", Budgets(), "wall_exceeded")
    monkeypatch.setattr(self_test, "TRIPS", (endless_wait,))
    monkeypatch.setattr(self_test, "_PATIENCE_S", 0.2)
    [finding] = await trip_limits()
    assert (finding.ok, finding.detail) == (False, "did not fire: nothing ends the probe any more")
