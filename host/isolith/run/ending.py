"""How an execution ended, decided from what is known of it. Pure.

A guest says what ended its script; which budget ended it is decided here, from the host's own meters, so a guest that
lies can name no cause it did not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith.outcome import Diagnostic, Kind, Status
from isolith.run.foreign import not_a_script
from isolith.run.fragments import fragment_hint
from isolith_runtime.driver import NOTHING_SPENT, Departure, Spent
from isolith_runtime.guest.keys import FLOOD
from isolith_runtime.isolate import End
from isolith_runtime.limits import Stop

if TYPE_CHECKING:
    from isolith.budgets import Budgets
    from isolith.run.normalize import Prepared
    from isolith_runtime.protocol import Failure

_CLAIMABLE: frozenset[str] = frozenset(
    {
        "syntax",
        "exception",
        "unknown_tool",
        "invalid_arguments",
        "invalid_result",
        "tool_error",
        "tool_timeout",
        "tool_unavailable",
        "denied",
        "rejected",
        "expired",
        "memory_exceeded",
        "output_exceeded",
        "recursion",
        "deadlock",
    }
)
"""The kinds a script can cause. The others are said by the host alone."""

ANSWERS = frozenset({"rejected", "expired"})
"""Those that say what a person did, and are the status of the run: so that a person was asked."""

_MAX_TEXT = 20_000

__all__ = [
    "ANSWERS",
    "NOTHING_SPENT",
    "Facts",
    "of_cancel",
    "of_departure",
    "of_divergence",
    "of_failure",
    "of_force",
    "of_rejection",
    "of_silence",
    "of_wall",
    "status_of",
]


@dataclass(frozen=True, slots=True)
class Facts:
    """What the host itself knows when a guest has failed or is gone."""

    budgets: Budgets
    spent: Spent
    calls_refused: bool
    """Whether a call was refused for want of budget."""
    internal_call: bool
    """Whether a call failed by a bug of ours."""
    answers: frozenset[str] = frozenset()
    """`rejected` and `expired`, where that became of a question to a person."""


def of_failure(failure: Failure, script: Prepared, facts: Facts) -> Diagnostic:
    """The diagnostic of a script that failed by its own exception."""
    kind = _kind(failure, facts)
    if kind == "syntax":
        foreign = not_a_script(script.text)
        if foreign is not None:
            return script.own_line(foreign)
    message, hint, line, column = failure.message, failure.hint, failure.line, failure.column
    if kind == "syntax":
        hint = hint or fragment_hint(script.text, failure.line)
    if kind == "cpu_exceeded":
        message, hint = _cpu_message(facts), _CPU_HINT
    elif kind == "memory_exceeded":
        message = f"the script needed more memory than its budget of {facts.budgets.memory_mb} MiB"
        if not failure.traceback and facts.spent.refused_line:  # it had no memory for a traceback either
            line, column = facts.spent.refused_line, None
    elif kind == "recursion" and failure.kind == "memory_exceeded":
        message, hint = "the text to compile is nested too deep to be parsed", _TOO_DEEP_HINT
    elif kind == "output_exceeded":
        message = f"{message}; `value_bytes` is {facts.budgets.value_bytes:,}"
    tool, retriable = failure.tool, failure.retriable
    return _at(script, line, column, kind, message, hint, tool=tool, retriable=retriable)


def _kind(failure: Failure, facts: Facts) -> Kind:
    if failure.kind == "interrupted":
        return "cpu_exceeded" if facts.spent.interrupted else "exception"
    if failure.kind == "calls_exceeded" and facts.calls_refused:
        return "calls_exceeded"
    if failure.kind == "memory_exceeded" and not facts.spent.memory_refused and _PARSER in failure.message:
        return "recursion"
    if failure.kind == "internal" and facts.internal_call:
        return "internal"
    if failure.kind in ANSWERS and failure.kind not in facts.answers:
        return "exception"
    return failure.kind if failure.kind in _CLAIMABLE else "exception"  # type: ignore[return-value]


_PARSER = "Parser stack overflowed"
"""What the MemoryError says that CPython raises where text for `eval`, `exec` or `ast.parse` is nested too deep."""

_TOO_DEEP_HINT = "split the expression into statements"


def of_departure(departure: Departure, script: Prepared, facts: Facts) -> Diagnostic:  # noqa: PLR0911 - one a cause
    """The diagnostic of a guest that is gone without a word of its script's end."""
    if departure.stop is Stop.CPU:
        return _at(script, departure.line, None, "cpu_exceeded", _cpu_message(facts), _CPU_HINT)
    if departure.end is End.FUEL:
        message = f"the script used all of its {facts.budgets.fuel:,} instructions (`fuel`)"
        return _at(script, departure.line, None, "cpu_exceeded", message, _CPU_HINT)
    if departure.end is End.STACK:
        message = "the script nested deeper than the stack of its isolate reaches"
        return _at(script, departure.line, None, "recursion", message, "use a loop, or a list as a stack")
    if facts.spent.interrupted:
        return _at(script, departure.line, None, "cpu_exceeded", _cpu_message(facts), _CPU_HINT)
    if departure.broken and facts.calls_refused:
        message = f"the script may make {facts.budgets.calls} calls, and {departure.broken}"
        return _at(script, departure.line, None, "calls_exceeded", message, "stop at the first call that is refused")
    if departure.broken == FLOOD:
        message = f"{FLOOD}, so it cannot leave the script"
        return _at(script, departure.line, None, "exception", message, "leave a list in its place: list(...)")
    if departure.broken:
        message = f"the script broke the channel between its isolate and the host: {departure.broken}"
        return _at(script, departure.line, None, "exception", message, "leave the interpreter's own modules alone")
    if facts.spent.memory_refused:
        message = f"the script needed more memory than its budget of {facts.budgets.memory_mb} MiB"
        line = facts.spent.refused_line or departure.line
        return _at(script, line, None, "memory_exceeded", message, "work on less at a time")
    message = "the script ended the interpreter it ran in"
    return _at(script, departure.line, None, "exception", message, "a script ends with its last expression or `return`")


