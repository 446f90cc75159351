"""Fuel, really run out of: by the class that runs every guest, so that an upgrade cannot turn it into nothing.

The guest that counts is a compiled variant of its own, ten seconds of work that is done when a run first asks for
it. It is tripped then, with a script, before that run begins (`require`). Until there is one, the same engine, config
and isolate can be tripped with a module of five lines (`stops_a_module`), in milliseconds.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

import wasmtime

from isolith_runtime import protocol
from isolith_runtime.engine import ENTRY, STATE, Engine, compile_image
from isolith_runtime.errors import UnmeteredError
from isolith_runtime.inputs import Inputs
from isolith_runtime.isolate import End, Isolate
from isolith_runtime.limits import Limits
from isolith_runtime.pool import NOTHING
from isolith_runtime.threads import GuestThreads

if TYPE_CHECKING:
    from isolith_runtime.driver import Supply

_FUEL = 20_000_000
"""Wasm instructions: some 30 ms of a guest that counts them."""

_CPU_MS = 1_000
"""What ends it where they are not counted."""

_MODULE = f"""(module
  (memory (export "memory") 1)
  {"".join(f'(global (export "{name}") (mut i32) (i32.const 0))' for name in STATE)}
  (func (export "{ENTRY}") (param i32) (result i32) (local $turns i32)
    (loop (br_if 0 (i32.ne (i32.const -1) (local.tee $turns (i32.add (i32.const 1) (local.get $turns))))))
    (i32.const 1)))"""
"""What an engine takes for an image. It would go on for 2**32 turns."""

_META: dict[str, object] = {"step": 0, "signal_flag": 0, "runtime": 0, "warm_pages": [], "digest": ""}


def require(supply: Supply) -> None:
    """Trip it with a script in this very image. Blocks for some 50 ms. Raises UnmeteredError where it does not fire."""
    batch = protocol.batch([protocol.start({**NOTHING, "source": "while True: pass"})])
    if not _runs_out(supply.engine, supply.threads, batch):
        raise UnmeteredError("`fuel` stops no script on this machine: give runs `cpu_ms` instead, and say so to us")


def stops_a_module() -> bool:
    """Whether it fires, in a module compiled here and now the way the image is. Blocks for some 20 ms."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        compiled = Path(folder) / "module"
        compiled.write_bytes(compile_image(bytes(wasmtime.wat2wasm(_MODULE)), "fuel"))
        engine = Engine(str(compiled), _META, "fuel")
    threads = GuestThreads(1)
    try:
        return _runs_out(engine, threads, b"")
    finally:
        threads.close()
        engine.ticker.close()


def _runs_out(engine: Engine, threads: GuestThreads, batch: bytes) -> bool:
    """Whether a step that would go on for long ends when its fuel does; on a thread with a guest's stack."""
    ended: Future[bool] = Future()

    def run() -> None:
        try:
            ended.set_result(_step(engine, batch))
        except BaseException as error:  # noqa: BLE001 - the border of a thread: whoever waits is told
            ended.set_exception(error)

    threads.submit(run)
    return ended.result()


def _step(engine: Engine, batch: bytes) -> bool:
    isolate = Isolate(engine)
    try:
        isolate.begin(Limits(cpu_ms=_CPU_MS, fuel=_FUEL), Inputs(), lambda _data: None, lambda: None)
        return isolate.step(batch) is End.FUEL and isolate.fuel_left == 0
    finally:
        isolate.close()
