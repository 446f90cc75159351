"""How a command reaches the runs in its journal, with the connectors that they were started with."""

from __future__ import annotations

import asyncio
import getpass
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from isolith.code_mode import CodeMode
from isolith.command_line import command
from isolith.command_line.kept_journal import chosen, existing_url, journal_url, link_key
from isolith.command_line.origins import read_origin
from isolith.configuration.connect import anchored
from isolith.durable.journals import open_journal
from isolith.errors import UsageError
from isolith.journal.errors import DigestMismatch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith.durable.durable_runs import DurableRuns
    from isolith.journal.journal import Journal

T = TypeVar("T")

Which = Annotated[str, typer.Argument(metavar="EXECUTION", help="Its id, or the beginning of it.")]
Call = Annotated[str, typer.Argument(metavar="CALL", help="The id of a pending call, or its number.")]
Executions = Annotated[list[str] | None, typer.Argument(metavar="EXECUTION", help="Their ids.", show_default="all")]
Who = Annotated[str | None, typer.Option("--who", metavar="NAME", show_default="the user", help="Who decides.")]
Stay = Annotated[bool, typer.Option("--no-continue", help="Only decide; leave it to others to go on.")]


def user() -> str:
    """Who decides, where nobody says."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "the command line"


def origin_of(specs: list[str] | None, configured: str | None, policy: str | None, *, pause: bool = False) -> str:
    """How the connectors of a run are found again: what was given, files by their whole path; whether servers ask."""
    return json.dumps(
        {
            **({"questions": "pause"} if pause else {}),
            "connect": [anchored(spec) for spec in specs or ()],
            "config": str(Path(configured).absolute()) if configured else None,
            "policy": anchored(policy) if policy else None,
            "folder": str(Path.cwd()),
        }
    )


def in_journal(use: Callable[[Journal], Awaitable[T]], *, begin: bool = False) -> T:
    """What `use` makes of the journal; `begin`: one that is named and not there is made."""

    async def once() -> T:
        async with await open_journal(journal_url() if begin else existing_url()) as journal:
            return await use(journal)

    return asyncio.run(once())


def with_code_mode(which: str, use: Callable[[CodeMode, str], Awaitable[T]], *, connected: bool = True) -> T:
    """What `use` makes of an execution, with the connectors it was started with."""

    async def once() -> T:
        async with await open_journal(existing_url()) as journal:
            execution_id = await find_execution(journal, which)
            origin = read_origin((await journal.executions.order(execution_id)).origin)
            async with code_mode_of(journal, origin if connected else None) as code_mode:
                try:
                    return await use(code_mode, execution_id)
                except DigestMismatch as error:
                    look = f"isolith executions show {execution_id}{chosen().flags}"
                    raise UsageError(f"{error}: `{look}`") from error

    with redirect_stdout(sys.stderr):
        return asyncio.run(once())


def with_runs(which: str, use: Callable[[DurableRuns, str], Awaitable[T]], *, connected: bool = True) -> T:
    """The same, of the runs."""

    async def within(code_mode: CodeMode, execution_id: str) -> T:
        return await use(await code_mode.runs(), execution_id)

    return with_code_mode(which, within, connected=connected)


async def find_execution(journal: Journal, which: str) -> str:
    """The id that begins so. Raises UsageError."""
    from isolith.journal import Filter  # noqa: PLC0415 - loads the database toolkit

    found = await journal.executions.find(Filter(limit=10_000))
    every = [execution.execution_id for execution in found if execution.execution_id.startswith(which)]
    ids = [each for each in every if each.rpartition(".")[0] not in every]  # those within a run are not meant
    if which in ids or len(ids) == 1:
        return which if which in ids else ids[0]
    what = f"{len(ids)} executions begin with" if ids else "no execution begins with"
    raise UsageError(f"{what} `{which}`: see `isolith executions list`")


def code_mode_of(journal: Journal, origin: dict[str, Any] | None) -> CodeMode:
    """With the connectors, the policy and the ceilings that an origin names; with none of them where there is none."""
    if origin is None:
        return CodeMode(journal=journal, tend=False, link_key=link_key)
    config = command.read_configuration(origin.get("config"))
    return CodeMode(
        command.connectors_of(origin.get("connect"), config),
        policy=command.policy_of(origin.get("policy"), config),
        ceilings=config.config.granted if config else None,
        journal=journal,
        origin=json.dumps(origin),
        tend=False,
        reverts=config.config.reverts if config else None,
        questions="pause" if origin.get("questions") == "pause" else None,
        link_key=link_key,
    )
