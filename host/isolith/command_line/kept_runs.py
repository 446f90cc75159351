"""The runs that the command line keeps: where their journal is, and how a command reaches them.

    --journal URL        a file, or postgresql://...
    ISOLITH_JOURNAL      the same, for every command of a shell
    [journal] url        the same, in the configuration
    otherwise            a file in the user's data folder

A password in a URL is known to `redact` from the moment it is read, and shown nowhere.
"""

from __future__ import annotations

import asyncio
import functools
import getpass
import inspect
import json
import os
import shlex
import sys
from contextlib import redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar, cast
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

import typer

from isolith.approvals.linking import KEY_FILE, as_key
from isolith.code_mode import CodeMode
from isolith.command_line import command
from isolith.command_line.command import Configured
from isolith.configuration.connect import anchored
from isolith.configuration.variables import Variables
from isolith.durable.journals import folder_of, open_journal, url_of
from isolith.errors import UsageError
from isolith.folders import data_folder
from isolith.key_file import kept_key
from isolith_bindings.secrets import remember

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith.configuration.config import ConfigFile
    from isolith.durable.durable_runs import DurableRuns
    from isolith.journal.journal import Journal

P = ParamSpec("P")
T = TypeVar("T")

JOURNAL = "ISOLITH_JOURNAL"
LINK_KEY = "ISOLITH_LINK_KEY"
_MASK = "***"

Which = Annotated[str, typer.Argument(metavar="EXECUTION", help="Its id, or the beginning of it.")]
Call = Annotated[str, typer.Argument(metavar="CALL", help="The id of a pending call, or its number.")]
Who = Annotated[str | None, typer.Option("--who", metavar="NAME", show_default="the user", help="Who decides.")]
Stay = Annotated[bool, typer.Option("--no-continue", help="Only decide; leave it to others to go on.")]
Kept = Annotated[
    str | None,
    typer.Option(
        "--journal",
        metavar="URL",
        envvar=JOURNAL,
        show_default="a file in the user's data folder",
        help="Where executions are kept: a file, or postgresql://...",
    ),
]


@dataclass(frozen=True)
class Place:
    """A journal, and what another command must be given to find it: empty where it finds it by itself."""

    url: str = field(repr=False)
    flags: str = ""

    @property
    def folder(self) -> Path:
        """Where its keys are: beside its file, or with the user's own data."""
        return folder_of(self.url) or data_folder()


_chosen: ContextVar[Place | None] = ContextVar("journal", default=None)


def choose(given: str | None, config: ConfigFile | None = None, configured: str | None = None) -> Place:
    """The journal of this command, from now on. Raises UsageError, ConnectError."""
    place = _place(given, config, configured)
    _remember_password(place.url)
    _chosen.set(place)
    return place


def chosen() -> Place:
    """The journal of this command."""
    return _chosen.get() or choose(None)


def journal_url() -> str:
    """Where it is."""
    return chosen().url


def _place(given: str | None, config: ConfigFile | None, configured: str | None) -> Place:
    given = given or os.environ.get(JOURNAL)
    if given:
        itself = given == os.environ.get(JOURNAL)
        return Place(url_of(given), "" if itself else f" --journal {shlex.quote(shown(given))}")
    entry = None if config is None else config.config.journal
    if config is None or entry is None:
        return Place(f"sqlite:///{_own_folder() / 'journal.db'}")
    url = Variables(config.path.parent).text(entry.url)
    itself = configured == os.environ.get("ISOLITH_CONFIG")
    url = url if "://" in url else str(config.path.parent.absolute() / url)
    return Place(url_of(url), "" if itself else f" --config {shlex.quote(str(configured))}")


def _own_folder() -> Path:
    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        mend = "set ISOLITH_HOME to a folder that you can write, or name a journal with --journal"
        raise UsageError(f"the journal has no place: {folder} cannot be made: {error.strerror}; {mend}") from error
    return folder


