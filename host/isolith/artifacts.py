"""Bytes kept outside the guest, known inside and in the outcome by a handle."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from isolith.outcome import ArtifactRecord

MAX_BYTES = 64 * 1024 * 1024
"""How many bytes one execution may keep in all."""


class ArtifactsFull(Exception):
    """The execution keeps as much as it may."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """One artifact with its content."""

    record: ArtifactRecord
    content: bytes


class ArtifactStore:
    """The artifacts of one execution, in memory."""

    def __init__(self) -> None:
        self._kept: dict[str, Artifact] = {}
        self._bytes = 0

    def keep(self, content: bytes, *, mime: str, name: str | None) -> ArtifactRecord:
        """Keep bytes under a new handle nobody can guess. Raises ArtifactsFull past `MAX_BYTES` in all."""
        if self._bytes + len(content) > MAX_BYTES:
            raise ArtifactsFull(f"this execution may keep {MAX_BYTES:,} bytes of artifacts in all")
        record = ArtifactRecord(
            handle=f"art_{secrets.token_urlsafe(16)}", mime=mime[:200], bytes=len(content), name=name and name[:200]
        )
        self._bytes += len(content)
        self._kept[record.handle] = Artifact(record, content)
        return record

    def read(self, handle: str) -> bytes:
        """The bytes under a handle. Raises KeyError for a handle of another execution."""
        return self._kept[handle].content

    def records(self) -> tuple[ArtifactRecord, ...]:
        """All of them, in the order they were kept."""
        return tuple(artifact.record for artifact in self._kept.values())
