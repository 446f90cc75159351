"""What is around a body taken off: piece by piece, as far as pieces are taken (a bomb costs that, not its size)."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from isolith_bindings.errors import CallError
from isolith_bindings.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

ACCEPT_ENCODING = "gzip, deflate"
# A body that was encoded more often than this was made to cost time.
MOST_LAYERS = 2
_PIECE = 64 << 10
_GZIP = b"\x1f\x8b"


class Decoder:
    """What a body is encoded with, taken off piece by piece. Raises CallError for what was not asked for."""

    def __init__(self, encoding: str | None) -> None:
        names = [name.strip().lower() for name in (encoding or "").split(",")]
        layers = [name for name in names if name not in {"", "identity"}]
        unknown = [name for name in layers if name not in {"gzip", "x-gzip", "deflate"}]
        if unknown or len(layers) > MOST_LAYERS:
            raise _undecodable(f"its encoding is {redact(encoding or '')[:60]!r}, and {ACCEPT_ENCODING} was asked for")
        self._layers = [_Inflater(name) for name in reversed(layers)]

    def decode(self, raw: bytes) -> Iterator[bytes]:
        """What the next bytes off the wire hold, made as it is taken. Raises CallError for broken data."""
        return self._pass(raw, 0)

    def finish(self) -> None:
        """Raises CallError where an encoded body ended before its end."""
        if any(layer.unfinished for layer in self._layers):
            raise _undecodable("its compressed data ends too early")

    def _pass(self, data: bytes, depth: int) -> Iterator[bytes]:
        if depth == len(self._layers):
            yield data
            return
        while data:
            piece, data = self._layers[depth].inflate(data)
            if piece:
                yield from self._pass(piece, depth + 1)


class _Inflater:
    """One layer of gzip or deflate, at most `_PIECE` bytes at a time."""

    def __init__(self, name: str) -> None:
        self._deflate = name == "deflate"
        self._zlib = zlib.decompressobj()
        self._begun = False
        self._head: bytes = b""
        self._ended = False

    @property
    def unfinished(self) -> bool:
        """Whether there was a beginning and no end. What follows an end is padding."""
        return not self._ended and (self._begun or bool(self._head))

    def inflate(self, data: bytes) -> tuple[bytes, bytes]:
        """Some decoded bytes, and the input that is left. Both empty: more input is needed, or the data is over."""
        if not self._begun:
            # The first two bytes say what it is, however they arrive.
            data, self._head = self._head + data, b""
            if len(data) < 2:
                self._head = data
                return b"", b""
            if self._ended and data[:2] != _GZIP:
                return b"", b""
            self._zlib, self._begun, self._ended = zlib.decompressobj(self._window(data)), True, False
        try:
            piece = self._zlib.decompress(data, _PIECE)
        except zlib.error as error:
            raise _undecodable(f"its compressed data is broken ({error})") from None
        if not self._zlib.eof:
            return piece, self._zlib.unconsumed_tail
        self._begun, self._ended = False, True
        return piece, self._zlib.unused_data

    def _window(self, data: bytes) -> int:
        """The header to expect, as zlib wants it: gzip, zlib (RFC 1950, 2.2), or none, which some call deflate."""
        if data[:2] == _GZIP:
            return 31
        zlib_header = data[0] & 0x0F == 8 and int.from_bytes(data[:2]) % 31 == 0
        return -15 if self._deflate and not zlib_header else 15


def _undecodable(why: str) -> CallError:
    return CallError("invalid_result", f"the body of the answer cannot be read: {why}")
