"""The check before a run: what is certainly wrong ends it, what may be wrong is a warning of kind `check`.

A type checker only ever says what may be wrong, so the run does not wait for it: it looks at the script beside it, and
what it has found when the run ends is among the warnings.

The check is made on a thread of its own, because it takes the time of a parser, and its stack: text from a model could
nest so deep that the parser of this process would overrun a smaller one. What is no Python is left to the guest to say.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

from isolith.internal import internal_error
from isolith.outcome import Diagnostic
from isolith.run.normalize import Refused
from isolith.run.type_checker import RUN_TIMEOUT_S, type_checker, types_of
from isolith_bindings.check import Finding, Report, check, signature
from isolith_bindings.offering import offering
from isolith_runtime.threads import GuestThreads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from isolith.run.normalize import Prepared
    from isolith.run.type_checker import TypeChecker, Types
    from isolith_bindings.connector import Connector

CheckMode = Literal["off", "warn", "strict"]
"""`strict`: what is certainly wrong is refused before anything is called. `warn`: everything is a warning."""

_MOST_WARNINGS = 20
_T = TypeVar("_T")
_threads = GuestThreads(2, "isolith-check")
_type_threads = GuestThreads(2, "isolith-types")
"""Others, for these wait for a process."""


async def look(text: str, connectors: Mapping[str, Connector], *, settled: bool = False) -> Report:
    """The report on a script, made off the event loop. A bug of the check's own is logged, and reports nothing.

    `settled`: no run follows, so that what a server offers now is what counts.
    """
    return await _apart(_threads, partial(look_here, text, dict(connectors), settled=settled))


def _apart(threads: GuestThreads, work: Callable[[], _T]) -> asyncio.Future[_T]:
    """What a function that does not raise gives, on a thread; who stops waiting is not waited for either."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[_T] = loop.create_future()

    def settle(found: _T) -> None:
        if not answer.done():
            answer.set_result(found)

    def do() -> None:
        found = work()
        with suppress(RuntimeError):  # the loop is closed, perhaps just now: nobody waits any more
            loop.call_soon_threadsafe(settle, found)

    threads.submit(do)
    return answer


def look_here(text: str, connectors: Mapping[str, Connector], *, settled: bool = False) -> Report:
    """The same, on this thread, whose stack has to be large enough."""
    try:
        return check(text, connectors, settled=settled)
    except Exception as error:  # noqa: BLE001 - the border to the check: a run must not fail by it
        internal_error(error)
        return Report(looked=False)


def _in_time(ask: Callable[..., tuple[Finding, ...]], until: float) -> tuple[Finding, ...]:
    """What is said until then, the wait for a thread included: on a busy host nothing, rather than later and later."""
    left = until - time.monotonic()
    try:
        return ask(timeout_s=left) if left > 0 else ()
    except Exception as error:  # noqa: BLE001 - the border to the type checker: a run must neither fail by it nor wait
        internal_error(error)
        return ()


class Checking:
    """The check of one run."""

    def __init__(self, mode: CheckMode, connectors: Mapping[str, Connector], types: Types = "off") -> None:
        self._mode = mode
        self._connectors = connectors
        self._types: Types = types
        self._advice: list[Diagnostic] = []
        self._typed: asyncio.Future[tuple[Finding, ...]] | None = None
        self._script: Prepared | None = None

    async def judged(self, script: Prepared) -> Prepared | Refused:
        """The script, or why it is refused. What else there is to say of it is kept for `added`."""
        if self._mode == "off":
            return script
        report = await look(script.text, self._connectors)
        fatal = report.fatal if self._mode == "strict" else None
        findings = [finding for finding in report.findings if finding is not fatal and finding.kind != "syntax"]
        self._advice = [diagnostic(finding, script, warning=True) for finding in findings[:_MOST_WARNINGS]]
        if fatal is not None and fatal.kind != "syntax":
            return Refused(diagnostic(fatal, script, warning=False))
        if fatal is None and report.looked:
            self._ask_for_types(script, synchronous=report.synchronous)
        return script

    def _ask_for_types(self, script: Prepared, *, synchronous: bool) -> None:
        checker = of_a_run(self._types)
        if checker is not None:
            until = time.monotonic() + (RUN_TIMEOUT_S if self._types == "auto" else checker.timeout_s)
            ask = partial(types_of, script.text, dict(self._connectors), checker, synchronous=synchronous)
            self._script, self._typed = script, _apart(_type_threads, partial(_in_time, ask, until))

    async def settled(self) -> None:
        """Wait for a type checker that was asked, for as long as it may take."""
        if self._typed is None or self._script is None:
            return
        found, self._typed = await self._typed, None
        lines = {advice.line for advice in self._advice}
        more = [diagnostic(each, self._script, warning=True) for each in found]
        room = _MOST_WARNINGS - len(self._advice)
        self._advice += [each for each in more if each.line not in lines][:room]

    def added(self, said: Iterable[Diagnostic], error: Diagnostic | None) -> tuple[Diagnostic, ...]:
        """The warnings of a run with those of the check, without what the run itself has said of the same line."""
        said = tuple(said)
        lines = {warning.line for warning in said} | {error.line if error is not None else None}
        return (*said, *(advice for advice in self._advice if advice.line not in lines))

    def hinted(self, error: Diagnostic | None) -> Diagnostic | None:
        """How a run failed, with the check's own hint where it had said the same: it knows every tool and schema."""
        for advice in self._advice:
            if error and advice.hint and (advice.line, advice.message) == (error.line, error.message):
                return error.model_copy(update={"hint": advice.hint})
        if error is not None and error.kind == "invalid_arguments" and error.hint is None:
            return error.model_copy(update={"hint": self._signature(error.tool or "")})
        return error

    def _signature(self, tool: str) -> str | None:
        """That of a method, which the guest does not know: there are names there and nothing else."""
        name, _, path = tool.partition(".")
        connector = self._connectors.get(name)
        method = offering(connector).methods.get(path) if connector is not None else None
        return signature(method, tool) if method is not None else None


def of_a_run(types: Types) -> TypeChecker | None:
    """The type checker that is asked beside a run: with `auto` only one that is fast."""
    checker = type_checker(types)
    return checker if types != "auto" or (checker and checker.fast) else None


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
