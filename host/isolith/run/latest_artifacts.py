"""Artifacts of runs that have ended and are in no journal: the latest, as long as there is room."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING

from isolith_bindings.files import ByteFile

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith.journal.journal import Journal
    from isolith.run.artifacts import Artifact
    from isolith.run.execution import Execution

MAX_KEPT = 64 * 1024 * 1024
"""Bytes in memory; the oldest runs go first."""
MAX_KEPT_FILES = 256 * 1024 * 1024
"""The same of long answers, which are in files."""


class LatestArtifacts:
    """What the latest runs of one host have made; `journal`: where those of all others are."""

    def __init__(self, journal: Callable[[], Awaitable[Journal]]) -> None:
        self._journal = journal
        self._kept: OrderedDict[str, dict[str, Artifact]] = OrderedDict()
        self._bytes = self._file_bytes = 0

    def keep(self, execution: Execution) -> None:
        """Keep those of a run that has ended and is in no journal, and let the oldest go where there are too many."""
        artifacts = execution.artifacts
        # As they are now: a connector that could not be stopped may keep more, which nobody would count.
        found = {record.handle: artifacts.kept(record.handle) for record in artifacts.records()}
        if execution.order.durable is not None or not found:
            return
        self._count(self._kept.pop(execution.execution_id, {}), -1)  # whoever chooses ids may choose one twice
        self._kept[execution.execution_id] = found
        self._count(found, 1)
        while self._kept and (self._bytes > MAX_KEPT or self._file_bytes > MAX_KEPT_FILES):
            self._count(self._kept.popitem(last=False)[1], -1)

    async def read(self, running: Execution | None, execution_id: str, handle: str) -> bytes:
        """The bytes under a handle, of a run that may be under way. Raises UnknownEntry."""
        with suppress(KeyError):
            kept = self._kept[execution_id][handle] if running is None else running.artifacts.kept(handle)
            content = kept.content
            return content if isinstance(content, bytes) else await asyncio.to_thread(content.read)
        return await (await self._journal()).artifacts.read(execution_id, handle)

    def clear(self) -> None:
        """Let all go."""
        self._kept.clear()
        self._bytes = self._file_bytes = 0

    def _count(self, found: dict[str, Artifact], sign: int) -> None:
        for kept in found.values():
            if isinstance(kept.content, ByteFile):
                self._file_bytes += sign * len(kept.content)
            else:
                self._bytes += sign * len(kept.content)