def shown(url: str) -> str:
    """The URL without its password."""
    try:
        parts = urlsplit(url)
        password = parts.password
    except ValueError:
        return _MASK
    if password:
        user, _, host = parts.netloc.rpartition("@")
        parts = parts._replace(netloc=f"{user.partition(':')[0]}:{_MASK}@{host}")
    query = [(name, _MASK if name == "password" else quote(value)) for name, value in parse_qsl(parts.query)]
    if query:
        parts = parts._replace(query="&".join(f"{name}={value}" for name, value in query))
    return urlunsplit(parts) if password or query else url


def _remember_password(url: str) -> None:
    try:
        parts = urlsplit(url)
        named = [value for name, value in parse_qsl(parts.query) if name == "password"]
        found = [unquote(parts.password or ""), *named]
    except ValueError:
        return  # opening it will say what is wrong with it
    for password in found:
        remember(password)


def journalled(work: Callable[P, None]) -> Callable[P, None]:
    """Give a command `--journal`, and `--config` where it has none: the journal they name is the command's."""
    signature = inspect.signature(work, eval_str=True)
    own = "configured" in signature.parameters

    @functools.wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        given = cast("str | None", kwargs.pop("journal", None))
        configured = cast("str | None", kwargs.get("configured") if own else kwargs.pop("configured", None))
        token = _chosen.set(None)
        try:
            choose(given, None if given else command.read_configuration(configured), configured)
            work(*args, **kwargs)
        finally:
            _chosen.reset(token)

    added = {"journal": Kept} if own else {"journal": Kept, "configured": Configured}
    only = inspect.Parameter.KEYWORD_ONLY
    new = [inspect.Parameter(name, only, default=None, annotation=kind) for name, kind in added.items()]
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *new])  # type: ignore[attr-defined]
    run.__annotations__ = {**work.__annotations__, **added}
    return run


# how a command reaches them


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


def in_journal(use: Callable[[Journal], Awaitable[T]]) -> T:
    """What `use` makes of the journal."""

    async def once() -> T:
        async with await open_journal(journal_url()) as journal:
            return await use(journal)

    return asyncio.run(once())


def with_code_mode(which: str, use: Callable[[CodeMode, str], Awaitable[T]], *, connected: bool = True) -> T:
    """What `use` makes of an execution, with the connectors it was started with."""

    async def once() -> T:
        async with await open_journal(journal_url()) as journal:
            execution_id = await find_execution(journal, which)
            origin = json.loads((await journal.executions.order(execution_id)).origin)
            async with _code_mode(journal, origin if connected else None) as code_mode:
                return await use(code_mode, execution_id)

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
    ids = [execution.execution_id for execution in found if execution.execution_id.startswith(which)]
    if which in ids or len(ids) == 1:
        return which if which in ids else ids[0]
    what = f"{len(ids)} executions begin with" if ids else "no execution begins with"
    raise UsageError(f"{what} `{which}`: see `isolith executions list`")


def link_key() -> bytes:
    """What approval links are signed with: ISOLITH_LINK_KEY, or a file beside the journal. Raises UsageError."""
    given = os.environ.get(LINK_KEY)
    if not given:
        return kept_key(chosen().folder / KEY_FILE)
    remember(given)
    return as_key(given)


def _code_mode(journal: Journal, origin: dict[str, Any] | None) -> CodeMode:
    if origin is None:
        return CodeMode(journal=journal, tend=False, link_key=link_key)
    config = command.read_configuration(origin.get("config"))
    return CodeMode(
        command.connectors_of(origin.get("connect"), config),
        policy=command.policy_of(origin.get("policy"), config),
        ceilings=config.config.granted if config else None,
        journal=journal,
        tend=False,
        reverts=config.config.reverts if config else None,
        questions="pause" if origin.get("questions") == "pause" else None,
        link_key=link_key,
    )
