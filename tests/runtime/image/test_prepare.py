"""A small module made as Pyodide's is: prepared, booted, snapshotted, run again."""

from __future__ import annotations

import pytest
import wasmtime

from isolith_runtime.image.legacy_exceptions import stub_legacy_exceptions
from isolith_runtime.image.prepare import STATE_GLOBALS, prepare, snapshot
from isolith_runtime.image.wasm import Module, Section, sized, vector

PAGE = 65536
SOURCE = """
(module
  (import "env" "seven" (func $seven (result i32)))
  (import "GOT.func" "glBegin" (global $gl (mut i32)))
  (memory (export "memory") 1 10)
  (table (export "table") 4 funcref)
  (elem (i32.const 0) $none $one $two $three)
  (global $stack (mut i32) (i32.const 100))
  (global $constant i32 (i32.const 5))
  (global $a (mut i32) (i32.const 1))
  (global $b (mut i32) (i32.const 2))
  (global $c (mut i32) (i32.const 3))
  (func $none (result i32) (call $seven))
  (func $one (param i32) (result i32) (local.get 0))
  (func $two (param i32 i32) (result i32) (i32.sub (local.get 0) (local.get 1)))
  (func $three (param i32 i32 i32) (result i32) (i32.mul (local.get 0) (i32.add (local.get 1) (local.get 2))))
  (func (export "push") (param i32) (global.set $stack (i32.add (global.get $stack) (local.get 0))))
  (func (export "stack") (result i32) (global.get $stack))
  (func (export "address") (result i32) (global.get $gl))
  (func (export "simd") (param f32) (result f32) (f32x4.extract_lane 2 (f32x4.splat (local.get 0))))
  (func (export "branches") (param i32) (result i32)
    (block $x (block $y (br_table $x $y (local.get 0)) ) (return (i32.const 1))) (select (i32.const 2) (i32.const 3) (i32.const 1)))
  (func (export "bulk") (memory.fill (i32.const 0) (i32.const 65) (i32.const 4)) (memory.copy (i32.const 8) (i32.const 0) (i32.const 4))
    (memory.init $words (i32.const 12) (i32.const 0) (i32.const 2)))
  (data $words "hi"))
"""


def engine() -> wasmtime.Engine:
    config = wasmtime.Config()
    config.wasm_gc = True
    config.wasm_function_references = True
    return wasmtime.Engine(config)


class Running:
    """An instance of a prepared module."""

    def __init__(self, data: bytes) -> None:
        self.store = wasmtime.Store(engine())
        seven = wasmtime.Func(self.store, wasmtime.FuncType([], [wasmtime.ValType.i32()]), lambda: 7)
        self.exports = wasmtime.Instance(self.store, wasmtime.Module(self.store.engine, data), [seven]).exports(
            self.store
        )

    def call(self, name: str, *arguments: int) -> object:
        function = self.exports[name]
        assert isinstance(function, wasmtime.Func)
        return function(self.store, *arguments)

    @property
    def memory(self) -> wasmtime.Memory:
        memory = self.exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        return memory

    def state(self) -> list[int]:
        found: list[int] = []
        for name in STATE_GLOBALS:
            value = self.exports[name]
            assert isinstance(value, wasmtime.Global)
            found.append(int(str(value.value(self.store))))
        return found

    def through_trampoline(self, slot: int, callee: int, *arguments: int) -> tuple[object, int]:
        """The result, and the flag at address 16 that the trampoline clears."""
        self.memory.write(self.store, b"\1\0\0\0", 16)
        table = self.exports["table"]
        assert isinstance(table, wasmtime.Table)
        trampoline = table.get(self.store, slot)
        assert isinstance(trampoline, wasmtime.Func)
        result = trampoline(self.store, 16, callee, *arguments)
        return result, int.from_bytes(self.memory.read(self.store, 16, 20), "little")


@pytest.fixture
def source() -> bytes:
    return bytes(wasmtime.wat2wasm(SOURCE))


@pytest.fixture
def prepared(source: bytes) -> tuple[bytes, int]:
    return prepare(source)


def test_imported_globals_become_constants_of_its_own(prepared: tuple[bytes, int]) -> None:
    running = Running(prepared[0])
    assert running.call("address") == 0
    assert running.state() == [100, 1, 2, 3]


