"""`isolith executions`: what ran, what waits for a person, and what is done about it.

An execution that was started from the command line remembers its connectors (`origin`), so that any later command can
go on with it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path  # noqa: TC003 - Typer reads the annotations
from typing import TYPE_CHECKING, Annotated, cast

import typer

from isolith.approvals.command import (
    EVERYWHERE,
    HOW_LONG,
    WITH_APPROVAL,
    answered,
    counted,
    grants,
    link,
    redeem,
    said_of_cancellation,
    said_of_decisions,
    terms_of,
)
from isolith.budgets import Budgets
from isolith.command_line import command
from isolith.command_line.command import Json, guarded
from isolith.command_line.kept_artifacts import artifact_of, write_bytes
from isolith.command_line.kept_journal import journalled
from isolith.command_line.kept_runs import (
    Call,
    Executions,
    Stay,
    Which,
    Who,
    find_execution,
    in_journal,
    user,
    with_runs,
)
from isolith.command_line.request import read_data, read_script
from isolith.command_line.review import MAX_BEGINNING, about, first_line, listed_calls, reviewed
from isolith.command_line.run_command import Form, answer
from isolith.command_line.verify_command import verify
from isolith.durable.dry_replay import dry_replay
from isolith.durable.record import key_of
from isolith.errors import UsageError
from isolith.journal.statuses import EXECUTION_MOVES
from isolith.visible import visible
from isolith_bindings.search import SNIPPETS

if TYPE_CHECKING:
    from isolith.durable.durable_runs import DurableRuns
    from isolith.journal.journal import Journal
    from isolith.journal.model import Call as JournalCall
    from isolith.journal.model import Execution
    from isolith.journal.statuses import ExecutionStatus
    from isolith.outcome import Outcome

app = typer.Typer(help="What ran, what waits for a person, and what is done about it.", no_args_is_help=True)

Digest = Annotated[
    str | None, typer.Option("--digest", metavar="DIGEST", help="Of the arguments that were looked at: refuse others.")
]
_NOTHING = "no execution is kept here: those with connectors are, from `isolith run --connect ...`"


@app.command("list", epilog="Example: isolith executions list --status paused")
@guarded
@journalled
def list_(
    *,
    status: Annotated[str | None, typer.Option(metavar="STATUS", help="Only those: paused, failed, ...")] = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="How many, newest first.")] = 20,
    parts: Annotated[bool, typer.Option("--parts", help="Also what ran within others: snippets.")] = False,
    json: Json = False,
) -> None:
    """List executions, newest first."""
    wanted = None if status is None else _status(status)

    async def use(journal: Journal) -> tuple[list[_Listed], str]:
        from isolith.journal import Filter  # noqa: PLC0415 - loads the database toolkit

        statuses = None if wanted is None else (wanted,)
        found = await journal.executions.find(Filter(statuses=statuses, limit=limit, parts=parts))
        others = [] if found else await journal.executions.find(Filter(limit=1, parts=parts))
        return await _listed(journal, found), f"none is {wanted}" if others else _NOTHING

    found, nothing = in_journal(use)
    command.listed(found, _line, _as_data, nothing, json=json)


@app.command(epilog="Example: isolith executions show 4f2a --json")
@guarded
@journalled
def show(execution: Which, *, json: Json = False) -> None:
    """Show an execution: whose it is, its script, its calls, who decided what, how it ended or what it waits for."""

    async def use(runs: DurableRuns, execution_id: str) -> Outcome:
        return await runs.outcome(execution_id)

    async def look(runs: DurableRuns, execution_id: str) -> list[str]:
        calls = await runs.journal.calls.of(execution_id)
        stands, order = (
            await runs.journal.executions.get(execution_id),
            await runs.journal.executions.order(execution_id),
        )
        said = reviewed(stands, order, await runs.journal.approvals.pending(execution_id), datetime.now(UTC))
        said += listed_calls(calls) + said_of_decisions(calls, await runs.decisions(execution_id))
        said += said_of_cancellation(await runs.journal.cancellations.of(execution_id))
        parts = [call for call in calls if call.connector == SNIPPETS and call.attempts]
        return said + [f"{SNIPPETS}.{one.method} is a run of its own: executions show {key_of(one)}" for one in parts]

    terminal = command.terminal(together=True)
    for line in [] if json else with_runs(execution, look, connected=False):
        terminal.write(visible(line))
    terminal.listed = True
    outcome = with_runs(execution, use, connected=False)
    if outcome.ok and not json:
        terminal.write("value:")
    answered(outcome, json=json, terminal=terminal)


@app.command(epilog="Example: isolith executions approve 4f2a 2 --digest 9c1e0b7d21aa")
@guarded
@journalled
def approve(  # noqa: PLR0913 - one parameter a flag
    execution: Which,
    call: Call,
    *,
    arguments: Annotated[
        str | None, typer.Option("--arguments", metavar="JSON|@FILE", help="Send these in place of its own.")
    ] = None,
    reply: Annotated[
        str | None, typer.Option("--answer", metavar="JSON|@FILE", help="What its server asks for.")
    ] = None,
    digest: Digest = None,
    uses: WITH_APPROVAL = None,
    lasts: HOW_LONG = "1h",
    everywhere: EVERYWHERE = False,
    who: Who = None,
    stay: Stay = False,
    json: Json = False,
) -> None:
    """Let a pending call be made, or answer what its server asks; where nothing is pending then, the run goes on."""
    edited = _object(arguments, "--arguments", "the arguments", "the call's arguments by name")
    grant = terms_of(uses, lasts, everywhere=everywhere)
    said = _object(reply, "--answer", "the answer", "what the server asks for, by its schema")
    by = who or user()

    async def use(runs: DurableRuns, execution_id: str) -> Outcome:
        return await runs.decide(
            execution_id,
            call,
            "approve",
            who=by,
            digest=digest,
            arguments=edited,
            answer=said,
            grant=grant,
            go_on=not stay,
            made=counted(call, "approved" if said is None else "answered", by, json=json),
        )

    answered(with_runs(execution, use), json=json)


@app.command(epilog="Example: isolith executions reject 4f2a 2 --reason 'not this customer'")
@guarded
@journalled
def reject(  # noqa: PLR0913 - one parameter a flag
    execution: Which,
    call: Call,
    *,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="What the script is told.")] = None,
    digest: Digest = None,
    who: Who = None,
    stay: Stay = False,
    json: Json = False,
) -> None:
    """Refuse a pending call; where nothing is pending then, the run goes on."""
    by = who or user()
    made = counted(call, "rejected", by, json=json)

    async def use(runs: DurableRuns, execution_id: str) -> Outcome:
        return await runs.decide(
            execution_id, call, "reject", who=by, digest=digest, reason=reason, go_on=not stay, made=made
        )

    answered(with_runs(execution, use), json=json)


@app.command(epilog="Example: isolith executions resume 4f2a")
@guarded
@journalled
def resume(execution: Which, *, json: Json = False) -> None:
    """Go on with a paused run whose calls are all decided."""
    answered(with_runs(execution, lambda runs, execution_id: runs.resume(execution_id)), json=json)


@app.command(epilog="Example: isolith executions retry 4f2a")
@guarded
@journalled
def retry(execution: Which, *, json: Json = False) -> None:
    """Run one that failed, was cancelled or was left by its process again: what succeeded is not made again."""
    answered(with_runs(execution, lambda runs, execution_id: runs.retry(execution_id)), json=json)


@app.command(epilog="Example: isolith executions replay 4f2a --script with_more_prints.py")
@guarded
@journalled
def replay(
    execution: Which,
    *,
    script: Annotated[
        str | None, typer.Option(metavar="FILE", help="Run this instead: the same, with something printed, say.")
    ] = None,
    json: Json = False,
) -> None:
    """Run it once more against what its calls were answered, to see what it did: nothing is called, nothing is kept."""
    text = None if script is None else read_script(script, Budgets().script_bytes).decode(errors="replace")
    outcome = with_runs(execution, lambda runs, execution_id: dry_replay(runs, execution_id, text))
    for line in () if json else outcome.logs:
        command.terminal().log(line.model_dump())
    answered(outcome, json=json)


@app.command(epilog="Example: isolith executions artifact 4f2a data.csv --output data.csv")
@guarded
@journalled
def artifact(
    execution: Which,
    handle: Annotated[str, typer.Argument(metavar="HANDLE", help="Its handle, the beginning of it, or its name.")],
    *,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it there, in place of stdout.")] = None,
) -> None:
    """Write the bytes of an artifact, as `show --json` lists them; `value` is a value that was not shown whole."""

    async def use(journal: Journal) -> bytes:
        return await artifact_of(journal, await find_execution(journal, execution), handle)

    write_bytes(in_journal(use), output, command.terminal())


@app.command(epilog="Example: isolith executions cancel 4f2a")
@guarded
@journalled
def cancel(execution: Which, *, who: Who = None, json: Json = False) -> None:
    """End a run that is paused, or ask the process that runs it to; the journal keeps who did."""
    by = who or user()
    outcome = with_runs(execution, lambda runs, execution_id: runs.cancel(execution_id, who=by), connected=False)
    answered(outcome, json=json)


@app.command(epilog="Example: isolith executions rollback 4f2a")
@guarded
@journalled
def rollback(
    execution: Which,
    *,
    again: Annotated[
        bool, typer.Option("--again", help="Also undo calls of which nobody knows whether they were undone.")
    ] = False,
    json: Json = False,
) -> None:
    """Undo what an ended execution did, its last call first. Ends with 1 where something could not be undone."""
    outcome = with_runs(execution, lambda runs, execution_id: runs.rollback(execution_id, again=again))
    terminal = command.terminal()
    if json:
        answer(outcome, terminal, Form.JSON)
    else:
        for call in reversed(outcome.calls):
            why = f": {call.error.message}" if call.error else ""
            terminal.write(f"{call.call_id}  {call.connector}.{call.method}  {call.status}{why}")
        for warning in outcome.warnings:
            terminal.say(warning.message)
    raise typer.Exit(0 if outcome.status == "rolled_back" else 1)


@app.command(epilog="Example: isolith executions export > executions.jsonl")
@guarded
@journalled
def export(execution: Executions = None) -> None:
    """Write what the journal has, one JSON document a line."""
    terminal = command.terminal()

    async def use(journal: Journal) -> None:
        ids = [(await find_execution(journal, each)) for each in execution or ()] or None
        async for line in journal.export(ids):
            terminal.write(line)

    in_journal(use)


def _object(text: str | None, option: str, what: str, holds: str) -> dict[str, object] | None:
    given = None if text is None else read_data(text, option, what)
    if given is not None and not isinstance(given, dict):
        raise UsageError(f"`{option}` takes a JSON object: {holds}")
    return cast("dict[str, object] | None", given)


def _status(name: str) -> ExecutionStatus:
    if name not in EXECUTION_MOVES:
        raise UsageError(f"there is no status `{name}`: there are {', '.join(EXECUTION_MOVES)}")
    return name


@dataclass(frozen=True)
class _Listed:
    """An execution, what it is told from others by, and the calls of it that wait."""

    execution: Execution
    beginning: str
    waiting: tuple[JournalCall, ...]


async def _listed(journal: Journal, found: list[Execution]) -> list[_Listed]:
    waiting = await journal.approvals.pending() if any(one.pending for one in found) else []
    beginnings = await journal.executions.beginnings([one.execution_id for one in found], MAX_BEGINNING)
    by_id: defaultdict[str, list[JournalCall]] = defaultdict(list)
    for call in waiting:
        by_id[call.execution_id].append(call)
    return [_Listed(one, beginnings.get(one.execution_id, ""), tuple(by_id.get(one.execution_id, ()))) for one in found]


def _line(one: _Listed) -> str:
    execution = one.execution
    waits = f", {execution.pending} pending" if execution.pending else ""
    stands = f"{execution.execution_id}  {execution.created_at:%Y-%m-%d %H:%M:%S}  {execution.status}{waits}"
    return visible(f"{stands}  {about(one.waiting, one.beginning)}").rstrip()


def _as_data(one: _Listed) -> dict[str, object]:
    execution = one.execution
    return {
        "execution_id": execution.execution_id,
        "status": execution.status,
        "created_at": execution.created_at,
        "ended_at": execution.ended_at,
        "principal": execution.principal,
        "session": execution.session,
        "pending": execution.pending,
        "waits_for": [f"{call.connector}.{call.method}" for call in one.waiting],
        "expires_at": min((call.expires_at for call in one.waiting if call.expires_at is not None), default=None),
        "first_line": first_line(one.beginning),
    }


app.add_typer(grants, name="grants", epilog="Example: isolith executions grants list")
app.command(epilog="Example: isolith executions link 4f2a 2 --to ada@example.com --for 1d")(link)
app.command(epilog="Example: isolith executions redeem LINK")(redeem)
app.command(epilog="Example: isolith executions verify --head 12:9c1e...")(verify)
