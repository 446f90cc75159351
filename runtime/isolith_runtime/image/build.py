"""From Pyodide's two files to the snapshotted guest: compile the library, boot, import, rehearse, snapshot.

CPython is booted twice: once to compile every module, and once, with the compiled modules, for the snapshot, whose
memory then holds none of the compiler's litter.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import wasmtime

from isolith_runtime.errors import ImageBuildError
from isolith_runtime.image.boot import BootedGuest
from isolith_runtime.image.library import IMPORTED_AHEAD, archive, guest_sources, merge, time_zones
from isolith_runtime.image.prepare import STATE_GLOBALS, prepare, snapshot
from isolith_runtime.image.progress import Progress, Stage

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
_ENTRY = "PyObject_CallNoArgs"

_REHEARSALS = (
    "1 + 1",
    "import asyncio\nasync def f():\n  await asyncio.sleep(0)\n  return 1\nprint('x')\nawait asyncio.gather(f(), f())",
    "def f(n):\n    return {'a': n, 'b': [str(n)]}\nx = [f(n) for n in range(20)]\nlog.info('a', b=1)\nx",
    "1/0",
    "import json, re, datetime\njson.loads(json.dumps({'a': [1, 2.5, None]}))\nreturn re.sub('a', 'b', 'aaa')",
    "t = 0\nfor i in range(500):\n    t += i\nt",
)


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
    for script in _REHEARSALS:
        _rehearse(guest, step, script)
    guest.kernel.sent.clear()
    guest.run("from isolith_runtime.guest import bootstrap\nbootstrap.forget_runs()")  # `__main__` was each rehearsal's
    _immortalise(guest, b"".join(guest.kernel.sent))
    memory, state = guest.contents(), guest.state()
    _rehearse(guest, step, _REHEARSALS[0])
    meta: dict[str, object] = {
        "step": step,
        "runtime": guest.address("_PyRuntime"),
        "signal_flag": guest.address("Py_EMSCRIPTEN_SIGNAL_HANDLING"),
        "warm_pages": _differing_pages(memory, guest.contents()),
        "state": state,
    }
    wasm = snapshot(prepared, memory, state, {"memory", _ENTRY, *STATE_GLOBALS})
    return BuiltSnapshot(wasm, {**meta, "digest": hashlib.sha256(wasm).hexdigest()})


def _immortalise(guest: BootedGuest, addresses: bytes) -> None:
    """Set the reference counts of these objects to one that CPython neither counts up nor down (PEP 683)."""
    memory = bytearray(guest.contents())
    for (address,) in set(struct.iter_unpack("<I", addresses)):
        [count] = struct.unpack_from("<i", memory, address)
        if 0 < count < _MOST_REFERENCES:
            struct.pack_into("<i", memory, address, _IMMORTAL)
    guest.kernel.write(0, bytes(memory))


def _rehearse(guest: BootedGuest, step: int, script: str) -> None:
    """Run a script as the host will, so that the caches of the interpreter are in the snapshot."""
    start: dict[str, object] = {
        "source": script,
        "input": None,
        "connectors": {"demo": {"methods": "method"}},
        "snippets": [],
        "limits": {"calls": 1, "wall_s": 1},
        "seed": 0,
        "log_bytes": 1000,
        "emit_events": 10,
        "value_bytes": 10_000,
    }
    batches: list[list[object]] = [[["start", start]], [], []]
    for batch in batches:
        guest.kernel.sent.clear()
        guest.kernel.receive(json.dumps(batch).encode())
        if not guest.call(_ENTRY, step):
            guest.call("PyErr_Print")
            raise ImageBuildError(f"a rehearsal failed:\n{guest.output.getvalue()}")
        if any(b'["result"' in sent or b'["failure"' in sent for sent in guest.kernel.sent):
            return
    raise ImageBuildError(f"a rehearsal did not end: {script!r}: {guest.kernel.sent!r}")


def _differing_pages(before: bytes, after: bytes) -> list[int]:
    """The pages that a script dirties whatever it does; touching them ahead keeps the faults off its path."""
    return [
        start // _PAGE
        for start in range(0, len(before), _PAGE)
        if before[start : start + _PAGE] != after[start : start + _PAGE]
    ]
