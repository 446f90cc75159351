"""Reading and writing WebAssembly binaries, as far as the image needs it.

A module is a magic number and a list of sections; integers are LEB128. Source of every rule here: the
binary format chapter of the WebAssembly core specification, 3.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

MAGIC = b"\0asm\1\0\0\0"
PAGE = 65536

I32 = b"\x7f"
I32_CONST = b"\x41"
END = b"\x0b"


class Section(IntEnum):
    """Section ids used by the image's build."""

    TYPE = 1
    IMPORT = 2
    FUNCTION = 3
    TABLE = 4
    MEMORY = 5
    GLOBAL = 6
    EXPORT = 7
    ELEMENT = 9
    CODE = 10
    DATA = 11
    DATA_COUNT = 12


class Kind(IntEnum):
    """What an import or an export is."""

    FUNCTION = 0
    TABLE = 1
    MEMORY = 2
    GLOBAL = 3
    TAG = 4


class WasmError(ValueError):
    """The bytes are not a module of the kind the build expects."""


def unsigned(number: int) -> bytes:
    """`number` as unsigned LEB128."""
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def signed(number: int) -> bytes:
    """`number` as signed LEB128."""
    out = bytearray()
    while not -64 <= number < 64:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number & 127)
    return bytes(out)


def name(text: str) -> bytes:
    """A length-prefixed UTF-8 name."""
    encoded = text.encode()
    return unsigned(len(encoded)) + encoded


def vector(items: list[bytes]) -> bytes:
    """A counted list of encoded items."""
    return unsigned(len(items)) + b"".join(items)


def sized(content: bytes) -> bytes:
    """Content preceded by its length in bytes."""
    return unsigned(len(content)) + content


class Reader:
    """A position in the bytes of one section."""

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data = data
        self.position = position

    def byte(self) -> int:
        """The next byte."""
        value = self.data[self.position]
        self.position += 1
        return value

    def unsigned(self) -> int:
        """The next LEB128 number; signed ones may be skipped with it, not read."""
        result = shift = 0
        while True:
            byte = self.byte()
            result |= (byte & 127) << shift
            if byte < 128:
                return result
            shift += 7

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        start = self.position
        self.position += size
        return self.data[start : self.position]

    def name(self) -> str:
        """The next length-prefixed name."""
        return self.take(self.unsigned()).decode()

    def since(self, start: int) -> bytes:
        """The bytes from `start` to here."""
        return self.data[start : self.position]

    def rest(self) -> bytes:
        """Everything that is left."""
        return self.data[self.position :]


@dataclass(frozen=True)
class Import:
    """One entry of the import section; `type` is its encoded description after the kind byte."""

    module: str
    name: str
    kind: Kind
    type: bytes
    encoded: bytes


@dataclass(frozen=True)
class Export:
    """One entry of the export section."""

    name: str
    kind: Kind
    index: int
    encoded: bytes


@dataclass(frozen=True)
class Global:
    """One defined global: its type (value type and mutability) and its initial value, encoded."""

    type: bytes
    initial: bytes

    @property
    def mutable(self) -> bool:
        """Whether the module may write it."""
        return self.type[1] == 1


class Module:
    """The sections of a module in their order; custom sections are dropped."""

    def __init__(self, data: bytes) -> None:
        if data[:8] != MAGIC:
            raise WasmError("not a WebAssembly module: the magic number is missing")
        self.sections: dict[int, bytes] = {}
        reader = Reader(data, 8)
        while reader.position < len(data):
            kind = reader.byte()
            content = reader.take(reader.unsigned())
            if kind:
                self.sections[kind] = content

    def encode(self) -> bytes:
        """The module as bytes."""
        return MAGIC + b"".join(bytes([kind]) + sized(content) for kind, content in self.sections.items())

    def __getitem__(self, section: Section) -> bytes:
        return self.sections[section]

    def __setitem__(self, section: Section, content: bytes) -> None:
        self.sections[section] = content

    def count(self, section: Section) -> int:
        """How many entries a section holds."""
        return Reader(self[section]).unsigned()

    def append(self, section: Section, items: list[bytes]) -> None:
        """Add encoded entries at the end of a section."""
        reader = Reader(self[section])
        count = reader.unsigned()
        self[section] = unsigned(count + len(items)) + reader.rest() + b"".join(items)

    def imports(self) -> list[Import]:
        """The import section, function and global imports only: this guest has no others."""
        reader = Reader(self[Section.IMPORT])
        found: list[Import] = []
        for _ in range(reader.unsigned()):
            start = reader.position
            module, field, kind = reader.name(), reader.name(), Kind(reader.byte())
            described = reader.position
            if kind is Kind.FUNCTION:
                reader.unsigned()
            elif kind is Kind.GLOBAL:
                reader.take(2)
            else:
                raise WasmError(f"import {module}.{field} is neither a function nor a global")
            found.append(Import(module, field, kind, reader.since(described), reader.since(start)))
        return found

    def exports(self) -> list[Export]:
        """The export section."""
        reader = Reader(self[Section.EXPORT])
        found: list[Export] = []
        for _ in range(reader.unsigned()):
            start = reader.position
            field, kind, index = reader.name(), Kind(reader.byte()), reader.unsigned()
            found.append(Export(field, kind, index, reader.since(start)))
        return found

    def globals(self) -> list[Global]:
        """The globals defined in the module (imported ones are not in this section)."""
        reader = Reader(self[Section.GLOBAL])
        found: list[Global] = []
        for _ in range(reader.unsigned()):
            kind = reader.take(2)
            found.append(Global(kind, _constant(reader)))
        return found

    def bodies(self) -> list[bytes]:
        """The code section's function bodies, without their lengths."""
        reader = Reader(self[Section.CODE])
        return [reader.take(reader.unsigned()) for _ in range(reader.unsigned())]


def _constant(reader: Reader) -> bytes:
    """A constant expression of one instruction."""
    start = reader.position
    opcode = reader.byte()
    if opcode == 0x43:  # f32.const
        reader.take(4)
    elif opcode == 0x44:  # f64.const
        reader.take(8)
    else:
        reader.unsigned()
    if reader.byte() != END[0]:
        raise WasmError("a global's initial value is more than one constant")
    return reader.since(start)
