"""What a person is shown who decides about an execution, or reads one back: whose it is, what it had, its script.

What a script, a server or a caller wrote is in it as it was written: whoever shows it shows control characters as their
escapes.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, cast

from isolith.command_line.origins import read_origin
from isolith.journal.owners import is_gone
from isolith.json_form import to_json_text
from isolith_bindings.schema.quoting import one_line
from isolith_runtime.guest import codec

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, timedelta

    from isolith.journal.model import Call, Execution, Order

MAX_BEGINNING = 2_000
"""Characters of a script in which its first line is looked for."""
_MAX_LINE = 80
_MAX_INPUT = 4_000
_MAX_CALLS = 200
_ENDS = {
    "approved": "approved, not made yet",
    "started": "under way",
    "unknown": "unknown: it was under way when its host stopped",
    "reverting": "being undone",
    "reverted": "made, and undone since",
    "revert_failed": "it could not be undone",
    "revert_unknown": "unknown whether it was undone",
}
"""What became of a call, where its status alone does not say it to a person."""
_NEWLINE = re.compile(r"\r\n?|\n")
_PASSWORD = re.compile(r"(?<=://)[^/@\s]*@")
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def reviewed(execution: Execution, order: Order, waiting: Iterable[Call], now: datetime) -> list[str]:
    """Where an execution stands, and the script with the lines of the calls that wait."""
    calls = list(waiting)
    lines = [_standing(execution, now), *_left(execution, now), f"connected: {_connected(order.origin)}"]
    if order.input != "null":
        lines.append(f"input: {_cut(to_json_text(codec.loads(order.input)))}")
    lines += ["script:", *_script(order.script, {call.line for call in calls})]
    return lines + [_waits(call, now) for call in calls]


def listed_calls(calls: Iterable[Call]) -> list[str]:
    """A line for each call that does not wait: its number, its method, its line, and what became of it."""
    listed = [call for call in calls if call.status != "pending_approval"]
    more = len(listed) - _MAX_CALLS
    lines = [f"call {_called(call)}: {_ENDS.get(call.status, call.status)}" for call in listed[:_MAX_CALLS]]
    return lines + [f"and {more:,} more calls, which `--json` has"] * (more > 0)


def about(waiting: Iterable[Call], beginning: str) -> str:
    """What an execution is told from others by, on one line: the methods that wait, or its first line that says any."""
    methods = dict.fromkeys(f"{call.connector}.{call.method}" for call in waiting)
    return ", ".join(methods) or first_line(beginning)


def first_line(beginning: str) -> str:
    """The first line of a script that does something, cut: no comment, and an import only where there is no other."""
    lines = [line.strip() for line in _NEWLINE.split(beginning)]
    telling = [line for line in lines if line and not line.startswith(("#", "```"))]
    doing = [line for line in telling if not line.startswith(("import ", "from "))]
    return one_line(next(iter(doing or telling), ""), _MAX_LINE)


def _standing(execution: Execution, now: datetime) -> str:
    whose = f", for {execution.principal}" if execution.principal else ""
    session = f", session {execution.session}" if execution.session else ""
    begun = f"begun {execution.created_at:%Y-%m-%d %H:%M:%S} UTC ({_span(now - execution.created_at)} ago)"
    return f"execution {execution.execution_id}: {execution.status}, {begun}{whose}{session}"


def _left(execution: Execution, now: datetime) -> list[str]:
    """That nobody works on a run that is under way."""
    if execution.status != "running":
        return []
    until = execution.leased_until
    if execution.owner is not None and until is not None and until > now and not is_gone(execution.owner):
        return []
    return ["nobody works on it any more: `isolith executions retry` goes on with it from its journal"]


def _connected(origin: str) -> str:
    """What an origin names, as the flags that name it."""
    told = read_origin(origin) or {}
    if "within" in told:
        return f"what execution {told['within']} has, which calls it as a snippet"
    named = [("--connect", spec) for spec in cast("list[str]", told.get("connect") or [])]
    named += [(f"--{name}", cast("str", told[name])) for name in ("config", "policy") if told.get(name)]
    flags = " ".join(f"{flag} {shlex.quote(_PASSWORD.sub('***@', value))}" for flag, value in named)
    return flags or "what the host that began it has" * (not told) or "nothing"


def _script(script: str, waiting: set[int | None]) -> list[str]:
    lines = _NEWLINE.split(script.rstrip())
    return [f"{'>' if number in waiting else ' '}{number:>5} | {line}" for number, line in enumerate(lines, 1)]


def _waits(call: Call, now: datetime) -> str:
    what = f"call {_called(call)}, waits for a person"
    if call.expires_at is None:
        return what
    left = f"for {_span(call.expires_at - now)} yet" if call.expires_at > now else "which is over"
    return f"{what} until {call.expires_at:%Y-%m-%d %H:%M:%S} UTC, {left}"


def _called(call: Call) -> str:
    line = f" in line {call.line}" if call.line is not None else ""
    return f"{call.number}, {call.connector}.{call.method}{line}"


def _span(time: timedelta) -> str:
    seconds = max(0, int(time.total_seconds()))
    return next((f"{seconds // size} {unit}" for size, unit in _UNITS if seconds >= size), f"{seconds} s")


def _cut(text: str) -> str:
    rest = len(text) - _MAX_INPUT
    return text if rest <= 0 else f"{text[:_MAX_INPUT]}... ({rest:,} more characters)"
