"""`isolith executions grants|link|redeem`: a yes ahead of time, and a link that decides one call."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from isolith.approvals.grants import Grants
from isolith.approvals.links import read, token_in
from isolith.approvals.terms import GrantTerms, read_duration
from isolith.command_line import command, kept_journal, kept_runs
from isolith.command_line.command import Json, guarded
from isolith.command_line.kept_journal import journalled
from isolith.command_line.kept_runs import Call, Stay, Which, Who, in_journal, user, with_code_mode
from isolith.command_line.run_command import Form, answer
from isolith.errors import UsageError
from isolith.json_form import to_json_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith.code_mode import CodeMode
    from isolith.command_line.terminal import Terminal
    from isolith.journal.cancellations import Cancellation
    from isolith.journal.journal import Journal
    from isolith.journal.model import Call as JournalCall
    from isolith.journal.model import Decision, Grant, Verdict
    from isolith.outcome import Outcome

grants = typer.Typer(help="Calls that are made without a question: so many, until some time.", no_args_is_help=True)

For = Annotated[str, typer.Option("--for", metavar="TIME", help="How long it holds: 30m, 1h, 7d.")]
WITH_APPROVAL = Annotated[
    int | None, typer.Option("--grant", metavar="N", help="And let N more calls of this method be made unasked.")
]
HOW_LONG = Annotated[str, typer.Option("--for", metavar="TIME", help="How long the grant holds: 30m, 1h, 7d.")]
EVERYWHERE = Annotated[
    bool, typer.Option("--everywhere", help="The grant is for every execution of the same principal, not this one.")
]


def terms_of(uses: int | None, lasts: str, *, everywhere: bool) -> GrantTerms | None:
    """The grant that an approval gives. Raises UsageError."""
    if uses is None:
        if everywhere:
            raise UsageError("`--everywhere` is about `--grant N`, which is not given")
        return None
    return GrantTerms(uses, read_duration(lasts, "--for"), everywhere)


# grants


@grants.command("list", epilog="Example: isolith executions grants list")
@guarded
@journalled
def list_(
    *,
    spent: Annotated[bool, typer.Option("--spent", help="Also those used up, over or revoked.")] = False,
    json: Json = False,
) -> None:
    """List the grants that hold: for what, how often and until when yet, and who gave them."""

    async def use(journal: Journal) -> list[Grant]:
        return await journal.grants.find(spent=spent)

    found = in_journal(use)
    nothing = "no grant holds now: `isolith executions approve EXECUTION CALL --grant N --for 1h` gives one"
    command.listed(found, _line, _as_data, nothing, json=json)


@grants.command(epilog="Example: isolith executions grants give bank.pay --uses 5 --for 1h")
@guarded
@journalled
def give(  # noqa: PLR0913 - one parameter a flag
    method: Annotated[str, typer.Argument(metavar="CONNECTOR.METHOD", help="bank.pay, or 'bank.*' for all of bank.")],
    *,
    uses: Annotated[int, typer.Option("--uses", metavar="N", help="How many calls.")],
    lasts: For = "1h",
    principal: Annotated[
        str | None, typer.Option(metavar="NAME", help="In whose executions.", show_default="anybody's")
    ] = None,
    execution: Annotated[
        str | None, typer.Option(metavar="EXECUTION", help="In this one only.", show_default="in any")
    ] = None,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why; kept with it.")] = None,
    who: Who = None,
    json: Json = False,
) -> None:
    """Let calls of a method be made without a question. What waits already still waits."""
    holds = read_duration(lasts, "--for")

    async def use(journal: Journal) -> Grant:
        within = None if execution is None else await kept_runs.find_execution(journal, execution)
        return await _grants(journal).give(
            method,
            uses=uses,
            lasts=holds,
            who=who or user(),
            principal=principal,
            execution_id=within,
            reason=reason,
        )

    _told(in_journal(use, begin=True), json=json)


@grants.command(epilog="Example: isolith executions grants revoke grant_5qX")
@guarded
@journalled
def revoke(
    grant: Annotated[str, typer.Argument(metavar="GRANT", help="Its id, or the beginning of it.")],
    *,
    who: Who = None,
    json: Json = False,
) -> None:
    """Take a grant back: it covers nothing from now on."""

    async def use(journal: Journal) -> Grant:
        return await _grants(journal).revoke(grant, who=who or user())

    _told(in_journal(use), json=json)


def _grants(journal: Journal) -> Grants:
    async def opened() -> Journal:
        return journal

    return Grants(opened)


def _told(grant: Grant, *, json: bool) -> None:
    terminal = command.terminal()
    terminal.write(to_json_text(_as_data(grant)) if json else _line(grant))


def _line(grant: Grant) -> str:
    whom = "anybody's executions" if grant.principal is None else f"executions of {grant.principal}"
    where = whom if grant.execution_id is None else f"execution {grant.execution_id}"
    left = f"revoked by {grant.revoked_by}" if grant.revoked_by else f"{grant.uses_left:,} left"
    why = f": {grant.reason}" if grant.reason else ""
    until = f"until {grant.expires_at:%Y-%m-%d %H:%M:%S} UTC"
    return f"{grant.grant_id}  {grant.connector}.{grant.method}  {left}  {until}  in {where}  by {grant.who}{why}"


def _as_data(grant: Grant) -> dict[str, object]:
    return {
        "grant_id": grant.grant_id,
        "method": f"{grant.connector}.{grant.method}",
        "uses_left": grant.uses_left,
        "expires_at": grant.expires_at,
        "who": grant.who,
        "created_at": grant.created_at,
        "principal": grant.principal,
        "execution_id": grant.execution_id,
        "reason": grant.reason,
        "revoked_by": grant.revoked_by,
    }


# links


@guarded
@journalled
def link(  # noqa: PLR0913 - one parameter a flag
    execution: Which,
    call: Call,
    *,
    who: Annotated[str, typer.Option("--to", metavar="NAME", help="Who decides with it; send it to nobody else.")],
    reject: Annotated[
        bool, typer.Option("--reject", help="It rejects the call.", show_default="it approves it")
    ] = False,
    lasts: For = "1d",
    base: Annotated[str | None, typer.Option("--base", metavar="URL", help="Write it as a URL below this one.")] = None,
    json: Json = False,
) -> None:
    """Make a link that decides one pending call, once: bound to its arguments as they are now, signed, and expiring."""
    holds = read_duration(lasts, "--for")
    verdict: Verdict = "reject" if reject else "approve"

    async def use(code_mode: CodeMode, execution_id: str) -> str:
        return await code_mode.links.make(execution_id, call, verdict, who=who, lasts=holds)

    token = with_code_mode(execution, use, connected=False)
    made = read(token, kept_journal.link_key(), datetime.now(UTC))
    text = token if base is None else f"{base.rstrip('/')}/{token}"
    terminal = command.terminal()
    if json:
        told = {"link": text, "token": token, "call_id": made.call_id, "digest": made.digest, "verdict": verdict}
        terminal.write(to_json_text({**told, "who": who, "expires_at": made.expires_at}))
        return
    terminal.write(text)
    does = "approves" if verdict == "approve" else "rejects"
    terminal.say(f"{does} call {made.call_id} in the name of {who}, once, until {made.expires_at:%Y-%m-%d %H:%M} UTC")
    if base is None:
        terminal.say(f"    isolith executions redeem LINK{kept_journal.chosen().flags}")


@guarded
@journalled
def redeem(
    given: Annotated[str, typer.Argument(metavar="LINK", help="The link, or the token at the end of it.")],
    *,
    look: Annotated[bool, typer.Option("--look", help="Only show what it would decide.")] = False,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="What the script is told of a rejection.")] = None,
    stay: Stay = False,
    json: Json = False,
) -> None:
    """Decide the call of a link as it says; where nothing is pending then, the run goes on."""
    made = read(token_in(given), kept_journal.link_key(), datetime.now(UTC))
    if look:
        shown = with_code_mode(made.execution_id, lambda code_mode, _: code_mode.links.look(given), connected=False)
        command.terminal().write(f"{made.verdict}: {shown.call.connector}.{shown.call.method}({shown.call.arguments})")
        return

    async def use(code_mode: CodeMode, _execution_id: str) -> Outcome:
        return await code_mode.links.redeem(given, reason=reason, go_on=not stay)

    answered(with_code_mode(made.execution_id, use), json=json)


# what is told


def counted(call: str, verdict: str, who: str, *, json: bool) -> Callable[[], object] | None:
    """What is told when an answer counts, before the run goes on: that may take its time, and fail."""
    number = call.rpartition(".")[2]
    return None if json else lambda: command.terminal().say(f"call {number} is {verdict} by {who}")


def answered(outcome: Outcome, *, json: bool, terminal: Terminal | None = None) -> None:
    """The outcome, and the exit code of it. `terminal`: where it goes, if not to the streams of this process."""
    terminal = terminal or command.terminal()
    terminal.flags, terminal.kept = kept_journal.chosen().flags, True
    answer(outcome, terminal, Form.JSON if json else Form.PRETTY)
    if outcome.status == "paused" and not outcome.pending and not json:
        resume = f"isolith executions resume {outcome.execution_id}{terminal.flags}"
        terminal.say(f"it waits for nobody any more: `{resume}` goes on with it")
    raise typer.Exit(outcome.exit_code)


def said_of_decisions(calls: list[JournalCall], decisions: list[Decision]) -> list[str]:
    """Who decided what, when, and under which grant."""
    names = {call.number: f"{call.connector}.{call.method}" for call in calls}
    said: list[str] = []
    for decision in decisions:
        past = {"approve": "approved", "reject": "rejected", "expire": "expired"}[decision.verdict]
        under = f" under {decision.grant_id}" if decision.grant_id else ""
        why = f": {decision.reason}" if decision.reason else ""
        edit = ", with other arguments" if decision.arguments else ""
        by = f"{past} by {decision.who} at {decision.at:%Y-%m-%d %H:%M:%S} UTC"
        said.append(f"{names[decision.number]} ({decision.number}) {by}{edit}{under}{why}")
    return said


def said_of_cancellation(cancellation: Cancellation | None) -> list[str]:
    """Who asked that it ends, and when."""
    if cancellation is None:
        return []
    return [f"{cancellation.who} asked at {cancellation.at:%Y-%m-%d %H:%M:%S} UTC that it ends"]
