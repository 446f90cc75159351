"""`isolith executions`: what ran, what waits for a person, and what is done about it.

An execution that was started from the command line remembers its connectors (`origin`), so that any later command can
go on with it.
"""

from __future__ import annotations

import asyncio
import getpass
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import typer

from isolith import command
from isolith.code_mode import CodeMode
from isolith.command import Json, guarded
from isolith.errors import UsageError
from isolith.folders import data_folder
from isolith.journal.statuses import EXECUTION_MOVES
from isolith.journals import open_journal
from isolith.json_form import to_json_text
from isolith.request import read_data
from isolith.run_command import Form, answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith.durable_runs import DurableRuns
    from isolith.journal.journal import Journal
    from isolith.journal.model import Execution
    from isolith.journal.statuses import ExecutionStatus
    from isolith.outcome import Outcome

T = TypeVar("T")

app = typer.Typer(help="What ran, what waits for a person, and what is done about it.", no_args_is_help=True)

Which = Annotated[str, typer.Argument(metavar="EXECUTION", help="Its id, or the beginning of it.")]
Call = Annotated[str, typer.Argument(metavar="CALL", help="The id of a pending call, or its number.")]
Who = Annotated[str | None, typer.Option("--who", metavar="NAME", help="Who decides. [the user]")]
Digest = Annotated[
    str | None, typer.Option("--digest", metavar="DIGEST", help="Of the arguments that were looked at: refuse others.")
]
Executions = Annotated[list[str] | None, typer.Argument(metavar="EXECUTION...", help="Their ids. [all]")]
Stay = Annotated[bool, typer.Option("--no-continue", help="Only decide; leave it to others to go on.")]


def journal_url() -> str:
    """Where the command line keeps its executions."""
    folder = data_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return f"sqlite:///{folder / 'journal.db'}"


def origin_of(specs: list[str] | None, configured: str | None, policy: str | None, *, pause: bool = False) -> str:
    """How the connectors of a run are found again: what was given, files by their whole path; whether servers ask."""
    return json.dumps(
        {
            **({"questions": "pause"} if pause else {}),
            "connect": [_absolute(spec) for spec in specs or ()],
            "config": str(Path(configured).absolute()) if configured else None,
            "policy": _absolute(policy) if policy else None,
            "folder": str(Path.cwd()),
        }
    )


def _absolute(spec: str) -> str:
    path = Path(spec)
    return str(path.absolute()) if path.exists() else spec


@app.command("list", epilog="Example: isolith executions list --status paused")
@guarded
def list_(
    *,
    status: Annotated[str | None, typer.Option(metavar="STATUS", help="Only those: paused, failed, ...")] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="How many, newest first.")] = 20,
    json: Json = False,
) -> None:
    """List executions, newest first."""

    async def use(journal: Journal) -> list[Execution]:
        from isolith.journal import Filter  # noqa: PLC0415 - loads the database toolkit

        statuses = None if status is None else (_status(status),)
        return await journal.executions.find(Filter(statuses=statuses, limit=limit))

    found = _in_journal(use)
    terminal = command.terminal()
    if json:
        terminal.write(to_json_text([_as_data(execution) for execution in found]))
        return
    for execution in found:
        waits = f", {execution.pending} pending" if execution.pending else ""
        terminal.write(f"{execution.execution_id}  {execution.created_at:%Y-%m-%d %H:%M:%S}  {execution.status}{waits}")
    if not found:
        terminal.say("no execution is kept here: those with connectors are, from `isolith run --connect ...`")


@app.command(epilog="Example: isolith executions show 4f2a --json")
@guarded
def show(execution: Which, *, json: Json = False) -> None:
    """Show how an execution ended, or where it stands."""

    async def use(runs: DurableRuns, execution_id: str) -> Outcome:
        return await runs.outcome(execution_id)

    outcome = _with_runs(execution, use, connected=False)
    _answer(outcome, json=json)


@app.command(epilog="Example: isolith executions approve 4f2a 2 --digest 9c1e")
@guarded
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
    who: Who = None,
    stay: Stay = False,
    json: Json = False,
) -> None:
    """Let a pending call be made, or answer what its server asks; where nothing is pending then, the run goes on."""
    edited = _object(arguments, "--arguments", "the arguments", "the call's arguments by name")
    said = _object(reply, "--answer", "the answer", "what the server asks for, by its schema")

    async def use(runs: DurableRuns, execution_id: str) -> Outcome:
        return await runs.decide(
            execution_id,
            call,
            "approve",
            who=who or user(),
            digest=digest,
            arguments=edited,
            answer=said,
            go_on=not stay,
        )

    _answer(_with_runs(execution, use), json=json)


@app.command(epilog="Example: isolith executions reject 4f2a 2 --reason 'not this customer'")
@guarded
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

    async def use(runs: DurableRuns, execution_id: str) -> Outcome:
        return await runs.decide(
            execution_id, call, "reject", who=who or user(), digest=digest, reason=reason, go_on=not stay
        )

    _answer(_with_runs(execution, use), json=json)


@app.command(epilog="Example: isolith executions resume 4f2a")
@guarded
def resume(execution: Which, *, json: Json = False) -> None:
    """Go on with a paused run whose calls are all decided."""
    _answer(_with_runs(execution, lambda runs, execution_id: runs.resume(execution_id)), json=json)


