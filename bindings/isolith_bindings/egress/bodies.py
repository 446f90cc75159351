"""The body of an answer as it comes in: a long one goes into a file, and neither is ever whole in memory."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from isolith_bindings.egress.decoding import Decoder
from isolith_bindings.errors import CallError
from isolith_bindings.files import PIECE, ByteFile

if TYPE_CHECKING:
    from isolith_bindings.egress.messages import Cut


class Body:
    """Collects up to `cap` decoded bytes in memory; of a longer body up to `limit` bytes in a file, from its first on.

    Without a `limit` no more than the cap is kept. `turn` is held from the first byte that goes to the disk until
    `let_go`: it bounds how many bodies are written at once. Raises CallError for an encoding that was not asked for.
    """

    def __init__(
        self, cap: int, encoding: str | None, *, limit: int = 0, turn: asyncio.Semaphore | None = None
    ) -> None:
        self._decoder = Decoder(encoding)
        self._cap, self._limit = cap, max(cap, limit)
        self._turn = turn
        self._kept = bytearray()
        self._waiting: bytearray = bytearray()
        self.file: ByteFile | None = None
        self.truncated = False
        self.cut: Cut = ""

    @property
    def content(self) -> bytes:
        """What is in memory: all of a body that is no longer than the cap, else its beginning."""
        return bytes(self._kept)

    async def add(self, raw: bytes) -> bool:
        """Take the next bytes off the wire; False: the limit is reached, read no further. Raises CallError."""
        for piece in self._decoder.decode(raw):
            await self._take(piece)
            if self.truncated:
                return False
        return True

    async def finish(self) -> None:
        """Raises CallError where an encoded body ended before its end, or the disk takes no more."""
        if not self.truncated and not self.cut:
            self._decoder.finish()
        await self._write()

    def let_go(self) -> None:
        """Another body may be written."""
        if self.file is not None and self._turn is not None:
            self._turn.release()

    async def _take(self, piece: bytes) -> None:
        had = len(self._waiting) + (self.file.size if self.file else len(self._kept))
        self.truncated = had + len(piece) > self._limit
        piece = piece[: self._limit - had]
        room = self._cap - len(self._kept)
        if self.file is None and len(piece) > room:
            if self._turn is not None:
                await self._turn.acquire()
            self.file = ByteFile()
            self._waiting += self._kept
        self._kept += piece[:room]
        if self.file is not None:
            self._waiting += piece
        if len(self._waiting) >= PIECE:
            await self._write()

    async def _write(self) -> None:
        if self.file is None or not self._waiting:
            return
        waiting, self._waiting = self._waiting, bytearray()
        try:
            await asyncio.to_thread(self.file.append, waiting)
        except OSError as error:
            why = f"the answer is longer than {self._cap:,} bytes, and no file takes it: {error.strerror}"
            raise CallError("invalid_result", why) from None
