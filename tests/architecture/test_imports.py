"""The whole list of what a guest may call, word for word, and that everything else of the image traps.

A change here is a change of the wall: it needs a second pair of eyes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import wasmtime

from isolith_runtime import syscalls

if TYPE_CHECKING:
    from isolith_runtime.driver import Supply

DOES_SOMETHING = """
    fd_read fd_write clock_time_get clock_res_get emscripten_date_now emscripten_get_now random_get
    emscripten_resize_heap emscripten_get_heap_max _Py_CheckEmscriptenSignals_Helper _localtime_js _gmtime_js _mktime_js
    _timegm_js __syscall_getcwd environ_sizes_get
"""
ANSWERS_A_CONSTANT = """
    environ_get _tzset_js _emscripten_get_progname _Py_emscripten_runtime _emscripten_runtime_keepalive_clear
    emscripten_runtime_keepalive_push emscripten_runtime_keepalive_pop __syscall_getuid32_js __syscall_umask_js
    _maybe_poll_async __call_sighandler
"""
ANSWERS_AN_ERROR = """
    fd_close fd_sync fd_fdstat_get fd_seek fd_pread fd_pwrite
    __syscall_fstat64 __syscall_fcntl64 __syscall_fchdir __syscall_fchmod __syscall_fchown32 __syscall_fdatasync
    __syscall_ftruncate64 __syscall_getdents64 __syscall_dup __syscall_dup3 __syscall_fadvise64 __syscall_fallocate
    __syscall_fstatfs64 _try_fcntl64 __syscall_stat64 __syscall_lstat64 __syscall_newfstatat __syscall_readlinkat
    __syscall_statfs64 __syscall_chdir __syscall_openat __syscall_faccessat __syscall_chmod __syscall_fchmodat2
    __syscall_fchownat __syscall_mkdirat __syscall_mknodat __syscall_unlinkat __syscall_rmdir __syscall_renameat
    __syscall_symlinkat __syscall_truncate64 __syscall_utimensat __syscall_pipe __syscall_socket __syscall_bind
    __syscall_connect __syscall_listen __syscall_accept4 __syscall_sendto __syscall_recvfrom __syscall_recvmsg
    __syscall_sendmsg __syscall_getpeername __syscall_getsockname __syscall_getsockopt __syscall_poll _setitimer_js
    _mmap_js _munmap_js _msync_js __syscall_ioctl _emscripten_system getaddrinfo getnameinfo getprotobyname _dlopen_js
"""


ZEROS: dict[str, float | None] = {"i32": 0, "i64": 0, "f32": 0.0, "f64": 0.0, "externref": None}


def test_the_list() -> None:
    assert set(syscalls.ANSWERED) == set(DOES_SOMETHING.split())
    assert set(syscalls.EMPTY) == set(ANSWERS_A_CONSTANT.split())
    assert set(syscalls.REFUSED) == set(ANSWERS_AN_ERROR.split())


def test_nothing_is_listed_that_the_image_does_not_import(supply: Supply) -> None:
    imported = {item.name for item in supply.engine.module.imports}
    assert {name for name in imported if name and syscalls.implementation(name)} == {
        *syscalls.ANSWERED,
        *syscalls.EMPTY,
        *syscalls.REFUSED,
    }


def test_every_other_import_traps(supply: Supply) -> None:
    """A module that re-exports them is linked as the image is; each is called."""
    engine = supply.engine
    others = [item for item in engine.module.imports if not syscalls.implementation(item.name or "")]
    assert len(others) > 150
    lines = [f'(import "{i.module}" "{i.name}" (func $f{n} {signature(i)}))' for n, i in enumerate(others)]
    lines += [f'(export "f{n}" (func $f{n}))' for n in range(len(others))]
    module = wasmtime.Module(engine.engine, bytes(wasmtime.wat2wasm(f"(module {' '.join(lines)})")))
    for number, item in enumerate(others):
        store = wasmtime.Store(engine.engine)
        store.set_epoch_deadline(1000)
        if engine.variant == "fuel":
            store.set_fuel(10_000)
        function = engine.linker.instantiate(store, module).exports(store)[f"f{number}"]
        assert isinstance(function, wasmtime.Func)
        assert isinstance(item.type, wasmtime.FuncType)
        with pytest.raises((wasmtime.Trap, wasmtime.WasmtimeError), match="unknown import"):
            function(store, *[ZEROS[_spelled(kind)] for kind in item.type.params])


def signature(item: wasmtime.ImportType) -> str:
    assert isinstance(item.type, wasmtime.FuncType)
    params, results = ([_spelled(kind) for kind in kinds] for kinds in (item.type.params, item.type.results))
    return f"(param {' '.join(params)}) (result {' '.join(results)})"


def _spelled(kind: wasmtime.ValType) -> str:
    text = str(kind)
    return text if text in {"i32", "i64", "f32", "f64"} else "externref"  # which this version of wasmtime calls anyref
