"""The events of a journalled run, handed to the journal in batches, so that any host tells them to whoever follows."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from isolith.journal.errors import JournalError
from isolith.json_form import to_json_text
from isolith_bindings.beside import beside_where_much

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith.journal.events import Told

_PAUSE_S: Final = 0.1
"""Seconds in which events are gathered: one write for all of them."""
_OF_THE_MOVE: Final = frozenset({"outcome"})
"""Told by the journal itself, in the transaction that makes it true."""


class Teller:
    """The events of one pass. `append` writes them, once there is something to write to."""

    def __init__(self, append: Callable[[list[Told]], Awaitable[object]]) -> None:
        self._append = append
        self._told: list[tuple[str, float, dict[str, object]]] = []
        self._begun = False
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self.replaying: Callable[[], bool] = lambda: False
        """Whether what happens has happened before, and was told then."""

    def tell(self, name: str, at: float, parts: dict[str, object]) -> None:
        """One event, at seconds since the epoch."""
        if name in _OF_THE_MOVE or self.replaying():
            return
        self._told.append((name, at, parts))
        self._soon()

    def begin(self) -> None:
        """The journal knows of the execution from now on."""
        self._begun = True
        if self._told:
            self._soon()

    async def flush(self) -> None:
        """Everything that was told so far is in the journal. Raises JournalError."""
        while self._writing is not None:
            writing = self._writing
            await asyncio.wait([writing])
            if self._writing is writing:  # the timer may have begun another meanwhile
                self._writing = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._begun and self._told:
            told, self._told = self._told, []
            await self._append(await _as_text(told))

    def _soon(self) -> None:
        if self._begun and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PAUSE_S, self._write)

    def _write(self) -> None:
        self._timer = None
        if self._writing is None or self._writing.done():
            told, self._told = self._told, []
            self._writing = asyncio.create_task(self._written(told))
        else:
            self._soon()

    async def _written(self, told: list[tuple[str, float, dict[str, object]]]) -> None:
        """What cannot be written is lost to followers alone: the writes of the run itself say what is wrong."""
        with contextlib.suppress(JournalError):
            await self._append(await _as_text(told))


async def _as_text(told: list[tuple[str, float, dict[str, object]]]) -> list[Told]:
    """As the journal keeps them; off the event loop where that is much, such as the arguments of calls that wait."""
    from isolith.journal.events import Told  # noqa: PLC0415 - loads the database toolkit

    def write() -> list[Told]:
        return [Told(name, datetime.fromtimestamp(at, UTC), to_json_text(parts)) for name, at, parts in told]

    return await beside_where_much({"": [parts for _, _, parts in told]}, write)
