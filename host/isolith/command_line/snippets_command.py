"""`isolith snippets`: scripts that a person has read, for others to call.

They are kept in the journal of the command line, beside its executions. What needs the methods of a snippet (to propose
it, to approve it, to run it) connects what the execution had that it was proposed from, or what `--connect` names.
"""

from __future__ import annotations

import contextlib
import json
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import typer

from isolith.approvals.command import answered
from isolith.command_line import command
from isolith.command_line.command import Configured, Connect, Json, PolicyName, guarded
from isolith.command_line.kept_journal import chosen, journalled
from isolith.command_line.kept_runs import Who, code_mode_of, find_execution, in_journal, origin_of, user
from isolith.command_line.origins import read_origin
from isolith.command_line.request import read_data
from isolith.errors import UsageError
from isolith.journal.errors import UnknownEntry
from isolith.json_form import to_json_text
from isolith.snippets.content import methods_of, schema_of
from isolith.snippets.differences import chosen_pair, compared
from isolith.snippets.files import from_file, to_file
from isolith.snippets.view import as_data

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from isolith.code_mode import CodeMode
    from isolith.journal.journal import Journal
    from isolith.journal.snippet_model import NewSnippet, Snippet
    from isolith.outcome import Outcome

T = TypeVar("T")

app = typer.Typer(help="Scripts that a person has read, for others to call.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="What scripts call it: snippets.NAME(...).")]
Version = Annotated[
    int | None, typer.Option("--version", metavar="N", help="Which version.", show_default="the newest")
]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; kept with it.")]
FOLDER = Path("snippets")


@app.command("list", epilog="Example: isolith snippets list")
@guarded
@journalled
def list_(*, json: Json = False) -> None:
    """List all versions."""
    found = _use(lambda code_mode: code_mode.snippets.find())
    nothing = "there are no snippets: `isolith snippets propose EXECUTION NAME --description TEXT` makes one"
    command.listed(found, _line, as_data, nothing, json=json)


@app.command(epilog="Example: isolith snippets show weekly_report --version 2")
@guarded
@journalled
def show(name: Name, *, version: Version = None, json: Json = False) -> None:
    """Show one: what is to be read before it is approved, and what it changes."""

    async def use(code_mode: CodeMode) -> tuple[Snippet, str]:
        snippet = await code_mode.snippets.get(name, version)
        return snippet, await code_mode.snippets.diff(name, snippet.version)

    snippet, diff = _use(use)
    terminal = command.terminal()
    if json:
        terminal.write(to_json_text({**as_data(snippet), "diff": diff}))
        return
    terminal.write(f"{snippet.name}, version {snippet.version}: {snippet.state}")
    terminal.write(f"hash: {snippet.content_hash}")
    terminal.write(f"proposed by {snippet.proposed_by}, from execution {snippet.execution_id or '(none)'}")
    if snippet.tool:
        terminal.write("a tool of its own for MCP clients")
    terminal.write(f"calls: {', '.join(methods_of(snippet)) or 'nothing'}")
    terminal.write(f"input: {to_json_text(schema_of(snippet))}\n\n{snippet.description}\n\n{snippet.code}")
    if diff:
        terminal.write("")
        _write_diff(diff.split("\n"))


@app.command(epilog="Example: isolith snippets diff weekly_report 1 3")
@guarded
@journalled
def diff(
    name: Name,
    old: Annotated[
        int | None, typer.Argument(metavar="OLD", help="Against which.", show_default="the newest approved before it")
    ] = None,
    new: Annotated[
        int | None, typer.Argument(metavar="NEW", help="Which version.", show_default="the newest that is not refused")
    ] = None,
    *,
    json: Json = False,
) -> None:
    """Show what one version changes against another: its script, and what else a review is of."""
    versions = _use(lambda code_mode: code_mode.snippets.find(name))
    if not versions:
        raise UnknownEntry(f"there is no snippet {name}: see `isolith snippets list`")
    found = compared(*chosen_pair(versions, old, new))
    terminal = command.terminal()
    if json:
        terminal.write(to_json_text(found.to_json()))
        return
    terminal.say(
        f"{name}: version {found.new.version} ({_stands(found.new)}) against {found.old.version} ({_stands(found.old)})"
    )
    _write_diff(found.lines())
    if not found:
        terminal.say("nothing has changed")


@app.command(epilog="Example: isolith snippets propose 4f2a weekly_report --description 'The week of a team'")
@guarded
@journalled
def propose(  # noqa: PLR0913 - one parameter a flag
    execution: Annotated[str, typer.Argument(metavar="EXECUTION", help="One that completed; the beginning of its id.")],
    name: Name,
    *,
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="What it does; it is found by it.")],
    schema: Annotated[
        str | None,
        typer.Option(
            "--input-schema", metavar="JSON|@FILE", help="Of its input.", show_default="as the execution's input was"
        ),
    ] = None,
    tool: Annotated[
        bool, typer.Option("--tool", help="Once approved, `isolith serve` offers it as a tool of its own, too.")
    ] = False,
    who: Who = None,
    json: Json = False,
) -> None:
    """Propose the script of an execution that completed; what it was answered then is its test."""
    given = None if schema is None else read_data(schema, "--input-schema", "the input schema")
    if given is not None and not isinstance(given, dict):
        raise UsageError("`--input-schema` takes a JSON Schema: an object")

    async def use(journal: Journal) -> Snippet:
        execution_id = await find_execution(journal, execution)
        async with await _connected(journal, execution_id) as code_mode:
            told = cast("dict[str, object] | None", given)
            return await code_mode.snippets.propose(
                execution_id, name, description, input_schema=told, who=who or user(), tool=tool
            )

    _told(_in_journal(use), json=json)


