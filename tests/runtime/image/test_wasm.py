"""Reading and writing WebAssembly binaries: what is written reads back, and wasmtime agrees."""

from __future__ import annotations

import pytest
import wasmtime
from hypothesis import given
from hypothesis import strategies as st

from isolith_runtime.image import wasm
from isolith_runtime.image.wasm import Kind, Module, Reader, Section, WasmError

SOURCE = """
(module
  (import "env" "first" (func (param i32) (result i32)))
  (import "GOT.func" "address" (global (mut i32)))
  (memory (export "memory") 2 10)
  (table 3 funcref)
  (global (mut i32) (i32.const 1000000))
  (global f64 (f64.const 1.5))
  (global f32 (f32.const 2.5))
  (global i64 (i64.const -1))
  (func (export "twice") (param i32) (result i32) (i32.mul (local.get 0) (i32.const 2)))
  (data (i32.const 8) "hello"))
"""


@pytest.fixture
def module() -> Module:
    return Module(bytes(wasmtime.wat2wasm(SOURCE)))


@given(st.integers(0, 2**64))
def test_unsigned_numbers(number: int) -> None:
    encoded = wasm.unsigned(number)
    reader = Reader(encoded)
    assert reader.unsigned() == number
    assert reader.position == len(encoded)
    assert all(byte & 128 for byte in encoded[:-1])


@given(st.integers(-(2**63), 2**63))
def test_signed_numbers(number: int) -> None:
    encoded = wasm.signed(number)
    value = sum((byte & 127) << 7 * place for place, byte in enumerate(encoded))
    bits = 7 * len(encoded)
    assert (value - (1 << bits) if value >> (bits - 1) else value) == number


@pytest.mark.parametrize(
    ("number", "encoded"), [(0, b"\0"), (127, b"\x7f"), (128, b"\x80\1"), (624485, b"\xe5\x8e\x26")]
)
def test_unsigned_examples_of_the_specification(number: int, encoded: bytes) -> None:
    assert wasm.unsigned(number) == encoded


@pytest.mark.parametrize(
    ("number", "encoded"), [(0, b"\0"), (63, b"\x3f"), (64, b"\xc0\0"), (-1, b"\x7f"), (-123456, b"\xc0\xbb\x78")]
)
def test_signed_examples_of_the_specification(number: int, encoded: bytes) -> None:
    assert wasm.signed(number) == encoded


@given(st.text(), st.lists(st.binary(), max_size=5), st.binary())
def test_names_vectors_and_sizes(text: str, items: list[bytes], content: bytes) -> None:
    reader = Reader(wasm.name(text) + wasm.vector(list(map(wasm.sized, items))) + wasm.sized(content) + b"rest")
    assert reader.name() == text
    assert [reader.take(reader.unsigned()) for _ in range(reader.unsigned())] == items
    assert reader.take(reader.unsigned()) == content
    assert reader.rest() == b"rest"


def test_what_is_no_module() -> None:
    for data in (b"", b"\0asm", b"#!/bin/sh\n"):
        with pytest.raises(WasmError, match="the magic number is missing"):
            Module(data)


def test_a_module_reads_back(module: Module) -> None:
    assert Module(module.encode()).sections == module.sections
    assert wasmtime.Module(wasmtime.Engine(), module.encode()).exports[1].name == "twice"


def test_imports_exports_and_globals(module: Module) -> None:
    assert [(i.module, i.name, i.kind) for i in module.imports()] == [
        ("env", "first", Kind.FUNCTION),
        ("GOT.func", "address", Kind.GLOBAL),
    ]
    assert [(e.name, e.kind, e.index) for e in module.exports()] == [
        ("memory", Kind.MEMORY, 0),
        ("twice", Kind.FUNCTION, 1),
    ]
    assert [g.mutable for g in module.globals()] == [True, False, False, False]
    assert b"".join(i.encoded for i in module.imports()) in module[Section.IMPORT]


def test_entries_are_counted_and_appended(module: Module) -> None:
    before = module.count(Section.EXPORT)
    module.append(Section.EXPORT, [wasm.name("again") + bytes([Kind.FUNCTION]) + wasm.unsigned(1)])
    assert module.count(Section.EXPORT) == before + 1
    store = wasmtime.Store()
    imports = [wasmtime.Func(store, wasmtime.FuncType([wasmtime.ValType.i32()], [wasmtime.ValType.i32()]), int)]
    got = wasmtime.Global(store, wasmtime.GlobalType(wasmtime.ValType.i32(), mutable=True), wasmtime.Val.i32(0))
    instance = wasmtime.Instance(store, wasmtime.Module(store.engine, module.encode()), [*imports, got])
    again = instance.exports(store)["again"]
    assert isinstance(again, wasmtime.Func)
    assert again(store, 21) == 42


def test_custom_sections_are_dropped() -> None:
    data = bytes(wasmtime.wat2wasm("(module)")) + b"\0" + wasm.sized(wasm.name("name") + b"anything")
    assert Module(data).sections == {}


def test_another_kind_of_import_is_refused() -> None:
    with pytest.raises(WasmError, match=r"import env\.memory is neither a function nor a global"):
        Module(bytes(wasmtime.wat2wasm('(module (import "env" "memory" (memory 1)))'))).imports()