@pytest.mark.parametrize(
    ("callee", "result"),
    [(0, 7), (1, 10), (2, 10 - 4), (3, 10 * (4 + 2))],
    ids=["no argument", "one", "two", "three"],
)
def test_the_trampoline_calls_with_the_arity_that_was_declared(
    prepared: tuple[bytes, int], callee: int, result: int
) -> None:
    data, slot = prepared
    assert slot == 4
    assert Running(data).through_trampoline(slot, callee, 10, 4, 2) == (result, 1)


def test_the_trampoline_says_when_none_fits(prepared: tuple[bytes, int]) -> None:
    data, slot = prepared
    assert Running(data).through_trampoline(slot, slot, 1, 2, 3) == (0, 0)


def test_a_snapshot_goes_on_where_it_was_taken(prepared: tuple[bytes, int]) -> None:
    data, _ = prepared
    running = Running(data)
    running.call("push", 23)
    running.memory.grow(running.store, 2)
    running.memory.write(running.store, b"kept", 2 * PAGE + 5)
    memory = bytes(running.memory.read(running.store, 0, 3 * PAGE))
    image = snapshot(data, memory, running.state(), {"memory", "stack", "push", *STATE_GLOBALS})
    again = Running(image)
    assert again.call("stack") == 123
    assert bytes(again.memory.read(again.store, 0, 3 * PAGE)) == memory
    assert again.memory.size(again.store) == 3
    again.call("push", 1)
    assert again.state() == [124, 1, 2, 3]


def test_a_snapshot_keeps_the_exports_that_are_named(prepared: tuple[bytes, int]) -> None:
    image = snapshot(prepared[0], bytes(PAGE), [0, 0, 0, 0], {"memory"})
    assert [export.name for export in Module(image).exports()] == ["memory"]
    with pytest.raises(ValueError, match="the module does not export nothing, nowhere"):
        snapshot(prepared[0], bytes(PAGE), [0, 0, 0, 0], {"memory", "nowhere", "nothing"})


def test_zero_pages_are_not_in_a_snapshot(prepared: tuple[bytes, int]) -> None:
    memory = bytes(4096 * 3) + b"x" + bytes(4095) + bytes(PAGE - 4 * 4096)
    image = snapshot(prepared[0], memory, [0, 0, 0, 0], {"memory"})
    assert len(image) < len(prepared[0]) + 4096 + 100


def test_other_global_counts_stop_the_build() -> None:
    """Exactly four mutable globals are the whole state; more would be lost."""
    source = SOURCE.replace("(global $constant i32 (i32.const 5))", "(global $constant (mut i32) (i32.const 5))")
    with pytest.raises(ValueError, match="zip"):
        prepare(bytes(wasmtime.wat2wasm(source)))


# legacy exceptions

TRY_CATCH = b"\0\x06\x40\x01\x19\x01\x0b\x0b"  # no locals; try; nop; catch_all; nop; end; end
RETHROW = b"\1\1\x7f\x06\x40\x07\0\x09\0\x0b\x0b"  # one i32 local; try; catch 0; rethrow; end; end


@pytest.mark.parametrize("body", [TRY_CATCH, RETHROW])
def test_a_function_with_legacy_exceptions_becomes_a_trap(source: bytes, body: bytes) -> None:
    module = Module(source)
    bodies = module.bodies()
    position = next(e.index for e in module.exports() if e.name == "push") - 1
    bodies[position] = body
    module[Section.CODE] = vector(list(map(sized, bodies)))
    assert stub_legacy_exceptions(module) == 1
    running = Running(prepare(module.encode())[0])
    assert running.call("stack") == 100
    with pytest.raises(wasmtime.Trap):
        running.call("push", 1)


def test_no_other_function_is_touched(source: bytes) -> None:
    module = Module(source)
    before = module.bodies()
    assert stub_legacy_exceptions(module) == 0
    assert module.bodies() == before
    running = Running(prepare(module.encode())[0])
    running.call("bulk")
    assert bytes(running.memory.read(running.store, 8, 14)) == b"AAAAhi"
    assert [running.call("branches", n) for n in (0, 1, 9)] == [2, 1, 1]
