"""Artifacts for MCP: small pictures and sounds beside an answer, everything else a link that can be read.

A handle is 128 random bits: whoever has it was given it. Nothing lists them.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections import OrderedDict
from typing import TYPE_CHECKING, TypeAlias

import mcp_types as mcp

from isolith.journal.errors import UnknownEntry
from isolith_bindings.files import ByteFile

if TYPE_CHECKING:
    from isolith.code_mode import CodeMode
    from isolith.outcome import ArtifactRecord, Outcome
    from isolith.run.artifacts import Artifact
    from isolith.run.execution import Execution

    _Found: TypeAlias = dict[str, Artifact]

Block: TypeAlias = mcp.ImageContent | mcp.AudioContent | mcp.ResourceLink

TEMPLATE = "isolith://executions/{execution_id}/artifacts/{handle}"
_URI = re.compile(r"isolith://executions/([0-9A-Za-z_-]{1,64})/artifacts/([0-9A-Za-z_-]{1,64})")
_PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
_SOUNDS = {"audio/wav", "audio/mpeg", "audio/ogg"}
_MAX_INLINE = 256 * 1024
"""Bytes of pictures and sounds in one answer: clients give up on an event past 1 MiB."""
_MAX_LINKS = 100
MAX_KEPT = 128 * 1024 * 1024
"""Bytes of artifacts of runs without a journal that are kept in this process; the oldest runs go first."""
MAX_KEPT_FILES = 1024 * 1024 * 1024
"""The same of long answers, which are in files."""


def uri_of(execution_id: str, handle: str) -> str:
    """Where an artifact is read."""
    return TEMPLATE.format(execution_id=execution_id, handle=handle)


class Files:
    """The artifacts of the runs of one server: those of latest runs in memory, all others in the journal."""

    def __init__(self, code_mode: CodeMode) -> None:
        self._code_mode = code_mode
        self._kept: OrderedDict[str, _Found] = OrderedDict()
        self._bytes = self._file_bytes = 0

    def keep(self, execution: Execution, outcome: Outcome) -> None:
        """Keep what an execution has made, as long as there is room."""
        found = {record.handle: execution.artifacts.kept(record.handle) for record in outcome.artifacts}
        if not found:
            return
        self._kept[execution.execution_id] = found
        self._count(found, 1)
        while self._kept and (self._bytes > MAX_KEPT or self._file_bytes > MAX_KEPT_FILES):
            self._count(self._kept.popitem(last=False)[1], -1)

    def _count(self, found: _Found, sign: int) -> None:
        contents = [each.content for each in found.values()]
        self._bytes += sign * sum(len(content) for content in contents if isinstance(content, bytes))
        self._file_bytes += sign * sum(len(content) for content in contents if isinstance(content, ByteFile))

    async def read(self, execution_id: str, handle: str) -> tuple[str, bytes]:
        """The mime type and the bytes. Raises UnknownEntry."""
        kept = self._kept.get(execution_id, {}).get(handle)
        if kept is not None:
            content = kept.content
            return kept.record.mime, content if isinstance(content, bytes) else await asyncio.to_thread(content.read)
        artifacts = (await self._code_mode.runs()).journal.artifacts
        for record in await artifacts.of(execution_id):
            if record.handle == handle:
                return record.mime, await artifacts.read(execution_id, handle)
        raise UnknownEntry("there is no such artifact")

    async def blocks(self, outcome: Outcome) -> list[Block]:
        """The artifacts of an outcome: shown where they are small pictures or sounds, linked otherwise."""
        left, blocks = _MAX_INLINE, list[Block]()
        for record in outcome.artifacts[:_MAX_LINKS]:
            shown = None
            if record.mime in _PICTURES | _SOUNDS and record.bytes <= left:
                left -= record.bytes
                shown = await self._shown(outcome.execution_id, record)
            blocks.append(shown or _link(outcome.execution_id, record))
        return blocks

    async def _shown(self, execution_id: str, record: ArtifactRecord) -> Block | None:
        try:
            _, content = await self.read(execution_id, record.handle)
        except UnknownEntry:
            return None
        data = base64.b64encode(content).decode()
        if record.mime in _PICTURES:
            return mcp.ImageContent(data=data, mime_type=record.mime)
        return mcp.AudioContent(data=data, mime_type=record.mime)

    async def resource(self, uri: str) -> mcp.TextResourceContents | mcp.BlobResourceContents:
        """What is behind a link. Raises UnknownEntry for one that leads nowhere."""
        found = _URI.fullmatch(uri)
        if found is None:
            raise UnknownEntry("there is no such artifact")
        mime, content = await self.read(found[1], found[2])
        if mime == "application/json" or mime.startswith("text/"):
            try:
                return mcp.TextResourceContents(uri=uri, mime_type=mime, text=content.decode())
            except UnicodeDecodeError:
                pass
        return mcp.BlobResourceContents(uri=uri, mime_type=mime, blob=base64.b64encode(content).decode())


def _link(execution_id: str, record: ArtifactRecord) -> mcp.ResourceLink:
    return mcp.ResourceLink(
        name=record.name or record.handle,
        uri=uri_of(execution_id, record.handle),
        mime_type=record.mime,
        size=record.bytes,
    )
