"""The wasmtime engine: its config, the compiled image, and the ticker that lets a running guest be looked at.

One engine a process and variant. The ticker runs only while guests do and ends by itself when none has for a while.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import wasmtime

from isolith_runtime import capi, paging, promptness, syscalls
from isolith_runtime.errors import ImageBuildError
from isolith_runtime.pulse import Pulse

if TYPE_CHECKING:
    from collections.abc import Mapping

Variant = Literal["epoch", "fuel"]

WASM_STACK = 64 * 1024 * 1024
"""Bytes of native stack a guest may use: more than CPython's own recursion checks allow it to."""

THREAD_STACK = 2 * WASM_STACK
"""Bytes of stack of a thread that runs guests. A wasm stack larger than the real one would abort the process."""

TICK_S = 0.005
MOST_TICKS = 8
"""How many ticks a guest that is far from its limits goes on without being looked at."""
_SLOW_TICK_S = 0.02
"""Where a timer ticks, the thread does so too, in case that the system cannot make a thread for the timer."""
_IDLE_S = 1.0
ENTRY = "PyObject_CallNoArgs"
STATE = ("__state0", "__state1", "__state2", "__state3")
"""The mutable globals of the image, as `image/prepare.py` names them."""


def _config(variant: Variant) -> wasmtime.Config:
    config = wasmtime.Config()
    config.wasm_exceptions = True
    config.wasm_gc = True
    config.wasm_function_references = True
    config.epoch_interruption = True
    config.consume_fuel = variant == "fuel"
    config.cranelift_opt_level = "speed"
    capi.set_async_stack_size(config, WASM_STACK + 1024 * 1024)
    config.max_wasm_stack = WASM_STACK
    return config


def config_fingerprint(variant: Variant) -> str:
    """What of the config decides whether compiled code can be used: part of the cache's key."""
    parts = {
        "variant": variant,
        "stack": WASM_STACK,
        "wasmtime": importlib.metadata.version("wasmtime"),
        "opt": "speed",
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def compile_image(wasm: bytes, variant: Variant) -> bytes:
    """The image's module compiled for this machine; takes seconds. Raises ImageBuildError."""
    try:
        return bytes(wasmtime.Module(wasmtime.Engine(_config(variant)), wasm).serialize())
    except wasmtime.WasmtimeError as error:
        raise ImageBuildError(f"the image could not be compiled: {error}") from error


class Ticker:
    """Advances the engine's epoch every `TICK_S` seconds while anything runs.

    A timer of the system does it where there is one, and a thread everywhere, which ends the timer as well.
    """

    def __init__(self, engine: wasmtime.Engine) -> None:
        self._epoch = capi.Epoch(engine)
        self._lock = threading.Lock()
        self._running = 0
        self._thread: threading.Thread | None = None
        self._closing = False

    def enter(self) -> None:
        """A guest runs."""
        with self._lock:
            self._running += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._tick, name="isolith-ticker", daemon=True)
                self._thread.start()

    def leave(self) -> None:
        """It does not any more."""
        with self._lock:
            self._running -= 1

    def hurry(self) -> None:
        """Have every guest looked at now; from any thread."""
        self._epoch.advance(MOST_TICKS)

    def close(self) -> None:
        """End the thread now; nothing may be running."""
        with self._lock:
            thread, self._closing = self._thread, True
        if thread is not None:
            thread.join()

    def _tick(self) -> None:
        promptness.ask_for()
        pulse = Pulse(self._epoch.FUNCTION, self._epoch.handle, TICK_S)
        pause = _SLOW_TICK_S if pulse.runs else TICK_S
        idle = 0.0
        while True:
            time.sleep(pause)
            self._epoch.advance()
            with self._lock:
                idle = 0 if self._running else idle + pause
                if idle > _IDLE_S or self._closing:
                    self._thread, self._closing = None, False
                    pulse.close()
                    return


@dataclass(frozen=True)
class ImageMeta:
    """What the host must know of an image."""

    step: int
    signal_flag: int
    runtime: int
    warm_pages: list[int]
    digest: str
    """Of the snapshot: a guest that was put away wakes in the same one only."""

    @classmethod
    def parse(cls, meta: Mapping[str, object]) -> ImageMeta:
        """From the image's own record."""
        step, flag, runtime, pages = (meta.get(name) for name in ("step", "signal_flag", "runtime", "warm_pages"))
        if not (isinstance(step, int) and isinstance(flag, int) and isinstance(runtime, int)):
            raise ImageBuildError(_ANOTHER_VERSION)
        digest = meta.get("digest")
        if not isinstance(pages, list) or not isinstance(digest, str):
            raise ImageBuildError(_ANOTHER_VERSION)
        warm = [page for page in cast("list[object]", pages) if isinstance(page, int)]
        return cls(step, flag, runtime, warm, digest)


_ANOTHER_VERSION = "the image's record is not of this version: run `isolith image clear`"


class Engine:
    """A compiled image, ready for instances. `path` must have been verified: compiled code is trusted."""

    def __init__(self, path: str, meta: Mapping[str, object], variant: Variant = "epoch") -> None:
        self.variant = variant
        self.meta = ImageMeta.parse(meta)
        self.engine = wasmtime.Engine(_config(variant))
        self.module = wasmtime.Module.deserialize_file(self.engine, path)
        self.ticker = Ticker(self.engine)
        self.warm_pages = paging.runs(self.meta.warm_pages)
        self.linker = wasmtime.Linker(self.engine)
        self._kept: list[object] = []
        for item in self.module.imports:
            function = syscalls.implementation(item.name or "")
            if function is not None:
                self._kept.append(capi.define(self.linker, item, function))
        self.linker.define_unknown_imports_as_traps(self.module)
        self.ready = self.linker.instantiate_pre(self.module)
