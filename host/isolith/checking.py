"""The check before a run: what is certainly wrong ends it, what may be wrong is a warning of kind `check`.

It is made on a thread of its own, because it takes the time of a parser, and its stack: text from a model could nest so
deep that the parser of this process would overrun a smaller one. What is no Python is left to the guest to say.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from isolith.internal import internal_error
from isolith.normalize import Refused
from isolith.outcome import Diagnostic
from isolith_bindings.check import Finding, Report, check
from isolith_runtime.threads import GuestThreads

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isolith.normalize import Prepared
    from isolith_bindings.connector import Connector

CheckMode = Literal["off", "warn", "strict"]
"""`strict`: what is certainly wrong is refused before anything is called. `warn`: everything is a warning."""

_MOST_WARNINGS = 20
_threads = GuestThreads(2, "isolith-check")


async def look(text: str, connectors: Mapping[str, Connector]) -> Report:
    """The report on a script, made off the event loop. A bug of the check's own is logged, and reports nothing."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Report] = loop.create_future()
    known = dict(connectors)

    def settle(report: Report) -> None:
        if not answer.done():
            answer.set_result(report)

    def work() -> None:
        report = look_here(text, known)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, report)

    _threads.submit(work)
    return await answer


def look_here(text: str, connectors: Mapping[str, Connector]) -> Report:
    """The same, on this thread, whose stack has to be large enough."""
    try:
        return check(text, connectors)
    except Exception as error:  # noqa: BLE001 - the border to the check: a run must not fail by it
        internal_error(error)
        return Report(looked=False)


class Checking:
    """The check of one run."""

    def __init__(self, mode: CheckMode, connectors: Mapping[str, Connector]) -> None:
        self._mode = mode
        self._connectors = connectors
        self._advice: list[Diagnostic] = []

    async def judged(self, script: Prepared) -> Prepared | Refused:
        """The script, or why it is refused. What else there is to say of it is kept for `added`."""
        if self._mode == "off":
            return script
        report = await look(script.text, self._connectors)
        fatal = report.fatal if self._mode == "strict" else None
        findings = [finding for finding in report.findings if finding is not fatal and finding.kind != "syntax"]
        self._advice = [diagnostic(finding, script, warning=True) for finding in findings[:_MOST_WARNINGS]]
        if fatal is None or fatal.kind == "syntax":
            return script
        return Refused(diagnostic(fatal, script, warning=False))

    def added(self, said: Iterable[Diagnostic], error: Diagnostic | None) -> tuple[Diagnostic, ...]:
        """The warnings of a run with those of the check, without what the run itself has said of the same line."""
        said = tuple(said)
        lines = {warning.line for warning in said} | {error.line if error is not None else None}
        return (*said, *(advice for advice in self._advice if advice.line not in lines))


def diagnostic(finding: Finding, script: Prepared, *, warning: bool) -> Diagnostic:
    """A finding as a diagnostic, at the place in the user's own text."""
    source = script.source_line(finding.line)
    return Diagnostic(
        kind="check" if warning else finding.kind,
        message=finding.message,
        line=finding.line if source is not None else None,
        column=finding.column + script.column_offset(finding.line) if source is not None else None,
        source_line=source[:500] if source is not None else None,
        hint=finding.hint,
        tool=finding.tool and finding.tool[:400],
    )
