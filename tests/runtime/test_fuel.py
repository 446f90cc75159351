"""Fuel is seen to run out before anybody counts on it, with what runs every guest."""

from __future__ import annotations

import pytest
import wasmtime

from isolith_runtime import fuel
from isolith_runtime.isolate import Isolate


def test_it_stops_a_module() -> None:
    assert fuel.stops_a_module()


def test_an_engine_that_never_runs_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    filled = wasmtime.Store.set_fuel
    monkeypatch.setattr(wasmtime.Store, "set_fuel", lambda store, _fuel: filled(store, 2**62))
    assert not fuel.stops_a_module()


def test_a_stop_before_it_is_used_up_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Isolate, "fuel_left", 1)
    assert not fuel.stops_a_module()


def test_what_goes_wrong_on_the_way_is_told_to_whoever_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(Isolate, "step", fail)
    with pytest.raises(MemoryError, match="no room"):
        fuel.stops_a_module()