@app.command(epilog="Example: isolith snippets approve weekly_report --hash 9c1e0b7d21aa")
@guarded
@journalled
def approve(  # noqa: PLR0913 - one parameter a flag
    name: Name,
    *,
    version: Version = None,
    digest: Annotated[
        str | None, typer.Option("--hash", metavar="HASH", help="Of what was read, or its beginning: refuse others.")
    ] = None,
    who: Who = None,
    reason: Reason = None,
    specs: Connect = None,
    configured: Configured = None,
    json: Json = False,
) -> None:
    """Let scripts call it. Its tests run first, and have to pass; they reach nothing."""

    async def use(journal: Journal) -> Snippet:
        snippet = await _newest(journal, name, version, "proposed")
        if digest is not None and not (len(digest) >= _SHORT and snippet.content_hash.startswith(digest)):
            look = f"isolith snippets show {name} --version {snippet.version}{chosen().flags}"
            raise UsageError(f"its hash is {snippet.content_hash}, not `{digest}`: read it again with `{look}`")
        async with await _connected(journal, snippet.execution_id, specs, configured) as code_mode:
            return await code_mode.snippets.approve(
                name, snippet.version, who=who or user(), content_hash=snippet.content_hash, reason=reason
            )

    _told(_in_journal(use), json=json)


@app.command(epilog="Example: isolith snippets revoke weekly_report --reason 'wrong sums'")
@guarded
@journalled
def revoke(name: Name, *, version: Version = None, who: Who = None, reason: Reason = None, json: Json = False) -> None:
    """Take an approval back, or say no to a proposal: nothing calls it from then on."""

    async def use(code_mode: CodeMode) -> Snippet:
        snippet = await code_mode.snippets.get(name, version)
        end = code_mode.snippets.refuse if snippet.state == "proposed" else code_mode.snippets.revoke
        return await end(name, snippet.version, who=who or user(), reason=reason)

    _told(_use(use), json=json)


@app.command(epilog='Example: isolith snippets run weekly_report --input \'{"team": "north"}\'')
@guarded
@journalled
def run(
    name: Name,
    *,
    data: Annotated[str | None, typer.Option("--input", metavar="JSON|@FILE", help="Its input, by name.")] = None,
    specs: Connect = None,
    configured: Configured = None,
    policy: PolicyName = None,
    json: Json = False,
) -> None:
    """Run one that is approved."""
    given = dict[str, object]() if data is None else read_data(data, "--input", "the input")
    if not isinstance(given, dict):
        raise UsageError("`--input` takes a JSON object: the input by name")

    async def use(journal: Journal) -> Outcome:
        snippet = await journal.snippets.get(name)
        async with await _connected(journal, snippet.execution_id, specs, configured, policy) as code_mode:
            named = cast("dict[str, object]", given)
            return await code_mode.execute(f"await snippets.{name}(**input)", input=named)

    outcome = _in_journal(use)
    answered(outcome, json=json)


@app.command(epilog="Example: isolith snippets export weekly_report")
@guarded
@journalled
def export(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Which.", show_default="all that are approved")
    ] = None,
    *,
    folder: Annotated[Path, typer.Option("--folder", metavar="DIR", help="Where the files go.")] = FOLDER,
) -> None:
    """Write snippets/NAME.py, each with its header, to be kept and reviewed in a repository."""

    async def use(code_mode: CodeMode) -> list[Snippet]:
        every = await code_mode.snippets.find()
        wanted = names or sorted({snippet.name for snippet in every if snippet.state == "approved"})
        return [await code_mode.snippets.get(name) for name in wanted]

    terminal = command.terminal()
    for snippet in _use(use):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{snippet.name}.py"
        path.write_text(to_file(snippet), encoding="utf-8", newline="\n")
        terminal.write(str(path))


