"""From Pyodide's main module to one that boots without JavaScript, and from a booted one to the image.

Every fact relied on here is measured and written down in the runtime README, "The guest's module".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_runtime.image.legacy_exceptions import stub_legacy_exceptions
from isolith_runtime.image.wasm import (
    END,
    I32,
    I32_CONST,
    PAGE,
    Export,
    Global,
    Kind,
    Module,
    Reader,
    Section,
    name,
    signed,
    sized,
    unsigned,
    vector,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

STATE_GLOBALS = ("__state0", "__state1", "__state2", "__state3")
"""The mutable globals (the stack pointer and three more), exported so that a snapshot can read them."""

_CONSTANT = b"\0"
_ARITIES = (3, 2, 1, 0)
_OS_PAGE = 4096


def prepare(source: bytes) -> tuple[bytes, int]:
    """Make the module bootable; return it with the table slot of the call trampoline."""
    module = Module(source)
    stub_legacy_exceptions(module)
    _define_imported_globals(module)
    slot = _add_trampoline(module)
    return module.encode(), slot


def _define_imported_globals(module: Module) -> None:
    """The imported globals are addresses of OpenGL functions, all resolved to 0: define them so.

    An instance then needs no globals of its own store, and instantiating is a plain copy. They are
    imported as mutable and never written, so they become constants: what stays mutable is state.
    """
    imports = module.imports()
    module[Section.IMPORT] = vector([i.encoded for i in imports if i.kind is Kind.FUNCTION])
    zeros = [Global(i.type[:1] + _CONSTANT, I32_CONST + signed(0) + END) for i in imports if i.kind is Kind.GLOBAL]
    defined = module.globals()
    module[Section.GLOBAL] = vector([g.type + g.initial for g in zeros + defined])
    mutable = [len(zeros) + k for k, g in enumerate(defined) if g.mutable]
    module.append(
        Section.EXPORT,
        [name(n) + bytes([Kind.GLOBAL]) + unsigned(i) for n, i in zip(STATE_GLOBALS, mutable, strict=True)],
    )


def _add_trampoline(module: Module) -> int:
    """Add the function through which CPython calls a C function with the arity it was declared with.

    On Emscripten JavaScript installs it. `(ok, callee, a, b, c)`: test the callee against arities 3 to 0
    and call it so; none fits: `*ok = 0`.
    """
    first_type = module.count(Section.TYPE)
    module.append(Section.TYPE, [b"\x60" + vector([I32] * arity) + vector([I32]) for arity in (0, 1, 2, 3, 5)])
    index = len(module.imports()) + module.count(Section.FUNCTION)
    module.append(Section.FUNCTION, [unsigned(first_type + 4)])

    table = Reader(module[Section.TABLE])
    tables = unsigned(table.unsigned())
    head = table.take(2)
    slot = table.unsigned()
    module[Section.TABLE] = tables + head + unsigned(slot + 1) + table.rest()
    place = b"\0" + I32_CONST + signed(slot) + END + vector([unsigned(index)])
    module.append(Section.ELEMENT, [place])
    module.append(Section.CODE, [sized(_trampoline_body(first_type))])
    return slot


def _trampoline_body(first_type: int) -> bytes:
    local_get, local_set, table_get, call_indirect = b"\x20", b"\x21", b"\x25\0", b"\x11"
    callee = unsigned(5)  # a funcref local behind the five parameters
    body = bytearray(vector([unsigned(1) + b"\x70"]) + local_get + unsigned(1) + table_get + local_set + callee)
    for arity in _ARITIES:
        body += local_get + callee + b"\xfb\x14" + signed(first_type + arity) + b"\x04\x40"  # ref.test; if
        body += b"".join(local_get + unsigned(2 + k) for k in range(arity))
        body += local_get + unsigned(1) + call_indirect + unsigned(first_type + arity) + b"\0"
        body += b"\x0f" + END  # return; end of if
    body += local_get + unsigned(0) + I32_CONST + signed(0) + b"\x36\2\0"  # i32.store
    return bytes(body + I32_CONST + signed(0) + END)


def snapshot(prepared: bytes, memory: bytes, state: Sequence[int], keep: set[str]) -> bytes:
    """Write memory and mutable globals back into the module and keep only the exports named."""
    module = Module(prepared)
    _write_memory(module, memory)
    _write_state(module, state)
    kept = [export for export in module.exports() if export.name in keep]
    _refuse_missing(kept, keep)
    module[Section.EXPORT] = vector([export.encoded for export in kept])
    return module.encode()


def _refuse_missing(kept: list[Export], keep: set[str]) -> None:
    missing = keep - {export.name for export in kept}
    if missing:
        raise ValueError(f"the module does not export {', '.join(sorted(missing))}")


def _write_memory(module: Module, memory: bytes) -> None:
    limits = Reader(module[Section.MEMORY])
    limits.unsigned()
    flags = limits.take(1)
    limits.unsigned()
    module[Section.MEMORY] = vector([flags + unsigned(len(memory) // PAGE) + limits.rest()])
    segments = [b"\0" + I32_CONST + signed(start) + END + sized(memory[start:end]) for start, end in _used(memory)]
    module[Section.DATA] = vector(segments)
    module[Section.DATA_COUNT] = unsigned(len(segments))


def _used(memory: bytes) -> list[tuple[int, int]]:
    """The runs of operating-system pages that are not all zero."""
    runs: list[tuple[int, int]] = []
    zero = bytes(_OS_PAGE)
    for start in range(0, len(memory), _OS_PAGE):
        if memory[start : start + _OS_PAGE] == zero:
            continue
        if runs and runs[-1][1] == start:
            runs[-1] = (runs[-1][0], start + _OS_PAGE)
        else:
            runs.append((start, start + _OS_PAGE))
    return runs


def _write_state(module: Module, state: Sequence[int]) -> None:
    values = iter(state)
    written = [g.type + (I32_CONST + signed(next(values)) + END if g.mutable else g.initial) for g in module.globals()]
    module[Section.GLOBAL] = vector(written)
