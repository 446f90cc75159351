"""What a script said with `print` and `log`, kept within its budget whatever the guest does."""

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
    """The log of one execution, in at most `log_bytes` of text and attributes and `MAX_LINES` lines."""

    def __init__(self, log_bytes: int) -> None:
        self._limit = self._left = log_bytes
        self.records: list[LogRecord] = []
        self.bytes = 0
        self.truncated = False

    def restore(self, records: Sequence[LogRecord]) -> None:
        """Lines that were kept before this pass; their bytes count."""
        for record in records:
            size = len(record.message.encode()) + 1 + (encoded_size(record.attrs) if record.attrs else 0)
            self._left -= size
            self.bytes += size
            self.records.append(record)

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
            message += f"… (logs are cut at {self._limit:,} bytes: `log_bytes`, and at {MAX_LINES:,} lines)"
            size = len(message.encode())
        self._left -= size
        self.bytes += size
        record = LogRecord(
            level=frame.level,  # type: ignore[arg-type]
            message=message,
            attrs=attrs,
            at=datetime.now(UTC),
            seq=len(self.records) + 1,
        )
        self.records.append(record)
        return record
