"""What a script said with `print`, `log` and `emit`, kept within its budget whatever the guest does."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from isolith.outcome import LogRecord
from isolith.run.given import encoded_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isolith_runtime import protocol

MAX_LINES = 10_000
"""Lines that are kept, however short: a line costs far more than its text."""


class LogKeeper:
    """The log of one execution, in at most `log_bytes` of text and attributes and `MAX_LINES` lines.

    Emitted values are lines among them, in `log_bytes` of their own: however large, they leave the others their room.
    """

    def __init__(self, log_bytes: int) -> None:
        self._left = self._left_to_emit = log_bytes
        self._lines_cut = f"… (logs are cut at {log_bytes:,} bytes: `log_bytes`, and at {MAX_LINES:,} lines)"
        self._emits_cut = f"{_CUT} is kept up to {log_bytes:,} bytes: `log_bytes`)"
        self.records: list[LogRecord] = []
        self.bytes = 0
        self.truncated = False

    def restore(self, records: Sequence[LogRecord], *, truncated: bool) -> None:
        """Lines that were kept before this pass; their bytes count. `truncated`: where one says it, all after it go."""
        for record in records:
            self.records.append(record)
            if truncated and record.message.startswith(_CUT):
                self._left_to_emit = -1
            elif _is_emitted(record):
                self._left_to_emit = max(self._left_to_emit - encoded_size(record.attrs["value"]), 0)
            else:
                size = len(record.message.encode()) + 1 + (encoded_size(record.attrs) if record.attrs else 0)
                self._left -= size
                self.bytes += size
                self.truncated |= truncated and record.message.endswith(self._lines_cut)

    def take(self, frame: protocol.Log) -> LogRecord | None:
        """Keep one line. The first that does not fit is cut and says so; the rest are dropped, and None."""
        if self.truncated:
            return None
        message, attrs = frame.message, frame.attrs
        size = len(message.encode()) + 1 + (encoded_size(attrs) if attrs else 0)
        if size > self._left or len(self.records) >= MAX_LINES:
            self.truncated = True
            attrs = {}
            message = message.encode()[: self._left].decode(errors="ignore")
            message += self._lines_cut
            size = len(message.encode())
        self._left -= size
        self.bytes += size
        return self._append(frame.level, message, attrs)

    def take_emitted(self, value: object, size: int) -> bool:
        """Keep an emitted value of so many bytes as a line; whether there was room for it.

        The first that does not fit is a line without it, which says so; the rest are dropped.
        """
        if self._left_to_emit < 0:
            return False
        self._left_to_emit -= size
        if self._left_to_emit < 0 or len(self.records) >= MAX_LINES:
            self._left_to_emit = -1
            self._append("info", self._emits_cut, {})
            return False
        self._append("info", _EMITTED, {"value": value})
        return True

    def end_emitted(self, why: str) -> None:
        """No more is passed on, and why: a line says so, once."""
        if self._left_to_emit >= 0:
            self._left_to_emit = -1
            self._append("info", f"{_CUT} from here on is dropped: {why})", {})

    def _append(self, level: str, message: str, attrs: dict[str, object]) -> LogRecord:
        at, seq = datetime.now(UTC), len(self.records) + 1
        record = LogRecord(level=level, message=message, attrs=attrs, at=at, seq=seq)  # type: ignore[arg-type]
        self.records.append(record)
        return record


_EMITTED = "emit"
_CUT = f"{_EMITTED}… (what is emitted"


def _is_emitted(record: LogRecord) -> bool:
    """Also a line that a script wrote just so, which takes the same room."""
    return record.message == _EMITTED and record.attrs.keys() == {"value"}
