"""Pure: what the command line adds to how a run failed, because it alone knows the flag that mends it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isolith.outcome import Diagnostic, Kind, Outcome

NOTHING_CONNECTED = "nothing is connected: say what the script calls with `--connect FILE`, or `--config FILE`"
_NO_INPUT = "`input` is None, for none was given: give it with `--input JSON` or `--input @FILE`"

_FLAGS: dict[Kind, str] = {
    "cpu_exceeded": "--cpu-ms N",
    "wall_exceeded": "--timeout SECONDS",
    "memory_exceeded": "--memory-mb N",
    "calls_exceeded": "--max-calls N",
    "output_exceeded": "--max-output-bytes N",
}
_UNKNOWN_NAME = re.compile(r"NameError: name '(\w+)' is not defined$")
_OF_NONE = re.compile(r"(Type|Attribute)Error: .*'NoneType' object")
_INPUT = re.compile(r"\binput\s*[.\[]|\bin\s+input\b")


def hinted(outcome: Outcome, *, connected: bool, given: bool, fuel: bool) -> Outcome:
    """The outcome, with what would mend it.

    `connected`: whether anything was to be called. `given`: whether there was an input. `fuel`: whether instructions
    are counted, in place of CPU time.
    """
    error = outcome.error
    if error is None:
        return outcome
    hint = _of_budget(error, fuel=fuel) or error.hint or _of_absence(error, connected, given)
    told = error if hint == error.hint else error.model_copy(update={"hint": hint})
    return outcome if told is error else outcome.model_copy(update={"error": told})


def _of_budget(error: Diagnostic, *, fuel: bool) -> str | None:
    """The flag of the budget that ended it; nothing for the calls of one connector, which have none."""
    flag = _FLAGS.get(error.kind)
    if flag is None or (error.kind == "calls_exceeded" and "this run may make" not in error.message):
        return None
    flag = "--fuel N" if fuel and error.kind == "cpu_exceeded" else flag
    return f"{error.hint}; or give it more with `{flag}`" if error.hint else f"give it more with `{flag}`"


def _of_absence(error: Diagnostic, connected: bool, given: bool) -> str | None:  # noqa: FBT001 - as above
    """What a name or an input that is not there is about; only where the line itself shows that it was meant."""
    line, name = error.source_line or "", _UNKNOWN_NAME.match(error.message)
    if not connected and name and re.search(rf"\b{name[1]}\s*\.", line):
        return NOTHING_CONNECTED
    if not given and _OF_NONE.match(error.message) and _INPUT.search(line):
        return _NO_INPUT
    return None