@app.command(epilog="Example: isolith executions retry 4f2a")
@guarded
def retry(execution: Which, *, json: Json = False) -> None:
    """Run one that failed, was cancelled or was left by its process again: what succeeded is not made again."""
    _answer(_with_runs(execution, lambda runs, execution_id: runs.retry(execution_id)), json=json)


@app.command(epilog="Example: isolith executions cancel 4f2a")
@guarded
def cancel(execution: Which, *, json: Json = False) -> None:
    """End a run that is paused."""
    outcome = _with_runs(execution, lambda runs, execution_id: runs.cancel(execution_id), connected=False)
    _answer(outcome, json=json)


@app.command(epilog="Example: isolith executions rollback 4f2a")
@guarded
def rollback(
    execution: Which,
    *,
    again: Annotated[
        bool, typer.Option("--again", help="Also undo calls of which nobody knows whether they were undone.")
    ] = False,
    json: Json = False,
) -> None:
    """Undo what an ended execution did, its last call first. Ends with 1 where something could not be undone."""
    outcome = _with_runs(execution, lambda runs, execution_id: runs.rollback(execution_id, again=again))
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
def export(execution: Executions = None) -> None:
    """Write what the journal has, one JSON document a line."""
    terminal = command.terminal()

    async def use(journal: Journal) -> None:
        ids = [(await find_execution(journal, each)) for each in execution or ()] or None
        async for line in journal.export(ids):
            terminal.write(line)

    _in_journal(use)


@app.command(epilog="Example: isolith executions verify")
@guarded
def verify(execution: Executions = None) -> None:
    """Check that nobody has changed the journal behind its back. Ends with 1 if somebody has."""

    async def use(journal: Journal) -> list[str]:
        ids: list[str | None] = [await find_execution(journal, each) for each in execution or ()]
        return [str(found) for each in ids or [None] for found in (await journal.records.verify(each)).findings]

    problems = _in_journal(use)
    terminal = command.terminal()
    for problem in problems:
        terminal.write(problem)
    if problems:
        raise typer.Exit(1)
    terminal.say("every record is as it was written")


def _object(text: str | None, option: str, what: str, holds: str) -> dict[str, object] | None:
    given = None if text is None else read_data(text, option, what)
    if given is not None and not isinstance(given, dict):
        raise UsageError(f"`{option}` takes a JSON object: {holds}")
    return cast("dict[str, object] | None", given)


def _status(name: str) -> ExecutionStatus:
    if name not in EXECUTION_MOVES:
        raise UsageError(f"there is no status `{name}`: there are {', '.join(EXECUTION_MOVES)}")
    return name


def _answer(outcome: Outcome, *, json: bool) -> None:
    answer(outcome, command.terminal(), Form.JSON if json else Form.PRETTY)
    raise typer.Exit(outcome.exit_code)


def user() -> str:
    """Who decides, where nobody says."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "the command line"


def _as_data(execution: Execution) -> dict[str, object]:
    return {
        "execution_id": execution.execution_id,
        "status": execution.status,
        "created_at": execution.created_at,
        "ended_at": execution.ended_at,
        "principal": execution.principal,
        "pending": execution.pending,
    }


def _in_journal(use: Callable[[Journal], Awaitable[T]]) -> T:
    async def once() -> T:
        async with await open_journal(journal_url()) as journal:
            return await use(journal)

    return asyncio.run(once())


def _with_runs(which: str, use: Callable[[DurableRuns, str], Awaitable[T]], *, connected: bool = True) -> T:
    """What `use` makes of an execution, with the connectors it was started with."""

    async def once() -> T:
        async with await open_journal(journal_url()) as journal:
            execution_id = await find_execution(journal, which)
            origin = json.loads((await journal.executions.order(execution_id)).origin)
            async with _code_mode(journal, origin if connected else None) as code_mode:
                return await use(await code_mode.runs(), execution_id)

    with redirect_stdout(sys.stderr):
        return asyncio.run(once())


async def find_execution(journal: Journal, which: str) -> str:
    """The id that begins so. Raises UsageError."""
    from isolith.journal import Filter  # noqa: PLC0415 - loads the database toolkit

    found = await journal.executions.find(Filter(limit=10_000))
    ids = [execution.execution_id for execution in found if execution.execution_id.startswith(which)]
    if which in ids or len(ids) == 1:
        return which if which in ids else ids[0]
    what = f"{len(ids)} executions begin with" if ids else "no execution begins with"
    raise UsageError(f"{what} `{which}`: see `isolith executions list`")


def _code_mode(journal: Journal, origin: dict[str, Any] | None) -> CodeMode:
    if origin is None:
        return CodeMode(journal=journal, tend=False)
    config = command.read_configuration(origin.get("config"))
    return CodeMode(
        command.connectors_of(origin.get("connect"), config),
        policy=command.policy_of(origin.get("policy"), config),
        ceilings=config.config.granted if config else None,
        journal=journal,
        tend=False,
        reverts=config.config.reverts if config else None,
        questions="pause" if origin.get("questions") == "pause" else None,
    )
