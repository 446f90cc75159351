"""`isolith executions verify`: whether the journal is as it was written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from isolith.command_line import command
from isolith.command_line.command import Json, guarded
from isolith.command_line.kept_journal import journalled
from isolith.command_line.kept_runs import Executions, find_execution, in_journal
from isolith.errors import UsageError
from isolith.journal.model import Head
from isolith.json_form import to_json_text

if TYPE_CHECKING:
    from isolith.journal.journal import Journal
    from isolith.journal.model import Finding
    from isolith.journal.records import Verification


@guarded
@journalled
def verify(
    execution: Executions = None,
    *,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="HEAD", help="What an earlier check printed and you kept elsewhere: nothing before it went."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Check that nobody has changed the journal behind its back. Ends with 1 if somebody has."""
    kept = [] if head is None else [_head(head)]

    async def use(journal: Journal) -> list[Verification]:
        ids: list[str | None] = [await find_execution(journal, each) for each in execution or ()]
        return [await journal.records.verify(each, kept) for each in ids or [None]]

    checks = in_journal(use)
    found = list(dict.fromkeys(finding for check in checks for finding in check.findings))
    terminal = command.terminal()
    if json:
        terminal.write(to_json_text(_verified(checks, found)))
    else:
        for finding in found:
            terminal.write(_said(finding))
    if found:
        raise typer.Exit(1)
    if not json:
        terminal.say("every record is as it was written")
        terminal.say(f"keep this where nobody who can write the journal can: --head {_head_text(checks)}")


def _verified(checks: list[Verification], found: list[Finding]) -> dict[str, object]:
    """As data. Nothing is to be kept of a journal that is not as it was written."""
    findings = [{"execution_id": one.stream or None, "record": one.seq, "message": one.message} for one in found]
    executions = sum(check.executions for check in checks)
    return {
        "ok": not found,
        "executions": executions,
        "findings": findings,
        "head": None if found else _head_text(checks),
    }


def _head_text(checks: list[Verification]) -> str:
    end = checks[-1].head
    return f"{end.seq}:{end.hash}"


def _said(found: Finding) -> str:
    where = f"execution {found.stream}" if found.stream else "the journal itself"
    return f"{where}{'' if found.seq is None else f', record {found.seq}'}: {found.message}"


def _head(text: str) -> Head:
    seq, _, noted = text.partition(":")
    if not seq.isdecimal() or not re.fullmatch("[0-9a-f]{64}", noted):
        raise UsageError("`--head` takes NUMBER:HASH, as `isolith executions verify` prints it")
    return Head("", int(seq), noted)
