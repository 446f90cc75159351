"""An outcome for people: in colour and with types on a terminal, plain where it is piped.

The value goes to stdout and everything else to stderr. What a script wrote is shown, never obeyed: control characters
come out as their escapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, TextIO, cast

from rich.cells import cell_len
from rich.console import Console
from rich.pretty import Pretty
from rich.status import Status
from rich.table import Table
from rich.text import Text

from isolith.errors import UsageError
from isolith.json_form import to_json_text
from isolith.visible import visible, visible_in_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith.outcome import CallRecord, Diagnostic, Outcome, PendingCall, Usage

_EXCERPT = 100
_MOST_CALLS = 20
_STYLE = {"completed": "green", "failed": "red", "pending": "yellow", "error": "red", "warning": "yellow"}


class Progress:
    """One line on a terminal that says what is going on, from the first `show` to `stop`."""

    def __init__(self, console: Console) -> None:
        self._status = Status("", console=console) if console.is_terminal else None
        self._started = False

    def show(self, text: str) -> None:
        """Say what is going on now. Callable from any thread."""
        if self._status is not None:
            self._status.update(Text(visible(text)))
            if not self._started:
                self._started = True
                self._status.start()

    def stop(self) -> None:
        """Remove the line; a later `show` brings it back."""
        if self._status is not None and self._started:
            self._started = False
            self._status.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Terminal:
    """Where a command writes: results to `out`, the rest to `err`; each is a terminal or not by itself."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self.out = Console(file=out)
        self.err = Console(file=err)
        self.flags = ""
        """What the commands that answer have to be given to find the journal."""
        self.kept = False
        """Whether what is shown is kept in that journal."""
        self.listed = False
        """Whether the calls have been listed already."""

    def write(self, text: str) -> None:
        """One line of result, at once: as it is, but for control characters where a person looks at it.

        Raises UsageError where it cannot be written, as on a disk that is full; BrokenPipeError where nobody reads on.
        """
        shown = visible_in_json(text) if self.out.is_terminal else text
        try:
            self.out.file.write(f"{shown}\n")
            self.out.file.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise UsageError(f"the result cannot be written: {error.strerror}") from error

    def coloured(self, text: str, style: str) -> None:
        """One line of result, in a colour where a person looks at it."""
        if self.out.is_terminal:
            self.out.print(Text(visible(text), style), soft_wrap=True)
        else:
            self.write(text)

    def say(self, text: str, style: str = "") -> None:
        """One line beside the result."""
        self.err.print(Text(visible(text), style), soft_wrap=True)

    def outcome(self, outcome: Outcome) -> None:
        """Everything but the logs, which were shown while the script ran."""
        if outcome.ok:
            self.value(outcome.value)
            if outcome.holds_bytes and not self.out.is_terminal:
                self.say(f"the value is {outcome.value_type}: its bytes are written as base64", "dim")
        self._cut(outcome)
        for warning in outcome.warnings:
            self.diagnostic(warning, "warning")
        if outcome.error:
            self.diagnostic(outcome.error, "error")
        for made in outcome.calls:
            if made.completed_after_end:
                what = f"{made.connector}.{made.method} ({made.call_id})"
                self.say(f"{what} was done after it had been given up", "yellow")
        for call in outcome.pending:
            self.say(_pending(call), "yellow")
            self.say(_answers(call, self.flags), "cyan")
        if self.err.is_terminal:
            self._calls(() if self.listed else outcome.calls)
            self.say(" · ".join([outcome.value_type or outcome.status, *_usage(outcome.usage)]), "dim")

    def _cut(self, outcome: Outcome) -> None:
        """Where the whole of a value is that is shown in part."""
        whole = next((kept for kept in outcome.artifacts if kept.name == "value"), None)
        if not outcome.truncated or whole is None:
            return
        more = "`--value-tokens N` shows more"
        if self.kept:
            more = f"`isolith executions artifact {outcome.execution_id} {whole.handle}{self.flags}` writes it"
        self.say(f"the value is shown in part: all of it is {whole.bytes:,} bytes as JSON; {more}", "yellow")

    def value(self, value: object) -> None:
        """Text as it is, the rest as Python on a terminal and as JSON in a pipe."""
        if not self.out.is_terminal:
            self.write(value if isinstance(value, str) else to_json_text(value, indent=2))
        elif isinstance(value, str):
            self.out.print(Text(visible(value)), soft_wrap=True)
        else:
            self.out.print(Pretty(value, max_length=200, max_string=4_000, max_depth=20))

    def diagnostic(self, diagnostic: Diagnostic, level: str) -> None:
        """What happened, the line with a caret under the column, and the hint on a line of its own."""
        self.err.print(
            Text.assemble((f"{level}[{diagnostic.kind}]", f"bold {_STYLE[level]}"), f": {visible(diagnostic.message)}"),
            soft_wrap=True,
        )
        for line in _place(diagnostic):
            self.say(line, "dim")
        if diagnostic.hint:
            self.say(f"  hint: {diagnostic.hint}", "cyan")

    def finding(self, name: str, diagnostic: Diagnostic, level: str) -> None:
        """A diagnostic as the result of a command: where, what, and the hint."""
        place = ":".join(str(part) for part in (name, diagnostic.line, diagnostic.column) if part is not None)
        label = (f"{level}[{diagnostic.kind}]", f"bold {_STYLE[level]}")
        self.out.print(Text.assemble(f"{visible(place)}: ", label, f": {visible(diagnostic.message)}"), soft_wrap=True)
        lines = [(line, "dim") for line in _place(diagnostic)]
        if diagnostic.hint:
            lines.append((f"  hint: {diagnostic.hint}", "cyan"))
        for line, style in lines:
            self.out.print(Text(visible(line), style), soft_wrap=True)

    def log(self, record: Mapping[str, object]) -> None:
        """One line that the script logged or printed."""
        level = str(record.get("level", "info"))
        attrs = cast("Mapping[str, object]", record.get("attrs") or {})
        shown = [f"{name}={to_json_text(value)}" for name, value in attrs.items()]
        label = "" if level == "info" else f"{level}: "
        self.say(" ".join([f"{label}{record.get('message', '')}", *shown]), _STYLE.get(level, ""))

    def progress(self) -> Progress:
        """A line that moves while something takes time; nothing where nobody looks."""
        return Progress(self.err)

    def _calls(self, calls: tuple[CallRecord, ...]) -> None:
        table = Table.grid(padding=(0, 2))
        for call in calls[:_MOST_CALLS]:
            took = "" if call.duration_ms is None else _milliseconds(call.duration_ms)
            name = Text(visible(f"{call.connector}.{call.method}"))
            table.add_row(name, Text(call.status, _STYLE.get(call.status, "")), Text(took, justify="right"))
        if calls:
            self.err.print(table)
        if len(calls) > _MOST_CALLS:
            self.say(f"and {len(calls) - _MOST_CALLS:,} more calls", "dim")


