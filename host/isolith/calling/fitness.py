"""Whether a call that waits could still be made, as its method is by now: what would be refused decides nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from isolith.calling.call_variants import resolve_call
from isolith.calling.use import HOST_SHOWN
from isolith.calling.waiting import sent
from isolith.errors import UsageError
from isolith.run import gradual
from isolith.run.readiness import PATIENCE_S
from isolith_bindings.availability import why_absent
from isolith_bindings.beside import beside_where_much
from isolith_bindings.connector import Checks
from isolith_bindings.errors import CallError
from isolith_bindings.policy import ungoverned
from isolith_bindings.search import SNIPPETS
from isolith_bindings.secrets import MASK
from isolith_runtime import protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isolith.journal.model import Call
    from isolith_bindings.catalog import Catalog
    from isolith_bindings.connector import Connector, Method


async def refuse_unfit(catalog: Catalog, call: Call, edited: dict[str, object] | None) -> None:
    """Raises UsageError where a yes would be to a call that its method refuses now: with these arguments, or its own.

    A server is started for it, as it would be for the call, since what it takes is known only then; while it cannot be
    reached, nothing is decided either. What is not connected here is not judged. Of arguments plain data alone is: a
    handle is checked by the run that has what is behind it.
    """
    connector = catalog.connectors.get(call.connector)
    if connector is not None:
        await _refuse_absent(connector)
    arguments = sent(call) if edited is None else edited
    try:
        text = json.dumps(arguments)
    except (TypeError, ValueError):
        return
    problem = await beside_where_much(arguments, lambda: _problem(catalog, call, arguments))
    if problem is None:
        return
    told = f"and waits on: {problem}{f' ({problem.hint})' if problem.hint else ''}"
    if edited is not None:
        raise UsageError(f"the call cannot be made with these arguments, {told}")
    if problem.kind == "unknown_tool":
        raise UsageError(f"the call cannot be made any more, {told}; reject it")
    if problem.kind == "tool_unavailable":
        raise UsageError(f"the call cannot be made here now, {told}; try again when it can, or reject it")
    # Where a secret was in its own, the journal has a mask, and nobody knows here what it stands for.
    if problem.kind == "invalid_arguments" and MASK not in text:
        mend = "approve it with other arguments (`--arguments`), or reject it" if call.question is None else "reject it"
        raise UsageError(f"the call cannot be made as it is any more, {told}; {mend}")


def refuse_without_connectors(catalog: Catalog, calls: Iterable[Call]) -> None:
    """Raises UsageError where a run cannot go on here: what it has called, or waits to call, is not connected.

    To go on all the same would end it, with whatever people have said about it.
    """
    known = {HOST_SHOWN, SNIPPETS, *catalog.connectors}
    needed = {call.connector for call in calls if call.status in _NEEDED}
    missing = ", ".join(f"`{name}`" for name in sorted(needed - known))
    if missing:
        message = f"the run needs {missing}, which this process has not connected"
        raise UsageError(f"{message}: nothing was decided or run; do it where that is connected, or cancel the run")


_NEEDED = frozenset({"pending_approval", "approved", "started", "unknown", "completed"})
"""Calls of these are, or will be, asked for; one that was refused may have been of what never was."""


async def _refuse_absent(connector: Connector) -> None:
    await gradual.known({connector.name: connector}, connector.name, PATIENCE_S)
    why = why_absent(connector)
    if why is not None:
        message = f"the call cannot be made now, and waits on: {connector.name} is not there: {why}"
        raise UsageError(f"{message}; try again when it is, or reject the call")


def _problem(catalog: Catalog, call: Call, arguments: Mapping[str, object]) -> CallError | None:
    """Why it would be refused, where that can be said without making it."""
    frame = protocol.Call(call.number, call.connector, call.method, {}, call.line, 0)
    try:
        connector, method, variant = resolve_call(catalog, frame)
    except CallError as error:
        return error if call.connector in catalog.connectors else None
    return None if variant == "pages" else _refusal(ungoverned(connector), method, arguments)


def _refusal(connector: Connector, method: Method, arguments: Mapping[str, object]) -> CallError | None:
    if isinstance(connector, Checks):
        try:
            connector.check(method, arguments)
        except CallError as error:
            return error
    return None
