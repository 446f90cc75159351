"""The content of a result: text, files kept outside the guest, and what is neither. Bytes of a server are hostile."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from isolith_bindings.files import ByteFile

if TYPE_CHECKING:
    from isolith_bindings.connector import ArtifactRef, Artifacts
    from isolith_bindings.files import Stored


class Once:
    """Artifacts of one call: what a result holds twice, as content and as structured content, is kept once."""

    def __init__(self, artifacts: Artifacts) -> None:
        self._artifacts = artifacts
        self._kept: dict[tuple[bytes, str], ArtifactRef] = {}

    def keep(self, content: Stored, *, mime: str, name: str | None = None) -> ArtifactRef:
        """Keep bytes, or give what they were kept as. Raises CallError where no more is kept."""
        if isinstance(content, ByteFile):
            return self._artifacts.keep(content, mime=mime, name=name)
        key = (hashlib.sha256(content).digest(), mime)
        if key not in self._kept:
            self._kept[key] = self._artifacts.keep(content, mime=mime, name=name)
        return self._kept[key]

    def read(self, ref: ArtifactRef) -> bytes:
        """The bytes behind a reference."""
        return self._artifacts.read(ref)


_DEFAULT_MIME = {"image": "image/png", "audio": "audio/wav"}
_LONGEST_MIME = 200


@dataclass
class Content:
    """Blocks of content, sorted. `other`: links, embedded texts, and blocks of unknown kinds, as they came."""

    texts: list[str] = field(default_factory=list[str])
    files: list[ArtifactRef] = field(default_factory=list["ArtifactRef"])
    other: list[object] = field(default_factory=list[object])

    @property
    def text(self) -> str:
        """All text, one block a paragraph."""
        return "\n".join(self.texts)

    def as_value(self) -> dict[str, object]:
        """`text` and `files`, which are always there, and `other` where there is any."""
        value: dict[str, object] = {"text": self.text, "files": list(self.files)}
        return {**value, "other": self.other} if self.other else value


def read_content(blocks: object, artifacts: Artifacts) -> Content:
    """Sort the blocks of a result, in their order. What is no list counts as none."""
    content = Content()
    for block in cast("list[object]", blocks) if isinstance(blocks, list) else []:
        if isinstance(block, dict):
            _sort(cast("dict[str, object]", block), content, artifacts)
        else:
            content.other.append(block)
    return content


def _sort(block: dict[str, object], content: Content, artifacts: Artifacts) -> None:
    kind, text = block.get("type"), block.get("text")
    if kind == "text" and isinstance(text, str):
        content.texts.append(text)
        return
    if kind in _DEFAULT_MIME:
        kept = keep_base64(block.get("data"), _mime(block) or _DEFAULT_MIME[str(kind)], None, artifacts)
        content.files.append(kept) if kept is not None else content.other.append(block)
        return
    resource = block.get("resource")
    if kind == "resource" and isinstance(resource, dict):
        embedded = resource_value(cast("dict[str, object]", resource), artifacts)
        if isinstance(embedded, dict):
            content.other.append(embedded)
        else:
            content.files.append(embedded)
        return
    content.other.append(block)


def resource_value(resource: dict[str, object], artifacts: Artifacts) -> ArtifactRef | dict[str, object]:
    """A resource as an artifact if it is bytes; else what it says, `{"uri", "mime", "text"}`."""
    uri, text = resource.get("uri"), resource.get("text")
    if not isinstance(text, str):
        kept = keep_base64(resource.get("blob"), _mime(resource) or "application/octet-stream", _name(uri), artifacts)
        if kept is not None:
            return kept
    return {"uri": uri, "mime": _mime(resource), "text": text if isinstance(text, str) else ""}


def keep_base64(data: object, mime: str, name: str | None, artifacts: Artifacts) -> ArtifactRef | None:
    """Keep what base64 says; None if it is none. Raises CallError where no more is kept."""
    if not isinstance(data, str):
        return None
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    return artifacts.keep(content, mime=mime, name=name)


def _mime(block: dict[str, object]) -> str | None:
    mime = block.get("mimeType")
    return mime if isinstance(mime, str) and mime.isprintable() and 0 < len(mime) <= _LONGEST_MIME else None


def _name(uri: object) -> str | None:
    """The last part of a URI's path."""
    if not isinstance(uri, str):
        return None
    try:
        return PurePosixPath(urlsplit(uri).path).name or None
    except ValueError:
        return None