def _place(diagnostic: Diagnostic) -> list[str]:
    """Where: the line's number, its text and a caret, as far as they are known."""
    if diagnostic.line is None:
        return [f"  in {diagnostic.tool}"] if diagnostic.tool else []
    if diagnostic.source_line is None:
        return [f"  line {diagnostic.line}" + (f", column {diagnostic.column}" if diagnostic.column else "")]
    text, before = _excerpt(diagnostic.source_line, diagnostic.column or 1)
    shown = [f"{diagnostic.line:>5} | {text}"]
    return shown if diagnostic.column is None else [*shown, f"      | {' ' * cell_len(before)}^"]


def _excerpt(line: str, column: int) -> tuple[str, str]:
    """The part of a line around its column, and what of that part stands before the column."""
    start = max(0, min(column - 1, len(line)) - _EXCERPT // 2) if len(line) > _EXCERPT else 0
    text, before = line[start : start + _EXCERPT], line[start : column - 1]
    ends = "…" * bool(start), "…" * (start + _EXCERPT < len(line))
    return _on_one_line(f"{ends[0]}{text}{ends[1]}"), _on_one_line(f"{ends[0]}{before}")


def _on_one_line(text: str) -> str:
    return visible(text).replace("\t", "    ").replace("\n", "\\n")


def _pending(call: PendingCall) -> str:
    arguments = ", ".join(f"{name}={to_json_text(value)}" for name, value in call.arguments.items())
    return f"waiting for an answer: {call.connector}.{call.method}({arguments}): {call.reason}"


def approve_command(call: PendingCall, flags: str) -> str:
    """What a person types to approve a pending call; `reject` takes the same. `flags`: where its journal is."""
    execution, _, number = call.call_id.rpartition(".")
    answer = " --answer JSON" if any(question.url is None for question in call.questions) else ""
    return f"isolith executions approve {execution} {number} --digest {call.digest[:12]}{answer}{flags}"


def _answers(call: PendingCall, flags: str) -> str:
    forms = [to_json_text(question.answer or {}) for question in call.questions if question.url is None]
    pages = [f"    visit {question.url}" for question in call.questions if question.url is not None]
    command = f"    {approve_command(call, flags)}    # or: reject"
    return "\n".join([*(f"    JSON by the schema {form}" for form in forms), *pages, command])


def _usage(usage: Usage) -> list[str]:
    calls = f"{usage.calls:,} call{'s' * (usage.calls != 1)}"
    memory = f"{usage.memory_bytes / 2**20:.0f} MiB"
    return [calls, f"{_milliseconds(usage.cpu_ms)} CPU", _milliseconds(usage.wall_ms), memory]


def _milliseconds(amount: float) -> str:
    if amount >= 10_000:
        return f"{amount / 1000:,.1f} s"
    return f"{amount:.0f} ms" if amount >= 10 else f"{amount:.1f} ms"
