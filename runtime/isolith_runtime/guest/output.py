"""`print`, `log`, `emit` and `progress`: what a script says while it runs.

A line crosses as soon as it is complete, so that it survives whatever ends the script. Past its budget a run
goes on and nothing more crosses; the host cuts at the same place, whatever the guest does.
"""

from __future__ import annotations

import io
from numbers import Number

from isolith_runtime.guest import channel, codec
from isolith_runtime.guest.where import script_line

_ATTRS_NODES = 1000


class Output:
    """What one run may still say, in bytes of text and in emitted values."""

    def __init__(self, log_bytes: int, emit_events: int) -> None:
        self.log_bytes = log_bytes
        self.emit_events = emit_events

    def line(self, level: str, message: str, attrs: dict[str, object] | None = None) -> None:
        """Send one log line, cut where the budget ends."""
        if self.log_bytes < 0:
            return
        cut = message[: self.log_bytes + 1]
        self.log_bytes -= len(cut) + 1
        safe = _attributes(attrs) if attrs else {}
        self.log_bytes -= len(codec.to_text(safe)) if safe else 0
        channel.send("log", level, _valid(cut), safe, script_line())
        channel.flush()

    def emit(self, value: object) -> None:
        """Send a value to whoever follows the run."""
        if self.emit_events >= 0:
            self.emit_events -= 1
            channel.send("emit", codec.encode(value))
            channel.flush()

    def progress(self, done: float, total: float | None = None, text: str | None = None) -> None:
        """Say how far the work is."""
        if not isinstance(done, Number) or not (total is None or isinstance(total, Number)):
            raise TypeError("progress(...) takes numbers first: how much is done, and of how much")
        if self.emit_events >= 0:
            self.emit_events -= 1
            channel.send("progress", float(done), None if total is None else float(total), text and _valid(str(text)))
            channel.flush()


# What Python's own errors call them.
Output.emit.__qualname__, Output.progress.__qualname__ = "emit", "progress"


def _valid(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _attributes(attrs: dict[str, object]) -> dict[str, object]:
    """Attributes as data; what has no data form, or is too much for a log line, becomes text."""
    safe: dict[str, object] = {}
    for key, value in attrs.items():
        name = _valid(key)
        try:
            safe[name] = codec.encode(value, max_nodes=_ATTRS_NODES)
            codec.to_text(safe[name])
        except (codec.NoDataForm, codec.TooLarge):
            safe[name] = _valid(value if isinstance(value, str) else repr(value)[:200])
    return safe


class Stream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr` of a script: every line is a log line."""

    def __init__(self, output: Output, level: str) -> None:
        self._output = output
        self._level = level
        self._rest: list[str] = []
        self._held = 0
        self.used = False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.used = True
        head, newline, tail = text.rpartition("\n")
        if not newline:
            if self._held <= self._output.log_bytes:
                self._rest.append(text[: self._output.log_bytes + 1])
                self._held += len(text)
            return len(text)
        if self._output.log_bytes >= 0:
            lines = ("".join(self._rest) + head[: self._output.log_bytes + 1]).split("\n")
            for line in lines:
                self._output.line(self._level, line)
        self._rest, self._held = ([tail], len(tail)) if tail else ([], 0)
        return len(text)

    def say(self, level: str, message: str, attrs: dict[str, object]) -> None:
        """A line of its own, of another level."""
        self.used = True
        self._output.line(level, message, attrs)

    def finish(self) -> None:
        """Send what was printed without a newline at its end."""
        if self._rest:
            self._output.line(self._level, "".join(self._rest))
            self._rest = []


class Log:
    """`log.info("text", **attributes)` and its levels."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def debug(self, message: object, /, **attrs: object) -> None:
        """Log at level debug."""
        self._output.line("debug", str(message), attrs)

    def info(self, message: object, /, **attrs: object) -> None:
        """Log at level info."""
        self._output.line("info", str(message), attrs)

    def warning(self, message: object, /, **attrs: object) -> None:
        """Log at level warning."""
        self._output.line("warning", str(message), attrs)

    warn = warning

    def error(self, message: object, /, **attrs: object) -> None:
        """Log at level error."""
        self._output.line("error", str(message), attrs)

    def __call__(self, message: object, /, **attrs: object) -> None:
        self.info(message, **attrs)
