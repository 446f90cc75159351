"""The journal of a command: where the runs are that it keeps.

    --journal URL        a file, or postgresql://...
    ISOLITH_JOURNAL      the same, for every command of a shell
    [journal] url        the same, in the configuration
    otherwise            a file in the user's data folder

A password in a URL is known to `redact` from the moment it is read, and shown nowhere.
"""

from __future__ import annotations

import functools
import inspect
import os
import shlex
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ParamSpec, cast
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

import typer

from isolith.approvals.linking import KEY_FILE, as_key
from isolith.command_line import command
from isolith.command_line.command import Configured
from isolith.configuration.connect_python import exists
from isolith.configuration.variables import Variables
from isolith.durable.journals import file_of, folder_of, url_of
from isolith.errors import UsageError
from isolith.folders import data_folder
from isolith.key_file import kept_key
from isolith_bindings.secrets import remember

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from isolith.configuration.config import ConfigFile

P = ParamSpec("P")

JOURNAL = "ISOLITH_JOURNAL"
LINK_KEY = "ISOLITH_LINK_KEY"
_MASK = "***"

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
    """A journal, and what another command must be given to find it: empty where it finds it by itself.

    `named`: whether somebody said where it is, and it is not this user's own.
    """

    url: str = field(repr=False)
    flags: str = ""
    named: bool = True

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


def existing_url() -> str:
    """Where it is, for what looks for something in it. Raises UsageError for a named file that is not there.

    It would be made otherwise, and a mistyped name would be told that nothing is kept.
    """
    place = chosen()
    file = file_of(place.url)
    if place.named and file is not None and not exists(file):
        raise UsageError(f"there is no journal `{file}`: the file does not exist")
    return place.url


def _place(given: str | None, config: ConfigFile | None, configured: str | None) -> Place:
    given = given or os.environ.get(JOURNAL)
    if given:
        itself = given == os.environ.get(JOURNAL)
        return Place(url_of(given), "" if itself else f" --journal {shlex.quote(shown(given))}")
    entry = None if config is None else config.config.journal
    if config is None or entry is None:
        return Place(f"sqlite:///{_own_folder() / 'journal.db'}", named=False)
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


def link_key() -> bytes:
    """What approval links are signed with: ISOLITH_LINK_KEY, or a file beside the journal. Raises UsageError."""
    given = os.environ.get(LINK_KEY)
    if not given:
        return kept_key(chosen().folder / KEY_FILE)
    remember(given)
    return as_key(given)
