"""From Pyodide's two files to the snapshotted guest: compile the library, boot, import, rehearse, snapshot.

CPython is booted twice: once to compile every module, and once, with the compiled modules, for the snapshot, whose
memory then holds none of the compiler's litter.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import wasmtime

from isolith_runtime.image import gaps
from isolith_runtime.image.boot import BootedGuest
from isolith_runtime.image.library import IMPORTED_AHEAD, archive, guest_sources, merge, time_zones
from isolith_runtime.image.prepare import STATE_GLOBALS, prepare, snapshot
from isolith_runtime.image.progress import Progress, Stage
from isolith_runtime.image.rehearsal import ENTRY, NOTHING, rehearse, rehearse_all

if TYPE_CHECKING:
    from isolith_runtime.image.distribution import Distribution

_SOURCES, _LIBRARY, _ZONES = "/lib/python314.zip", "/lib/library.zip", "/lib/zones.zip"
_UNCHECKED_PYC = b"\x01\0\0\0" + bytes(8)
_PAGE = 4096
# `_Py_IMMORTAL_INITIAL_REFCNT` of a 32-bit build, Include/refcount.h, 3.14.
_IMMORTAL = 5 << 28
_MOST_REFERENCES = 1 << 20
"""More than any object has, and less than any heap address: what a freed block begins with is not a count."""
_C_STACK = 2 * 1024 * 1024


@dataclass(frozen=True)
class BuiltSnapshot:
    """A guest at rest: its module, and what the host must know of it."""

    wasm: bytes
    meta: dict[str, object]


def build_snapshot(distribution: Distribution, progress: Progress) -> BuiltSnapshot:
    """Build the guest. Raises ImageBuildError; takes about half a minute."""
    progress(Stage.PREPARE, 0.0)
    prepared, slot = prepare(distribution.wasm)
    engine = _build_engine()
    module = wasmtime.Module(engine, prepared)
    progress(Stage.IMPORT, 0.0)
    sources = merge(distribution.stdlib_zip, guest_sources())
    library = _compiled_library(BootedGuest(engine, module, slot, {_SOURCES: sources}, [_SOURCES]))
    progress(Stage.BOOT, 0.0)
    guest = BootedGuest(engine, module, slot, {_LIBRARY: library, _ZONES: time_zones()}, [_LIBRARY])
    progress(Stage.SNAPSHOT, 0.0)
    return _take_snapshot(guest, prepared)


def _build_engine() -> wasmtime.Engine:
    config = wasmtime.Config()
    config.wasm_exceptions = True
    config.wasm_gc = True
    config.wasm_function_references = True
    return wasmtime.Engine(config)


def _compiled_library(guest: BootedGuest) -> bytes:
    guest.run(f"from isolith_runtime.guest.carry import compile_library\ncompile_library({_SOURCES!r})")
    guest.run("import importlib.util, os\nos.write(4, b'magic\\n' + importlib.util.MAGIC_NUMBER)")
    written = dict(message.split(b"\n", 1) for message in guest.kernel.sent)
    magic = written.pop(b"magic")
    return archive({f"{path.decode()}c": magic + _UNCHECKED_PYC + code for path, code in written.items()})


def _take_snapshot(guest: BootedGuest, prepared: bytes) -> BuiltSnapshot:
    guest.run(
        "from isolith_runtime.guest import bootstrap, carry\n"
        f"bootstrap.import_ahead({IMPORTED_AHEAD!r})\n"
        f"carry.load({_LIBRARY!r}, {_ZONES!r})\n"
        "import sys, zipfile\ndel sys.modules['isolith_runtime.guest.carry'], carry, zipfile\n"
        "bootstrap.close_the_house()\n"
    )
    guest.bound_c_stack(_C_STACK)
    step = guest.attribute("isolith_runtime.guest.bootstrap", "step")
    rehearse_all(guest, step)
    guest.kernel.sent.clear()
    guest.run("from isolith_runtime.guest import bootstrap\nbootstrap.forget_runs()")  # `__main__` was each rehearsal's
    _immortalise(guest, b"".join(guest.kernel.sent))
    gaps.fill(guest)
    memory, state = guest.contents(), guest.state()
    rehearse(guest, step, NOTHING)
    meta: dict[str, object] = {
        "step": step,
        "runtime": guest.address("_PyRuntime"),
        "signal_flag": guest.address("Py_EMSCRIPTEN_SIGNAL_HANDLING"),
        "warm_pages": _differing_pages(memory, guest.contents()),
        "state": state,
    }
    wasm = snapshot(prepared, memory, state, {"memory", ENTRY, *STATE_GLOBALS})
    return BuiltSnapshot(wasm, {**meta, "digest": hashlib.sha256(wasm).hexdigest()})


def _immortalise(guest: BootedGuest, addresses: bytes) -> None:
    """Set the reference counts of these objects to one that CPython neither counts up nor down (PEP 683)."""
    memory = bytearray(guest.contents())
    for (address,) in set(struct.iter_unpack("<I", addresses)):
        [count] = struct.unpack_from("<i", memory, address)
        if 0 < count < _MOST_REFERENCES:
            struct.pack_into("<i", memory, address, _IMMORTAL)
    guest.kernel.write(0, bytes(memory))


def _differing_pages(before: bytes, after: bytes) -> list[int]:
    """The pages that a script dirties whatever it does; touching them ahead keeps the faults off its path."""
    return [
        start // _PAGE
        for start in range(0, len(before), _PAGE)
        if before[start : start + _PAGE] != after[start : start + _PAGE]
    ]