def of_wall(script: Prepared, budgets: Budgets, waiting: tuple[str, int | None] | None, line: int | None) -> Diagnostic:
    """The diagnostic of a run whose time is over."""
    doing = f", waiting for {waiting[0]}" if waiting else ""
    message = f"the run took longer than its budget of {budgets.wall_s:g} s (`wall_s`){doing}"
    line = line or (waiting[1] if waiting else None)
    return _at(script, line, None, "wall_exceeded", message, "do less, or ask for more time")


def of_divergence(asked: str, recorded: str, *, begun_elsewhere: bool = False) -> Diagnostic:
    """The diagnostic of a replay that went another way than the journal: both sides.

    `begun_elsewhere`: in the guest of another version, which is not said to come to each timer at the same reading.
    """
    changed = "another version of the guest began it" if begun_elsewhere else "what it depends on has changed since"
    return Diagnostic(
        kind="diverged",
        message=f"run again, the script asked for {asked}, where the journal has {recorded}"[:_MAX_TEXT],
        hint=f"{changed}: start it anew, after a look at what its calls have done",
    )


def status_of(error: Diagnostic) -> Status:
    """The status of a run that this error ended."""
    return error.kind if error.kind in ("rejected", "expired", "cancelled") else "failed"


def of_force(
    why: Diagnostic | str | None,
    script: Prepared,
    budgets: Budgets,
    waiting: tuple[str, int | None] | None,
    line: int | None,
) -> Diagnostic:
    """The diagnostic of a run that was ended from outside: `wall_exceeded`, `silent`, a person's no, or `cancelled`."""
    if isinstance(why, Diagnostic):
        return why
    if why == "wall_exceeded":
        return of_wall(script, budgets, waiting, line)
    return of_silence(script) if why == "silent" else of_cancel(script, line)


def of_rejection(script: Prepared, line: int | None, message: str, tool: str) -> Diagnostic:
    """The diagnostic of a run that a person's no ended, as the rule that asked says."""
    return _at(script, line, None, "rejected", f"{message}; that ends the run", None, tool=tool)


def of_cancel(script: Prepared, line: int | None) -> Diagnostic:
    """The diagnostic of a run that was cancelled from outside."""
    return _at(script, line, None, "cancelled", "the run was cancelled from outside", None)


def of_silence(script: Prepared) -> Diagnostic:
    """The diagnostic of a guest that rests and waits for nothing: the script broke its interpreter."""
    message = "the script waits for something that can never happen"
    return _at(script, None, None, "deadlock", message, "no call and no timer is under way")


def _cpu_message(facts: Facts) -> str:
    used = facts.spent.cpu_ns / 1e6
    if used < facts.budgets.cpu_ms:
        left = f"what was left of its {facts.budgets.cpu_ms:,} ms of CPU (`cpu_ms`) after {used:,.0f} ms"
        return f"the script wrote more at a time than can be read in {left}"
    return f"the script used {used:,.0f} ms of CPU; its budget is {facts.budgets.cpu_ms:,} ms (`cpu_ms`)"


_CPU_HINT = "waiting is free, computing is not: do less, or let a connector do it"


def _at(  # noqa: PLR0913 - the parts of one diagnostic
    script: Prepared,
    line: int | None,
    column: int | None,
    kind: Kind,
    message: str,
    hint: str | None,
    *,
    tool: str | None = None,
    retriable: bool = False,
) -> Diagnostic:
    source = script.source_line(line) if line else None
    return Diagnostic(
        kind=kind,
        message=message[:_MAX_TEXT],
        line=line if source is not None else None,
        column=column + script.column_offset(line) if column and line and source is not None else None,
        source_line=source[:500] if source is not None else None,
        hint=hint[:_MAX_TEXT] if hint else None,
        tool=tool[:400] if tool else None,
        retriable=retriable,
    )