@app.command("import", epilog="Example: isolith snippets import snippets/weekly_report.py")
@guarded
@journalled
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE|DIR", help="As `export` wrote them, maybe changed; of a folder every .py in it."),
    ],
    *,
    who: Who = None,
    json: Json = False,
) -> None:
    """Propose what files hold, as new versions; what is there already in the same form stays one version.

    Where one of them holds no snippet, nothing is proposed.
    """
    held = [_held(path, who or user()) for each in files for path in _files(each)]

    async def use(code_mode: CodeMode) -> list[Snippet]:
        return [await _imported(code_mode, one) for one in held]

    for snippet in _use(use, begin=True):
        _told(snippet, json=json)


_SHORT = 12


@dataclass(frozen=True)
class _Held:
    """What a file holds, and whether that was changed since it was exported."""

    path: Path
    snippet: NewSnippet
    changed: bool


def _files(path: Path) -> list[Path]:
    """A file as it is; of a folder, what `export` writes there."""
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.py"))
    if not found:
        raise UsageError(f"`{path}` is a folder without a .py file: `isolith snippets export --folder` writes them")
    return found


def _held(path: Path, who: str) -> _Held:
    try:
        return _Held(path, *from_file(path.read_text(encoding="utf-8"), who))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{path}` cannot be read: {error}") from error
    except UsageError as error:
        raise UsageError(f"`{path}`: {error}") from error


async def _imported(code_mode: CodeMode, held: _Held) -> Snippet:
    new, path = held.snippet, held.path
    try:
        for known in await code_mode.snippets.find(new.name):
            same = (known.code, known.input_schema, known.methods, known.description, known.tests, known.tool)
            told = (new.code, new.input_schema, new.methods, new.description, new.tests, new.tool)
            if same == told and known.state in {"proposed", "approved"}:
                return known
        if held.changed:
            command.terminal().say(f"`{path}` was changed after it was exported: it is a new proposal")
        return await code_mode.snippets.add(new)
    except UsageError as error:
        raise UsageError(f"`{path}`: {error}") from error


def _told(snippet: Snippet, *, json: bool) -> None:
    terminal = command.terminal()
    if json:
        terminal.write(to_json_text(as_data(snippet)))
        return
    terminal.write(f"{snippet.name}, version {snippet.version}: {snippet.state}")
    if snippet.state == "proposed":
        which, flags = f"{snippet.name} --version {snippet.version}", chosen().flags
        if snippet.version > 1:
            terminal.say(f"what it changes: `isolith snippets diff {snippet.name}{flags}`")
        terminal.say(
            f"read it with `isolith snippets show {which}{flags}`, then "
            f"`isolith snippets approve {which} --hash {snippet.content_hash[:_SHORT]}{flags}`"
        )


def _line(snippet: Snippet) -> str:
    first = snippet.description.splitlines()[0]
    tool = "  tool" if snippet.tool else ""
    return f"{snippet.name}  {snippet.version}  {_stands(snippet)}{tool}  {first}"


def _stands(snippet: Snippet) -> str:
    return f"{snippet.state} by {snippet.reviewed_by}" if snippet.reviewed_by else snippet.state


_STYLES = {"+": "green", "-": "red", "@": "cyan", "~": "yellow"}


def _write_diff(lines: Iterable[str]) -> None:
    terminal = command.terminal()
    for line in lines:
        terminal.coloured(line, "bold" if line.startswith(("--- ", "+++ ")) else _STYLES.get(line[:1], ""))


async def _newest(journal: Journal, name: str, version: int | None, state: str) -> Snippet:
    found = [snippet for snippet in await journal.snippets.find() if snippet.name == name]
    fitting = [one for one in found if (one.state == state if version is None else one.version == version)]
    if not fitting:
        which = f"version {version}" if version is not None else f"version that is {state}"
        raise UnknownEntry(f"there is no {which} of a snippet {name}: see `isolith snippets list`")
    return fitting[-1]


async def _connected(
    journal: Journal,
    execution_id: str | None,
    specs: list[str] | None = None,
    configured: str | None = None,
    policy: str | None = None,
) -> CodeMode:
    """With what was named; where nothing was, with what the execution had."""
    origin: dict[str, Any] = json.loads(origin_of(specs, configured, policy))
    if not specs and not configured and execution_id is not None:
        kept: dict[str, Any] = {}
        with contextlib.suppress(UnknownEntry):
            kept = read_origin((await journal.executions.order(execution_id)).origin) or {}
        origin = {**origin, **{name: kept.get(name) for name in ("connect", "config")}}
        origin["policy"] = origin.get("policy") or kept.get("policy")
    return code_mode_of(journal, origin)


def _in_journal(use: Callable[[Journal], Awaitable[T]], *, begin: bool = False) -> T:
    with redirect_stdout(sys.stderr):
        return in_journal(use, begin=begin)


def _use(use: Callable[[CodeMode], Awaitable[T]], *, begin: bool = False) -> T:
    """What needs no connectors."""

    async def within(journal: Journal) -> T:
        return await use(code_mode_of(journal, None))

    return _in_journal(within, begin=begin)
