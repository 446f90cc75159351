"""The parts of wasmtime's C API that its Python package has and does not wrap.

Used where the wrapper costs too much on a hot path, or is unsafe: the wrapper hands an exception of a host function
to its caller through one module-global without a lock, so two threads can get each other's. Here a host function
answers a number and never raises.
"""

# The C API is untyped, and what the wrapper keeps to itself is what this file is for.
# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import TYPE_CHECKING, Any, cast

import wasmtime
from wasmtime import _bindings
from wasmtime import _ffi as ffi

from isolith_runtime import paging

if TYPE_CHECKING:
    from collections.abc import Callable

    HostFunction = Callable[..., int | float | None]

_NO_FINALIZER = _bindings._wasmtime_store_epoch_deadline_callback.argtypes[3](0)
_EpochCallback = _bindings._wasmtime_store_epoch_deadline_callback.argtypes[1]
_CONTINUE = 0


class TrapCode(IntEnum):
    """Why wasm code ended, as far as it matters here; `OTHER` stands for the rest."""

    STACK_OVERFLOW = 0
    UNREACHABLE = 9
    INTERRUPT = 10
    OUT_OF_FUEL = 11
    OTHER = 255


def set_async_stack_size(config: wasmtime.Config, size: int) -> None:
    """Bytes of an async stack; wasmtime aborts the process where `max_wasm_stack` is larger, even if none is used."""
    ffi.wasmtime_config_async_stack_size_set(config.ptr(), size)


class Epoch:
    """An engine's epoch, which wasm code compares with its deadline. C may keep its handle: it is never freed."""

    FUNCTION = cast("int", ctypes.cast(_bindings._wasmtime_engine_increment_epoch, ctypes.c_void_p).value)
    """The C function that advances it, `void (*)(void *handle)`."""

    def __init__(self, engine: wasmtime.Engine) -> None:
        self._handle = ffi.wasmtime_engine_clone(engine.ptr())
        self.handle = cast("int", ctypes.cast(self._handle, ctypes.c_void_p).value)

    def advance(self, ticks: int = 1) -> None:
        """From any thread."""
        for _ in range(ticks):
            ffi.wasmtime_engine_increment_epoch(self._handle)


def define(linker: wasmtime.Linker, item: wasmtime.ImportType, function: HostFunction) -> object:
    """Answer an import with a function of plain numbers. Returns what must be kept alive as long as the linker."""
    assert isinstance(item.type, wasmtime.FuncType)  # noqa: S101
    fields = [_field(kind) for kind in item.type.params]
    result = _field(item.type.results[0]) if item.type.results else None

    def trampoline(_environment: int, _caller: object, slots: Any, _count: int) -> int:
        answer = function(*[getattr(slots[position], field) for position, field in enumerate(fields)])
        if result is not None:
            setattr(slots[0], result, answer)
        return 0

    callback = ffi.wasmtime_func_unchecked_callback_t(trampoline)
    module, name = item.module.encode(), (item.name or "").encode()
    error = ffi.wasmtime_linker_define_func_unchecked(
        linker.ptr(), module, len(module), name, len(name), item.type.ptr(), callback, None, _NO_FINALIZER
    )
    if error:
        raise wasmtime.WasmtimeError._from_ptr(error)
    return callback


def _field(kind: wasmtime.ValType) -> str:
    text = str(kind)
    return text if text in {"i32", "i64", "f32", "f64"} else "i64"


class EpochCallback:
    """Runs on the guest's own thread when the epoch is past its deadline.

    `check` says after how many ticks it has to run again; 0: the guest may not go on.
    """

    def __init__(self, store: wasmtime.Store, check: Callable[[], int]) -> None:
        def callback(_context: object, _data: object, delta: Any, kind: Any) -> int:
            ticks = check()
            if ticks:
                delta[0] = ticks
                kind[0] = _CONTINUE
                return 0
            return cast("int", ctypes.cast(ffi.wasmtime_error_new(b"stopped"), ctypes.c_void_p).value)

        self._callback = _EpochCallback(callback)
        ffi.wasmtime_store_epoch_deadline_callback(store.ptr(), self._callback, None, _NO_FINALIZER)


class Function:
    """An exported function `(i32) -> i32`, called without conversions."""

    def __init__(self, store: wasmtime.Store, function: wasmtime.Func) -> None:
        self._context = store._context()
        self._function = ctypes.byref(function._func)
        self._slots = (ffi.wasmtime_val_raw_t * 1)()

    def call(self, argument: int) -> int | TrapCode:
        """The result, or why there is none. A dead instance must not be called again."""
        self._slots[0].i32 = argument
        trap = ctypes.POINTER(ffi.wasm_trap_t)()
        error = ffi.wasmtime_func_call_unchecked(self._context, self._function, self._slots, 1, ctypes.byref(trap))
        if error:
            ffi.wasmtime_error_delete(error)
            return TrapCode.INTERRUPT
        if trap:
            return _code(trap)
        return int(self._slots[0].i32)


def _code(trap: Any) -> TrapCode:
    code = ffi.wasmtime_trap_code_t()
    known = ffi.wasmtime_trap_code(trap, ctypes.byref(code))
    ffi.wasm_trap_delete(trap)
    if not known:
        return TrapCode.OTHER
    return TrapCode(code.value) if code.value in set(TrapCode) else TrapCode.OTHER


class LinearMemory:
    """A guest's memory, read and written by address; every access is checked against its present size."""

    def __init__(self, store: wasmtime.Store, memory: wasmtime.Memory) -> None:
        self._context = store._context()
        self._memory = ctypes.byref(memory._memory)
        self.refresh()

    def refresh(self) -> None:
        """Look up base and size again; needed after the memory has grown."""
        self.size = int(ffi.wasmtime_memory_data_size(self._context, self._memory))
        data = ffi.wasmtime_memory_data(self._context, self._memory)
        self._base = ctypes.cast(data, ctypes.c_void_p).value or 0

    def read(self, address: int, size: int) -> bytes | None:
        """Bytes, or None where they are not all inside."""
        address &= 0xFFFFFFFF
        if size < 0 or address + size > self.size:
            return None
        return ctypes.string_at(self._base + address, size)

    def write(self, address: int, data: bytes) -> bool:
        """Write; False where it does not all fit inside."""
        address &= 0xFFFFFFFF
        if address + len(data) > self.size:
            return False
        ctypes.memmove(self._base + address, data, len(data))
        return True

    def grow(self, pages: int) -> bool:
        """Grow by 64 KiB pages; False where a limit forbids it."""
        previous = ctypes.c_uint64()
        error = ffi.wasmtime_memory_grow(self._context, self._memory, pages, ctypes.byref(previous))
        if error:
            ffi.wasmtime_error_delete(error)
            return False
        self.refresh()
        return True

    def private_pages(self) -> list[int] | None:
        """The 4 KiB pages that were written since the instance was made, or None where that cannot be known."""
        return paging.private_pages(self._base, self.size)

    def make_private(self, pages: list[paging.Run]) -> None:
        """Take the write faults of these pages now."""
        paging.make_private(self._base, pages)
