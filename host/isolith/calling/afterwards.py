"""What the journal is told of calls while nobody waits: of their ends, and of what came when they were over."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from isolith.calling.call_frames import outcome_text
from isolith.journal.errors import JournalError
from isolith_bindings.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from isolith.calling.use import Use
    from isolith.durable.record import CallRecorder
    from isolith.run.artifacts import ArtifactStore


class Afterwards:
    """Of one execution. `broken` is called where the journal cannot be written; without a `recorder` there is none."""

    def __init__(
        self, recorder: CallRecorder | None, artifacts: ArtifactStore, broken: Callable[[Exception], None]
    ) -> None:
        self._recorder = recorder
        self._artifacts = artifacts
        self._broken = broken
        self._writing: set[asyncio.Task[None]] = set()
        self._late: set[asyncio.Task[None]] = set()

    def write(self, record: Coroutine[object, object, None]) -> None:
        """Hand over what nobody has to wait for."""
        self._begin(self._written(record), self._writing)

    async def written(self, patience_s: float) -> None:
        """Wait until all of it is there, at most so long."""
        if self._writing:
            await asyncio.wait(self._writing, timeout=patience_s)

    def came_late(self, use: Use, value: object) -> None:
        """It could not be stopped when it was given up, and has come to a result since."""
        if self._recorder is None:
            use.completed_after_end = True  # at once: the event loop may be about to close, and takes no task then
        else:
            self._begin(self._keep_late(self._recorder, use, value), self._late)

    async def _written(self, record: Coroutine[object, object, None]) -> None:
        try:
            await record
        except Exception as error:  # noqa: BLE001 - of the journal, or a bug of ours: nobody else hears of it
            self._broken(error)

    async def _keep_late(self, recorder: CallRecorder, use: Use, value: object) -> None:
        before = [task for task in (use.task, *self._writing) if task is not None]
        if before:
            await asyncio.wait(before)  # that it was given up is in the journal first
        use.completed_after_end = True
        # The run may have ended, and its journal may be closed.
        with suppress(CallError, JournalError):
            await recorder.came_late(use, outcome_text(use, value, self._artifacts, None))

    def _begin(self, work: Coroutine[object, object, None], tasks: set[asyncio.Task[None]]) -> None:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)
