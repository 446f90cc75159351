"""Bytes kept outside the guest, known inside and in the outcome by a handle."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from isolith.outcome import ArtifactRecord
from isolith_bindings.beside import beside_where_much
from isolith_bindings.connector import ArtifactRef
from isolith_bindings.errors import CallError
from isolith_bindings.files import ByteFile, Stored
from isolith_runtime.guest.artifact import Artifact as Handle

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES = 64 * 1024 * 1024
"""How many bytes one execution may keep in memory, in all."""
MAX_FILE_BYTES = 256 * 1024 * 1024
"""How many bytes one execution may keep in files beside them, in all: answers that were too long for memory."""


class ArtifactsFull(Exception):
    """The execution keeps as much as it may."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """One artifact with its content."""

    record: ArtifactRecord
    content: Stored


class ArtifactStore:
    """The artifacts of one execution: bytes in memory, and files that go with the execution."""

    def __init__(self) -> None:
        self._kept: dict[str, Artifact] = {}
        self._calls: dict[str, int] = {}
        self._bytes = 0
        self._file_bytes = 0

    def keep(self, content: Stored, *, mime: str, name: str | None, call: int | None = None) -> ArtifactRecord:
        """Keep bytes under a new handle nobody can guess; `call`: the number of the call that brought them.

        Raises ArtifactsFull past `MAX_BYTES` in memory, and past `MAX_FILE_BYTES` in files.
        """
        if isinstance(content, bytes) and self._bytes + len(content) > MAX_BYTES:
            raise ArtifactsFull(f"this execution may keep {MAX_BYTES:,} bytes of artifacts in all")
        if isinstance(content, ByteFile) and self._file_bytes + len(content) > MAX_FILE_BYTES:
            raise ArtifactsFull(f"this execution may keep {MAX_FILE_BYTES:,} bytes of long answers in all")
        record = ArtifactRecord(
            handle=f"art_{secrets.token_urlsafe(16)}", mime=mime[:200], bytes=len(content), name=name and name[:200]
        )
        self._put(record, content)
        self._calls[record.handle] = max(self._calls.values(), default=0) if call is None else call
        return record

    def restore(self, handle: str, content: Stored, *, mime: str, name: str | None) -> None:
        """One that was kept before this pass."""
        self._put(ArtifactRecord(handle=handle, mime=mime, bytes=len(content), name=name), content)

    def kept(self, handle: str) -> Artifact:
        """What is under a handle, with its content where that is. Raises KeyError for one of another execution."""
        return self._kept[handle]

    def read(self, handle: str, offset: int = 0, size: int | None = None) -> bytes:
        """The bytes under a handle, or some of them. Raises KeyError for a handle of another execution."""
        content = self._kept[handle].content
        if isinstance(content, ByteFile):
            return content.read(offset, size)
        return content[offset : None if size is None else offset + size]

    def record(self, handle: str) -> ArtifactRecord:
        """What is known of one. Raises KeyError for a handle of another execution."""
        return self._kept[handle].record

    def records(self) -> tuple[ArtifactRecord, ...]:
        """All of them, in the order they were kept."""
        return tuple(artifact.record for artifact in self._kept.values())

    def in_call_order(self) -> tuple[ArtifactRecord, ...]:
        """All of them, in the order of the calls that brought them, whichever was answered first."""
        return tuple(sorted(self.records(), key=lambda record: self._calls.get(record.handle, 0)))

    def _put(self, record: ArtifactRecord, content: Stored) -> None:
        if isinstance(content, bytes):
            self._bytes += len(content)
        else:
            self._file_bytes += len(content)
        self._kept[record.handle] = Artifact(record, content)

    def known(self, handle: str) -> ArtifactRef:
        """What a handle stands for. Raises CallError `invalid_arguments` for one that is not of this execution."""
        kept = self._kept.get(handle)
        if kept is None:
            hint = "pass on an artifact that this run made or was given"
            raise CallError("invalid_arguments", f"there is no artifact `{handle:.60}` in this run", hint=hint)
        record = kept.record
        return ArtifactRef(record.handle, record.mime, record.bytes, record.name)


@dataclass(frozen=True, slots=True)
class CallArtifacts:
    """The artifacts of one execution as connectors use them, in one call."""

    store: ArtifactStore
    call: int | None = None

    def keep(self, content: Stored, *, mime: str, name: str | None = None) -> ArtifactRef:
        """Keep bytes. Raises CallError `invalid_result` where the execution keeps as much as it may."""
        try:
            return self.store.known(self.store.keep(content, mime=mime, name=name, call=self.call).handle)
        except ArtifactsFull as error:
            raise CallError("invalid_result", str(error)) from error

    def read(self, ref: ArtifactRef) -> bytes:
        """The bytes behind a reference. Raises CallError for one of another execution."""
        self.store.known(ref.handle)
        return self.store.read(ref.handle)


async def with_artifacts(arguments: Mapping[str, object], store: ArtifactStore) -> dict[str, object]:
    """Arguments as connectors take them; off the event loop where they are many. Raises CallError as below."""
    found = await beside_where_much(arguments, lambda: with_references(arguments, store))
    return cast("dict[str, object]", found)


def with_references(value: object, store: ArtifactStore) -> object:
    """Arguments as connectors take them: each handle that the guest passed on is checked and made a reference.

    What holds none is given back as it is. Raises CallError for a handle of another execution.
    """
    if isinstance(value, Handle):
        return store.known(value.handle)
    if isinstance(value, dict):
        members = cast("dict[object, object]", value)
        made = {key: with_references(item, store) for key, item in members.items()}
        return made if any(made[key] is not item for key, item in members.items()) else members
    if isinstance(value, (list, tuple)):
        items = cast("list[object] | tuple[object, ...]", value)
        walked = [with_references(item, store) for item in items]
        return type(items)(walked) if any(a is not b for a, b in zip(walked, items, strict=True)) else items
    return value
