"""What a script says beside its value: log lines, emitted values, progress, warnings. Bounded whatever it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith.outcome import Diagnostic, LogRecord
from isolith.run.logs import LogKeeper
from isolith_runtime import protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isolith.budgets import Budgets
    from isolith.events import EventLog
    from isolith.run.normalize import Prepared

_MAX_WARNINGS = 200
_MAX_PROGRESS_TEXT = 1000
_WEIGHT_OF_A_BYTE = 6
"""Bytes in memory for one of `value_bytes`: what records take; lists of nothing take thirty."""


class Said:
    """Keeps what was said and passes it on as events."""

    def __init__(self, budgets: Budgets, events: EventLog, warnings: Sequence[Diagnostic]) -> None:
        self._budgets = budgets
        self._events = events
        self._logs = LogKeeper(budgets.log_bytes)
        self._emits_left = budgets.emit_events
        self._emitted_bytes = self._emitted_weight = 0
        self._cut = False
        self.warnings: list[Diagnostic] = list(warnings)
        self.script: Prepared | None = None

    @property
    def logs(self) -> tuple[LogRecord, ...]:
        """The log lines in order."""
        return tuple(self._logs.records)

    @property
    def bytes(self) -> int:
        """Bytes of logs and emitted values that left the guest."""
        return self._emitted_bytes + self._logs.bytes

    @property
    def log_bytes(self) -> int:
        """Bytes of logs that were kept."""
        return self._logs.bytes

    @property
    def emitted(self) -> int:
        """How many events were emitted and passed on."""
        return self._budgets.emit_events - max(self._emits_left, 0)

    @property
    def truncated(self) -> bool:
        """Whether anything was left out."""
        return self._cut or self._logs.truncated

    def restore(self, logs: Sequence[LogRecord], warnings: Sequence[Diagnostic], *, truncated: bool) -> None:
        """What was said before the run was put away; `truncated`: and that something was left out."""
        self._logs.restore(logs, truncated=truncated)
        self._cut = truncated
        self.warnings = list(warnings)

    def take(self, frame: protocol.Frame) -> None:
        """One frame that says something; any other is none of this file's business."""
        if isinstance(frame, protocol.Log):
            self._log(frame)
        elif isinstance(frame, protocol.Emit):
            self._emitted_weight += frame.weight
            if self._emit("emit", frame.size, value=frame.value):
                size = max(frame.size, frame.weight // _WEIGHT_OF_A_BYTE)
                self._cut |= not self._logs.take_emitted(frame.value, size)
            else:
                self._logs.end_emitted(self._too_much())
        elif isinstance(frame, protocol.Progress):
            text = frame.text and frame.text[:_MAX_PROGRESS_TEXT]
            self._emit("progress", 0, done=frame.done, total=frame.total, text=text)
        elif isinstance(frame, protocol.Warn):
            self._warn(frame)

    def _log(self, frame: protocol.Log) -> None:
        record = self._logs.take(frame)
        if record is not None:
            self._events.append("log", level=record.level, message=record.message, attrs=record.attrs, line=frame.line)

    def _emit(self, name: str, size: int, **parts: object) -> bool:
        """Pass it on, and say whether there was room for that."""
        self._emits_left -= 1
        self._emitted_bytes += size
        much = max(self._emitted_bytes, self._emitted_weight // _WEIGHT_OF_A_BYTE)
        if self._emits_left < 0 or much > self._budgets.value_bytes:
            if not self._cut:
                self._events.append("truncated", message=self._too_much())
            self._cut = True
            return False
        self._events.append(name, **parts)
        return True

    def _too_much(self) -> str:
        if self._emits_left < 0:
            return f"more than {self._budgets.emit_events:,} events emitted: `emit_events`"
        return f"more than {self._budgets.value_bytes:,} bytes emitted: `value_bytes`"

    def _warn(self, frame: protocol.Warn) -> None:
        if len(self.warnings) < _MAX_WARNINGS:
            line = self.script.source_line(frame.line) if frame.line and self.script is not None else None
            self.warnings.append(
                Diagnostic(
                    kind=frame.kind,  # type: ignore[arg-type]
                    message=frame.message[:2000],
                    line=frame.line if line is not None else None,
                    source_line=line[:500] if line is not None else None,
                )
            )
