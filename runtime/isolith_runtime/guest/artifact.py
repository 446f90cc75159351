"""Bytes kept outside the guest, known inside by a handle: a value that crosses like any other."""

from __future__ import annotations

from collections.abc import Callable

Reader = Callable[["Artifact", int, int | None], object]
_readers: list[Reader] = []


class Artifact:
    """A handle. `size` in bytes; `.read()` brings the bytes into the script, under its memory budget."""

    __slots__ = ("handle", "mime", "name", "size")

    def __init__(self, handle: str, mime: str, size: int, name: str | None = None) -> None:
        self.handle, self.mime, self.size, self.name = handle, mime, size, name

    def __repr__(self) -> str:
        return f"<artifact {self.handle}: {self.name}, {self.mime}, {self.size} bytes>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Artifact) and self.handle == other.handle

    def __hash__(self) -> int:
        return hash(self.handle)

    def __len__(self) -> int:
        return self.size

    def read(self, offset: int = 0, size: int | None = None) -> object:
        """The bytes, or `size` of them from `offset`: await it, or take it as it is in a synchronous script."""
        if not _readers:
            raise TypeError("the bytes are kept by the host: ask the execution for `.artifact(handle)`")
        return _readers[0](self, offset, size)


def read_with(reader: Reader) -> None:
    """Say how bytes are read; on the guest's side, at the start of a run."""
    _readers[:] = [reader]


def parts(artifact: Artifact) -> list[object]:
    """What crosses."""
    return [artifact.handle, artifact.mime, artifact.size, artifact.name]


def restore(found: list[object]) -> Artifact:
    """An artifact from what crossed. Raises ValueError for anything else."""
    handle, mime, size, name = found
    if not (isinstance(handle, str) and isinstance(mime, str) and type(size) is int and size >= 0):
        raise ValueError("no artifact")
    if name is not None and not isinstance(name, str):
        raise ValueError("no artifact")
    return Artifact(handle, mime, size, name)
