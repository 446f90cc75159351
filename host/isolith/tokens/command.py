"""`isolith tokens`: who may come in over the network, with what scopes, until when."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from isolith.approvals.terms import read_duration
from isolith.command_line import command
from isolith.command_line.command import Json, guarded
from isolith.command_line.kept_journal import journalled
from isolith.command_line.kept_runs import in_journal, user
from isolith.errors import UsageError
from isolith.json_form import to_json_text
from isolith.tokens.access import SCOPES, as_scopes
from isolith.tokens.secret import mint

if TYPE_CHECKING:
    from isolith.journal.tokens import Token

app = typer.Typer(help="Who may come in over the network: bearer tokens.", no_args_is_help=True)

_PRINCIPAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:/+-]{0,127}")
_MAX_LASTS = timedelta(days=3_660)


@app.command(epilog="Example: isolith tokens create ada --scope execute --expires 30d")
@guarded
@journalled
def create(
    principal: Annotated[str, typer.Argument(metavar="PRINCIPAL", help="For whom: its runs are theirs.")],
    *,
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="|".join(SCOPES), help="What it may do; more than once.", show_default="execute"),
    ] = None,
    expires: Annotated[str, typer.Option(metavar="90d|12h|30m|never", help="How long it is good for.")] = "90d",
    json: Json = False,
) -> None:
    """Make a token and write it to stdout, this once: what is kept is its digest."""
    from isolith.journal.tokens import NewToken  # noqa: PLC0415 - loads the database toolkit

    if not _PRINCIPAL.fullmatch(principal):
        raise UsageError(f"`{principal:.60}` is no name of a principal: letters, digits and ._@:/+-, 128 at most")
    secret, scopes = mint(), as_scopes(scope or ["execute"])
    new = NewToken(secret.token_id, secret.digest, principal, scopes, user(), _until(expires, datetime.now(UTC)))
    made = in_journal(lambda opened: opened.tokens.add(new), begin=True)
    terminal = command.terminal()
    if json:
        terminal.write(to_json_text({**_as_data(made), "token": secret.text}))
        return
    terminal.say(f"isolith: token {made.token_id} for {principal} ({' '.join(scopes)}), {_expiry(made)}")
    terminal.write(secret.text)


@app.command("list", epilog="Example: isolith tokens list --json")
@guarded
@journalled
def list_(*, json: Json = False) -> None:
    """List the tokens with their state and last use."""
    found = in_journal(lambda opened: opened.tokens.find())
    nothing = "there is no token yet: isolith tokens create PRINCIPAL"
    command.listed(found, _line, _as_data, nothing, json=json)


@app.command(epilog="Example: isolith tokens revoke 1f2e3d4c5b6a7988")
@guarded
@journalled
def revoke(
    token: Annotated[str, typer.Argument(metavar="ID", help="The token's id, as `list` shows it.")],
) -> None:
    """Take a token back: it opens nothing from the next request on."""
    done = in_journal(lambda opened: opened.tokens.revoke(token, user()))
    command.terminal().say(f"isolith: token {done.token_id} of {done.principal} is revoked")


def _until(text: str, now: datetime) -> datetime | None:
    if text == "never":
        return None
    lasts = read_duration(text, "--expires")
    if not timedelta(0) < lasts <= _MAX_LASTS:
        raise UsageError(f"a token is good for some time, at most {_MAX_LASTS.days:,} days, or `--expires never`")
    return now + lasts


def _expiry(token: Token) -> str:
    return f"good until {token.expires_at:%Y-%m-%d %H:%M} UTC" if token.expires_at else "good until it is revoked"


def _line(token: Token) -> str:
    used = f"used {token.used_at:%Y-%m-%d %H:%M}" if token.used_at else "never used"
    return f"{token.token_id}  {token.principal}  {' '.join(token.scopes)}  {_state(token)}, {used}"


def _state(token: Token) -> str:
    if token.revoked_at is not None:
        return f"revoked by {token.revoked_by}"
    expired = token.expires_at is not None and token.expires_at <= datetime.now(UTC)
    return "expired" if expired else _expiry(token)


def _as_data(token: Token) -> dict[str, object]:
    return {
        "token_id": token.token_id,
        "principal": token.principal,
        "scopes": token.scopes,
        "made_by": token.made_by,
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
        "revoked_by": token.revoked_by,
        "used_at": token.used_at,
    }
