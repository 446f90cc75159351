"""Functions that use the legacy exception opcodes, which wasmtime refuses, become stubs.

All 471 of them are libc++; CPython is C and calls none. A stub traps if it is ever reached. One of
libc++'s constructors runs at start-up and has to return instead (guest-image.md).
"""

from __future__ import annotations

from isolith_runtime.image.wasm import Kind, Module, Reader, Section, WasmError, sized, vector

_TRY, _CATCH, _RETHROW, _DELEGATE, _CATCH_ALL = 0x06, 0x07, 0x09, 0x18, 0x19
_LEGACY = {_TRY, _CATCH, _RETHROW, _DELEGATE, _CATCH_ALL}

_STREAMS_CONSTRUCTOR = "_ZNSt3__28ios_base4InitC1Ev"
_RETURN_THIS = b"\x00\x20\x00\x0b"  # no locals; local.get 0; end
_TRAP = b"\x00\x00\x0b"  # no locals; unreachable; end

_ONE_LEB = {0x02, 0x03, 0x04, 0x08, 0x0C, 0x0D, 0x10, 0x12, 0x41, 0x42, 0xD0, 0xD2, *range(0x20, 0x27)}
_TWO_LEBS = {0x11, 0x13}
_NO_IMMEDIATE = {0x00, 0x01, 0x05, 0x0B, 0x0F, 0x1A, 0x1B, 0xD1, *range(0x45, 0xC5)}


def stub_legacy_exceptions(module: Module) -> int:
    """Replace the bodies in place; return how many functions were stubbed."""
    first = sum(1 for item in module.imports() if item.kind is Kind.FUNCTION)
    constructor = {e.index for e in module.exports() if e.kind is Kind.FUNCTION and e.name == _STREAMS_CONSTRUCTOR}
    bodies, stubbed = module.bodies(), 0
    for position, body in enumerate(bodies):
        if first + position in constructor:
            bodies[position] = _RETURN_THIS
        elif _uses_legacy_exceptions(body):
            bodies[position] = _TRAP
            stubbed += 1
    module[Section.CODE] = vector([sized(body) for body in bodies])
    return stubbed


def _uses_legacy_exceptions(body: bytes) -> bool:
    reader = Reader(body)
    for _ in range(reader.unsigned()):
        reader.unsigned()
        if reader.byte() in {0x63, 0x64}:  # a reference type carries a heap type
            reader.unsigned()
    while reader.position < len(body):
        opcode = reader.byte()
        if opcode in _LEGACY:
            return True
        _skip_immediates(reader, opcode)
    return False


def _skip_immediates(reader: Reader, opcode: int) -> None:  # noqa: C901, PLR0912 - a branch for each kind of immediate
    if opcode in _ONE_LEB:
        reader.unsigned()
    elif opcode in _TWO_LEBS:
        reader.unsigned()
        reader.unsigned()
    elif opcode in _NO_IMMEDIATE:
        return
    elif opcode == 0x0E:  # br_table
        for _ in range(reader.unsigned() + 1):
            reader.unsigned()
    elif 0x28 <= opcode <= 0x3E:
        _skip_memory_argument(reader)
    elif opcode in {0x3F, 0x40}:
        reader.byte()
    elif opcode == 0x43:
        reader.take(4)
    elif opcode == 0x44:
        reader.take(8)
    elif opcode == 0x1C:  # typed select
        reader.take(reader.unsigned())
    elif opcode == 0xFC:
        _skip_bulk(reader, reader.unsigned())
    elif opcode == 0xFD:
        _skip_simd(reader, reader.unsigned())
    else:
        raise WasmError(f"unexpected opcode {opcode:#x}")


def _skip_memory_argument(reader: Reader) -> None:
    if reader.unsigned() & 64:
        reader.unsigned()
    reader.unsigned()


def _skip_bulk(reader: Reader, opcode: int) -> None:
    if opcode in {8, 10, 12, 14}:
        reader.unsigned()
        reader.unsigned()
    elif opcode > 7:
        reader.unsigned()


def _skip_simd(reader: Reader, opcode: int) -> None:
    if opcode <= 11 or opcode in {92, 93}:
        _skip_memory_argument(reader)
    elif opcode in {12, 13}:
        reader.take(16)
    elif 21 <= opcode <= 34:
        reader.byte()
    elif 84 <= opcode <= 91:
        _skip_memory_argument(reader)
        reader.byte()
